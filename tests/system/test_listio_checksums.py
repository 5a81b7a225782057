"""What `strider listio scrub` prints and returns."""

import subprocess
from pathlib import Path

from harness import strider_command
from labs import Native
from strider.engine import Engine
from strider.listio import ServerOptions, serve, stop


def scrub(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [*strider_command(), "listio", "scrub", str(directory), *options]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


# proves listio: scrub-output
def test_scrub_prints_damaged_files(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=2))
    try:
        whole = scrub(directory, "--rate", "100M")
        assert (whole.returncode, whole.stdout.splitlines()[1]) == (0, "no damage found")
        data = directory / "server-1/data/05/0000000000000005"
        data.parent.mkdir()
        data.write_bytes(b"x" * 5000)
        damaged = scrub(directory)
        assert damaged.returncode == 1
        named = (
            "data file 0000000000000005, which no name leads to on server 1: its data file has no checksums"
        )
        assert damaged.stdout.splitlines()[-1] == f"damaged: {named}"
    finally:
        stop(directory)


def test_scrub_refuses_a_volume_without_checksums(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=1, checksums="off"))
    try:
        refused = scrub(directory)
        assert refused.returncode == 2
        assert "the volume has no checksums" in refused.stderr
    finally:
        stop(directory)

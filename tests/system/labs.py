"""What the tests on real parallel file systems share: labs, and what must hold on every mount."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import Json, case, plan, run_engine, strider_command
from strider import lab
from strider.engine import Engine
from strider.lab import Endpoint, FileSystem, Record

METHODS: dict[str, Json] = {
    "posix multiple": {"interface": "posix"},
    "posix vectored": {"interface": "posix", "interface_method": "vectored"},
    "mpiio multiple": {"interface": "mpiio", "interface_method": "multiple"},
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
}

PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 256 * 1024, "pattern_block": 1024 * 1024},
    {"pattern": "strided", "pattern_transfer": 100_000, "pattern_count": 12},
    {"pattern": "vector", "pattern_pieces": 9, "pattern_piece": 5000, "pattern_count": 4},
]


def system_or_skip(name: str) -> FileSystem:
    """A file system of the lab, if it can be started here."""
    system = lab.find(name)
    if obstacle := system.obstacle():
        pytest.skip(f"machine: {name}: {obstacle}")
    if missing := system.missing_packages():
        pytest.skip(f"needs {name} (Debian packages {' '.join(missing)})")
    return system


@contextmanager
def running(name: str) -> Iterator[Record]:
    """A file system of the lab, up until the end; skips where it cannot be started."""
    system_or_skip(name)
    # Not a folder of pytest's: those are closed to the users that some servers run as.
    parent = Path(tempfile.mkdtemp(prefix="strider-"))
    parent.chmod(0o755)
    with _taken_down(name, parent):
        words = strider_command("lab", "up", name, "--at", parent, "--json")
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        yield Record.model_validate_json(done.stdout)


@contextmanager
def _taken_down(name: str, parent: Path) -> Iterator[None]:
    """Takes a lab down at the end, even if that is the end of this process: its pipe closes.

    Fails if anything is left in the folder.
    """
    script = 'cat; "$@" && rmdir "$0"'
    words = ["sh", "-c", script, str(parent), *strider_command("lab", "down", name, "--at", parent)]
    keeper = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield
    finally:
        said, _ = keeper.communicate()
        assert keeper.returncode == 0, said


def check_mount(
    engine: Engine, work: Path, endpoint: Endpoint, pattern: Json, wrap: Iterable[str] = ()
) -> None:
    """Two ranks write a file by every method and read what the other wrote: it is right, nothing stays.

    Args:
        engine: The engine.
        work: A folder for plan and events.
        endpoint: The mounted file system.
        pattern: The access pattern.
        wrap: Words to put before the command.
    """
    mount = endpoint.mount
    assert mount is not None
    directory = Path(tempfile.mkdtemp(dir=mount))
    keys: Json = {
        "clients": 2,
        "verify": "full",
        "readback": "shift",
        "operations": ["write", "read", "rewrite", "reread"],
    }
    document = plan([case(**pattern, **method, **keys) for method in METHODS.values()])
    try:
        done = run_engine(engine, document, work, wrap, directory)

        assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
        assert not done.of("error")
        for operation in ("read", "reread"):
            samples = done.of("sample", operation=operation)
            assert len(samples) == len(METHODS)
            assert len({sample["digest"] for sample in samples}) == 1
        assert not list(directory.iterdir())
    finally:
        shutil.rmtree(directory)

"""What docs/limits.md promises and no other test shows."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness import Json, case, plan, run_engine
from strider.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"


def ceilings_of_the_page() -> dict[str, str]:
    """Rows of the first table: ceiling and its subject."""
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (clients|node) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return {name: of for names, of in rows for name in re.findall(r"`(\w+)`", names)}


def ceilings_of_a_run(
    engine: Engine, work: Path, directory: Path | None = None, **keys: Json
) -> dict[str, str]:
    """Ceilings of a run, and the subject of each."""
    work.mkdir()
    one = case("segmented", pattern_block=1 << 20, operations=["write"], clients=2)
    done = run_engine(engine, plan([one], **keys), work, directory=directory, options=["--ceilings", "all"])
    assert done.returncode == 0, done.stderr
    return {
        ceiling["name"]: "clients" if report["clients"] is not None else "node"
        for report in done.of("ceilings")
        for ceiling in report["ceilings"]
    }


# proves limits: memory-copy, data-generation, verification, null-requests, link, mpi-within-node, device
# proves limits: target
def test_the_ceilings_of_the_page_are_those_of_runs(engine: Engine, tmp_path: Path) -> None:
    """On a block device with one node, and in memory with two."""
    on_device = ceilings_of_a_run(engine, tmp_path / "device")
    if not Path("/dev/shm").is_dir():
        pytest.skip("machine: there is no /dev/shm")
    with TemporaryDirectory(prefix="strider-test-", dir="/dev/shm") as folder:
        in_memory = ceilings_of_a_run(engine, tmp_path / "memory", Path(folder), ranks_per_node=1)
    # What nodes send each other takes two machines.
    assert {**on_device, **in_memory, "network": "node"} == ceilings_of_the_page()


# proves limits: unmeasured-reason
def test_what_cannot_be_measured_says_why(engine: Engine, tmp_path: Path) -> None:
    one = case("segmented", pattern_block=1 << 20, operations=["write"])
    done = run_engine(engine, plan([one]), tmp_path, options=["--ceilings", "all"])
    every = [ceiling for report in done.of("ceilings") for ceiling in report["ceilings"]]
    unknown = [ceiling for ceiling in every if ceiling["value"] is None]
    assert all(ceiling["about"] for ceiling in unknown)
    assert {ceiling["name"] for ceiling in unknown} <= {"link", "network", "mpi_within_node"} | {
        f"{what}_{way}" for what in ("device", "target") for way in ("write", "read")
    }

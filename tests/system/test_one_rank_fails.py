"""One rank fails, the others are busy: the phase ends for all, at once, with the reason."""

import time
from pathlib import Path

import pytest

from forgetfs import mounted
from harness import EngineJob, case, plan, wait_for
from strider.engine import Engine


@pytest.mark.parametrize("deadline", [0, 0.3], ids=["to the end", "to a deadline"])
@pytest.mark.parametrize(
    ("interface", "sharing"), [("posix", "per-rank"), ("mpiio", "per-rank"), ("mpiio", 3), ("posix", 3)]
)
def test_a_file_that_one_rank_cannot_open_ends_the_phase(
    engine: Engine, tmp_path: Path, interface: str, sharing: str | int, deadline: float
) -> None:
    one = case(
        "segmented",
        interface,
        pattern_transfer=4096,
        pattern_block=1 << 20,
        clients=3,
        sharing=sharing,
        deadline=deadline,
    )
    (tmp_path / "target" / "case1.1").mkdir(parents=True)
    with EngineJob(engine, plan([one], stall_timeout_s=20), tmp_path) as job:
        done = job.finish()
    assert done.returncode == 1
    assert not done.of("sample")
    (error,) = done.of("error", operation="write")
    assert (error["kind"], error["rank"]) == ("io", 1)
    assert error["file"].endswith("case1.1")
    # The obstacle cannot be removed either, and that is reported, too.
    (left,) = done.of("error", operation="remove")
    assert (left["file"][-7:], left["rank"], left["count"]) == ("case1.1", 1, 1)
    assert left["call"] in ("unlink", "MPI_File_delete")
    assert left["host"] == error["host"] != ""


def test_no_rank_writes_to_a_mapping_before_all_have_opened_the_file(engine: Engine, tmp_path: Path) -> None:
    """Another rank that extends the file may take pages away: SIGBUS on FUSE, by chance."""
    one = case("segmented", "mmap", pattern_transfer=4096, pattern_block=1 << 16, clients=2)
    with mounted(engine, "default") as storage:
        storage.fault("open", "hang", call=2)
        with EngineJob(engine, plan([one]), tmp_path, directory=storage.mount / "target") as job:
            wait_for(lambda: storage.hits() == [1], "the second rank's open")
            time.sleep(0.5)  # one that did not wait would write at once
            calls = {call.op for call in storage.events() if call.path.endswith("case1.0")}
            assert not calls & {"read", "write", "fdatasync"}
            storage.clear()
            done = job.finish()
    (error,) = done.of("error", operation="write")
    assert (error["call"], error["file"].endswith("case1.0")) == ("open", True)

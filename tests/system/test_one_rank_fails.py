"""One rank cannot go on, the others are busy: the phase ends for all, at once, and says why."""

from pathlib import Path

import pytest

from harness import EngineJob, case, plan
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
    # What stands in the way cannot be removed either, and that is said, too.
    (left,) = done.of("error", operation="remove")
    assert (left["file"][-7:], left["rank"], left["count"]) == ("case1.1", 1, 1)
    assert left["call"] in ("unlink", "MPI_File_delete")
    assert left["host"] == error["host"] != ""

"""Ranks of a run that its starter ended without reaching them stop and write no more data."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import EngineJob, Json, case, kill, plan, read_events, wait_for
from strider.engine import Engine
from strider.launch import folder
from strider.launch.tail import close_events

ENDLESS: Json = plan(
    [
        case(
            "segmented",
            pattern_transfer=4096,
            pattern_block=1 << 20,
            clients=3,
            sharing="per-rank",
            operations=["write"],
            runtime=3600,
        )
    ]
)
SEAL: Json = {"event": "end", "time_s": 1.0, "status": "failed", "samples": 0, "errors": 0, "by": "launcher"}


def working(job: EngineJob) -> None:
    """Waits until the ranks work."""
    wait_for(lambda: any(event["event"] == "progress" for event in read_events(job.events_file)), "progress")


def seal(job: EngineJob) -> None:
    """Ends the run as `strider run` does after it lost the launcher."""
    close_events(job.events_file, SEAL)


def replace(job: EngineJob) -> None:
    """Puts another file in the place of the events, such as those of a resumed run."""
    other = job.work / "other.jsonl"
    other.write_text(json.dumps(SEAL) + "\n", encoding="utf-8")
    other.replace(job.events_file)


def remove(job: EngineJob) -> None:
    """Removes the events."""
    job.events_file.unlink()


@pytest.mark.parametrize("end", [seal, replace, remove])
def test_closed_events_stay_closed_and_the_ranks_go(
    engine: Engine, tmp_path: Path, end: Callable[[EngineJob], None]
) -> None:
    with EngineJob(engine, ENDLESS, tmp_path) as job:
        working(job)
        end(job)
        after = job.events_file.read_bytes() if job.events_file.exists() else None
        done = job.finish()
    assert (job.events_file.read_bytes() if job.events_file.exists() else None) == after
    assert done.returncode != 0
    assert "the run is over for strider run: its events were closed, moved or continued" in done.stderr
    assert list(done.directory.iterdir()) == [], "they remove their files as after an interruption"


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_ranks_without_the_folder_of_their_run_stop(engine: Engine, tmp_path: Path, how: str) -> None:
    (tmp_path / "target").mkdir()
    own = folder.create(tmp_path / "target", "test")
    options = ["--marker", "required", *own.words()]
    with EngineJob(engine, ENDLESS, tmp_path, directory=own.path, options=options) as job:
        working(job)
        own.path.rename(tmp_path / "target" / "gone")
        if how == "replaced":
            folder.create(tmp_path / "target", "test")
        done = job.finish()
    assert f"its folder {own.path} was removed or replaced: this rank stops" in done.stderr
    assert done.returncode != 0
    (end,) = done.of("end")
    assert end["status"] == "interrupted"


@pytest.mark.slow
def test_a_rank_exits_if_the_others_do_not_answer(engine: Engine, tmp_path: Path) -> None:
    with EngineJob(engine, ENDLESS, tmp_path) as job:
        working(job)
        (start,) = [event for event in read_events(job.events_file) if event["event"] == "run"]
        pids = dict(process for node in start["nodes"] for process in node["processes"])
        kill(pids[2], signal.SIGSTOP)
        seal(job)
        done = job.finish()
    assert "not stopped after 20 s: this rank exits" in done.stderr
    assert done.returncode != 0


def test_a_run_that_its_starter_follows_goes_on(engine: Engine, tmp_path: Path) -> None:
    """Readers, and a change of the time of the file, are no end; nor is a folder that was never there."""
    document = plan([case("segmented", clients=2, operations=["write"], runtime=7, pattern_block=1 << 20)])
    with EngineJob(engine, document, tmp_path) as job:
        working(job)
        job.events_file.touch()
        job.events_file.read_bytes()
        done = job.finish()
    assert done.returncode == 0, done.stderr
    assert [event["status"] for event in done.of("end")] == ["complete"]

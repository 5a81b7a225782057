"""Jobs of several parts: records of earlier processes, and the reason of a failed part."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli import main
from strider.jobs import Job, has_ended_last, note_process, read
from strider.jobs.record import RECORD, folder_of
from strider.launch.folder import Marker, this_process
from strider.launch.resume import CLAIM

RUN = "2026-01-01-000000-small-abcd"


def job_of(store: Path, **more: object) -> Job:
    """A job of two parts, which Slurm does not know any more."""
    folder = folder_of(store) / "0123456789ab"
    folder.mkdir(parents=True)
    record = {
        "suite": "small",
        "run": RUN,
        "submitted": "2026-01-01T00:00:00Z",
        "options": {"executor": "slurm"},
        "numbers": ["7", "8"],
        **more,
    }
    (folder / RECORD).write_text(json.dumps(record))
    (store / RUN).mkdir(exist_ok=True)
    return read(folder)


def ran(job: Job, process: Marker) -> None:
    (job.run / "run.json").write_text(json.dumps({"process": asdict(process)}))


class TestTheProcessThatExecutedARunLast:
    """Only one that is known to have ended may be on another host and be ignored."""

    def test_of_an_earlier_part_has_ended(self, tmp_path: Path) -> None:
        job = job_of(tmp_path)
        note_process(job)
        ran(job, this_process(RUN))
        assert has_ended_last(job)

    def test_of_another_start_may_go_on(self, tmp_path: Path) -> None:
        """A user resumes the run on a login node while the second part waits."""
        job = job_of(tmp_path)
        note_process(job)
        ran(job, replace(this_process(RUN), host="login", pid=17))
        assert not has_ended_last(job)

    def test_that_was_there_at_the_submission_has_ended(self, tmp_path: Path) -> None:
        before = replace(this_process(RUN), host="login", pid=17)
        job = job_of(tmp_path, continues=asdict(before))
        ran(job, before)
        assert has_ended_last(job)

    def test_that_only_begins_to_resume_may_go_on(self, tmp_path: Path) -> None:
        job = job_of(tmp_path)
        note_process(job)
        ran(job, this_process(RUN))
        (job.run / CLAIM).write_text(json.dumps(asdict(replace(this_process(RUN), host="login", pid=17))))
        assert not has_ended_last(job)

    @pytest.mark.parametrize("content", ["", "[]", '{"process": null}', "{"])
    def test_that_is_not_known_may_go_on(self, tmp_path: Path, content: str) -> None:
        job = job_of(tmp_path)
        (job.run / "run.json").write_text(content)
        assert not has_ended_last(job)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job whose run lacks repetitions, and a scheduler that knows no job."""
    (tmp_path / "bin").mkdir()
    for name in ("squeue", "sbatch", "scancel", "scontrol"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\nexit 0\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    RunBuilder([CaseSpec()]).write(tmp_path / "store" / RUN, status="interrupted")
    events = tmp_path / "store" / RUN / "events.jsonl"
    events.write_text("".join(f"{line}\n" for line in events.read_text().splitlines()[:4]))
    return job_of(tmp_path / "store")


def watched(job: Job, capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(["watch", RUN, "--store", str(job.store), "-q"])
    return capsys.readouterr().err.splitlines()


def test_watch_shows_why_a_later_part_did_not_resume_the_run(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    job.outputs(1)[1].write_text(
        "note: a clock\nslurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT ***\n"
    )
    job.outputs(2)[1].write_text("4/6 phases\nstrider: cannot find srun: load Slurm's module\n")
    assert watched(job, capsys)[-2:] == [
        "part 2 of 2 (slurm 8) printed:",
        "  strider: cannot find srun: load Slurm's module",
    ]


def test_watch_shows_the_errors_of_an_earlier_part_where_the_last_one_has_none(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    job.outputs(1)[1].write_text("slurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT ***\n")
    job.outputs(2)[1].write_text("note: a clock\n")
    assert watched(job, capsys)[-2:] == [
        "part 1 of 2 (slurm 7) printed:",
        "  slurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT ***",
    ]


@pytest.mark.parametrize(
    ("printed", "code"), [("strider: cannot find srun: load Slurm's module\n", 3), ("note: a clock\n", 0)]
)
@pytest.mark.parametrize("options", [[], ["--once"]])
def test_watch_fails_if_the_job_could_not_measure_what_is_missing(
    job: Job, printed: str, code: int, options: list[str]
) -> None:
    file = job.run / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "exit_code": 0}))
    job.outputs(2)[1].write_text(printed)
    assert main(["watch", RUN, "--store", str(job.store), "-q", *options]) == code


def test_watch_of_parts_without_errors_adds_nothing(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    job.outputs(2)[1].write_text("note: a clock\n")
    assert not any("printed" in line for line in watched(job, capsys))

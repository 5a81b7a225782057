"""The queue of a server obeys no record that another user can have written."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from strider.errors import StriderError
from strider.processes import boot_id, identify
from strider.web.jobs import RECORD, Job, Jobs, Record
from strider.web.runs import Runs
from strider.web.site import Site

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
OTHER = 12345


async def _may_start(_: Job) -> None:
    raise AssertionError("a planted job was about to start")


def queue(store: Path) -> Jobs:
    return Jobs(Site(cast("object", None), store, ()), cast(Runs, None), _may_start, lambda: False)  # type: ignore[arg-type]


def plant(jobs: Jobs, victim: int) -> Path:
    """A job that runs as the process of a victim, and is cancelled."""
    folder = jobs.folder / "0123456789ab"
    folder.mkdir(parents=True, mode=0o700)
    for above in (jobs.folder, jobs.folder.parent):
        above.chmod(0o700)
    record = Record(
        suite="s",
        submitted=datetime.now(UTC),
        state="running",
        cancelled=True,
        process=identify(victim, "strider run"),
        boot=boot_id(),
    )
    (folder / RECORD).write_text(record.model_dump_json())
    return folder


@AS_ROOT
@pytest.mark.parametrize("owned", ["record", "job", "queue", "parent"])
def test_a_job_of_another_user_is_not_taken_over(tmp_path: Path, owned: str) -> None:
    jobs = queue(tmp_path)
    victim = subprocess.Popen(["sleep", "60"])
    try:
        folder = plant(jobs, victim.pid)
        places = {
            "record": folder / RECORD,
            "job": folder,
            "queue": folder.parent,
            "parent": jobs.folder.parent,
        }
        os.chown(places[owned], OTHER, OTHER)
        if owned in ("queue", "parent"):
            with pytest.raises(StriderError, match=r"another user|can replace"):
                jobs._take_over()
        else:
            jobs._take_over()
        assert jobs.all() == []
        assert victim.poll() is None
        assert folder.exists()
    finally:
        jobs._let_go()
        victim.kill()
        victim.wait()


def test_an_own_job_is_taken_over(tmp_path: Path) -> None:
    jobs = queue(tmp_path)
    victim = subprocess.Popen(["sleep", "60"])
    try:
        plant(jobs, victim.pid)
        jobs._take_over()
        (job,) = jobs.all()
        assert job.process
        assert job.process.pid == victim.pid
    finally:
        jobs._let_go()
        victim.kill()
        victim.wait()


def test_the_process_of_an_earlier_start_of_the_machine_is_no_process_of_a_job(tmp_path: Path) -> None:
    """Another process may have its number now, and even its start time."""
    jobs = queue(tmp_path)
    record = plant(jobs, os.getpid()) / RECORD
    record.write_text(record.read_text().replace(boot_id(), "earlier"))
    assert Job.kept(record.parent).process is None

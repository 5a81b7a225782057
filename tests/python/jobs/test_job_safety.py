"""Jobs in a store that others share: no record, link or name makes a command touch foreign files."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from strider.cli import main
from strider.cli.watch import sentence
from strider.errors import StriderError
from strider.jobs import (
    Condition,
    Job,
    Order,
    all_jobs,
    cancel,
    condition,
    example,
    find,
    parse_options,
    read,
)
from strider.jobs import submit as submit_order
from strider.jobs.executors import COMMANDS
from strider.jobs.record import CANCELLED, RECORD, folder_of
from strider.processes import boot_id, identify, is_alive
from strider.running.in_job import _remove_unfinished

RUN = "2026-01-01-000000-small-abcd"
ID = "0123456789ab"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of schedulers that note how they are called; all jobs run, and none can be submitted."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in [*(name for names in COMMANDS.values() for name in names), "scontrol"]:
        tell(folder, name, "exit 0")
    tell(folder, "squeue", "echo JOBID ST REASON; echo 7 R None; echo 8 PD Dependency")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("SLURM_CLUSTER_NAME", raising=False)
    return folder


def tell(folder: Path, name: str, does: str) -> None:
    """Writes a command that does something when it is called."""
    (folder / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{folder}/called\n{does}\n')
    (folder / name).chmod(0o755)


def called(commands: Path, name: str) -> list[str]:
    file = commands / "called"
    return [line for line in file.read_text().splitlines() if line.startswith(name)] if file.exists() else []


def write_job(store: Path, name: str = ID, executor: str = "slurm", /, **more: object) -> Path:
    """Writes the record of a job; returns its folder."""
    folder = folder_of(store) / name
    folder.mkdir(parents=True)
    record = {
        "suite": "small",
        "run": RUN,
        "submitted": "2026-01-01T00:00:00Z",
        "options": {"executor": executor},
        "numbers": ["7"],
        **more,
    }
    (folder / RECORD).write_text(json.dumps(record))
    return folder


def write_local(store: Path, process: "subprocess.Popen[bytes]", /, **more: object) -> Path:
    """Writes the record of a job of this machine; returns its folder."""
    found = identify(process.pid, "strider run")
    assert found is not None
    known = {"numbers": [str(process.pid)], "process": found.model_dump(), "boot": boot_id()}
    return write_job(store, ID, "local", **{**known, "host": socket.gethostname(), **more})


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that ignores requests to end, with a child."""
    process = subprocess.Popen(
        ["bash", "-c", "trap '' TERM; sleep 1000 & wait; wait"], start_new_session=True
    )
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def order(**options: str | int) -> Order:
    return Order(suite="small", text="", ranks=1, options=parse_options(**options))


@pytest.mark.parametrize("run", ["..", "/etc", "../x", ".", "2026-01-01-000000-../../x-abcd", "suites"])
def test_the_run_of_a_record_is_the_id_of_a_run_and_no_path(tmp_path: Path, run: str) -> None:
    with pytest.raises(StriderError, match="damaged"):
        read(write_job(tmp_path, run=run))


@pytest.mark.parametrize("named", ["..", "other/" + RUN])
def test_only_runs_of_the_store_are_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    """Else the job would begin a new run under the same name in its own store."""
    inner = tmp_path / "run" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    (inner / "other" / RUN).mkdir(parents=True)
    (inner / "other" / RUN / "run.json").write_text("{}")
    monkeypatch.chdir(inner)
    assert main(["submit", "--resume", named, "--executor", "local", "--store", "store"]) == 2
    assert "is not in the store" in capsys.readouterr().err


def test_only_an_unfinished_run_directory_is_removed(tmp_path: Path) -> None:
    run = tmp_path / RUN
    _remove_unfinished(run)
    run.mkdir()
    for name in ("plan.json", "suite.toml", ".description.json.123", ".run.json.9"):
        (run / name).touch()
    _remove_unfinished(run)
    assert not run.exists()


@pytest.mark.parametrize("kept", ["results.csv", "plan.json/inner"])
def test_a_folder_with_anything_else_stays_whole(tmp_path: Path, kept: str) -> None:
    file = tmp_path / RUN / kept
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / RUN / "suite.toml").touch()
    with pytest.raises(StriderError, match="move it away"):
        _remove_unfinished(tmp_path / RUN)
    assert file.exists()
    assert (tmp_path / RUN / "suite.toml").exists()
    (tmp_path / "link").symlink_to(tmp_path / RUN)
    with pytest.raises(StriderError, match="move it away"):
        _remove_unfinished(tmp_path / "link")


@pytest.mark.parametrize(
    ("executor", "numbers"),
    [
        ("slurm", ["77", "--me"]),
        ("slurm", ["0"]),
        ("slurm", ["7 8"]),
        ("slurm", ["7\n"]),
        ("pbs", ["-W"]),
        ("pbs", ["7.-x"]),
        ("lsf", ["0"]),
        ("flux", ["-a"]),
        ("local", ["1"]),
        ("local", ["-1"]),
    ],
)
def test_a_number_that_means_other_jobs_makes_a_record_damaged(
    tmp_path: Path, executor: str, numbers: list[str]
) -> None:
    """`scancel --me` and `bkill 0` end all jobs of a user."""
    more = {"process": {"pid": 5, "start_ticks": 1, "name": "x"}} if executor == "local" else {}
    with pytest.raises(StriderError, match="damaged"):
        read(write_job(tmp_path, ID, executor, numbers=numbers, **more))


def test_numbers_of_each_scheduler_are_read(tmp_path: Path) -> None:
    given = {"slurm": "77", "pbs": "12.pbs-server.site", "lsf": "5", "flux": "f2Xk9"}
    for place, (executor, number) in enumerate(given.items()):
        folder = write_job(tmp_path, f"{place:012x}", executor, numbers=[number])
        assert read(folder).record.numbers == [number]


def test_jobs_of_other_users_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_job(tmp_path)
    assert find(tmp_path, ID)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert all_jobs(tmp_path) == []
    assert find(tmp_path, "7") is None
    with pytest.raises(StriderError, match="not a job of yours"):
        read(folder)


@pytest.mark.parametrize("kind", ["fifo", "link", "huge", "zone"])
def test_no_record_of_a_store_stops_the_list_of_its_jobs(tmp_path: Path, kind: str) -> None:
    write_job(tmp_path)
    other = write_job(tmp_path, "f" * 12, submitted="2026-01-01T00:00:00")
    record = other / RECORD
    if kind != "zone":
        record.unlink()
    if kind == "fifo":
        os.mkfifo(record)
    elif kind == "link":
        record.symlink_to(folder_of(tmp_path) / ID / RECORD)
    elif kind == "huge":
        record.write_text((folder_of(tmp_path) / ID / RECORD).read_text() + " " * (1 << 20))
    assert [job.id for job in all_jobs(tmp_path)] == [ID]


def test_the_output_of_a_job_is_no_link_and_bounded(tmp_path: Path) -> None:
    folder = write_job(tmp_path)
    (tmp_path / "secret").write_text("secret")
    (folder / "output-1").symlink_to(tmp_path / "secret")
    assert read(folder).output == ""
    (folder / "output-1").unlink()
    os.mkfifo(folder / "output-1")
    (folder / "errors-1").write_text("x" * 100_000 + "end")
    assert read(folder).output.endswith("xend")
    assert len(read(folder).output) == 1 << 14


def test_what_a_job_says_cannot_command_the_terminal(
    tmp_path: Path, commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(commands, "squeue", "echo JOBID ST REASON")
    folder = write_job(tmp_path)
    (folder / "output-1").write_text("\x1b]0;title\x07 said\n")
    assert main(["watch", ID, "--store", str(tmp_path)]) == 3
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\\u001b]0;title\\u0007 said" in said
    assert "\x1b" not in sentence(read(folder), Condition("waiting", "\x1b[2J", "7", 1))


@pytest.fixture
def stuck(tmp_path: Path, sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job of this machine whose run does not end."""
    monkeypatch.setattr("strider.jobs.cancelling.GRACE_S", 0.1)
    return read(write_local(tmp_path, sleeper))


def test_a_stuck_job_of_this_machine_is_ended_with_what_it_started(
    stuck: Job,
    sleeper: "subprocess.Popen[bytes]",
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from harness import wait_for

    children = Path(f"/proc/{sleeper.pid}/task/{sleeper.pid}/children")
    wait_for(lambda: bool(children.read_text()), "the child")
    child = identify(int(children.read_text()), "child")
    assert child
    monkeypatch.setattr("strider.jobs.cancelling.cancel.__defaults__", (0.0, time.sleep))
    assert main(["cancel", ID, "--store", str(stuck.store)]) == 0
    assert f"processes were ended: {sleeper.pid}" in capsys.readouterr().out
    assert sleeper.wait() == -9
    assert not is_alive(child)


@pytest.mark.parametrize("noted", [{"host": "elsewhere"}, {"boot": "earlier"}, {"start": 1}])
def test_a_process_of_another_host_boot_or_time_is_never_ended(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]", noted: dict[str, Any]
) -> None:
    if "start" in noted:
        noted = {"process": {"pid": sleeper.pid, "start_ticks": 1, "name": "strider run"}}
    cancelled = cancel(read(write_local(tmp_path, sleeper, **noted)), 0.0)
    assert cancelled.ended == []
    assert sleeper.poll() is None


def test_a_job_of_another_host_is_asked_to_end(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]", capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_local(tmp_path, sleeper, host="elsewhere")
    assert main(["cancel", ID, "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "not ended from here (it is a process of elsewhere" in said
    assert "is cancelled" not in said
    assert (folder / CANCELLED).exists()


def test_nothing_is_made_through_a_link_in_the_place_of_a_request_to_end(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    folder, victim = write_local(tmp_path, sleeper, host="elsewhere"), tmp_path / "victim"
    (folder / CANCELLED).symlink_to(victim)
    with pytest.raises(StriderError, match="cannot write"):
        cancel(read(folder), 0.0)
    assert not victim.exists()


def test_a_folder_that_others_put_in_the_place_of_a_job_gets_no_request(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    folder = write_local(tmp_path, sleeper, host="elsewhere")
    job = read(folder)
    folder.rename(folder.with_name("f" * 12))
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StriderError, match="can be written by other users"):
        cancel(job, 0.0)
    assert not list(folder.iterdir())


def test_a_job_of_another_cluster_is_unknown_and_never_cancelled_here(tmp_path: Path, commands: Path) -> None:
    tell(commands, "scontrol", "printf 'AccountingStorage = x\\nClusterName             = near\\n'")
    far = read(write_job(tmp_path, cluster="far"))
    assert condition(far).state == "unknown"
    assert "cluster far: ask there" in cancel(far, 0.0).elsewhere
    assert called(commands, "scancel") == []
    near = read(write_job(tmp_path, "f" * 12, cluster="near"))
    assert condition(near).state == "running"
    cancel(near, 0.0)
    assert len(called(commands, "scancel")) == 1


def test_a_submitted_job_has_the_name_of_its_cluster(tmp_path: Path, commands: Path) -> None:
    tell(commands, "scontrol", "echo 'ClusterName = near'")
    tell(commands, "sbatch", "echo Submitted batch job 7")
    job = submit_order(order(), tmp_path / "store")
    assert read(job.folder).record.cluster == "near"
    assert folder_of(tmp_path / "store").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("answer", ["Submitted batch job 0", "see --me"])
def test_an_answer_without_a_number_is_no_job(tmp_path: Path, commands: Path, answer: str) -> None:
    tell(commands, "sbatch", f"echo {answer}")
    with pytest.raises(StriderError, match="unknown number"):
        submit_order(order(), tmp_path / "store")


def test_a_folder_of_jobs_that_others_can_write_is_refused(tmp_path: Path, commands: Path) -> None:
    """They could replace the script of a job, which its user runs."""
    tell(commands, "sbatch", "echo Submitted batch job 7")
    folder = folder_of(tmp_path)
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StriderError, match=r"chmod go-w .*/\.batch"):
        submit_order(order(), tmp_path)
    assert not list(folder.iterdir())
    folder.chmod(0o755)
    submit_order(order(), tmp_path)


def test_a_folder_of_jobs_of_another_user_is_refused(
    tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path).mkdir()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(StriderError, match=r"not a folder of yours.*--store"):
        submit_order(order(), tmp_path)
    assert not list(folder_of(tmp_path).iterdir())


def test_the_shown_script_has_no_path_that_a_shell_would_read(tmp_path: Path, commands: Path) -> None:
    with pytest.raises(StriderError, match="not safe in scripts"):
        example(order(), tmp_path / "$(id)", tmp_path / "psij")


def test_a_refused_part_withdraws_each_earlier_one(tmp_path: Path, commands: Path) -> None:
    """Also where the scheduler refuses to cancel one of them, and with the first error."""
    count = commands / "count"
    tell(
        commands,
        "sbatch",
        f"echo >>{count}; n=$(wc -l <{count}); [ $n -gt 2 ] && echo no more jobs >&2 && exit 1\n"
        "echo Submitted batch job $((n + 6))",
    )
    tell(commands, "scancel", 'case "$*" in *8*) echo denied >&2; exit 1;; esac')
    several = Order(suite="small", text="", ranks=1, options=parse_options(time="1h"), jobs=3)
    with pytest.raises(StriderError, match=r"no more jobs.*not withdrawn: 8: cancel") as refused:
        submit_order(several, tmp_path / "store")
    assert "denied" not in refused.value.message
    assert [line.split()[-1] for line in called(commands, "scancel")] == ["8", "7"]
    assert not list(folder_of(tmp_path / "store").iterdir())

"""Submits a suite as a job: its folder, its scripts, and one or more jobs of the scheduler."""

import os
import re
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from strider.errors import ExitCode, StriderError
from strider.jobs.cancelling import end_part
from strider.jobs.options import JobOptions
from strider.jobs.record import Job, Record, cannot_write, folder_of, is_number, is_run_id, new_folder
from strider.jobs.reservation import launcher_of
from strider.launch.rundir import new_run_id
from strider.own_files import make_store, require_own_folder
from strider.processes import boot_id, identify
from strider.text import shortened

if TYPE_CHECKING:
    from psij import Job as PsijJob

    from strider.jobs.schedulers import Scheduler

PLACE = "JOB"
"""Stands for a job's folder in the scripts that `strider submit --show` prints."""
_PROCESS = "strider run"
_SAFE_PATH = re.compile(r"[A-Za-z0-9@%+=:,./_-]+")
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_MOST_SCRIPT_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Order:
    """A suite that is to be run as a job.

    Attributes:
        suite: Name of the suite.
        text: Its text, without mistakes.
        ranks: Ranks that it needs.
        options: Resources of the job.
        words: Options of `strider run`, except launcher, store and job.
        launcher: Launcher of the ranks; empty for that of the scheduler.
        jobs: Jobs of the scheduler that may be needed.
        script: Script to submit in place of PSI/J's; empty for PSI/J's.
        run: Id of the run to resume; empty for a new one.
        last_process: The process that executed that run last.
    """

    suite: str
    text: str
    ranks: int
    options: JobOptions
    words: Sequence[str] = ()
    launcher: str = ""
    jobs: int = 1
    script: str = ""
    run: str = ""
    last_process: dict[str, str | int] | None = None


def example(order: Order, store: Path, folder: Path) -> str:
    """Returns the script of a job's first part, with JOB for its folder; submits nothing.

    Args:
        order: The job.
        store: The store.
        folder: Folder for PSI/J's launcher, which the caller removes.

    Raises:
        StriderError: The scheduler is missing, or a shell would read the path of the store.
    """
    from strider.jobs.executors import scheduler

    job = _job(order, folder_of(store) / PLACE)
    require_safe(job.folder)
    text = scheduler(order.options.executor, folder).script(_described(order, job, 1, []))
    return text.replace(str(folder), str(job.folder))


def submit(
    order: Order, store: Path, edit: Callable[[Path], None] | None = None, now: datetime | None = None
) -> Job:
    """Submits a suite.

    Args:
        order: The suite and what it needs.
        store: The store.
        edit: Changes a script in its file before it is submitted; None: not.
        now: Time for the id of the run; None for the present.

    Returns:
        The job with the numbers that the scheduler gave. If it refuses one of several, the earlier ones are
        withdrawn and nothing stays.

    Raises:
        StriderError: The scheduler is missing or refuses.
    """
    # PSI/J takes a moment to import, and only a submission needs it.
    from strider.jobs.executors import scheduler

    job = _job(order, new_folder(store), now)
    require_safe(job.folder)
    _make_folder(job.folder)
    try:
        job.suite.write_text(order.text, encoding="utf-8")
        cluster = scheduler(order.options.executor, job.folder)
        for number in range(1, order.jobs + 1):
            native = _submit_part(order, job, number, cluster, edit)
            job = _with_number(job, native)
            job.keep()
        return job
    except OSError as error:
        refusal = cannot_write(job.folder, error)
        raise _with_left(refusal, _withdraw(job)) from error
    except StriderError as error:
        raise _with_left(error, _withdraw(job)) from error.__cause__
    except BaseException:
        _withdraw(job)
        raise


def _make_folder(folder: Path) -> None:
    """Creates a job's folder, in a folder of jobs that no other user can write.

    Raises:
        StriderError: Others could change the jobs, or the store is not writable.
    """
    jobs = folder.parent
    try:
        make_store(jobs.parent)
        with suppress(FileExistsError):
            jobs.mkdir(mode=0o700)
        status = jobs.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise StriderError(
                f"{jobs} is not a folder of yours: its owner could change your job: choose a store of your "
                "own with --store"
            )
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise StriderError(f"other users can write to {jobs} and change your job: chmod go-w {jobs}")
        require_own_folder(jobs)  # nor can they put another one in its place
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise cannot_write(folder, error) from error


def require_safe(folder: Path) -> None:
    """Refuses paths that PSI/J's scripts would not quote, because a shell reads them between double quotes.

    Raises:
        StriderError: The path has such a character.
    """
    if not _SAFE_PATH.fullmatch(str(folder)):
        raise StriderError(
            f"the path of the store, {folder.parents[1]}, is not safe in scripts: choose one with letters, "
            "digits and @ % + = : , . / _ - with --store"
        )


def _job(order: Order, folder: Path, now: datetime | None = None) -> Job:
    moment = now or datetime.now(UTC)
    if not _SAFE_NAME.fullmatch(order.suite):
        raise StriderError(f'suite name "{order.suite:.80}": a job needs letters, digits and . _ + -')
    if order.run and not is_run_id(order.run):
        raise StriderError(
            f'run "{order.run:.80}": a job resumes a run by the id that Strider gave it: rename it back, or '
            "use strider resume"
        )
    record = Record(
        suite=order.suite,
        run=order.run or new_run_id(order.suite, moment),
        submitted=moment,
        options=order.options,
        continues=order.last_process if order.run else None,
    )
    return Job(folder, record)


def _submit_part(
    order: Order, job: Job, number: int, cluster: "Scheduler", edit: Callable[[Path], None] | None
) -> str:
    """Submits the k-th job of the scheduler, which waits for the end of the one before; returns its number.

    Raises:
        StriderError: The scheduler refuses, or its answer has no number.
    """
    described = _described(order, job, number, job.record.numbers)
    file = job.script(number)
    if order.options.executor not in ("local", "flux"):
        # Rendering also places PSI/J's launcher in the folder, which an edited script uses as well.
        rendered = cluster.script(described)
        file.write_text(_placed(order.script, job) if order.script else rendered, encoding="utf-8")
        if edit:
            edit(file)
    # Before a process can read it.
    job.keep()
    native = cluster.submit(described, file)
    if not is_number(order.options.executor, native):
        raise StriderError(
            f"unknown number of the submitted job, {shortened(native)}: look for it at the scheduler, and "
            "cancel it there",
            ExitCode.CANNOT_RUN,
        )
    return native


def _with_number(job: Job, native: str) -> Job:
    """Returns a job with one more number, and on which host or cluster that is one."""
    from strider.jobs.schedulers import cluster_name

    record = job.record
    update: dict[str, object] = {"numbers": [*record.numbers, native]}
    if record.options.executor == "local":
        process = identify(int(native), _PROCESS)
        update |= {"process": process, "boot": boot_id(), "host": socket.gethostname()}
    elif not record.numbers:
        update["cluster"] = cluster_name(record.options.executor)
    return replace(job, record=record.model_copy(update=update))


def _placed(script: str, job: Job) -> str:
    """Returns an edited script with this job's folder in place of `JOB`.

    Raises:
        StriderError: It is not a script of this store.
    """
    place = f"{folder_of(job.store)}/{PLACE}"
    if len(script) > _MOST_SCRIPT_BYTES or "\0" in script or not script.startswith("#!"):
        raise StriderError("--script: not a script: begin with that of strider submit --show")
    if place not in script:
        raise StriderError(
            f"--script: {place} is not in it, so it would not start this job: begin with the script of "
            "strider submit --show, with the same --store"
        )
    return re.sub(rf"{re.escape(place)}\b", str(job.folder), script)


def _described(order: Order, job: Job, number: int, earlier: Sequence[str]) -> "PsijJob":
    """Returns the k-th job of the scheduler as PSI/J describes it."""
    from psij import Job as PsijJob
    from psij import JobAttributes, JobSpec, ResourceSpecV1

    options = order.options
    output, errors = job.outputs(number)
    attributes = JobAttributes(
        queue_name=options.partition or None,
        account=options.account or None,
        reservation_id=options.reservation or None,
        custom_attributes=_further(order, earlier),
    )
    if options.time_s:
        attributes.duration = timedelta(seconds=options.time_s)
    else:
        _require_own_time(options.executor)
        # PSI/J's own default is 10 minutes; None leaves the time to the scheduler.
        vars(attributes)["duration"] = None
    words = ["-I", "-m", "strider", "run", str(job.suite), *order.words]
    launcher = launcher_of(options.executor, order.launcher)
    words += ["--launcher", launcher, "--store", str(job.store), "--job", str(job.folder), "--quiet"]
    return PsijJob(
        JobSpec(
            executable=sys.executable,
            arguments=words,
            directory=Path.cwd() if _SAFE_PATH.fullmatch(str(Path.cwd())) else job.folder,
            stdout_path=output,
            stderr_path=errors,
            # For a process here, PSI/J would write a list of nodes into a temporary file, and leave it.
            resources=None
            if options.executor == "local"
            else ResourceSpecV1(
                node_count=options.nodes, processes_per_node=options.on_each_node(order.ranks)
            ),
            attributes=attributes,
        )
    )


def _require_own_time(executor: str) -> None:
    """Refuses an executor that needs a time.

    Raises:
        StriderError: PSI/J needs one for this executor.
    """
    if executor in ("lsf", "flux"):
        raise StriderError(f"--executor {executor} needs --time")


def _further(order: Order, earlier: Sequence[str]) -> dict[str, object]:
    """Returns attributes that PSI/J passes on as they are: the name, which its own templates do not render.

    A part waits for the end of the one before, however that comes.
    """
    options, name = order.options, f"strider-{order.suite}"
    last = f"afterany:{earlier[-1]}" if earlier else ""
    match options.executor:
        case "slurm":
            more = {"dependency": last, "qos": options.qos, "constraint": options.constraint}
            return {"slurm.job-name": name, **{f"slurm.{key}": word for key, word in more.items() if word}}
        case "pbs":
            return {"pbs.N": name, **({"pbs.W": f"depend={last}"} if last else {})}
        case "lsf":
            return {"lsf.J": name}
    return {}


def _withdraw(job: Job) -> list[str]:
    """Takes back what was submitted, the last first, and removes the folder.

    Returns:
        Numbers that stay at the scheduler, because it refuses. They end when they begin: they find no folder.
    """
    left = []
    for number in reversed(job.record.numbers):
        try:
            end_part(job, number)
        except StriderError:
            left.append(number)
    shutil.rmtree(job.folder, ignore_errors=True)
    return left


def _with_left(error: StriderError, left: Sequence[str]) -> StriderError:
    """Returns an error with the jobs that could not be withdrawn."""
    if not left:
        return error
    numbers = ", ".join(left)
    return StriderError(
        f"{error.message}; not withdrawn: {numbers}: cancel them at the scheduler", error.exit_code
    )

"""Submits a suite as a job: its folder, its scripts, and one or more jobs of the scheduler."""

import re
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from strider.errors import StriderError
from strider.jobs.options import JobOptions
from strider.jobs.record import Job, Record, cannot_write, folder_of, new_folder
from strider.launch.rundir import new_run_id
from strider.processes import boot_id, identify

if TYPE_CHECKING:
    from psij import Job as PsijJob

    from strider.jobs.schedulers import Scheduler

LAUNCHERS = {"slurm": "srun"}
"""Launcher of the ranks within an allocation; `mpiexec` where none is named."""
PLACE = "JOB"
"""Stands for a job's folder in the scripts that `strider submit --show` prints."""
_PROCESS = "strider run"
_SAFE_PATH = re.compile(r"[A-Za-z0-9@%+=:,./_-]+")
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_MOST_SCRIPT_BYTES = 1 << 20


@dataclass(frozen=True)
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
    """
    from strider.jobs.executors import scheduler

    job = _job(order, folder_of(store) / PLACE)
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
    cluster = None
    try:
        job.folder.mkdir(parents=True, mode=0o700)
        job.suite.write_text(order.text, encoding="utf-8")
        cluster = scheduler(order.options.executor, job.folder)
        for number in range(1, order.jobs + 1):
            job = _submit_part(order, job, number, cluster, edit)
        return job
    except OSError as error:
        _withdraw(job, cluster)
        raise cannot_write(job.folder, error) from error
    except BaseException:
        _withdraw(job, cluster)
        raise


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
) -> Job:
    """Submits the k-th job of the scheduler, which waits for the end of the one before."""
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
    update: dict[str, object] = {"numbers": [*job.record.numbers, native]}
    if order.options.executor == "local":
        process = identify(int(native), _PROCESS)
        update |= {"process": process, "boot": boot_id(), "host": socket.gethostname()}
    job = replace(job, record=job.record.model_copy(update=update))
    job.keep()
    return job


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
        custom_attributes=_further(order, earlier),
    )
    if options.time_s:
        attributes.duration = timedelta(seconds=options.time_s)
    else:
        _require_own_time(options.executor)
        # PSI/J's own default is 10 minutes; None leaves the time to the scheduler.
        vars(attributes)["duration"] = None
    words = ["-I", "-m", "strider", "run", str(job.suite), *order.words]
    launcher = order.launcher or LAUNCHERS.get(options.executor, "mpiexec")
    words += ["--launcher", launcher, "--store", str(job.store), "--job", str(job.folder), "--quiet"]
    return PsijJob(
        JobSpec(
            executable=sys.executable,
            arguments=words,
            directory=Path.cwd() if _SAFE_PATH.fullmatch(str(Path.cwd())) else job.folder,
            stdout_path=output,
            stderr_path=errors,
            resources=ResourceSpecV1(
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
    name = f"strider-{order.suite}"
    last = f"afterany:{earlier[-1]}" if earlier else ""
    match order.options.executor:
        case "slurm":
            return {"slurm.job-name": name, **({"slurm.dependency": last} if last else {})}
        case "pbs":
            return {"pbs.N": name, **({"pbs.W": f"depend={last}"} if last else {})}
        case "lsf":
            return {"lsf.J": name}
    return {}


def _withdraw(job: Job, cluster: "Scheduler | None") -> None:
    """Takes back what was submitted, the last first, and removes the folder."""
    for number in reversed(job.record.numbers):
        if cluster:
            cluster.cancel(number)
    shutil.rmtree(job.folder, ignore_errors=True)

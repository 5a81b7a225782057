"""`strider submit`: hands a suite to the scheduler of a cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import Without, grouped
from strider.console import echo
from strider.errors import ExitCode, StriderError
from strider.running.options import RankOptions, RunOptions, StoreOption, SuiteOptions

if TYPE_CHECKING:
    from strider.jobs import Job, JobOptions, Order, Reservation
    from strider.launch.launchers import Places

OptionalSuite = Annotated[
    str | None,
    typer.Argument(metavar="[SUITE]", help="Suite file, or name of a predefined suite; none with --resume."),
]
ResumeOption = Annotated[
    str,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Measure what is missing in this run, with its suite, target, clients and launcher.",
    ),
]
TimeOption = Annotated[
    str,
    typer.Option(
        "--time",
        "-t",
        metavar="TIME",
        help="Time of a job: 30m, 2h, 1:30:00 or minutes (default: the scheduler's). A suite that does "
        "not fit becomes several jobs.",
    ),
]
PartitionOption = Annotated[
    str, typer.Option("--partition", "--queue", "-p", metavar="NAME", help="Partition or queue.")
]
AccountOption = Annotated[
    str, typer.Option("--account", "-A", metavar="NAME", help="Account or project that pays.")
]
QosOption = Annotated[str, typer.Option("--qos", metavar="NAME", help="Quality of service of Slurm.")]
ConstraintOption = Annotated[
    str,
    typer.Option(
        "--constraint", "-C", metavar="FEATURES", help="Features that the nodes must have, on Slurm."
    ),
]
ReservationOption = Annotated[
    str, typer.Option("--reservation", metavar="NAME", help="Reservation whose nodes the job uses.")
]
ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Scheduler: slurm, pbs, lsf, flux, or local for a process of this machine (default: the "
        "first that is installed).",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        max=1000,
        help="Most jobs that resume one another until the suite is complete (default: twice the number "
        "that the estimate needs, at most 20). Slurm and PBS only.",
    ),
]
MarginOption = Annotated[
    str,
    typer.Option(
        "--margin",
        metavar="TIME",
        help="Part of --time that each job keeps for its start and end (default: 10 %, at least 1 min, "
        "at most half).",
    ),
]
BatchLauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher", metavar="NAME", help="Launcher of the ranks (default: srun with slurm, or mpiexec)."
    ),
]
ShowOption = Annotated[bool, typer.Option("--show", help="Print the script and submit nothing.")]
ScriptOption = Annotated[
    Path | None,
    typer.Option(
        "--script",
        metavar="FILE",
        help="Submit this script, an edited output of --show, as it is; JOB in its paths becomes the "
        "folder of the job.",
    ),
]
EditOption = Annotated[
    bool, typer.Option("--edit", help="Edit the script with $VISUAL or $EDITOR before it is submitted.")
]


@grouped
def submit(
    *,
    suite: OptionalSuite = None,
    resume: ResumeOption = "",
    changes: SuiteOptions,
    ranks: Annotated[RankOptions, Without("launcher", "hosts", "hostfile")],
    time: TimeOption = "",
    partition: PartitionOption = "",
    account: AccountOption = "",
    qos: QosOption = "",
    constraint: ConstraintOption = "",
    reservation: ReservationOption = "",
    executor: ExecutorOption = "",
    jobs: JobsOption = None,
    margin: MarginOption = "",
    launcher: BatchLauncherOption = "",
    show: ShowOption = False,
    script: ScriptOption = None,
    edit: EditOption = False,
    store: StoreOption = None,
) -> None:
    """Submit a suite to Slurm, PBS, LSF or Flux, and print the job and the run.

    The job is strider run within an allocation. Follow it with strider watch, end it with strider cancel.
    Its script, suite and output are kept in the store, in .batch/JOB. If the suite does not fit --time, each
    job measures what fits, and the next one resumes the run.
    """
    from strider.jobs import parse_options
    from strider.jobs import submit as submit_order
    from strider.jobs.executors import found
    from strider.listing.names import store_of

    place = store_of(store).absolute()
    places = ranks.places()
    options = parse_options(
        executor=executor or found(),
        time=time,
        margin=margin,
        partition=partition,
        account=account,
        qos=qos,
        constraint=constraint,
        reservation=reservation,
    )
    if resume:
        _refuse_beside_resume(
            suite=suite,
            target=changes.target,
            clients=changes.clients,
            set=changes.settings,
            launcher=launcher,
        )
        order = _continuation(resume, place, options, jobs, places)
    elif suite:
        asked = RunOptions.of(changes, launcher=launcher, places=places)
        order = _order(suite, asked, options, jobs)
    else:
        raise StriderError("name a suite, or a run with --resume RUN")
    if show:
        _show(order, place)
        return
    if script is not None:
        from dataclasses import replace

        from strider.text_file import read_text

        if order.jobs > 1:
            raise StriderError("--script submits one job: raise --time, or add --jobs 1")
        order = replace(order, script=read_text(script))
    _print_submitted(submit_order(order, place, _edit if edit else None))


def _print_submitted(job: "Job") -> None:
    """Prints the id, the numbers and the run of a job."""
    count = len(job.record.numbers)
    numbers = ", ".join(job.record.numbers)
    echo(f"submitted job {job.id}: {job.record.options.executor} {numbers}, run {job.record.run}")
    if count > 1:
        echo(f"{count} jobs resume one another; those not needed are withdrawn at the end")
    echo(f"follow it: strider watch {job.id}; end it: strider cancel {job.id}")


def _order(suite: str, asked: "RunOptions", options: "JobOptions", jobs: int | None) -> "Order":
    """Returns the checked suite with what it needs.

    Raises:
        StriderError: The suite or an option is invalid.
    """
    from strider import engine as engines
    from strider.jobs import Order, estimated_s, jobs_needed, reserve
    from strider.launch import check_target
    from strider.launch.launchers import Places
    from strider.running.prepared import changes_of
    from strider.running.sizing import with_chosen_sizes, without_probe
    from strider.suite import load, locate
    from strider.suite.sizes import probed_key

    engine = engines.find()
    places = asked.places or Places()
    loaded = load(locate(suite), engine.description, changes_of(asked))
    reserved = reserve(loaded, options, places, asked.launcher)
    _tell(reserved)
    # Sizes "auto" are chosen in the job, by a probe there.
    is_open = bool(probed_key(loaded))
    sized = without_probe(loaded, engine) if is_open else with_chosen_sizes(loaded, engine, RunOptions())
    checked = sized.checked
    place = str(check_target(checked.suite.plan.target))
    words = ["--target", place]
    words += ["--clients", asked.clients] if asked.clients else []
    words += [word for setting in asked.settings for word in ("--set", setting)]
    return Order(
        suite=checked.suite.plan.suite.name,
        text=loaded.document.text,
        ranks=reserved.ranks,
        options=reserved.options,
        words=[*words, *places.words],
        launcher=asked.launcher,
        jobs=jobs_needed(reserved.options, estimated_s(checked), jobs),
    )


def _tell(reserved: "Reservation") -> None:
    """Prints a note on places of a job that stay idle."""
    import sys

    if reserved.note:
        echo(f"note: {reserved.note}", stream=sys.stderr)


def _refuse_beside_resume(**typed: object) -> None:
    given = [name for name, value in typed.items() if value]
    if given:
        names = " and ".join("a suite" if name == "suite" else f"--{name}" for name in given)
        raise StriderError(f"--resume takes these from the run: leave out {names}")


def _continuation(
    name: str, store: Path, options: "JobOptions", jobs: int | None, typed: "Places"
) -> "Order":
    """Returns a run that lacks repetitions with what it needs.

    Raises:
        StriderError: It is complete, under way, or cannot be resumed.
    """
    from strider.jobs import Order, condition, estimated_s, find, has_ended_last, jobs_needed, reserve
    from strider.launch.rundir import RunDirectory
    from strider.running.resuming import places_again, require_missing
    from strider.store import resolve

    path = resolve(store, name).resolve()
    if path.parent != store.resolve():
        raise StriderError(f"{path} is not in the store {store}: add --store {path.parent}")
    directory = RunDirectory(path.name, path)
    before = find(store, directory.run)
    if before is not None and not (now := condition(before)).is_over:
        raise StriderError(
            f"job {before.id} of this run is {now.state}: wait for its end, or strider cancel {before.id}"
        )
    is_over = before is not None and has_ended_last(before)
    info, checked = require_missing(directory, is_over=is_over)
    plan = checked.suite.plan
    launcher = str(info["options"]["launcher"])
    reserved = reserve(checked.suite, options, places_again(typed, info["options"]), launcher)
    _tell(reserved)
    return Order(
        suite=plan.suite.name,
        text=checked.suite.document.text,
        ranks=plan.ranks,
        options=reserved.options,
        words=["--target", plan.target, *typed.words],
        launcher=launcher,
        jobs=jobs_needed(reserved.options, estimated_s(checked), jobs),
        run=directory.run,
        last_process=info.get("process") or {},
    )


def _show(order: "Order", store: Path) -> None:
    """Prints the script of a job."""
    import sys
    import tempfile

    from strider.jobs import example

    with tempfile.TemporaryDirectory(prefix="strider-script-") as folder:
        sys.stdout.write(example(order, store, Path(folder)))


def _edit(file: Path) -> None:
    """Opens a script in the user's editor.

    Raises:
        StriderError: There is none, or it fails.
    """
    import os
    import shlex
    import subprocess

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise StriderError(f"cannot start the editor {editor}: set EDITOR", ExitCode.CANNOT_RUN) from error
    if done.returncode:
        raise StriderError(f"the editor ended with {done.returncode}: nothing is submitted")

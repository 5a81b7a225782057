"""Options that several verbs have, each described once."""

from pathlib import Path
from typing import Annotated

import typer

LATEST = "latest"
"""The name of the latest run of a store."""

SuiteArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUITE", help="Suite file, or the name of a ready-made suite such as thesis-2009."
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]", help="Run id, the unique beginning of one, a run directory; else the latest."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change the suite: case.transfer=1MiB,4MiB in all cases with that key, suite.seed=2 in [suite]. "
        "May be repeated.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="DIR", help="Directory to measure, instead of the suite's target."),
]
ClientsOption = Annotated[
    str | None,
    typer.Option("--clients", "-n", metavar="N[,N…]", help="Numbers of clients, instead of the suite's."),
]
LauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help='How ranks are started: mpiexec, srun, or a command with {ranks} in it: "aprun -n {ranks}".',
    ),
]
CountersOption = Annotated[
    str,
    typer.Option(
        "--counters",
        metavar="SCOPE",
        help="What each node counts around each phase: none, basic (CPU, kernel, memory, disks, network) or "
        "all (InfiniBand and clients of file systems too).",
    ),
]
CeilingsOption = Annotated[
    str,
    typer.Option(
        "--ceilings",
        metavar="SCOPE",
        help="What is measured of the machine itself before the cases, in a few seconds: all (memory, "
        "generating and checking data, requests, network, device) or none. strider show --limits uses it.",
    ),
]
ObserveOption = Annotated[
    str | None,
    typer.Option(
        "--observe",
        metavar="HOST[,HOST…]",
        help="Count on these machines too, such as storage servers, over ssh: [user@]host[:port]. "
        "strider show --counters shows it.",
    ),
]
ObserveEngineOption = Annotated[
    str,
    typer.Option("--observe-engine", metavar="PATH", help="Where strider-engine is on these machines."),
]
TimelineOption = Annotated[
    str,
    typer.Option(
        "--timeline",
        metavar="SCOPE",
        help="Whose rate and latency over time are kept: none, node (the sum of its ranks), rank, or auto "
        "(rank up to 64 clients, else node).",
    ),
]
TimelineIntervalOption = Annotated[
    str,
    typer.Option(
        "--timeline-interval",
        metavar="TIME",
        help="Length of a timeline's intervals; it doubles when a phase has more than 600.",
    ),
]
RemountOption = Annotated[
    str | None,
    typer.Option(
        "--remount-command",
        metavar="COMMAND",
        help="Program and arguments that unmount and mount the target; run on each node before a case with "
        'cache = "cold" reads. Words are split as a shell does, but no shell is run.',
    ),
]
ConfineOption = Annotated[
    str,
    typer.Option(
        "--confine",
        metavar="auto|require|off",
        help="Keep the ranks from writing outside of the run's folder: if the kernel can (auto), or else run "
        "not at all (require).",
    ),
]
WithinOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--within",
        metavar="DIR",
        help="Refuse a target that is not this directory or below it, links followed. May be repeated.",
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="Where runs are kept: else $STRIDER_STORE, else ./strider-runs.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
TasksOption = Annotated[
    int,
    typer.Option("--tasks", "--clients", "-n", metavar="N", min=1, help="Number of tasks, as for mpiexec."),
]
TasksPerNodeOption = Annotated[
    int | None,
    typer.Option(
        "--tasks-per-node",
        metavar="K",
        min=1,
        help="Consecutive tasks on each node, for IOR's -C and mdtest's -N: else what Slurm says, else all.",
    ),
]
WriteSuiteOption = Annotated[
    Path | None,
    typer.Option("--suite", metavar="FILE", help="Write the equivalent suite instead of running it."),
]

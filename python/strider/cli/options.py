"""Options shared by several verbs."""

from pathlib import Path
from typing import Annotated

import typer

LATEST = "latest"
"""Name of the latest run of a store."""

SuiteArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        help="Suite file, or name of a predefined suite: sequential, random, interfaces, mixed, metadata, "
        "load, … (all: strider describe suites).",
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(metavar="[RUN]", help="Run id, unique prefix of one, or run directory (default: latest)."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a suite key: case.transfer=1MiB,4MiB in all cases that have it, suite.seed=2 in "
        "[suite]. May be repeated.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="DIR", help="Directory to measure (default: the suite's target)."),
]
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="DIR[,DIR…]",
        help="Directory to measure (default: the suite's target). Several are measured alternately, "
        "in one run: each round has one repetition of all cases in each. May be repeated.",
    ),
]
ClientsOption = Annotated[
    str | None,
    typer.Option(
        "--clients", "-n", metavar="N[,N…]", help="Client counts, for example 1,4,16 (default: the suite's)."
    ),
]
LauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help="Launcher of the ranks: mpiexec, srun, pals, flux, jsrun, or a command that contains {ranks}, "
        'for example "aprun -n {ranks}"; also {nodes}, {per_node}, {hosts}.',
    ),
]
HostsOption = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="HOST[:N][,HOST…]",
        help="Hosts of the ranks, in the order of ranks; N: ranks of a host (default: as many on each).",
    ),
]
HostfileOption = Annotated[
    Path | None,
    typer.Option(
        "--hostfile",
        metavar="FILE",
        help="File with a host on each line: HOST, HOST:N or HOST slots=N; # begins a comment.",
    ),
]
NodesOption = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        "-N",
        metavar="N",
        min=1,
        max=1_000_000,
        help="Number of nodes: the first N hosts, or N of the allocation (default: as many as the cases "
        "need, or all hosts).",
    ),
]
PerNodeOption = Annotated[
    int | None,
    typer.Option(
        "--per-node",
        metavar="M",
        min=1,
        max=1_000_000,
        help="Ranks on each node. With --nodes N and without -n, the run has N times M clients.",
    ),
]
BindOption = Annotated[
    str | None,
    typer.Option(
        "--bind",
        metavar="none|core|numa",
        help="Bind each rank to a core, to the cores of a NUMA node, or to none (default: as the launcher "
        "does).",
    ),
]
CountersOption = Annotated[
    str,
    typer.Option(
        "--counters",
        metavar="SCOPE",
        help="Node counters to record in each phase: none, basic (CPU, kernel, memory, disks, network) or "
        "all (also InfiniBand and file system clients).",
    ),
]
CeilingsOption = Annotated[
    str,
    typer.Option(
        "--ceilings",
        metavar="SCOPE",
        help="Machine ceilings to measure before the cases, in a few seconds: all (memory, data "
        "generation and verification, requests, network, device) or none. Used by strider show "
        "--limits.",
    ),
]
ObserveOption = Annotated[
    str | None,
    typer.Option(
        "--observe",
        metavar="HOST[,HOST…]",
        help="Also record counters on these machines by ssh, for example storage servers: "
        "[user@]host[:port]. Shown by strider show --counters.",
    ),
]
ObserveEngineOption = Annotated[
    str,
    typer.Option("--observe-engine", metavar="PATH", help="Path of strider-engine on these machines."),
]
TimelineOption = Annotated[
    str,
    typer.Option(
        "--timeline",
        metavar="SCOPE",
        help="Record rate and latency over time: none, node (sum of its ranks), rank, or auto (rank up to "
        "64 clients, node above). With rank, each rank also has a row of its own above 64 clients.",
    ),
]
PerRankOption = Annotated[
    Path | None,
    typer.Option(
        "--per-rank",
        metavar="FILE",
        help="Also write bytes, requests and times of each rank in each phase to this new netCDF file, in a "
        "folder that all nodes share, outside of the target. Other results do not grow with the ranks.",
    ),
]
TimelineIntervalOption = Annotated[
    str,
    typer.Option(
        "--timeline-interval",
        metavar="TIME",
        help="Initial timeline interval; doubled when a phase exceeds 600 intervals.",
    ),
]
RemountOption = Annotated[
    str | None,
    typer.Option(
        "--remount-command",
        metavar="COMMAND",
        help="Command that unmounts and remounts the target. Runs on each node before the reads of a case "
        'with cache = "cold". Quoted as for a shell, but run without one.',
    ),
]
ConfineOption = Annotated[
    str,
    typer.Option(
        "--confine",
        metavar="auto|require|off",
        help="Prevent the ranks from writing outside the run's folder: auto (if the kernel supports it), "
        "require (refuse to run without it), or off.",
    ),
]
WithinOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--within",
        metavar="DIR",
        help="Refuse a target outside this directory, after resolving symbolic links. May be repeated.",
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="Directory of the runs (default: $STRIDER_STORE, or ./strider-runs).",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
TasksOption = Annotated[
    int | None,
    typer.Option(
        "--tasks",
        "--clients",
        "-n",
        metavar="N",
        min=1,
        help="Number of tasks, as in mpiexec -n (default: nodes times ranks per node, or 1).",
    ),
]
TasksPerNodeOption = Annotated[
    int | None,
    typer.Option(
        "--tasks-per-node",
        metavar="K",
        min=1,
        help="Consecutive tasks per node, for IOR -C and mdtest -N (default: from Slurm, or all).",
    ),
]
WriteSuiteOption = Annotated[
    Path | None,
    typer.Option("--suite", metavar="FILE", help="Write the equivalent suite instead of running it."),
]

"""Options of runs, in groups that verbs share: each is declared here, once, as Typer takes it."""

from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

if TYPE_CHECKING:
    from strider.launch.launchers import Places


class FailOn(StrEnum):
    """Conditions that fail a comparison."""

    SLOWER = "slower"
    DIFFERENT = "different"
    UNPROVEN = "unproven"
    INCOMPARABLE = "incomparable"


LauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help="Launcher of the ranks: mpiexec, srun, pals, flux, jsrun, or a command that contains {ranks}, "
        'for example "aprun -n {ranks}"; also {nodes}, {per_node}, {hosts}.',
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


class Group:
    """Options of one concept. A verb takes them as one parameter (`strider.cli.grouped`)."""

    def values(self) -> dict[str, Any]:
        """Returns the values of the fields of `RunOptions`, by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class SuiteOptions(Group):
    """Changes of the suite."""

    target: Annotated[
        str | None,
        typer.Option("--target", metavar="DIR", help="Directory to measure (default: the suite's target)."),
    ] = None
    clients: Annotated[
        str | None,
        typer.Option(
            "--clients",
            "-n",
            metavar="N[,N…]",
            help="Client counts, for example 1,4,16 (default: the suite's).",
        ),
    ] = None
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a suite key: case.transfer=1MiB,4MiB in all cases that have it, suite.seed=2 in "
            "[suite]. May be repeated.",
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RankOptions(Group):
    """Launcher, number and places of the ranks."""

    launcher: LauncherOption = "mpiexec"
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts",
            metavar="HOST[:N][,HOST…]",
            help="Hosts of the ranks, in the order of ranks; N: ranks of a host (default: as many on each).",
        ),
    ] = None
    hostfile: Annotated[
        Path | None,
        typer.Option(
            "--hostfile",
            metavar="FILE",
            help="File with a host on each line: HOST, HOST:N or HOST slots=N; # begins a comment.",
        ),
    ] = None
    nodes: Annotated[
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
    ] = None
    per_node: Annotated[
        int | None,
        typer.Option(
            "--per-node",
            metavar="M",
            min=1,
            max=1_000_000,
            help="Ranks on each node. With --nodes N and without -n, the run has N times M clients.",
        ),
    ] = None
    bind: Annotated[
        str | None,
        typer.Option(
            "--bind",
            metavar="none|core|numa",
            help="Bind each rank to a core, to the cores of a NUMA node, or to none (default: as the "
            "launcher does).",
        ),
    ] = None

    def places(self) -> "Places":
        """Returns the places of the ranks.

        Raises:
            StriderError: They contradict one another, or the host file is damaged.
        """
        from strider.launch.launchers import places_of

        return places_of(self.hosts, self.hostfile, self.nodes, self.per_node, self.bind)

    def values(self) -> dict[str, Any]:
        """Returns the launcher and the places."""
        return {"launcher": self.launcher, "places": self.places()}


@dataclass(frozen=True, kw_only=True)
class RecordOptions(Group):
    """Records besides the results."""

    counters: Annotated[
        str,
        typer.Option(
            "--counters",
            metavar="SCOPE",
            help="Node counters to record in each phase: none, basic (CPU, kernel, memory, disks, network) "
            "or all (also InfiniBand and file system clients).",
        ),
    ] = "all"
    ceilings: Annotated[
        str,
        typer.Option(
            "--ceilings",
            metavar="SCOPE",
            envvar="STRIDER_CEILINGS",
            help="Machine ceilings to measure before the cases, in a few seconds: all (memory, data "
            "generation and verification, requests, network, device) or none. Used by strider show "
            "--limits.",
        ),
    ] = "all"
    observe: Annotated[
        str | None,
        typer.Option(
            "--observe",
            metavar="HOST[,HOST…]",
            help="Also record counters on these machines by ssh, for example storage servers: "
            "[user@]host[:port]. Shown by strider show --counters.",
        ),
    ] = None
    observe_engine: Annotated[
        str,
        typer.Option("--observe-engine", metavar="PATH", help="Path of strider-engine on these machines."),
    ] = "strider-engine"
    timeline: Annotated[
        str,
        typer.Option(
            "--timeline",
            metavar="SCOPE",
            help="Record rate and latency over time: none, node (sum of its ranks), rank, or auto (rank up "
            "to 64 clients, node above). With rank, each rank also has a row of its own above 64 clients.",
        ),
    ] = "auto"
    timeline_interval: Annotated[
        str,
        typer.Option(
            "--timeline-interval",
            metavar="TIME",
            help="Initial timeline interval; doubled when a phase exceeds 600 intervals.",
        ),
    ] = "100ms"
    per_rank: Annotated[
        Path | None,
        typer.Option(
            "--per-rank",
            metavar="FILE",
            help="Also write bytes, requests and times of each rank in each phase to this new netCDF file, "
            "in a folder that all nodes share, outside of the target. Other results do not grow with the "
            "ranks.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AccessOptions(Group):
    """Access to the target."""

    remount_command: Annotated[
        str | None,
        typer.Option(
            "--remount-command",
            metavar="COMMAND",
            help="Command that unmounts and remounts the target. Runs on each node before the reads of a "
            'case with cache = "cold". Quoted as for a shell, but run without one.',
        ),
    ] = None
    confine: ConfineOption = "auto"
    within: Annotated[
        list[Path],
        typer.Option(
            "--within",
            metavar="DIR",
            help="Refuse a target outside this directory, after resolving symbolic links. May be repeated.",
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class OutputOptions(Group):
    """Where results go."""

    store: StoreOption = None
    quiet: QuietOption = False
    json: JsonOption = False
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            envvar="STRIDER_REPORT",
            help="Write report.html and Parquet tables after the measurement. Without it, strider report and "
            "strider export write them later.",
        ),
    ] = True


@dataclass(frozen=True, kw_only=True)
class VerdictOptions(Group):
    """Conditions and output of a comparison."""

    threshold: Annotated[
        str,
        typer.Option(
            "--threshold", metavar="SHARE", help="Ignore differences smaller than this, for example 5%."
        ),
    ] = "0%"
    fail_on: Annotated[
        list[FailOn],
        typer.Option(
            "--fail-on",
            help="Exit with code 1 if an operation is slower, different (slower or faster), unproven "
            "(may be slower by the threshold or more), or incomparable. May be repeated.",
        ),
    ] = field(default_factory=list)
    page: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Also write an HTML page with charts."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(SuiteOptions, RecordOptions, AccessOptions, OutputOptions):
    """Options of a run from the command line.

    Attributes:
        launcher: Name of the launcher.
        places: Where the ranks may be; None: as the launcher chooses.
        run_id: Id of the run, known before; empty for a new one.
    """

    launcher: str = "mpiexec"
    places: "Places | None" = None
    run_id: str = ""

    @classmethod
    def of(cls, *groups: Group, **others: Any) -> Self:  # noqa: ANN401 - those of the fields
        """Returns the options of some groups; others, by name, are added or replace them."""
        values = {name: value for group in groups for name, value in group.values().items()}
        return cls(**(values | others))

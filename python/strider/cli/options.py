"""Options shared by several verbs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from strider.running.options import Group

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
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="DIR[,DIR…]",
        help="Directory to measure (default: the suite's target). Several are measured alternately, "
        "in one run: each round has one repetition of all cases in each. May be repeated.",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="List what would be removed; remove nothing.")]


@dataclass(frozen=True, kw_only=True)
class TaskOptions(Group):
    """Tasks of another benchmark, and a suite to write."""

    tasks: Annotated[
        int | None,
        typer.Option(
            "--tasks",
            "--clients",
            "-n",
            metavar="N",
            min=1,
            help="Number of tasks, as in mpiexec -n (default: nodes times ranks per node, or 1).",
        ),
    ] = None
    tasks_per_node: Annotated[
        int | None,
        typer.Option(
            "--tasks-per-node",
            metavar="K",
            min=1,
            help="Consecutive tasks per node, for IOR -C and mdtest -N (default: from Slurm, or all).",
        ),
    ] = None
    suite: Annotated[
        Path | None,
        typer.Option("--suite", metavar="FILE", help="Write the equivalent suite instead of running it."),
    ] = None

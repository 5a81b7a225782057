"""`strider resume`: measures what a run has not measured yet."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import Without, grouped
from strider.cli.options import LATEST, RunArgument
from strider.errors import StriderError
from strider.running.options import OutputOptions, RankOptions

if TYPE_CHECKING:
    pass


@grouped
def resume(
    *,
    run: RunArgument = LATEST,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Also resume if the machine, the target or the engine is not the same; record the "
            "differences in the run.",
        ),
    ] = False,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="TIME",
            help="Begin no repetition that would end later, such as 60s or 10min; 0: no limit (default: what "
            "the run has left of its time limit; if nothing, the same again).",
        ),
    ] = None,
    ranks: Annotated[RankOptions, Without("launcher")],
    order: Annotated[str | None, typer.Option("--order", hidden=True)] = None,
    confine: Annotated[str | None, typer.Option("--confine", hidden=True)] = None,
    within: Annotated[list[Path] | None, typer.Option("--within", hidden=True)] = None,
    output: OutputOptions,
) -> None:
    """Measure what is missing in a run that was cut, in the same plan and order.

    Continues a run after Ctrl-C, a time limit, a lost node, a power cut or a kill. Repetitions that were not
    complete are measured again; each result counts once. The report shows the cut. If host, cores, memory,
    target, file system or engine differ from those of the run, nothing is measured. Hosts are those of the
    run, unless others are named.
    """
    from strider.launch.rundir import RunDirectory
    from strider.listing.names import store_of
    from strider.running.resuming import ResumeOptions, resume_directory
    from strider.store import resolve

    path = resolve(store_of(output.store), run).absolute()
    asked = ResumeOptions(
        limit_s=_seconds(time_limit),
        places=ranks.places(),
        confine=confine,
        within=within or [],
        anyway=anyway,
    )
    resume_directory(RunDirectory(path.name, path), asked, output)


def _seconds(text: str | None) -> float | None:
    """Returns the time of `--time-limit`.

    Raises:
        StriderError: It is no time.
    """
    from strider.units import parse_seconds

    if text is None:
        return None
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise StriderError(f"--time-limit {text}: {error}") from error

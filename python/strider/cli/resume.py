"""`strider resume`: measures what a run has not measured yet."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strider.cli.console import echo, error_console
from strider.cli.options import (
    LATEST,
    BindOption,
    HostfileOption,
    HostsOption,
    JsonOption,
    NodesOption,
    PerNodeOption,
    QuietOption,
    RunArgument,
    StoreOption,
)
from strider.errors import StriderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strider.cli.running import Prepared
    from strider.engine import Engine
    from strider.launch import Resumption
    from strider.launch.earlier import Earlier
    from strider.launch.launchers import Places
    from strider.launch.rundir import RunDirectory
    from strider.suite import Plan
    from strider.suite.checked import CheckedPlan

_REMEDY = "start a new run with strider run"


def resume(
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
    hosts: HostsOption = None,
    hostfile: HostfileOption = None,
    nodes: NodesOption = None,
    per_node: PerNodeOption = None,
    bind: BindOption = None,
    order: Annotated[str | None, typer.Option("--order", hidden=True)] = None,
    confine: Annotated[str | None, typer.Option("--confine", hidden=True)] = None,
    within: Annotated[list[Path] | None, typer.Option("--within", hidden=True)] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure what is missing in a run that was cut, in the same plan and order.

    Continues a run after Ctrl-C, a time limit, a lost node, a power cut or a kill. Repetitions that were not
    complete are measured again; each result counts once. The report shows the cut. If host, cores, memory,
    target, file system or engine differ from those of the run, nothing is measured. Hosts are those of the
    run, unless others are named.
    """
    from strider.launch.launchers import places_of
    from strider.launch.rundir import RunDirectory
    from strider.listing.names import store_of
    from strider.store import resolve

    path = resolve(store_of(store), run).absolute()
    resume_directory(
        RunDirectory(path.name, path),
        _seconds(time_limit),
        places_of(hosts, hostfile, nodes, per_node, bind),
        confine,
        within,
        anyway=anyway,
        quiet=quiet,
        json=json,
    )


def resume_directory(
    directory: "RunDirectory",
    typed_s: float | None = None,
    places: "Places | None" = None,
    confine: str | None = None,
    within: list[Path] | None = None,
    *,
    anyway: bool = False,
    is_over: bool = False,
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Continues a run; see `resume`.

    Args:
        directory: The run's directory.
        typed_s: Time limit of this start in seconds; None if not given.
        places: Where the ranks may be; None: as in the run.
        confine: Whether the ranks are confined; None: as in the run.
        within: Directories that may contain the target; None: those of the run.
        anyway: Whether conditions may differ.
        is_over: Whether a scheduler has ended the last start, on whichever node it was.
        quiet: Whether to hide progress.
        json: Whether to print JSON.

    Raises:
        StriderError: The run cannot be resumed.
    """
    from strider.cli.running import RunOptions, conduct, tell_sizes
    from strider.launch.launchers import Places
    from strider.launch.ownership import require_own
    from strider.launch.resume import claimed

    require_own(directory)
    console = error_console()
    with claimed(directory, is_over=is_over):
        prepared = _prepared(
            directory, typed_s, places or Places(), confine, within, anyway=anyway, is_over=is_over
        )
        if prepared is None:
            echo(f"{directory.run} is complete: nothing is missing")
            return
        tell_sizes([_told(prepared.resumption)] if prepared.resumption else [], console)
        conduct(prepared, RunOptions(quiet=quiet, json=json))


def _prepared(
    directory: "RunDirectory",
    typed_s: float | None,
    places: "Places",
    confine: str | None,
    within: list[Path] | None,
    *,
    anyway: bool,
    is_over: bool = False,
) -> "Prepared | None":
    """Returns all that is needed to continue a run; None if nothing is missing.

    Raises:
        StriderError: The run is under way, cannot be resumed, or conditions differ.
    """
    from strider import engine as engines
    from strider.cli.running import Prepared
    from strider.launch import Bounds, Observing, check_target, watching, wish_of
    from strider.launch.earlier import read_earlier
    from strider.launch.fitting import require_room
    from strider.launch.launchers import choose
    from strider.launch.resume import planned_again, require_over

    info = _own_info(directory)
    require_over(directory, info, is_over=is_over)
    if _has_all(directory, info):
        return None
    options = info["options"]
    engine = engines.find()
    checked = planned_again(directory, info, engine)
    target = check_target(str(info["directory"]))
    _require_same_data(directory, checked.suite.plan, target)
    differing = _differences(target, info, engine, anyway=anyway)
    watched = watching(
        options["counters"],
        options["timeline"],
        f"{options['timeline_interval_s']}s",
        options["ceilings"],
        Observing(options["observe"], options["observe_engine"]),
        Path(info["per_rank"]) if info.get("per_rank") else None,
    )
    earlier = read_earlier(directory.events)
    chosen = places_again(places, options)
    require_room(checked.suite, options["launcher"], chosen)
    launcher = choose(options["launcher"], engine.version.mpi, chosen)
    launcher.places.require_all_used(checked.suite.plan.ranks)
    return Prepared(
        checked,
        engine,
        launcher,
        directory.path.parent,
        watched,
        options["remount"],
        Bounds(wish_of(confine or options["confine"]), _bounds(within) or _bounds(options["within"])),
        resumption=_resumption(
            directory,
            info,
            earlier,
            typed_s,
            checked.suite.plan.time_limit_s,
            differing,
            anyway=anyway,
            is_over=is_over,
        ),
    )


def places_again(typed: "Places", options: dict[str, Any]) -> "Places":
    """Returns the places on the command line, or those of the run."""
    from strider.launch.launchers import Places

    recorded = Places.from_json(options.get("places") or Places().to_json())
    return replace(typed if typed.are_given else recorded, bind=typed.bind or recorded.bind)


def _bounds(within: "Sequence[Path | str] | None") -> list[Path]:
    return [Path(path).expanduser().resolve() for path in within or []]


def _resumption(
    directory: "RunDirectory",
    info: dict[str, Any],
    earlier: "Earlier",
    typed_s: float | None,
    plan_limit_s: float,
    differing: list[str],
    *,
    anyway: bool,
    is_over: bool,
) -> "Resumption":
    from strider.launch import Resumption
    from strider.launch.resume import limit_of_resumption, status_of_cut

    status = status_of_cut(info, earlier)
    limit_s = limit_of_resumption(plan_limit_s, status, earlier, typed_s)
    signal = str(info.get("signal", ""))
    return Resumption(
        directory,
        earlier,
        status,
        limit_s,
        differing,
        elsewhere=anyway,
        signal=signal,
        is_over=is_over,
    )


def _info(directory: "RunDirectory") -> dict[str, Any]:
    """Returns `run.json` of a run that can be resumed.

    Raises:
        StriderError: It is damaged, or of a run that cannot be resumed.
    """
    from strider.store.load import load_info, read_json

    load_info(directory.path)
    return _resumable(directory, read_json(directory.info))


def _own_info(directory: "RunDirectory") -> dict[str, Any]:
    """Returns `run.json` of a run that can be resumed, and that only this user and root can change.

    Raises:
        StriderError: Another user can change it, it is damaged, or of a run that cannot be resumed.
    """
    from strider.launch.ownership import require_own
    from strider.store.load import load_info, parse_json

    load_info(directory.path)
    return _resumable(directory, parse_json(directory.info, require_own(directory)))


def _resumable(directory: "RunDirectory", info: dict[str, Any]) -> dict[str, Any]:
    environment = info.get("environment") or {}
    if "targets" in environment:
        raise StriderError(f"{directory.run} has several targets and cannot be resumed: {_REMEDY}")
    if "simulated" in info:
        raise StriderError(f"{directory.run} has simulated ranks and cannot be resumed: {_REMEDY}")
    if not isinstance(info.get("options"), dict):
        raise StriderError(
            f"{directory.run} is of an older version of Strider and cannot be resumed: {_REMEDY}"
        )
    return info


def is_complete(directory: "RunDirectory") -> bool:
    """Returns whether nothing is missing in a run; false if it cannot be read."""
    try:
        return _has_all(directory, _info(directory))
    except StriderError:
        return False


def require_missing(directory: "RunDirectory", *, is_over: bool) -> "tuple[dict[str, Any], CheckedPlan]":
    """Returns `run.json` and the plan of a run that lacks repetitions and can be resumed.

    Args:
        directory: The run's directory.
        is_over: Whether a scheduler has ended the last start, on whichever node it was.

    Raises:
        StriderError: It is complete, under way, or cannot be resumed.
    """
    from strider import engine as engines
    from strider.launch.resume import planned_again, require_over

    info = _own_info(directory)
    require_over(directory, info, is_over=is_over)
    if _has_all(directory, info):
        raise StriderError(f"{directory.run} is complete: nothing is missing")
    return info, planned_again(directory, info, engines.find())


def has_ended(directory: "RunDirectory") -> bool:
    """Returns whether a run has ended by itself, possibly by its time limit; false if it cannot be read."""
    try:
        return bool(_info(directory).get("status") == "complete")
    except StriderError:
        return False


def _has_all(directory: "RunDirectory", info: dict[str, Any]) -> bool:
    """Returns whether all repetitions of a run were measured, or have ended with an error of their case."""
    from strider.store import load
    from strider.store.time_limit import time_limit_cut

    return info.get("status") == "complete" and time_limit_cut(load(directory.path)) is None


def _require_same_data(directory: "RunDirectory", plan: "Plan", target: Path) -> None:
    """Refuses a run that writes data sets, or whose data sets are not those of its plan any more.

    Raises:
        StriderError: A case uses such a set.
    """
    from strider.datasets import changes_since

    reasons = changes_since(plan.cases, target)
    if reasons:
        lines = [f"{directory.run} cannot be resumed: {reason}" for reason in reasons]
        raise StriderError("\n".join([*lines, _REMEDY]))


def _differences(target: Path, info: dict[str, Any], engine: "Engine", *, anyway: bool) -> list[str]:
    """Returns the conditions that differ from those of the run.

    Raises:
        StriderError: There is one, and `anyway` is false.
    """
    from strider.launch.runner import environment_of_run
    from strider.launch.sameness import differences

    found = differences(info["environment"], environment_of_run(target, engine))
    if found and not anyway:
        lines = [f"the run cannot be resumed here: {line}" for line in found]
        raise StriderError("\n".join([*lines, f"{_REMEDY}, or resume it with --anyway"]))
    return found


def _told(resumption: "Resumption") -> str:
    """Returns a line on what is resumed."""
    earlier = resumption.earlier
    count = len(earlier.repetitions)
    noun = "repetition is" if count == 1 else "repetitions are"
    parts = [f"resuming {resumption.directory.run}, {resumption.status}: {count} {noun} complete"]
    if earlier.torn:
        parts.append(f"an incomplete line of {len(earlier.torn)} bytes was set aside")
    return "; ".join([*parts, *resumption.differences])


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

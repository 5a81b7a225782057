"""Continues runs that were cut."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strider.console import echo, error_console
from strider.errors import StriderError
from strider.running.options import OutputOptions, RunOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strider.engine import Engine
    from strider.launch import Resumption
    from strider.launch.earlier import Earlier
    from strider.launch.launchers import Places
    from strider.launch.rundir import RunDirectory
    from strider.running.prepared import Prepared
    from strider.suite import Plan
    from strider.suite.checked import CheckedPlan

_REMEDY = "start a new run with strider run"


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """Options of a further start of a run.

    Attributes:
        limit_s: Its time limit in seconds; None if not given.
        places: Where the ranks may be; None: as in the run.
        confine: Whether the ranks are confined; None: as in the run.
        within: Directories that may contain the target; empty: those of the run.
        anyway: Whether conditions may differ.
        is_over: Whether a scheduler has ended the last start, on whichever node it was.
    """

    limit_s: float | None = None
    places: "Places | None" = None
    confine: str | None = None
    within: "Sequence[Path]" = ()
    anyway: bool = False
    is_over: bool = False


def resume_directory(directory: "RunDirectory", asked: ResumeOptions, output: OutputOptions) -> None:
    """Continues a run; see `resume`.

    Args:
        directory: The run's directory.
        asked: Options of this start.
        output: Whether progress is hidden, and whether JSON is printed.

    Raises:
        StriderError: The run cannot be resumed.
    """
    from strider.launch.ownership import require_own
    from strider.launch.resume import claimed
    from strider.running.conducting import conduct
    from strider.running.performing import tell_sizes

    require_own(directory)
    console = error_console()
    with claimed(directory, is_over=asked.is_over):
        prepared = _prepared(directory, asked)
        if prepared is None:
            echo(f"{directory.run} is complete: nothing is missing")
            return
        tell_sizes([_sentence(prepared.inputs.resumption)] if prepared.inputs.resumption else [], console)
        conduct(prepared, RunOptions(quiet=output.quiet, json=output.json, report=output.report))


def _prepared(directory: "RunDirectory", asked: ResumeOptions) -> "Prepared | None":
    """Returns all that is needed to continue a run; None if nothing is missing.

    Raises:
        StriderError: The run is under way, cannot be resumed, or conditions differ.
    """
    from strider import engine as engines
    from strider.launch import Bounds, Observing, RunInputs, check_target, parse_confine_mode, watching
    from strider.launch.earlier import read_earlier
    from strider.launch.fitting import require_room
    from strider.launch.launchers import Places, choose
    from strider.launch.resume import planned_again, require_over
    from strider.running.prepared import Prepared

    info = _own_info(directory)
    require_over(directory, info, is_over=asked.is_over)
    if _has_all(directory, info):
        return None
    options = info["options"]
    engine = engines.find()
    checked = planned_again(directory, info, engine)
    target = check_target(str(info["directory"]))
    _require_same_data(directory, checked.suite.plan, target)
    differing = _differences(target, info, engine, anyway=asked.anyway)
    watched = watching(
        counters=options["counters"],
        timeline=options["timeline"],
        timeline_interval=f"{options['timeline_interval_s']}s",
        ceilings=options["ceilings"],
        observing=Observing(options["observe"], options["observe_engine"]),
        per_rank=Path(info["per_rank"]) if info.get("per_rank") else None,
    )
    earlier = read_earlier(directory.events)
    chosen = places_again(asked.places or Places(), options)
    require_room(checked.suite, options["launcher"], chosen)
    launcher = choose(options["launcher"], engine.version.mpi, chosen)
    launcher.places.require_all_used(checked.suite.plan.ranks)
    inputs = RunInputs(
        checked=checked,
        engine=engine,
        launcher=launcher,
        store=directory.path.parent,
        watching=watched,
        remount=options["remount"],
        bounds=Bounds(
            parse_confine_mode(asked.confine or options["confine"]),
            _bounds(asked.within) or _bounds(options["within"]),
        ),
        resumption=_resumption(directory, info, earlier, asked, checked.suite.plan.time_limit_s, differing),
    )
    return Prepared(inputs=inputs)


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
    asked: ResumeOptions,
    plan_limit_s: float,
    differing: list[str],
) -> "Resumption":
    from strider.launch import Resumption
    from strider.launch.resume import limit_of_resumption, status_of_cut

    status = status_of_cut(info, earlier)
    limit_s = limit_of_resumption(plan_limit_s, status, earlier, asked.limit_s)
    signal = str(info.get("signal", ""))
    return Resumption(
        directory,
        earlier,
        status,
        limit_s,
        differing,
        elsewhere=asked.anyway,
        signal=signal,
        is_over=asked.is_over,
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


def _sentence(resumption: "Resumption") -> str:
    """Returns a line on the resumed run."""
    earlier = resumption.earlier
    count = len(earlier.repetitions)
    noun = "repetition is" if count == 1 else "repetitions are"
    parts = [f"resuming {resumption.directory.run}, {resumption.status}: {count} {noun} complete"]
    if earlier.torn:
        parts.append(f"an incomplete line of {len(earlier.torn)} bytes was set aside")
    return "; ".join([*parts, *resumption.differences])

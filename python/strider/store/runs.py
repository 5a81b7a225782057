"""Summaries of runs, read from their files."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from strider.errors import DAMAGE, StriderError
from strider.listing.index import Index
from strider.listing.names import RUN_ID
from strider.listing.summary import RunSummary, TimeLimitCut
from strider.store.labels import read_labels
from strider.store.load import load, load_end, load_info, read_json
from strider.store.model import RunInfo
from strider.store.time_limit import time_limit_cut
from strider.text import printable
from strider.text_file import open_below

_HEAD_BYTES = 4096
"""Of a report, in which its description stands."""
_DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')


def list_runs(store: Path) -> list[RunSummary]:
    """All runs of a store, oldest first; a damaged run is listed as `unreadable`.

    Reads only the runs that are not in the index of the store.
    """
    return Index(store, summarize).all()


def summarize(directory: Path) -> RunSummary:
    """A run in a list of runs; `unreadable` if anything in it is damaged."""
    try:
        return _summary(directory)
    except (*DAMAGE, RecursionError) as error:
        damage = f"values do not fit one another ({type(error).__name__}: {error})"
        return RunSummary(printable(directory.name), directory, "", "unreadable", damage=printable(damage))


def _summary(directory: Path) -> RunSummary:
    """A run in a list of runs: from `run.json`, the end of its events, its plan, report and labels.

    Reads all events of a run with a time limit. A run is `unreadable` if `run.json` or the last event is.
    """
    match = RUN_ID.fullmatch(directory.name)
    suite = match["suite"] if match else ""
    plan = _plan(directory)
    about = _about(directory, plan)
    try:
        info, end = load_info(directory), load_end(directory)
    except StriderError as error:
        return RunSummary(
            run=printable(directory.name),
            directory=directory,
            suite=suite,
            status="unreadable",
            damage=error.message.replace(f"{directory}/", ""),
            **about,
        )
    return RunSummary(
        run=directory.name,
        directory=directory,
        suite=suite,
        status=info.status or (end.status if end else "unfinished"),
        started=info.started,
        ended=info.ended,
        exit_code=info.exit_code,
        host=str(info.environment.get("host", "")),
        target=_target(info),
        cases=None if info.check.cases is None else len(info.check.cases),
        samples=end.samples if end else None,
        errors=end.errors if end else None,
        time_limit=_time_limit(directory, info, plan) if info.status == "complete" else None,
        starts=len(info.resumed) + 1,
        signal=info.signal,
        took_s=_duration_s(info),
        **about,
    )


def _plan(directory: Path) -> dict[str, Any]:
    """The plan of a run; empty where it is missing or damaged."""
    try:
        return read_json(directory / "plan.json")
    except StriderError:
        return {}


def _about(directory: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Facts from outside of `run.json` and events, also of a run where these are damaged."""
    labels = read_labels(directory)
    return {
        "interfaces": _names(plan, lambda case: [case["interface"]["name"]]),
        "patterns": _names(plan, lambda case: [(case.get("tree") or case["pattern"])["name"]]),
        "operations": _names(plan, lambda case: case["operations"]),
        "headline": _headline(directory),
        "tags": tuple(labels.tags),
        "note": labels.note,
    }


def _time_limit(directory: Path, info: RunInfo, plan: dict[str, Any]) -> TimeLimitCut | None:
    """The repetitions that the time limit of a run left out; None also if plan or events are damaged."""
    limit_s = plan.get("time_limit_s", 0.0) if info.time_limit_s is None else info.time_limit_s
    try:
        return time_limit_cut(load(directory)) if limit_s else None
    except StriderError:
        return None


def _target(info: RunInfo) -> str:
    """The target that the user named, otherwise Strider's own folder in it."""
    target = info.environment.get("target")
    path = target.get("path") if isinstance(target, dict) else None
    return str(path or info.directory)


def _duration_s(info: RunInfo) -> float | None:
    with suppress(ValueError, TypeError):
        lasted = datetime.fromisoformat(info.ended or "") - datetime.fromisoformat(info.started)
        return lasted.total_seconds()
    return None


def _names(plan: dict[str, Any], of: Callable[[dict[str, Any]], Sequence[str]]) -> tuple[str, ...]:
    """Names in the cases of a plan, each once; none where the plan is damaged."""
    with suppress(LookupError, TypeError, AttributeError):
        return tuple(dict.fromkeys(str(name) for case in plan["cases"] for name in of(case)))
    return ()


def _headline(directory: Path) -> str:
    """The description of a run's report."""
    with suppress(OSError), open_below(directory, "report.html") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
        if found := _DESCRIPTION.search(head):
            return html.unescape(found[1])
    return ""

"""Earlier runs of the same work on the same machine: they show how much single runs differ by chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median, stdev

from strider.compare.circumstances import conditions
from strider.compare.measured import MOST_EARLIER, past, taken_of
from strider.compare.metrics import METRICS
from strider.compare.trusting import apart_s
from strider.errors import StriderError
from strider.listing.index import Index
from strider.listing.names import run_directories, run_names
from strider.listing.summary import RunSummary
from strider.statistics import MINIMUM_FOR_RATIO
from strider.store import load
from strider.store.load import load_info, load_plan
from strider.store.model import Run
from strider.store.runs import summarize

#: Of a store with many runs only so many are read.
_MOST_READ = 60


@dataclass(frozen=True)
class History:
    """The earlier runs under the conditions of each side, latest first."""

    base: Sequence[Run] = ()
    other: Sequence[Run] = ()


def history_of(base: Run, other: Run) -> History:
    """Finds the runs before two single runs, in the stores of both.

    They have the same target, machine and MPI library as the run, and are complete. Of many, those are read
    first that are as far apart as earlier runs must be to count (`apart_s`).
    """
    stores = list(dict.fromkeys(run.directory.resolve().parent for run in (base, other)))
    hosts = {str(run.info.environment.get("host", "")) for run in (base, other)}
    latest_s = max(base.info.started_s, other.info.started_s)
    known = {base.id, other.id}
    earlier = [
        (latest_s - start.started_s, store / name)
        for store in stores
        for name, start in _starts(store).items()
        if start.run not in known and start.host in hosts and start.started_s < latest_s
    ]
    runs = [run for directory in _by_period(earlier, apart_s(base, other)) if (run := _complete(directory))]
    runs.sort(key=lambda run: run.info.started_s, reverse=True)
    return History(_like(base, runs), _like(other, runs))


def _by_period(earlier: Sequence[tuple[float, Path]], width_s: float) -> list[Path]:
    """The runs to read: the latest one of each period of a width, then the second ones, and so on.

    Args:
        earlier: Age in seconds and directory of each run.
        width_s: Length of the periods.
    """
    taken: Counter[int] = Counter()
    ranked: list[tuple[int, int, Path]] = []
    for age_s, directory in sorted(earlier):
        period = int(age_s / width_s) if width_s > 0 else len(ranked)
        ranked.append((taken[period], period, directory))
        taken[period] += 1
    return [directory for *_, directory in sorted(ranked)[:_MOST_READ]]


@dataclass(frozen=True)
class _Start:
    """Which run started where, and when."""

    run: str
    host: str
    started_s: float


def _starts(store: Path) -> dict[str, _Start]:
    """The starts of the runs of a store by directory; of the runs in its index without reading them."""
    names = run_names(store)
    known = Index(store, summarize).known(names)
    found = {name: _start(store / name, known.get(name)) for name in names}
    return {name: start for name, start in found.items() if start}


def _start(directory: Path, known: RunSummary | None) -> _Start | None:
    if known is not None:
        with suppress(ValueError):
            return _Start(known.run, known.host, datetime.fromisoformat(known.started).timestamp())
    try:
        info = load_info(directory)
    except StriderError:
        return None
    return _Start(info.run, str(info.environment.get("host", "")), info.started_s)


def _complete(directory: Path) -> Run | None:
    try:
        run = load(directory)
    except StriderError:
        return None
    return run if run.status == "complete" else None


def _like(run: Run, earlier: Sequence[Run]) -> list[Run]:
    wanted = conditions(run)
    return [one for one in earlier if conditions(one) == wanted]


@dataclass(frozen=True)
class Experience:
    """What earlier runs of a suite on a target show.

    Attributes:
        runs: Their number.
        duration_s: How long a run took, median; None without any.
        spread: Standard deviation of the logarithms of rates from run to run, median over operations; None
            with fewer than 3 runs.
    """

    runs: int = 0
    duration_s: float | None = None
    spread: float | None = None


def experience_of(store: Path, suite: str, target: str) -> Experience:
    """Reads the latest complete runs of a suite on a target from a store."""
    found: list[Run] = []
    for directory in reversed(run_directories(store)):
        if len(found) == MOST_EARLIER:
            break
        try:
            if load_plan(directory).suite.name != suite:
                continue
            run = load(directory)
        except StriderError:
            continue
        if run.status == "complete" and run.plan.target == target:
            found.append(run)
    durations = [lasted for run in found if (lasted := duration_s(run)) is not None]
    return Experience(len(found), median(durations) if durations else None, _spread(found))


def duration_s(run: Run) -> float | None:
    """How long a run took, seconds; None where its end is unknown."""
    if run.info.ended is None:
        return None
    return (datetime.fromisoformat(run.info.ended) - datetime.fromisoformat(run.info.started)).total_seconds()


def _spread(runs: Sequence[Run]) -> float | None:
    if len(runs) < MINIMUM_FOR_RATIO:
        return None
    taken = taken_of(runs)
    series = (past(taken, item, METRICS["rate"]) for item in taken[0].items)
    spreads = [stdev(map(math.log, values)) for values in series if len(values) >= MINIMUM_FOR_RATIO]
    return median(spreads) if spreads else None

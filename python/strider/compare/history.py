"""Earlier runs of the same work on the same machine: they show how much single runs differ by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median, stdev

from strider.compare.circumstances import conditions
from strider.compare.measured import past, taken_of
from strider.compare.metrics import METRICS
from strider.errors import StriderError
from strider.statistics import MINIMUM_FOR_RATIO
from strider.store import load
from strider.store.load import load_info, load_plan
from strider.store.model import Run
from strider.store.runs import run_directories

#: More earlier runs tell hardly more, and are older.
_MOST_RUNS = 20
#: Of a store with many other runs only so many are read.
_MOST_READ = 60


@dataclass(frozen=True)
class History:
    """The earlier runs under the conditions of each side."""

    base: Sequence[Run] = ()
    other: Sequence[Run] = ()


def history_of(base: Run, other: Run) -> History:
    """Finds the runs before two single runs, in the stores of both.

    They have the same target, machine and MPI library as the run, are complete, and are not older than the
    latest 20 of them.
    """
    stores = list(dict.fromkeys(run.directory.resolve().parent for run in (base, other)))
    hosts = {str(run.info.environment.get("host", "")) for run in (base, other)}
    before = max(base.info.started, other.info.started)
    known = {base.id, other.id}
    found: list[Run] = []
    directories = sorted((one for store in stores for one in run_directories(store)), key=_name, reverse=True)
    read = 0
    for directory in directories:
        if read == _MOST_READ:
            break
        if _may_be_earlier(directory, hosts, before, known):
            read += 1
            try:
                found.append(load(directory))
            except StriderError:
                continue
    usable = [run for run in found if run.status == "complete"]
    return History(_like(base, usable), _like(other, usable))


def _name(directory: Path) -> str:
    return directory.name


def _like(run: Run, earlier: Sequence[Run]) -> list[Run]:
    wanted = conditions(run)
    return [one for one in earlier if conditions(one) == wanted][:_MOST_RUNS]


def _may_be_earlier(directory: Path, hosts: set[str], before: str, known: set[str]) -> bool:
    try:
        info = load_info(directory)
    except StriderError:
        return False
    host = str(info.environment.get("host", ""))
    return info.run not in known and host in hosts and info.started < before


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
        if len(found) == _MOST_RUNS:
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

"""How far a comparison can be trusted, by the way in which its two sides were measured (docs/trust.md)."""

from __future__ import annotations

from strider.compare.model import Method
from strider.statistics.trust import SHORT_S, Grade, Trust
from strider.store.model import Run
from strider.units import format_seconds

SHORT = f"all repetitions of a side are shorter than {SHORT_S:g} s"

#: Pairs for an A: fewer have wide intervals, and of a rate at two levels all may have been at one.
MANY_PAIRS = 6
#: Earlier runs for a B: Student's t has 4 degrees of freedom then; of fewer runs it finds only doublings.
MANY_RUNS = 5
#: With fewer earlier runs their variance says nothing.
LEAST_RUNS = 3

#: Runs are in a row with less time than this between their beginnings, seconds.
_IN_A_ROW_S = 60.0

_WORDS = {
    "unpaired": "single runs",
    "unpaired by run": "not alternating",
}


def apart_s(base: Run, other: Run) -> float:
    """How far apart earlier runs must be to show how much two runs differ by chance, seconds.

    Runs of one hour are alike: what changes from hour to hour is seen only in runs of several hours. With
    this distance the runs needed for a verdict span nearly as much time as lies between the two.
    """
    return abs(other.info.started_s - base.info.started_s) / MANY_RUNS


def trust_of(method: Method, n: int, is_one_run: bool = False, is_short: bool = False) -> Trust:
    """The trust in one row.

    Args:
        method: The compared samples.
        n: Number of pairs; of a comparison by history the number of earlier runs.
        is_one_run: Whether both sides are of one run.
        is_short: Whether all phases of a side are too short for a rate.
    """
    if is_short:
        return _graded("D", "short")
    if method.startswith("paired"):
        return _graded("B", f"{n} pairs") if n < MANY_PAIRS else Trust("A")
    if method == "by history":
        return _graded("B" if n >= MANY_RUNS else "C", f"{n} earlier runs")
    return _graded("D", "not interleaved" if is_one_run else _WORDS[method])


def reason_of(method: Method, n: int, is_one_run: bool = False, least_s: float = 0.0) -> str:
    """Why a row of grade C or D has no verdict, in words.

    Args:
        method: The compared samples.
        n: As by `trust_of`.
        is_one_run: Whether both sides are of one run.
        least_s: How far apart earlier runs must be to count, seconds.
    """
    if method == "by history":
        return (
            f"single runs with only {n} earlier runs of this case{far_enough(least_s)} ({MANY_RUNS} needed)"
        )
    if method == "unpaired by run":
        return "the runs of both sides do not alternate"
    if is_one_run:
        return "the cases were measured one after the other"
    return "single runs: how much runs differ by chance is unknown"


def far_enough(least_s: float) -> str:
    """What earlier runs must be apart, as the end of a phrase; empty where runs in a row count."""
    return f" at least {format_seconds(least_s)} apart" if least_s >= _IN_A_ROW_S else ""


def _graded(grade: Grade, word: str) -> Trust:
    return Trust(grade, (word,), ((grade, word),))

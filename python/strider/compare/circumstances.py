"""Circumstances of a comparison: how it was taken, and other differences between the sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import median

from strider.card.model import CARD_FILE
from strider.compare.foreseen import DIFFERENT_WORK
from strider.compare.judge import SIGNIFICANT
from strider.compare.model import Change, Method, Row
from strider.compare.trusting import apart_s, far_enough
from strider.report.words.numbers import significant
from strider.report.words.wording import plural, readable_key
from strider.statistics.exceeding import file_system_of
from strider.statistics.trust import is_trusted
from strider.store.model import Run
from strider.store.starts import spans
from strider.units import format_bytes_rounded, format_seconds

#: Facts of `run.json` about the machine that change rates; the target is the compared variable.
_MACHINE = ("host", "system", "kernel", "cpu", "cores", "memory_bytes")
#: Phases shorter than this, seconds, are ruled by start-up and scheduling.
_SHORT_S = 0.1
#: With fewer measurements a rate with two levels breaks the guarantee of the correction for many rows
#: (docs/decisions/0014-*.md).
_FEW = 6
#: Probability with which a difference of the size that a remark gives is named.
_POWER = 0.9
#: True spreads over which that probability is averaged.
_SPREADS = 200
_IN_TURNS = (
    "measure alternating runs: strider run SUITE --against BASELINE, or join 3 or more of each side "
    "with commas"
)
_HOW = {
    "paired by round": "Repetitions of the same round are compared as pairs, so drift cancels.",
    "paired by run": "The runs of A and B alternate; each pair is one measurement, so slow drift cancels.",
}


def about(side: Sequence[Run]) -> str:
    """Where and when the runs of a side were taken."""
    first = side[0]
    environment = first.info.environment
    kind = file_system_of(first)
    host = str(environment.get("host", ""))
    parts = [
        f"{len(side)} runs, the first" if len(side) > 1 else "",
        first.id,
        f"{first.plan.target}" + (f" ({kind})" if kind else ""),
        f"on {host}" if host else "",
        f"{first.info.started[:16].replace('T', ' ')} UTC",
    ]
    return ", ".join(part for part in parts if part)


def remarks(
    base: Sequence[Run], other: Sequence[Run], method: Method, rows: Sequence[Row], threshold: float = 0.0
) -> list[str]:
    """Everything to be said before any verdict is believed, in sentences."""
    runs = list({run.id: run for run in (*base, *other)}.values())
    found = [
        _design(base, other, method, rows),
        _cards(base, other, rows),
        *_differences(base, other),
        *(f"Run {run.id} is {run.status}." for run in runs if run.status != "complete"),
        *(_starts(run) for run in runs if run.cuts),
        _short(runs),
        _few(rows),
        _levels(rows),
        _resolution(rows, threshold),
    ]
    return [remark for remark in found if remark]


def _starts(run: Run) -> str:
    """That a run was cut and resumed, and when: what changed meanwhile is in its results."""
    found = spans(run)
    pauses = [span.pause_s for span in found if span.pause_s >= 0]
    paused = f", with {format_seconds(sum(pauses))} of pauses" if pauses else ""
    changed = [text for cut in run.cuts for text in cut.differences]
    differing = f" Not the same in all: {'; '.join(dict.fromkeys(changed))}." if changed else ""
    return (
        f"Run {run.id} was cut and resumed: its repetitions are of {len(found)} starts{paused}, so changes "
        f"between them may appear as differences.{differing}"
    )


def _design(base: Sequence[Run], other: Sequence[Run], method: Method, rows: Sequence[Row]) -> str:
    """How the sides were set against each other, and where that gives no verdict the remedy."""
    if method in _HOW:
        return _HOW[method]
    if len(base) == 1 and base[0].id == other[0].id:
        if base[0].plan.interleave == "random":
            return "A and B are the same run."
        return (
            'No verdict: the cases of this run were measured one after the other (interleave = "none"), so '
            'drift may appear as a difference. To get verdicts, run the suite with interleave = "random".'
        )
    if method == "unpaired by run":
        return (
            "No verdict: the runs of A and B do not alternate, so drift may appear as a difference. To get "
            f"verdicts, {_IN_TURNS}."
        )
    judged = [row.change for row in rows if row.change is not None and is_trusted(row.trust)]
    if judged:
        least, most = min(one.n for one in judged), max(one.n for one in judged)
        count = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"A and B are single runs; {count} earlier runs of the same cases on this machine show how much "
            "runs differ by chance."
        )
    apart = far_enough(apart_s(base[0], other[0]))
    return (
        "No verdict: A and B are single runs, and how much runs differ by chance is unknown (5 earlier runs "
        f"of the same cases on this machine and target{apart} would show it). To get verdicts, {_IN_TURNS}."
    )


def _cards(base: Sequence[Run], other: Sequence[Run], rows: Sequence[Row]) -> str:
    """The remedy for cards, whose files have the sizes that a probe of the moment asks for."""
    are_cards = all((run.directory / CARD_FILE).exists() for run in (*base, *other))
    if not are_cards or not any(row.reason.startswith(DIFFERENT_WORK) for row in rows):
        return ""
    first, second = base[0], other[0]
    if first.plan.target != second.plan.target:
        remedy = (
            "measure both directories with the same files: "
            f"strider compare {first.plan.target} {second.plan.target}"
        )
    else:
        remedy = (
            "measure the work of A again, and compare A with that run: "
            f"strider run {first.directory}/suite.toml --target {first.plan.target}"
        )
    return f"Each strider quick chooses its own file sizes, so lines differ in work. To compare, {remedy}"


def _differences(base: Sequence[Run], other: Sequence[Run]) -> list[str]:
    """Differences between the machines and programs of the two sides."""
    first, second = _facts(base), _facts(other)
    differing = [
        f"{name} ({' and '.join(', '.join(sorted(side.get(name, {'unknown'}))) for side in (first, second))})"
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]
    return [f"A and B differ in {'; '.join(differing)}."] if differing else []


def conditions(run: Run) -> tuple[object, ...]:
    """What must be equal for one run to show how much another varies: target, machine, MPI library, nodes."""
    kept = [fact for fact in _facts_of(run) if fact[0] not in ("engine", "timer")]
    return run.plan.target, *kept


def _facts(side: Sequence[Run]) -> dict[str, set[str]]:
    """Values of each fact over the runs of a side."""
    facts: dict[str, set[str]] = {}
    for run in side:
        for name, value in _facts_of(run):
            if value:
                facts.setdefault(name, set()).add(value)
    return facts


def _facts_of(run: Run) -> list[tuple[str, str]]:
    environment, start = run.info.environment, run.start
    machine = [
        (
            readable_key(key),
            format_bytes_rounded(value)
            if key.endswith("_bytes") and isinstance(value, int)
            else " ".join(str(value).split()),
        )
        for key in _MACHINE
        if (value := environment.get(key)) is not None and not isinstance(value, dict)
    ]
    facts = [*machine, ("file system", file_system_of(run))]
    if start is None:
        return facts
    return [
        *facts,
        ("MPI library", " ".join(start.mpi.split()[:2])),
        ("number of nodes", str(len(start.nodes)) if start.nodes else ""),
        ("engine", start.engine),
        ("timer", start.timer),
        ("confinement", start.confinement.state if start.confinement else ""),
    ]


def _short(runs: Sequence[Run]) -> str:
    elapsed_s = [sample.elapsed_s for run in runs for sample in run.samples if sample.counts]
    short = sum(one < _SHORT_S for one in elapsed_s)
    if not short:
        return ""
    phases = plural(len(elapsed_s), "phase")
    return f"{short} of {phases} are shorter than {_SHORT_S:g} s; their rates are not reliable."


def _few(rows: Sequence[Row]) -> str:
    """That few measurements cannot know of a second level that a rate jumps to."""
    paired = [row.change.n for row in rows if row.change and row.change.method.startswith("paired")]
    least = min(paired, default=_FEW)
    if least >= _FEW:
        return ""
    return (
        f"Some rows have only {least} pairs: if rates vary between two levels, all may be at one level and "
        "appear as a difference."
    )


def _levels(rows: Sequence[Row]) -> str:
    """That the intervals of named rows are wider than those of the others."""
    named = [row.change.level for row in rows if row.change and row.verdict in ("faster", "slower")]
    if not named or round(100 * named[0], 2) == 95:
        return ""
    return (
        f"Intervals of rows named faster or slower are at level {significant(100 * named[0], 3)} %, so that "
        "at least 95 % of them are expected to contain the true change. All others are at 95 %."
    )


def _resolution(rows: Sequence[Row], threshold: float) -> str:
    """How large a difference would very probably have been named, where rows show none."""
    judged = [row.change for row in rows if row.change is not None and is_trusted(row.trust)]
    unsure = [row.change for row in rows if row.change is not None and row.verdict == "no difference shown"]
    if not unsure:
        return ""
    # One more p-value than those of the differences found must be below this.
    limit = SIGNIFICANT * (len(judged) - len(unsure) + 1) / len(judged)
    least = median(least_named(change, limit, threshold) for change in unsure)
    factor = f"by a factor of {significant(1 + least, 2)}"
    size = f"of {significant(100 * least, 2)} %" if least < 1 else factor
    return (
        f"In a typical row without a difference shown, a difference {size} would be named with a probability "
        f"of {100 * _POWER:.0f} %, at this variability and number of pairs or runs."
    )


def least_named(change: Change, limit: float, threshold: float = 0.0) -> float:
    """The change that a new comparison would name with a probability of 90 %, as a share of the base.

    Args:
        change: A row's change, for its error.
        limit: The p-value must be below this.
        threshold: A share that differences must be shown to exceed.
    """
    beyond = math.log1p(threshold) + change.resolution
    if change.error == 0:
        return math.expm1(beyond)
    return math.expm1(min(beyond + _shift(change.freedom, limit) * change.error, math.log(1e3)))


@lru_cache(maxsize=256)
def _shift(freedom: float, limit: float) -> float:
    """The difference that is named with a probability of 90 %, in standard errors of this comparison.

    The spread is known from few measurements, and the new comparison estimates it again. The probability is
    the mean over the true spreads that this comparison allows (scaled inverse chi distribution).
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import chdtri, nctdtr, stdtrit

    critical = float(stdtrit(freedom, 1 - limit / 2))
    shares = (np.arange(_SPREADS) + 0.5) / _SPREADS
    spreads = np.sqrt(freedom / chdtri(freedom, shares))

    def missed(shift: float) -> float:
        found = nctdtr(freedom, shift / spreads, critical)
        # Far below the difference the function underflows to NaN.
        return float(np.mean(np.nan_to_num(found, nan=0.0)))

    return float(brentq(lambda shift: missed(shift) - (1 - _POWER), 0.0, 100 * critical, xtol=1e-3))

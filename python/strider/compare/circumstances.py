"""What a reader must know to judge a comparison: how it was taken, and what else differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from strider.compare.judge import SIGNIFICANT
from strider.compare.model import Change, Method, Row
from strider.report.words.numbers import significant
from strider.report.words.wording import plural, readable_key
from strider.statistics.distribution import LEVEL
from strider.store.model import Run
from strider.units import format_bytes_rounded

#: Facts of `run.json` about the machine that change rates; the target is what is compared.
_MACHINE = ("host", "system", "kernel", "cpu", "cores", "memory_bytes")
#: Phases shorter than this, seconds, are ruled by start-up and scheduling.
_SHORT_S = 0.1
#: With fewer measurements a rate with two levels breaks what the correction for many rows promises
#: (docs/decisions/0014-*.md).
_FEW = 6
_HOW = {
    "paired by round": "Repetitions of the same round are compared as pairs, so drift cancels.",
    "paired by run": "The runs of A and B alternate; each pair is one measurement, so slow drift cancels.",
}


def about(side: Sequence[Run]) -> str:
    """Where and when the runs of a side were taken."""
    first = side[0]
    environment = first.info.environment
    target = environment.get("target")
    kind = target.get("file_system", "") if isinstance(target, dict) else ""
    host = str(environment.get("host", ""))
    parts = [
        f"{len(side)} runs, the first" if len(side) > 1 else "",
        first.id,
        f"{first.plan.target}" + (f" ({kind})" if kind else ""),
        f"on {host}" if host else "",
        f"{first.info.started[:16].replace('T', ' ')} UTC",
    ]
    return ", ".join(part for part in parts if part)


def remarks(base: Sequence[Run], other: Sequence[Run], method: Method, rows: Sequence[Row]) -> list[str]:
    """Everything to be said before any verdict is believed, in sentences."""
    runs = list({run.id: run for run in (*base, *other)}.values())
    found = [
        _interleaving(base, other, method),
        *_differences(base, other),
        *(f"Run {run.id} is {run.status}." for run in runs if run.status != "complete"),
        _short(runs),
        _few(rows),
        _resolution(rows),
    ]
    return [remark for remark in found if remark]


def _interleaving(base: Sequence[Run], other: Sequence[Run], method: Method) -> str:
    if method in _HOW:
        return _HOW[method]
    if len(base) == 1 and base[0].id == other[0].id:
        if base[0].plan.interleave == "random":
            return "A and B are the same run."
        return (
            'The cases of this run were measured one after the other (interleave = "none"): drift may '
            "appear as a difference."
        )
    if method == "unpaired by run":
        return "The runs of A and B do not alternate: drift may appear as a difference."
    return (
        "A and B are single runs, one after the other: drift and other changes between them may appear "
        "as a difference. Compare within one run (--by), or 3 or more alternating runs of each."
    )


def _differences(base: Sequence[Run], other: Sequence[Run]) -> list[str]:
    """What the machines and programs of the two sides differ in."""
    first, second = _facts(base), _facts(other)
    differing = [
        f"{name} ({' and '.join(', '.join(sorted(side.get(name, {'unknown'}))) for side in (first, second))})"
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    ]
    return [f"A and B differ in {'; '.join(differing)}."] if differing else []


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
    target = environment.get("target")
    kind = str(target.get("file_system", "")) if isinstance(target, dict) else ""
    facts = [*machine, ("file system", kind)]
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
    least = min((row.change.n for row in rows if row.change), default=_FEW)
    if least >= _FEW:
        return ""
    return (
        f"Some sides have only {least} repetitions: if rates vary between two levels, all may be at one "
        "level and appear as a difference."
    )


def _resolution(rows: Sequence[Row]) -> str:
    """How large a difference must be to be named among all these rows, where some show none."""
    compared = [row.change for row in rows if row.change is not None]
    unsure = [row.change for row in rows if row.change is not None and row.verdict == "no difference shown"]
    if not unsure:
        return ""
    # One more p-value than those of the differences found must be below this.
    limit = SIGNIFICANT * (len(compared) - len(unsure) + 1) / len(compared)
    least = median(_least_named(change, limit) for change in unsure)
    size = f"{significant(100 * least, 2)} %" if least < 1 else f"a factor of {significant(1 + least, 2)}"
    return (
        f"Differences below about {size} cannot be detected with this variability and number of "
        "repetitions (median of the rows without a difference)."
    )


def _least_named(change: Change, limit: float) -> float:
    """The smallest change whose p-value is below a limit with this spread, as a share of the base."""
    from scipy.special import stdtrit

    if change.low == change.high:
        return 0.0
    error = math.log(change.high / change.low) / 2 / float(stdtrit(change.freedom, (1 + LEVEL) / 2))
    return math.expm1(min(float(stdtrit(change.freedom, 1 - limit / 2)) * error, math.log(1e3)))

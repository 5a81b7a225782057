"""Costs of the same work through several interfaces: processor time, switches, calls.

Only the ranks' own counters are compared, in the phase alone: those of a node have all its programs in them,
and whatever passes before and after.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from strider.statistics import OperationSummary, adjust, unpaired_ratio
from strider.statistics.rule import Card
from strider.statistics.trust import OF_SOURCES, is_trusted
from strider.store.case import Case
from strider.store.model import Sample

#: Differences are reported where they are surely larger than this ratio, or smaller than its inverse.
LEAST_RATIO = 1.5
#: With fewer repetitions nothing is compared.
FEWEST = 5
#: So many of runs whose counters differ by no more than that name one.
LEVEL = 0.01
#: Most counters reported of a pair of interfaces.
MOST_REPORTED = 3
CARD = Card(
    "counters that moved",
    "`user_s`, `system_s`, `voluntary_switches`, `involuntary_switches` and system calls of the ranks, per "
    "MiB or operation",
    "5 repetitions of each, grade B",
    "ratio above 1.5 or below 1 ÷ 1.5 (Welch, on logarithms), Benjamini–Hochberg over all pairs and "
    "counters: 1 %",
    "1.5 ×",
    "mpiio beside posix, write, for each MiB: 3.2 × the voluntary switches",
)
_BASE = "posix"
_NOT_COMPARED = "null"
_NOT_WORK = (
    "case",
    "number",
    "name",
    "interface",
    "repetitions",
    "warmup",
    "settle",
    "request_bytes",
    "own_client",
)

Count = Callable[[Sample], float | None]


@dataclass(frozen=True)
class Counter:
    """A number that is compared.

    Attributes:
        name: As a sentence has it.
        least: Less than this in a repetition is noise, whatever the ratio.
        count: The number of a repetition, of all ranks; None where it was not counted.
    """

    name: str
    least: float
    count: Count


@dataclass(frozen=True)
class Move:
    """A counter that differs between two interfaces with the same work.

    Attributes:
        base: The result to compare with.
        other: The result that differs from it.
        base_name: Its interface, with the settings that set it apart in the run: `posix direct`.
        other_name: Likewise.
        counter: Name of the counter.
        base_value: For each MiB or operation, geometric mean over the repetitions.
        other_value: Likewise.
        interval: 95 % interval of the ratio.
        p_value: Probability of a ratio so far beyond 1.5 where it is 1.5.
    """

    base: OperationSummary
    other: OperationSummary
    base_name: str
    other_name: str
    counter: str
    base_value: float
    other_value: float
    interval: tuple[float, float]
    p_value: float

    @property
    def ratio(self) -> float:
        """Other ÷ base."""
        return self.other_value / self.base_value


def _calls(sample: Sample) -> float | None:
    if sample.read_calls is None or sample.write_calls is None:
        return None
    return float(sample.read_calls + sample.write_calls)


def _of_sample(name: str) -> Count:
    return lambda sample: getattr(sample, name)


#: Processor time is counted in ticks of 10 ms or finer; of less than five the ratio is one of chance.
_TICKS_S = 0.05
COUNTERS: tuple[Counter, ...] = (
    Counter("voluntary switches", 100, _of_sample("voluntary_switches")),
    Counter("involuntary switches", 100, _of_sample("involuntary_switches")),
    Counter("user time", _TICKS_S, _of_sample("user_s")),
    Counter("system time", _TICKS_S, _of_sample("system_s")),
    Counter("system calls", 20, _calls),
)


def moves(summaries: Sequence[OperationSummary]) -> list[Move]:
    """Counters that moved between interfaces with the same work, the largest differences of a pair first.

    Each interface is compared with `posix`, or where that did not do the same, with the fastest. Results with
    fewer than five repetitions or a grade below B are left out. The pairs and counters of a
    run are tested together.

    Args:
        summaries: Those of a run.
    """
    enough = [summary for summary in summaries if summary.n >= FEWEST and _is_comparable(summary)]
    names = _names([summary.case for summary in summaries])
    pairs: list[list[Move]] = []
    for same in _same_work(enough):
        base = _base_of(same)
        others = [other for other in same if names[other.case.number] != names[base.case.number]]
        pairs += [_pair(base, other, names) for other in others]
    adjusted = iter(adjust([move.p_value for own in pairs for move in own]).tolist())
    found = []
    for own in pairs:
        real = [move for move in own if next(adjusted) < LEVEL]
        found += sorted(real, key=lambda move: -abs(math.log(move.ratio)))[:MOST_REPORTED]
    return found


def _is_comparable(summary: OperationSummary) -> bool:
    """Whether a result is grade B or better; what served the bytes does not matter to the ranks' counters."""
    trust = summary.trust
    return (
        not summary.case.measured_together and trust is not None and is_trusted(trust.apart_from(OF_SOURCES))
    )


def _names(cases: Sequence[Case]) -> dict[int, str]:
    """By number of the case, its interface with those of its settings that differ between cases."""
    settings: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for case in cases:
        for key, value in case.interface.items():
            settings[case.interface_name, key].add(json.dumps(value, sort_keys=True))
    return {case.number: _name(case, settings) for case in cases}


def _name(case: Case, settings: Mapping[tuple[str, str], Collection[str]]) -> str:
    varying = [
        _setting(key, value)
        for key, value in case.interface.items()
        if len(settings[case.interface_name, key]) > 1
    ]
    return " ".join([case.interface_name, *filter(None, varying)])


def _setting(key: str, value: object) -> str:
    """`direct`, `method vectored`; empty for an option that is off or empty."""
    if value is True:
        return key
    if value is None or value is False or value in ("", {}, []):
        return ""
    return f"{key} {value if isinstance(value, str) else json.dumps(value)}"


def _same_work(summaries: Sequence[OperationSummary]) -> list[list[OperationSummary]]:
    groups: defaultdict[tuple[str, str], list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        if summary.rate is not None and summary.case.interface_name != _NOT_COMPARED:
            groups[_work(summary.case), summary.operation].append(summary)
    return [same for same in groups.values() if len(same) > 1]


def _work(case: Case) -> str:
    """The parameters of a case except the interface."""
    keys = case.model_dump(by_alias=True, exclude=set(_NOT_WORK))
    return json.dumps(keys, sort_keys=True)


def _base_of(same: Sequence[OperationSummary]) -> OperationSummary:
    named = [summary for summary in same if summary.case.interface_name == _BASE]
    return named[0] if named else max(same, key=lambda summary: summary.rate.centre if summary.rate else 0.0)


def _pair(base: OperationSummary, other: OperationSummary, names: Mapping[int, str]) -> list[Move]:
    """All counters that are known of both, with any value."""
    before, after = _values(base), _values(other)
    return [
        Move(
            base,
            other,
            names[base.case.number],
            names[other.case.number],
            counter.name,
            geometric_mean(before[counter.name]),
            geometric_mean(after[counter.name]),
            *_test(before[counter.name], after[counter.name]),
        )
        for counter in COUNTERS
        if counter.name in before and counter.name in after
    ]


def _values(summary: OperationSummary) -> dict[str, list[float]]:
    """By counter, its number for each MiB or operation of each repetition.

    A counter is left out where it is not known of one of the repetitions, or is noise there.
    """
    found = {}
    for counter in COUNTERS:
        counts = zip(map(counter.count, summary.samples), summary.amounts, strict=True)
        values = [
            count / amount
            for count, amount in counts
            if count is not None and count >= counter.least and amount
        ]
        if len(values) == summary.n:
            found[counter.name] = values
    return found


def _test(before: Sequence[float], after: Sequence[float]) -> tuple[tuple[float, float], float]:
    """The 95 % interval of the ratio, and the probability of one so far beyond 1.5 where it is 1.5."""
    found = unpaired_ratio(before, after)
    low, high = found.interval()
    # The side is that of the measured ratio, so one of the two tails is meant.
    return (float(low), float(high)), float(found.p_value(LEAST_RATIO - 1)) / 2


def move_sentences(found: Sequence[Move]) -> list[str]:
    """One sentence for each pair of interfaces and operation, with the counters that moved most."""
    pairs: defaultdict[tuple[str, str, str], list[Move]] = defaultdict(list)
    for move in found:
        pairs[move.other_name, move.base_name, move.other.operation].append(move)
    return [_sentence(names, own) for names, own in pairs.items()]


def _sentence(names: tuple[str, str, str], own: Sequence[Move]) -> str:
    other, base, operation = names
    by_counter: defaultdict[str, list[Move]] = defaultdict(list)
    for move in own:
        by_counter[move.counter].append(move)
    largest = sorted(
        by_counter.values(), key=lambda some: -abs(math.log(median(move.ratio for move in some)))
    )
    said = ", ".join(_words(some) for some in largest[:MOST_REPORTED])
    return f"{other} beside {base}, {operation}, for each {own[0].other.work_unit}: {said}."


def _words(some: Sequence[Move]) -> str:
    """`2.4 × the system calls (23.0 instead of 9.58; 95 % interval 2.1–2.8)`, or the range of several."""
    ratios = [move.ratio for move in some]
    if len(some) > 1:
        return f"{min(ratios):.2g}–{max(ratios):.2g} × the {some[0].counter} ({len(some)} results)"
    (move,) = some
    factor, unit = (1e3, " ms") if move.counter.endswith("time") else (1.0, "")
    values = f"{factor * move.other_value:.3g}{unit} instead of {factor * move.base_value:.3g}{unit}"
    interval = f"95 % interval {move.interval[0]:.2g}–{move.interval[1]:.2g}"
    return f"{move.ratio:.2g} × the {move.counter} ({values}; {interval})"

"""The counters that differ most between interfaces that did the same work in one run."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from strider.statistics import MINIMUM_FOR_RATIO, CounterSummary, OperationSummary, unpaired_ratio
from strider.statistics.counters import summarize_counters
from strider.store.case import Case
from strider.store.model import NodeCounters, Sample

#: Differences are reported from this ratio on, or from its inverse down.
LEAST_RATIO = 1.5
#: Most counters reported of a pair of interfaces.
MOST_TOLD = 3
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

Count = Callable[[Sample, CounterSummary | None], float | None]


@dataclass(frozen=True)
class Counter:
    """A number that is compared.

    Attributes:
        name: As a sentence has it.
        least: Less than this in a repetition is noise, whatever the ratio.
        count: The number of a repetition; None where it was not counted.
    """

    name: str
    least: float
    count: Count


@dataclass(frozen=True)
class Move:
    """A counter that differs between two interfaces with the same work.

    Attributes:
        base: What is compared with.
        other: What differs from it.
        base_name: Its interface, with the settings that set it apart in the run: `posix direct`.
        other_name: Likewise.
        counter: Name of the counter.
        base_value: For each MiB or operation, geometric mean over the repetitions.
        other_value: Likewise.
        interval: 95 % interval of the ratio; None where there are too few repetitions.
    """

    base: OperationSummary
    other: OperationSummary
    base_name: str
    other_name: str
    counter: str
    base_value: float
    other_value: float
    interval: tuple[float, float] | None

    @property
    def ratio(self) -> float:
        """Other ÷ base."""
        return self.other_value / self.base_value

    @property
    def is_told(self) -> bool:
        """Whether the difference is large, and surely one."""
        large = not 1 / LEAST_RATIO < self.ratio < LEAST_RATIO
        return large and (self.interval is None or not self.interval[0] <= 1 <= self.interval[1])


def _counted(*names: tuple[str, str]) -> Count:
    def count(_: Sample, counters: CounterSummary | None) -> float | None:
        found = [counters.total(source, name) for source, name in names] if counters else []
        known = [value for value in found if value is not None]
        return sum(known) if known else None

    return count


def _calls(sample: Sample, _: CounterSummary | None) -> float | None:
    if sample.read_calls is None or sample.write_calls is None:
        return None
    return float(sample.read_calls + sample.write_calls)


_PROCESSOR = ("user_s", "nice_s", "system_s", "irq_s", "softirq_s")
COUNTERS: tuple[Counter, ...] = (
    Counter("context switches", 100, _counted(("kernel", "context_switches"))),
    Counter("interrupts", 100, _counted(("kernel", "interrupts"))),
    Counter("page faults", 100, _counted(("kernel", "page_faults"))),
    Counter(
        "packets",
        100,
        _counted(
            *(
                (source, name)
                for source in ("network", "infiniband")
                for name in ("received_packets", "sent_packets")
            )
        ),
    ),
    Counter("processor time", 0.05, _counted(*(("cpu", name) for name in _PROCESSOR))),
    Counter("system calls", 20, _calls),
)


def moves(summaries: Sequence[OperationSummary], counters: Sequence[NodeCounters]) -> list[Move]:
    """Counters that moved between interfaces with the same work, the largest differences of a pair first.

    Each interface is compared with `posix`, or where that did not do the same, with the fastest.

    Args:
        summaries: Those of a run.
        counters: What its nodes counted.
    """
    counted: defaultdict[tuple[int, str], list[NodeCounters]] = defaultdict(list)
    for node in counters:
        counted[node.case, node.operation].append(node)
    names = _names([summary.case for summary in summaries])
    found = []
    for same in _same_work(summaries):
        base = _base_of(same)
        others = [other for other in same if names[other.case.number] != names[base.case.number]]
        values = {
            summary.key: _values(summary, counted.get(summary.key, ()))
            for summary in ([base, *others] if others else [])
        }
        for other in others:
            found += _pair(base, other, names, values)
    return found


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
    """`direct`, `method vectored`; nothing for what is off or empty."""
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
    """Whatever decides what a case does, but the interface."""
    keys = case.model_dump(by_alias=True, exclude=set(_NOT_WORK))
    return json.dumps(keys, sort_keys=True)


def _base_of(same: Sequence[OperationSummary]) -> OperationSummary:
    named = [summary for summary in same if summary.case.interface_name == _BASE]
    return named[0] if named else max(same, key=lambda summary: summary.rate.median if summary.rate else 0.0)


def _pair(
    base: OperationSummary,
    other: OperationSummary,
    names: Mapping[int, str],
    values: Mapping[tuple[int, str], Mapping[str, Sequence[float]]],
) -> list[Move]:
    found = []
    for counter in COUNTERS:
        before, after = (values[summary.key].get(counter.name) for summary in (base, other))
        if before and after:
            move = Move(
                base,
                other,
                names[base.case.number],
                names[other.case.number],
                counter.name,
                geometric_mean(before),
                geometric_mean(after),
                _interval(before, after),
            )
            found += [move] if move.is_told else []
    return sorted(found, key=lambda move: -abs(math.log(move.ratio)))[:MOST_TOLD]


def _values(summary: OperationSummary, counters: Sequence[NodeCounters]) -> dict[str, list[float]]:
    """By counter, its number for each MiB or operation of each repetition.

    A counter is left out where it is not known of one of the repetitions, or is noise there.
    """
    seen = [
        (sample, summarize_counters([sample], counters), amount)
        for sample, amount in zip(summary.samples, summary.amounts, strict=True)
    ]
    found = {}
    for counter in COUNTERS:
        counts = [(counter.count(sample, own), amount) for sample, own, amount in seen]
        values = [
            count / amount
            for count, amount in counts
            if count is not None and count >= counter.least and amount
        ]
        if len(values) == len(seen):
            found[counter.name] = values
    return found


def _interval(before: Sequence[float], after: Sequence[float]) -> tuple[float, float] | None:
    if min(len(before), len(after)) < MINIMUM_FOR_RATIO:
        return None
    low, high = unpaired_ratio(before, after).interval()
    return float(low), float(high)


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
    said = ", ".join(_words(some) for some in largest[:MOST_TOLD])
    return f"{other} beside {base}, {operation}, for each {own[0].other.work_unit}: {said}."


def _words(some: Sequence[Move]) -> str:
    """`2.4 × the context switches (23.0 instead of 9.58; 95 % interval 2.1–2.8)`, or the range of several."""
    ratios = [move.ratio for move in some]
    if len(some) > 1:
        return f"{min(ratios):.2g}–{max(ratios):.2g} × the {some[0].counter} ({len(some)} results)"
    (move,) = some
    factor = 1e3 if move.counter == "processor time" else 1.0
    unit = " ms" if move.counter == "processor time" else ""
    values = f"{factor * move.other_value:.3g}{unit} instead of {factor * move.base_value:.3g}{unit}"
    interval = f"; 95 % interval {move.interval[0]:.2g}–{move.interval[1]:.2g}" if move.interval else ""
    return f"{move.ratio:.2g} × the {move.counter} ({values}{interval})"

"""Charts of rate over the time of a phase, small ones beside each other; none in a run without timelines."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev

from strider.report.blocks import Chart
from strider.report.figures import rate_over_time, svg
from strider.report.figures.rate_over_time import Timeline as Drawn
from strider.report.labels.facets import Facets
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.store.case import Case
from strider.store.model import Timeline
from strider.units import MIB, format_bytes

#: Charts of one report: those of the least steady operations.
_MAXIMUM_CHARTS = 12
#: Lines of one chart: the first repetitions that are long enough.
_MAXIMUM_REPETITIONS = 4
#: Longer phases have wider intervals; the engine writes at most 600.
_MOST_INTERVALS = 6000
#: Fewer intervals are no course of time.
_MINIMUM_INTERVALS = 4


def charts(
    timelines: Sequence[Timeline], summaries: Sequence[OperationSummary], facets: Facets
) -> tuple[list[Chart], str]:
    """One chart for each operation of a case, with the rate of all ranks together in each repetition.

    Returns:
        The charts in the order of the plan, and a sentence on omitted ones.
    """
    counted = {summary.key: {sample.repetition for sample in summary.samples} for summary in summaries}
    phases: defaultdict[tuple[int, str], defaultdict[int, list[Timeline]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in timelines:
        if one.repetition in counted.get((one.case, one.operation), ()):
            phases[one.case, one.operation][one.repetition].append(one)
    lines = {summary.key: _lines(summary, phases[summary.key]) for summary in summaries}
    long = {key: own for key, own in lines.items() if own}
    chosen = sorted(long, key=lambda key: -max(map(_variation, long[key])))[:_MAXIMUM_CHARTS]
    drawn = [_chart(summary, long[summary.key], facets) for summary in summaries if summary.key in chosen]
    left_out = len(long) - len(drawn)
    said = f"The least steady ones; {plural(left_out, 'steadier operation')} left out."
    return drawn, said if left_out else ""


def _lines(summary: OperationSummary, repetitions: dict[int, list[Timeline]]) -> list[Drawn]:
    found: list[Drawn] = []
    for number in sorted(repetitions):
        line = _together(repetitions[number], f"repetition {number}", summary.case)
        if len(line.rates) >= _MINIMUM_INTERVALS and len(found) < _MAXIMUM_REPETITIONS:
            found.append(line)
    return found


def _together(parts: Sequence[Timeline], name: str, case: Case) -> Drawn:
    """The rate of all ranks: what each moved is counted at the middle of its own intervals."""
    start_s = min(part.start_s for part in parts)
    end_s = max(part.start_s + len(part.requests) * part.interval_s for part in parts)
    interval_s = max(*(part.interval_s for part in parts), (end_s - start_s) / _MOST_INTERVALS)
    amounts: defaultdict[int, float] = defaultdict(float)
    for part in parts:
        values = part.requests if case.is_metadata else part.bytes
        for position, value in enumerate(values):
            middle_s = part.start_s - start_s + (position + 0.5) * part.interval_s
            amounts[math.floor(middle_s / interval_s)] += value
    unit = 1 if case.is_metadata else MIB
    rates = [amounts[position] / unit / interval_s for position in range(max(amounts, default=-1) + 1)]
    return Drawn(name, 0.0, interval_s, rates)


def _variation(line: Drawn) -> float:
    """Standard deviation ÷ mean of the rates, without the last interval, which may be a part of one."""
    rates = line.rates[:-1]
    mean = fmean(rates)
    return pstdev(rates) / mean if mean else 0.0


def _chart(summary: OperationSummary, lines: Sequence[Drawn], facets: Facets) -> Chart:
    case = summary.case
    transfer = format_bytes(case.transfer_bytes) if case.transfer_bytes else ""
    parts = [
        f"{summary.operation}, case {case.number}: {facets.series[case.number]}",
        facets.group[case.number],
        transfer,
        plural(case.clients, "client"),
    ]
    title = ", ".join(part for part in parts if part)
    specification = rate_over_time.figure(lines, summary.rate_unit)
    description = f"Line chart of rate in {summary.rate_unit} over the time of a phase: {title}."
    interval = f"{lines[0].interval_s:.3g} s"
    shown = f"; {_numbered(lines)} of {summary.n} that count" if len(lines) < summary.n else ""
    caption = f"All ranks together, in intervals of {interval}{shown}."
    return Chart(title, caption, svg.draw(specification, description), "timeline", summary.operation)


def _numbered(lines: Sequence[Drawn]) -> str:
    """Which repetitions some lines are of: `repetitions 1, 3 and 4`."""
    *some, last = (line.name.removeprefix("repetition ") for line in lines)
    return f"repetitions {', '.join(some)} and {last}" if some else f"repetition {last}"

"""The charts of operations of metadata: their rates as bars, and how their latencies are distributed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from strider.report.blocks import Chart
from strider.report.charts.rates import drawn, whiskers_caption
from strider.report.figures import latency_percentiles, rate_by_operation, svg
from strider.report.figures.latency_percentiles import Line
from strider.report.figures.points import whiskers_of
from strider.report.figures.rate_by_operation import Bar
from strider.report.figures.style import Ends, styles
from strider.report.labels.facets import Facets
from strider.report.tables.metadata import Row, case_labels, format_operations, rows
from strider.statistics import OperationSummary

#: Bars in one figure; more go into further figures.
_MAXIMUM_BARS = 30
#: Lines in one figure of latencies, where a line is an operation.
_MAXIMUM_LINES = 5


def rate_charts(
    summaries: Sequence[OperationSummary], facets: Facets, series_order: Sequence[str] = ()
) -> list[Chart]:
    """Charts of rate by operation, all with the same axis; none where a single bar would be all.

    Args:
        summaries: The results.
        facets: Labels of their cases.
        series_order: All series of the run, so that an interface has the same colour in all of its figures.
    """
    real = drawn(summaries)
    labels = case_labels(real, facets)
    look = styles(series_order or facets.series_order)
    summaries_and_bars = [
        (row.summary, bar)
        for row in rows(real, facets)
        if row.part is None and (bar := _bar(row.summary, facets, labels[row.summary.case.number]))
    ]
    bars = [bar for _, bar in summaries_and_bars]
    if len(bars) < 2:
        return []
    ends = Ends(min(bar.mean for bar in bars), max(bar.high for bar in bars))
    caption = whiskers_caption([whiskers_of(one.rate)[0] for one, _ in summaries_and_bars if one.rate])
    charts = []
    for position, some in enumerate(_portions(bars)):
        title = "Operations per second" + (", continued" if position else "")
        description = f"Bar chart of operations per second: {', '.join(_operations(some))}."
        drawing = svg.draw(rate_by_operation.figure(some, look, ends), description)
        charts.append(Chart(title, caption, drawing, "rate by operation"))
    return charts


def latency_charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """Charts of latency against percentile.

    With several cases, one for each operation with a line for each case; with one case, a line for each
    operation. The operations of a mix have a chart of their own for each case.
    """
    real = drawn(summaries)
    labels = case_labels(real, facets)
    cases = list(dict.fromkeys(labels.values()))
    of_mixes = _of_mixes(real, facets, labels)
    if len(cases) > 1:
        return [*_by_operation(real, facets, labels, cases), *of_mixes]
    return [*_all_operations(real, facets), *of_mixes]


def _bar(summary: OperationSummary, facets: Facets, case: str) -> Bar | None:
    rate = summary.rate
    if rate is None or not rate.centre > 0:
        return None
    kind, low, high = whiskers_of(rate)
    text = format_operations(rate.centre)
    spread = f", {kind} {format_operations(low)}–{format_operations(high)}" if high > low else ""
    where = f"{summary.operation}, {case}" if case else summary.operation
    label = f"{where}: {text} op/s{spread} (n = {rate.n})"
    series = facets.series[summary.case.number]
    return Bar(summary.operation, series, case, rate.centre, low, high, text, label)


def _operations(bars: Sequence[Bar]) -> list[str]:
    return list(dict.fromkeys(bar.operation for bar in bars))


def _portions(bars: Sequence[Bar]) -> Iterator[list[Bar]]:
    """Bars in portions that fit one figure, those of an operation kept together."""
    portion: list[Bar] = []
    for operation in _operations(bars):
        own = [bar for bar in bars if bar.operation == operation]
        if portion and len(portion) + len(own) > _MAXIMUM_BARS:
            yield portion
            portion = []
        portion += own
    if portion:
        yield portion


def _by_operation(
    summaries: Sequence[OperationSummary], facets: Facets, labels: dict[int, str], cases: Sequence[str]
) -> list[Chart]:
    look = styles(cases)
    lines: defaultdict[str, list[Line]] = defaultdict(list)
    for row in _whole(summaries, facets):
        case = labels[row.summary.case.number]
        if row.summary.histogram:
            lines[row.summary.operation].append(Line(case, row.summary.histogram, look[case]))
    return [latency_chart(operation, own, operation) for operation, own in lines.items()]


def _all_operations(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    found = [row.summary for row in _whole(summaries, facets)]
    charts = []
    for first in range(0, len(found), _MAXIMUM_LINES):
        some = found[first : first + _MAXIMUM_LINES]
        look = styles([summary.operation for summary in some])
        lines = [Line(s.operation, s.histogram, look[s.operation]) for s in some if s.histogram]
        charts.append(latency_chart(", ".join(summary.operation for summary in some), lines))
    return charts


def _of_mixes(summaries: Sequence[OperationSummary], facets: Facets, labels: dict[int, str]) -> list[Chart]:
    charts = []
    for row in _whole(summaries, facets):
        parts = [part for part in row.summary.parts if part.histogram and part.histogram.count]
        look = styles([part.operation for part in parts])
        lines = [Line(p.operation, p.histogram, look[p.operation]) for p in parts if p.histogram]
        label = labels[row.summary.case.number]
        title = f"operations of {row.summary.operation}" + (f", {label}" if label else "")
        charts += [latency_chart(title, lines)] if lines else []
    return charts


def _whole(summaries: Sequence[OperationSummary], facets: Facets) -> list[Row]:
    """Rows of operations with a latency, without the parts of a mix."""
    return [
        row
        for row in rows(summaries, facets)
        if row.part is None and row.summary.histogram and row.summary.histogram.count
    ]


def latency_chart(title: str, lines: Sequence[Line], operation: str = "") -> Chart:
    """One chart of latency against percentile; `operation` where all lines are of one."""
    description = f"Line chart of latency against percentile: {title}. The table has percentiles as numbers."
    drawing = svg.draw(latency_percentiles.figure(lines), description)
    caption = "All ranks and repetitions; both axes are logarithmic."
    return Chart(f"Latency: {title}", caption, drawing, operation=operation)

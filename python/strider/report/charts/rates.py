"""Which charts a report shows: lines where there are several transfer sizes, bars where there is one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from strider.report.blocks import Chart
from strider.report.figures import rate_by_interface, rate_by_transfer, svg
from strider.report.figures.points import FEW, Point, Whiskers, ends_of, point_of
from strider.report.figures.style import Ends, styles
from strider.report.labels.facets import Facets
from strider.report.results.references import Reference
from strider.report.words.wording import NO_STORAGE, plural
from strider.statistics import OperationSummary
from strider.units import MB, MIB

#: Bars in one figure; more go into further figures.
_MAXIMUM_BARS = 30


def line_charts(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None = None
) -> list[Chart]:
    """One chart of rate against transfer size per operation and number of clients of one group.

    Published rates are bars beside the measured ones; the title names the published figure.
    """
    cells = _cells(summaries, facets, reference)
    look = styles(facets.series_order)
    charts = []
    for (operation, clients), points in cells.items():
        title = f"{operation}, {plural(clients, 'client')}{_published_as(reference, operation, clients)}"
        specification = rate_by_transfer.figure(points, look, _ends(cells, operation))
        description = (
            f"Line chart of rate in MiB/s against transfer size: {title}. The table below has its numbers."
        )
        drawing = svg.draw(specification, description)
        caption = points_caption(points) + _published_caption(points, reference)
        charts.append(Chart(title, caption, drawing, "rate by transfer", operation))
    return charts


def bar_charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """Charts of rate by interface, one per operation and number of clients, all groups in it.

    A figure with a single bar would say less than the number itself, so there is none.
    """
    cells = _cells(summaries, facets)
    look = styles(facets.series_order)
    charts = []
    for (operation, clients), points in cells.items():
        for part, some in enumerate(_split(points)):
            title = f"{operation}, {plural(clients, 'client')}" + (", continued" if part else "")
            specification = rate_by_interface.figure(some, look, _ends(cells, operation))
            description = (
                f"Bar chart of rate in MiB/s by interface: {title}. The tables below have its numbers."
            )
            drawing = svg.draw(specification, description)
            charts.append(Chart(title, points_caption(some), drawing, "rate by interface", operation))
    return charts if any(len(points) > 1 for points in cells.values()) else []


def transfer_sizes(summaries: Sequence[OperationSummary]) -> set[int]:
    """The different transfer sizes at which something was measured."""
    return {
        summary.case.transfer_bytes
        for summary in summaries
        if summary.rate is not None and summary.case.transfer_bytes is not None
    }


def drawn(summaries: Sequence[OperationSummary]) -> list[OperationSummary]:
    """Returns the drawn summaries: without `null` beside real interfaces, which it would flatten."""
    real = [summary for summary in summaries if summary.case.interface_name != NO_STORAGE]
    return real or list(summaries)


def _published_as(reference: Reference | None, operation: str, clients: int) -> str:
    names = reference.figures_of(operation, clients) if reference else []
    return f" (published: {' and '.join(names)})" if names else ""


def _published_caption(points: Sequence[Point], reference: Reference | None) -> str:
    if reference is None or all(point.published_mib_s is None for point in points):
        return ""
    return f" Bars without a line: published, {reference.machine}, {reference.year}."


def _with_published(point: Point, summary: OperationSummary, reference: Reference | None) -> Point:
    figure = reference.figure_mb_s(summary.case, summary.operation) if reference else None
    return point if figure is None else replace(point, published_mib_s=figure * MB / MIB)


def _cells(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None = None
) -> dict[tuple[str, int], list[Point]]:
    """Points by operation and clients."""
    cells: defaultdict[tuple[str, int], list[Point]] = defaultdict(list)
    for summary in sorted(drawn(summaries), key=lambda summary: summary.case.clients):
        point = point_of(summary, facets)
        if point is not None:
            cells[summary.operation, summary.case.clients].append(_with_published(point, summary, reference))
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    return dict(sorted(cells.items(), key=lambda item: (operations.index(item[0][0]), item[0][1])))


def _ends(cells: dict[tuple[str, int], list[Point]], operation: str) -> Ends:
    """The rate axis of all charts of an operation."""
    return ends_of(point for (other, _), points in cells.items() if other == operation for point in points)


def _split(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Points in portions that fit one figure of bars, groups kept together."""
    groups: defaultdict[str, list[Point]] = defaultdict(list)
    for point in points:
        groups[point.group].append(point)
    portion: list[Point] = []
    for some in groups.values():
        if portion and len(portion) + len(some) > _MAXIMUM_BARS:
            yield portion
            portion = []
        portion.extend(some)
    if portion:
        yield portion


def points_caption(points: Sequence[Point]) -> str:
    """Explains the whiskers of some points, and the hollow points."""
    notes = dict.fromkeys(point.note for point in points if point.note)
    hollow = f" Hollow: {'; or '.join(notes)}." if notes else ""
    return whiskers_caption([point.whiskers for point in points]) + hollow


def whiskers_caption(whiskers: Sequence[Whiskers]) -> str:
    """Explains the whiskers of a chart."""
    kinds = dict.fromkeys(whiskers)
    names = {
        "95 % interval": "95 % confidence interval",
        "minimum and maximum": f"minimum and maximum ({FEW} or fewer repetitions)",
        "none": "none (1 repetition)",
    }
    words = ", or ".join(names[kind] for kind in kinds)
    return f"Rate (geometric mean of the repetitions); whiskers: {words}."

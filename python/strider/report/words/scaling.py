"""Sentences on how rates grow with clients, servers or nodes, and on the knee."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.labels.facets import Facets
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.statistics.scaling import Efficiency, Scaling, scalings
from strider.store.case import Case

#: Others are in the table.
_MAXIMUM = 3


def scaling(summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns a sentence for each of the first operations whose growth with a count is shown."""
    found = scalings(summaries)
    # Labels of the lowest counts alone distinguish series, and omit the count.
    facets = Facets.of(list({one.summary.case.number: _without_servers(one) for one in found}.values()))
    return [_text(one, facets) for one in found[:_MAXIMUM]]


def _without_servers(found: Scaling) -> Case:
    """Returns the case at the lowest count, without the number of servers if that is counted."""
    case = found.summary.case
    if found.noun != "servers":
        return case
    interface = {name: value for name, value in case.interface.items() if name != "servers"}
    return case.model_copy(update={"interface": interface})


def _text(found: Scaling, facets: Facets) -> str:
    case = found.summary.case
    labels = dict.fromkeys([case.name, case.shape_name, facets.group[case.number]])
    where = ", ".join(label for label in labels if label)
    name = f"{found.summary.operation} through {facets.series[case.number]} ({where})"
    return f"Scaling of {name}: {_found(found)}."


def _found(found: Scaling) -> str:
    growth = f"of linear growth from {plural(found.lowest, found.noun.removesuffix('s'))}"
    if found.below is None:
        last = found.points[-1]
        return f"no knee up to {last.count} {found.noun}, which reach {_share(last)} {growth}"
    shown = [point for point in found.points if point.count in (found.linear, found.below)]
    shares = " and ".join(f"{point.count} reach {_share(point)}" for point in shown)
    return f"the knee is between {found.linear} and {found.below} {found.noun}; {growth}, {shares}"


def _share(point: Efficiency) -> str:
    low, value, high = (f"{100 * share:.0f}" for share in (point.low, point.value, point.high))
    return f"{value} % (99 % interval {low}–{high})"

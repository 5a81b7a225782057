"""The suite as a whole: one ratio from all rows, with the rounds, or the pairs of runs, as measurements.

What happens in a round happens to all rows of it. So rows are no independent measurements, and their mean in
each round is one (docs/decisions/0026-*.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from strider.compare.metrics import Metric
from strider.compare.model import Change, Overall, Row
from strider.compare.trusting import trust_of
from strider.statistics import MINIMUM_FOR_RATIO, paired_ratio


def overall_of(rows: Sequence[Row], threshold: float) -> list[Overall]:
    """The change of the whole suite, for each metric and each other side; its verdict is not settled yet.

    Args:
        rows: Those that are judged.
        threshold: As of the rows.

    Returns:
        Nothing for a metric with a single row, or with fewer than 3 rounds that all rows have.
    """
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.logs and row.other is not None:
            groups[row.other.label, row.metric.name].append(row)
    found = (_overall(group, group[0].metric, threshold) for group in groups.values() if len(group) > 1)
    return [one for one in found if one is not None]


def _overall(rows: Sequence[Row], metric: Metric, threshold: float) -> Overall | None:
    import numpy as np

    common = set.intersection(*(set(row.logs) for row in rows))
    first = rows[0]
    if len(common) < MINIMUM_FOR_RATIO or first.base is None or first.other is None or first.change is None:
        return None
    means = [fmean(row.logs[number] for row in rows) for number in sorted(common)]
    ratio = paired_ratio(np.ones(len(means)), np.exp(means), metric.resolution)
    change = Change.of(ratio, first.change.method, len(means), float(ratio.p_value(threshold)))
    return Overall(
        base=first.base.label,
        other=first.other.label,
        metric=metric,
        rows=len(rows),
        change=change,
        verdict="no difference shown",
        trust=trust_of(first.change.method, len(means)),
    )

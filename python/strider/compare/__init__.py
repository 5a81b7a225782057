"""Comparisons with a verdict: two systems, two versions, two interfaces.

`compare` sets runs against runs, `compare_within` the values of a key within one run; both return a
`Comparison`, which `as_document` turns into JSON, `table.render` into a table in a terminal and `write_html`
into a page.
"""

from strider.compare.comparing import comparable_keys, compare, compare_within
from strider.compare.history import History, history_of
from strider.compare.metrics import METRICS, Metric
from strider.compare.model import Change, Comparison, Measured, Overall, Row, Side, Verdict, is_unproven

__all__ = [
    "METRICS",
    "Change",
    "Comparison",
    "History",
    "Measured",
    "Metric",
    "Overall",
    "Row",
    "Side",
    "Verdict",
    "comparable_keys",
    "compare",
    "compare_within",
    "history_of",
    "is_unproven",
]

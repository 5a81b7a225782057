"""A comparison as a JSON document (docs/formats.md, section 6)."""

from __future__ import annotations

import dataclasses
from typing import Any

from strider.compare.judge import SIGNIFICANT
from strider.compare.model import Change, Comparison, Measured, Overall, Row
from strider.statistics import Distribution
from strider.statistics.distribution import LEVEL
from strider.statistics.trust import Trust

FORMAT, VERSION = "strider-comparison", 1


def as_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison for other programs; an unknown value is None."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "by": comparison.by or None,
        "sides": [dataclasses.asdict(side) for side in comparison.sides],
        "threshold": comparison.threshold,
        "level": LEVEL,
        "significance": SIGNIFICANT,
        "correction": "Benjamini-Hochberg",
        "compared": comparison.compared,
        "judged": comparison.judged,
        "counts": dict(comparison.counts),
        "remarks": list(comparison.remarks),
        "constants": dict(comparison.constants),
        "overall": [_overall(one) for one in comparison.overall],
        "rows": [_row(row) for row in comparison.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **row.labels,
        "operation": row.operation,
        "metric": row.metric.name,
        "unit": row.unit,
        "better": row.metric.better,
        "verdict": row.verdict,
        "reason": row.reason,
        "notes": list(row.notes),
        "trust": _trust(row.trust),
        "failed": row.has_failed,
        "change": _change(row.change),
        "base": _measured(row.base),
        "other": _measured(row.other),
    }


def _overall(overall: Overall) -> dict[str, Any]:
    return {
        "base": overall.base,
        "other": overall.other,
        "metric": overall.metric.name,
        "better": overall.metric.better,
        "rows": overall.rows,
        "verdict": overall.verdict,
        "trust": _trust(overall.trust),
        "change": _change(overall.change),
    }


def _trust(trust: Trust | None) -> dict[str, Any] | None:
    return None if trust is None else {"grade": trust.grade, "reasons": list(trust.reasons)}


def _change(change: Change | None) -> dict[str, Any] | None:
    return None if change is None else _finite(dataclasses.asdict(change))


def _measured(side: Measured | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return _finite(
        {
            "label": side.label,
            "case": side.case.number,
            "samples": side.samples,
            "typical": side.typical,
            **_distribution(side.distribution),
        }
    )


def _distribution(values: Distribution | None) -> dict[str, Any]:
    names = ("n", "mean", "median", "minimum", "maximum", "deviation", "variation")
    return {name: getattr(values, name, None) for name in names}


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields for JSON, which knows neither NaN nor infinity."""
    return {
        name: None if isinstance(value, float) and not abs(value) < float("inf") else value
        for name, value in fields.items()
    }

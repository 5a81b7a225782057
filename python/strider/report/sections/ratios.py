"""Ratios of the run beside published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from strider.report.blocks import Block, Section, Table, Text
from strider.report.results.ratios import MeasuredRatio, measured_ratios
from strider.report.results.references import ALL
from strider.report.results.results import Results
from strider.report.tables.data import section_starts
from strider.report.words.numbers import NOTHING, significant
from strider.units import format_bytes

#: Tables with at most this many rows are shown in a terminal, and open initially.
_FEW_ROWS = 24
_WHY = (
    "Each ratio is the geometric mean over the repetitions, which are paired; its 95 % interval is of "
    "Student's t on logarithms. The published ratios are of another machine."
)


def _found(results: Results) -> list[MeasuredRatio]:
    return measured_ratios(results.data, results.reference) if results.reference else []


def _page(results: Results) -> list[Block]:
    found = _found(results)
    return [Text(_WHY), _table(results, found)] if found else []


def _terminal(results: Results) -> list[Block]:
    found = _found(results)
    if not 0 < len(found) <= _FEW_ROWS:
        return []
    table = _table(results, found)
    return [Text(f"{table.caption}:"), table]


def _table(results: Results, found: Sequence[MeasuredRatio]) -> Table:
    facets, reference = results.of_data, results.reference
    where = f"published: {reference.machine}, {reference.year}" if reference else "published"
    rows = [
        [
            one.published.what,
            facets.group[one.base.number],
            NOTHING if one.base.transfer_bytes is None else format_bytes(one.base.transfer_bytes),
            facets.series[one.other.number],
            facets.series[one.base.number],
            "all operations" if one.operation == ALL else one.operation,
            significant(one.ratio),
            f"{significant(one.interval[0])} to {significant(one.interval[1])}" if one.interval else NOTHING,
            str(one.n),
            one.published.published,
        ]
        for one in found
    ]
    labels = ("what", "pattern", "transfer", "of", "to", "operation")
    columns = [
        *((name, "") for name in labels),
        ("ratio", ""),
        ("95 % interval", ""),
        ("repetitions", ""),
        (where, ""),
    ]
    varying = [position for position in (1, 2) if len({row[position] for row in rows}) > 1]
    kept = [0, *varying, *range(3, len(columns))]
    caption = "Ratios beside published ones"
    sections = section_starts([row[0] for row in rows])
    table = Table(
        caption,
        columns,
        rows,
        len(labels),
        sections,
        is_open=len(rows) <= _FEW_ROWS,
        folding={"what": 30, "pattern": 20, where: 20},
        wraps=True,
    )
    # Labels are the columns before the numbers.
    return replace(table.with_columns(kept), labels=len(labels) - (2 - len(varying)))


def _document(results: Results) -> dict[str, Any]:
    return {
        "published_ratios": [
            {
                "what": one.published.what,
                "of": one.published.of,
                "base": one.base.number,
                "other": one.other.number,
                "operation": one.operation,
                "ratio": one.ratio,
                "low": one.interval[0] if one.interval else None,
                "high": one.interval[1] if one.interval else None,
                "n": one.n,
                "published": one.published.published,
            }
            for one in _found(results)
        ]
    }


SECTION = Section(
    "ratios",
    "Published ratios",
    _page,
    _terminal,
    _document,
    applies=lambda results: bool(_found(results)),
)

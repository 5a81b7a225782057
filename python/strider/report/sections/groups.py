"""Groups of ranks: each alone, beside the others, and how much slower it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strider.report.blocks import Block, Section, Table, Text
from strider.report.results.results import Results
from strider.report.words.numbers import NOTHING, significant
from strider.statistics import OperationSummary
from strider.statistics.groups import GroupEffect, group_effects

#: Tables with at most this many rows are shown in a terminal, and open initially.
_FEW_ROWS = 24
#: A group measured beside the others for less than this share of its time: the slowdown is of both states.
_WHOLE = 0.95
_WHY = (
    "Slowdown: the rate of the group alone ÷ its rate beside the others, on the same ranks; the geometric "
    "mean over the repetitions, which are paired, with its 95 % interval (Student's t on logarithms). "
    "Overlap: the share of the time in which all other groups measured, too, in the repetition with the "
    "least."
)
_PARTLY = (
    f"Where the overlap is below {100 * _WHOLE:.0f} %, the group was without the others for a part of its "
    "time, so the slowdown may be smaller than that beside them. A longer runtime, the same in all groups, "
    "and no start raise the overlap."
)


def _effects(results: Results) -> list[GroupEffect]:
    return group_effects(results.run, results.summaries)


def _page(results: Results) -> list[Block]:
    found = _effects(results)
    return [Text(_WHY), *_partly(found), _table(results, found)] if found else []


def _terminal(results: Results) -> list[Block]:
    found = _effects(results)
    if not 0 < len(found) <= _FEW_ROWS:
        return []
    table = _table(results, found)
    return [Text(f"{table.caption}:"), table, *_partly(found)]


def _partly(found: Sequence[GroupEffect]) -> list[Block]:
    return [Text(_PARTLY)] if any(one.overlap < _WHOLE for one in found) else []


def _table(results: Results, found: Sequence[GroupEffect]) -> Table:
    units = {one.together.rate_unit for one in found}
    unit = units.pop() if len(units) == 1 else ""
    rows = [
        [
            results.facets.group[one.together.case.number],
            one.together.operation,
            _rate(one.alone, unit),
            _rate(one.together, unit),
            significant(one.slowdown),
            f"{significant(one.interval[0])} to {significant(one.interval[1])}" if one.interval else NOTHING,
            f"{100 * one.overlap:.0f} %",
            str(one.repetitions),
        ]
        for one in found
    ]
    of_all = ("slowdown", "95 % interval", "overlap", "repetitions")
    return Table(
        "Groups of ranks, alone and at the same time",
        [
            ("what", ""),
            ("operation", ""),
            ("alone", unit),
            ("together", unit),
            *((name, "") for name in of_all),
        ],
        rows,
        labels=2,
        is_open=len(rows) <= _FEW_ROWS,
        optional=("repetitions",),
        folding={"what": 22},
        wraps=True,
    )


def _rate(summary: OperationSummary, unit: str) -> str:
    """The typical rate, with its unit where the column has none."""
    number = significant(summary.rate.centre) if summary.rate else NOTHING
    return number if unit else f"{number} {summary.rate_unit}"


def _document(results: Results) -> dict[str, Any]:
    return {
        "groups": [
            {
                "case": one.together.case.number,
                "alone": one.alone.case.number,
                "operation": one.together.operation,
                "slowdown": one.slowdown,
                "low": one.interval[0] if one.interval else None,
                "high": one.interval[1] if one.interval else None,
                "overlap": one.overlap,
                "n": one.repetitions,
            }
            for one in _effects(results)
        ]
    }


SECTION = Section(
    "groups",
    "Groups of ranks",
    _page,
    _terminal,
    _document,
    applies=lambda results: any(case.measured_together for case in results.run.cases.values()),
)

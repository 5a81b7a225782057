"""The data sets of a run: actions of each case, and the data after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from strider.datasets import state_now
from strider.report.blocks import Block, Section, Table, Text
from strider.report.results.results import Results
from strider.report.words.data_sets import (
    is_left_incomplete,
    remedy_sentence,
    set_sentence,
)
from strider.store.data_sets import SetOfRun, Step, is_program

_FEW_ROWS = 24
_COLUMNS = ("step", "data set", "case and operations", "did", "found", "left")
_PROGRAM = "Steps of this program, in order of execution: what each found, and what it left"
_CASES = "Cases with data sets: what each found, and what it left"
_ORDER = (
    'The cases of this suite run in their order (interleave = "none"), each on the files that the ones '
    "before it left."
)


def _page(results: Results) -> list[Block]:
    sets = results.data_sets
    order = [Text(_ORDER)] if is_program(results.run) else []
    folders = [Text(f"{one.name}: {one.path}", "caption") for one in sets]
    return [*_sentences(sets), *order, _table(results, sets), *folders]


def _terminal(results: Results) -> list[Block]:
    sets = results.data_sets
    table = _table(results, sets)
    left_out = len(table.rows) - _FEW_ROWS
    more = [Text(f"… {left_out} more: strider report")] if left_out > 0 else []
    steps: list[Block] = [Text(f"{table.caption}:"), replace(table, rows=table.rows[:_FEW_ROWS]), *more]
    now = [Text(f"{one.title} is now {_now(one)}.") for one in sets if not one.is_kept]
    return [*(steps if len(table.rows) > 1 else []), *_sentences(sets), *now]


def _sentences(sets: Sequence[SetOfRun]) -> list[Text]:
    incomplete = [Text(remedy_sentence(one), "doubt") for one in sets if is_left_incomplete(one)]
    return [*(Text(set_sentence(one)) for one in sets), *incomplete]


def _table(results: Results, sets: Sequence[SetOfRun]) -> Table:
    steps = sorted((step for one in sets for step in one.steps), key=lambda step: step.position)
    rows = [[str(number), *_cells(step)] for number, step in enumerate(steps, start=1)]
    caption = _PROGRAM if is_program(results.run) else _CASES
    folding = {"case and operations": 34, "found": 16, "left": 16}
    columns = [(name, "") for name in _COLUMNS]
    table = Table(caption, columns, rows, labels=1, is_open=len(rows) <= _FEW_ROWS, folding=folding)
    return table if len(sets) > 1 else table.without("data set")


def _cells(step: Step) -> list[str]:
    case = step.case
    what = f"case {case.number}: {case.interface_name}, {case.in_words}: {', '.join(case.operations)}"
    return [step.name, what, step.action, step.found.in_words, step.left.in_words]


def _now(one: SetOfRun) -> str:
    return state_now(Path(one.path).parent, one.name, one.left.generation)


def _json(results: Results) -> dict[str, Any]:
    sets = results.data_sets
    return {"data_sets": [_as_row(one) for one in sets]} if sets else {}


def _as_row(one: SetOfRun) -> dict[str, Any]:
    return {
        "name": one.name,
        "directory": one.path,
        "action": one.action,
        "written_by": one.run or None,
        "written_at": one.at or None,
        "found": vars(one.found),
        "left": vars(one.left),
        "now": None if one.is_kept else _now(one),
        "steps": [
            {
                "case": step.case.number,
                "action": step.action,
                "found": vars(step.found),
                "left": vars(step.left),
            }
            for step in one.steps
        ],
    }


def _applies(results: Results) -> bool:
    return bool(results.data_sets)


SECTION = Section("data_sets", "Data sets", _page, _terminal, _json, applies=_applies)

"""Wall, user and system time of each process, beside published times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.blocks import Table
from strider.report.labels.facets import Facets
from strider.report.results.references import PROCESS_TIMES, ProcessTime, Reference
from strider.report.tables.data import format_transfer, section_starts
from strider.report.words.numbers import NOTHING, significant
from strider.statistics.processes import ProcessTimes

Cell = Callable[[ProcessTimes], str]

CAPTION = "Time of each process: mean of the repetitions"
_NAMES: dict[ProcessTime, str] = {"wall_s": "wall", "user_s": "user", "system_s": "system"}
#: Labels that a table needs in any case.
_KEPT = ("interface", "operation", "rank")


def table(times: Sequence[ProcessTimes], facets: Facets, reference: Reference | None) -> Table:
    """Returns a row for each rank of each operation of a case.

    Args:
        times: The times.
        facets: Labels of the cases.
        reference: Published times of a process, which get columns beside the measured ones.
    """
    labels: dict[tuple[str, str], Cell] = {
        ("pattern", ""): lambda one: facets.group[one.summary.case.number],
        ("transfer", ""): lambda one: format_transfer(one.summary),
        ("clients", ""): lambda one: str(one.summary.case.clients),
        ("interface", ""): lambda one: facets.series[one.summary.case.number],
        ("operation", ""): lambda one: one.summary.operation,
        ("rank", ""): lambda one: str(one.rank),
    }
    labels = {
        head: cell for head, cell in labels.items() if head[0] in _KEPT or len(set(map(cell, times))) > 1
    }
    numbers: dict[tuple[str, str], Cell] = {
        (_NAMES[quantity], "s"): _measured(quantity) for quantity in PROCESS_TIMES
    }
    numbers |= _published(times, reference) if reference else {}
    numbers["repetitions", ""] = lambda one: str(one.n)
    columns = labels | numbers
    rows = [[cell(one) for cell in columns.values()] for one in times]
    sections = section_starts([one.summary.key for one in times])
    return Table(CAPTION, list(columns), rows, labels=len(labels), sections=sections)


def _measured(quantity: ProcessTime) -> Cell:
    return lambda one: significant(getattr(one, quantity))


def _published(times: Sequence[ProcessTimes], reference: Reference) -> dict[tuple[str, str], Cell]:
    def cell(quantity: ProcessTime) -> Cell:
        def text(one: ProcessTimes) -> str:
            figure = reference.count(one.summary.case, one.summary.operation, quantity)
            return NOTHING if figure is None else significant(figure)

        return text

    where = f"published: {reference.machine}, {reference.year}"
    found = {(f"{_NAMES[quantity]},\n{where}", "s"): cell(quantity) for quantity in PROCESS_TIMES}
    return {head: cell for head, cell in found.items() if any(cell(one) != NOTHING for one in times)}

"""The limiting factor of each result, and the machine ceilings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from strider.limits import Analysis, Move, Verdict, common_rules
from strider.report.blocks import Block, Points, Section, Table, Text
from strider.report.labels.facets import Facets
from strider.report.results.results import Results
from strider.report.tables import metadata
from strider.report.tables.metadata import Column, Row
from strider.report.words.numbers import NOTHING, percent, significant
from strider.report.words.wording import format_rate_of
from strider.statistics import OperationSummary
from strider.store.model import Ceiling, CeilingReport, Run
from strider.units import grouped

_NO_CEILINGS = (
    "This run has no ceilings: it was measured with --ceilings none, or by an older version of Strider. "
    "The limits below are based on times and counters only."
)
_CAPTION = "Results relative to the machine ceilings"
#: Heading of each column of shares, and its rule.
_SHARES = {
    "of memory copy": "memory",
    "of device": "device",
    "of target stream": "target stream",
    "of link": "link",
    "data generation, verification": "data",
    "think": "think",
    "open, close": "opening",
    "sync": "sync",
    "processors busy": "processors",
    "ranks on CPU": "ranks",
    "device busy": "busy device",
    "of request loop": "request rate",
}
#: Maximum number of share columns in a terminal.
_MOST_SHARES = 7
#: Tables with at most this many rows are open initially.
_OPEN_ROWS = 12
#: Columns whose texts may wrap in a terminal, with their width.
_FOLDING = {"what limits it": 88}
_TITLES = {
    "memory_copy": "memory copy",
    "data_generation": "data generation",
    "verification": "data verification",
    "null_requests": "request loop of Strider",
    "link": "network links",
    "network": "MPI between nodes",
    "mpi_within_node": "MPI within the node",
    "device_write": "device, write",
    "device_read": "device, read",
    "target_write": "target by one stream per node, write",
    "target_read": "target by one stream per node, read",
}


def _page(results: Results) -> list[Block]:
    """None for a run without measured ceilings."""
    if not results.run.ceilings:
        return []
    analysis, ceilings = results.analysis, _ceilings(results.run)
    aside = ", measured before the first and after the last case"
    tables = [*_tables(results), replace(ceilings, aside=aside)]
    return [
        *([Points(analysis.sentences)] if analysis.sentences else []),
        *(replace(table, is_open=len(table.rows) <= _OPEN_ROWS) for table in tables),
    ]


def _terminal(results: Results) -> list[Block]:
    analysis = results.analysis
    known = bool(results.run.ceilings)
    return [
        *([_ceilings(results.run), Text("")] if known else [Text(_NO_CEILINGS)]),
        *_tables(results),
        Text(f"{_CAPTION}.", "caption"),
        *map(Text, analysis.sentences),
    ]


def _tables(results: Results) -> list[Table]:
    """Returns the data and metadata verdicts, if any."""
    analysis = results.analysis
    kinds = [
        (facets, [one for one in analysis.verdicts if one.summary.case.is_metadata is kind])
        for kind, facets in ((False, results.of_data), (True, results.of_metadata))
    ]
    return [_table(analysis, own, _facets_of(own, facets)) for facets, own in kinds if own]


def _facets_of(verdicts: Sequence[Verdict], of_run: Facets) -> Facets:
    """Returns the labels of the cases that have verdicts: those of the run, if all its cases have."""
    cases = {verdict.summary.case.number: verdict.summary.case for verdict in verdicts}
    return of_run if cases.keys() == of_run.series.keys() else Facets.of(list(cases.values()))


def _columns(verdicts: Sequence[Verdict], facets: Facets) -> tuple[list[Column], list[Column]]:
    """Returns the columns that name a result and those of its rate and shares, without empty ones.

    Args:
        verdicts: All of data, or all of metadata.
        facets: Labels of their cases.
    """
    summaries = [verdict.summary for verdict in verdicts]
    labels = metadata.sized_labels(summaries, facets)
    known = {id(verdict.summary): verdict.shares for verdict in verdicts}
    rate = Column("rate", summaries[0].rate_unit, lambda row: _rate(row.summary))
    shares = [_share_column(title, rule, known) for title, rule in _SHARES.items()]
    shown = [one for one in shares if any(one.cell(Row(s)) not in (NOTHING, "0", "0.0") for s in summaries)]
    return labels, [rate, *shown]


def _in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Groups verdicts by operation."""
    by_summary = {id(verdict.summary): verdict for verdict in verdicts}
    return [
        by_summary[id(summary)] for summary in metadata.ordered([verdict.summary for verdict in verdicts])
    ]


def _ceiling_rows(run: Run) -> list[tuple[str, ...]]:
    """Returns the rows of the ceilings: name, scope, values at start and end, method."""
    ends = {
        (report.start, report.clients, report.node, ceiling.name): ceiling
        for report in run.ceilings
        for ceiling in report.ceilings
        if report.moment == "end"
    }
    return [
        (
            _TITLES.get(ceiling.name, ceiling.name),
            _of_whom(run, report),
            _value(ceiling),
            _value(ends.get((report.start, report.clients, report.node, ceiling.name))),
            ceiling.unit,
            NOTHING if ceiling.value is None or not ceiling.spread else percent(ceiling.spread),
            ceiling.about,
        )
        for report in sorted(
            run.ceilings, key=lambda one: (one.clients is None, one.clients or 0, one.node or 0)
        )
        if report.moment == "start"
        for ceiling in report.ceilings
    ]


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Returns ceilings, shares and limits of each result, and correlated counters as JSON."""
    return {
        "ceilings": [report.model_dump(mode="json") for report in analysis.run.ceilings],
        "limits": [_as_row(verdict) for verdict in analysis.verdicts],
        "moves": [_as_move(move) for move in analysis.moves],
        "sentences": analysis.sentences,
    }


def _as_row(verdict: Verdict) -> dict[str, Any]:
    summary = verdict.summary
    return {
        "case": summary.case.number,
        "operation": summary.operation,
        "interface": summary.case.interface_name,
        "explained": verdict.explained,
        "shares": verdict.shares,
        "findings": [
            {"rule": one.rule.name, "weight": one.rule.weight, "share": one.share, "text": one.text}
            for one in verdict.findings
        ],
    }


def _as_move(move: Move) -> dict[str, Any]:
    return {
        "case": move.other.case.number,
        "base_case": move.base.case.number,
        "operation": move.other.operation,
        "counter": move.counter,
        "per": move.other.work_unit,
        "value": move.other_value,
        "base_value": move.base_value,
        "ratio": move.ratio,
        "interval": move.interval,
    }


def _share_column(title: str, rule: str, known: dict[int, dict[str, float]]) -> Column:
    return Column(title.replace(" ", "\n", 1), "%", lambda row: percent(known[id(row.summary)].get(rule)))


def _rate(summary: OperationSummary) -> str:
    return format_rate_of(summary, summary.rate.centre if summary.rate else None)


def _value(ceiling: Ceiling | None) -> str:
    if ceiling is None or ceiling.value is None:
        return NOTHING
    return significant(ceiling.value) if ceiling.unit == "MiB/s" else grouped(ceiling.value)


def _of_whom(run: Run, report: CeilingReport) -> str:
    again = f", start {report.start}" if report.start > 1 else ""
    if report.clients is not None:
        return ("1 client" if report.clients == 1 else f"{report.clients} clients") + again
    nodes = run.start.nodes if run.start else []
    known = report.node is not None and report.node < len(nodes)
    return (nodes[report.node or 0].name if known else "a node") + again


def _table(analysis: Analysis, verdicts: Sequence[Verdict], facets: Facets) -> Table:
    labels, numbers = _columns(verdicts, facets)
    everywhere = common_rules(verdicts)
    shares = [column.name for column in numbers[1:]]
    return Table(
        _CAPTION,
        [*((one.name, one.unit) for one in [*labels, *numbers]), ("what limits it", "")],
        [
            [
                *(one.cell(Row(verdict.summary)) for one in [*labels, *numbers]),
                analysis.text(verdict, everywhere) or NOTHING,
            ]
            for verdict in _in_order(verdicts)
        ],
        len(labels),
        optional=[*reversed(shares[_MOST_SHARES:]), *reversed(shares[:_MOST_SHARES])],
        folding=_FOLDING,
    )


def _ceilings(run: Run) -> Table:
    heads = [("what", ""), ("of", ""), ("start", ""), ("end", ""), ("unit", ""), ("spread", "%"), ("how", "")]
    folding = dict.fromkeys((name for name, _ in heads), 0)
    return Table("Machine ceilings", heads, _ceiling_rows(run), 2, folding=folding)


SECTION = Section(
    "limits", "What limits it", _page, _terminal, lambda results: as_json(results.analysis), option="limits"
)

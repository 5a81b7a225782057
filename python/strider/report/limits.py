"""What limits each result, and the machine's ceilings: rows and columns for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.limits import Analysis, Move, Verdict, common_rules
from strider.report import metadata
from strider.report.counters_table import labels_of_data, ordered
from strider.report.facets import Facets
from strider.report.metadata import Column, Row
from strider.report.numbers import NOTHING, percent, significant
from strider.report.tables import HtmlTable
from strider.report.wording import format_rate_of
from strider.statistics import OperationSummary
from strider.store.model import Ceiling, CeilingReport, Run
from strider.units import grouped

CAPTION = "Each result beside what the machine's parts reached by themselves"
#: Heading of each column of shares, and the rule whose number it shows.
_SHARES = {
    "of memory copy": "memory",
    "of device": "device",
    "of target stream": "target stream",
    "of link": "link",
    "making, checking data": "data",
    "think": "think",
    "open, close": "opening",
    "sync": "sync",
    "processors busy": "processors",
    "ranks on CPU": "ranks",
    "device busy": "busy device",
    "of request loop": "request rate",
}
_TITLES = {
    "memory_copy": "memory copy",
    "data_generation": "generating data",
    "verification": "checking data",
    "null_requests": "request loop of Strider",
    "link": "network links",
    "network": "MPI between nodes",
    "mpi_within_node": "MPI within the node",
    "device_write": "device, write",
    "device_read": "device, read",
    "target_write": "target by one stream per node, write",
    "target_read": "target by one stream per node, read",
}


@dataclass(frozen=True)
class LimitsView:
    """The report's section on limits."""

    sentences: Sequence[str]
    results: Sequence[HtmlTable]
    ceilings: HtmlTable


def view(analysis: Analysis) -> LimitsView | None:
    """The section of a run; None of one whose ceilings nobody measured."""
    if not analysis.run.ceilings:
        return None
    tables = [_html_table(analysis, own) for own in by_kind(analysis.verdicts)]
    return LimitsView(analysis.sentences, tables, _ceiling_table(analysis.run))


def by_kind(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Those of data and those of metadata, as far as there are any."""
    kinds = [[one for one in verdicts if one.summary.case.is_metadata is kind] for kind in (False, True)]
    return [own for own in kinds if own]


def columns(verdicts: Sequence[Verdict]) -> tuple[list[Column], list[Column]]:
    """Columns that name a result, and those of its rate and shares, without empty ones.

    Args:
        verdicts: All of data, or all of metadata.
    """
    summaries = [verdict.summary for verdict in verdicts]
    facets = Facets.of([summary.case for summary in summaries])
    of_metadata = summaries[0].case.is_metadata
    labels = metadata.label_columns(summaries, facets) if of_metadata else labels_of_data(summaries, facets)
    known = {id(verdict.summary): verdict.shares for verdict in verdicts}
    rate = Column("median", summaries[0].rate_unit, lambda row: _rate(row.summary))
    shares = [_share_column(title, rule, known) for title, rule in _SHARES.items()]
    shown = [one for one in shares if any(one.cell(Row(s)) not in (NOTHING, "0", "0.0") for s in summaries)]
    return labels, [rate, *shown]


def in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those of one operation together."""
    by_summary = {id(verdict.summary): verdict for verdict in verdicts}
    return [by_summary[id(summary)] for summary in ordered([verdict.summary for verdict in verdicts])]


def ceiling_rows(run: Run) -> list[tuple[str, ...]]:
    """What was measured, of whom, how much at the start and at the end, and how: texts for a table."""
    ends = {
        (report.clients, report.node, ceiling.name): ceiling
        for report in run.ceilings
        for ceiling in report.ceilings
        if report.moment == "end"
    }
    return [
        (
            _TITLES.get(ceiling.name, ceiling.name),
            _of_whom(run, report),
            _value(ceiling),
            _value(ends.get((report.clients, report.node, ceiling.name))),
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
    """The ceilings, of each result its shares and what limits it, and which counters moved."""
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
    return Column(title, "%", lambda row: percent(known[id(row.summary)].get(rule)))


def _rate(summary: OperationSummary) -> str:
    return format_rate_of(summary, summary.rate.median if summary.rate else None)


def _value(ceiling: Ceiling | None) -> str:
    if ceiling is None or ceiling.value is None:
        return NOTHING
    return significant(ceiling.value) if ceiling.unit == "MiB/s" else grouped(ceiling.value)


def _of_whom(run: Run, report: CeilingReport) -> str:
    if report.clients is not None:
        return "1 client" if report.clients == 1 else f"{report.clients} clients"
    nodes = run.start.nodes if run.start else []
    return nodes[report.node].name if report.node is not None and report.node < len(nodes) else "a node"


def _html_table(analysis: Analysis, verdicts: Sequence[Verdict]) -> HtmlTable:
    labels, numbers = columns(verdicts)
    everywhere = common_rules(verdicts)
    heads = [*((one.name, one.unit) for one in [*labels, *numbers]), ("what limits it", "")]
    rows = [
        [
            *(one.cell(Row(verdict.summary)) for one in [*labels, *numbers]),
            analysis.text(verdict, everywhere) or NOTHING,
        ]
        for verdict in in_order(verdicts)
    ]
    return HtmlTable(CAPTION, heads, rows, len(labels))


def _ceiling_table(run: Run) -> HtmlTable:
    heads = [("what", ""), ("of", ""), ("start", ""), ("end", ""), ("unit", ""), ("spread", "%"), ("how", "")]
    return HtmlTable("The machine's ceilings", heads, ceiling_rows(run), 2)

"""Summary of the run: parameters and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from strider.report.blocks import Alert, Block, Facts, Heading, Section, Text
from strider.report.labels.facets import Facets
from strider.report.results.references import Reference
from strider.report.results.results import Results
from strider.report.results.rows import as_rows
from strider.report.words.cuts import ceilings_sentence, cut_sentences
from strider.report.words.remarks import (
    checks,
    remarks,
    result_remarks,
    what_was_done,
)
from strider.report.words.sizes import chosen_sizes
from strider.report.words.time_limit import time_limit_row, time_limit_sentence
from strider.report.words.wording import constants_line, problems
from strider.statistics import OperationSummary
from strider.store.case import Case
from strider.units import format_bytes, grouped

#: Values of an axis in the summary.
_MOST_VALUES = 40
#: Characters of the values of an axis that has more.
_MOST_CHARACTERS = 300
_PLACEMENT_KEYS = {"placement": "placement", "nodes": "nodes", "ranks per node": "per_node"}
"""Name of each axis of placement, with its key."""


def _page(results: Results) -> list[Block]:
    run, summaries = results.run, results.summaries
    sentences = [
        *remarks(run, summaries, results.comparisons, results.value_comparisons),
        *_reference_remark(summaries, results.reference),
    ]
    of_data = " of data" if results.metadata else ""
    constants = constants_line(results.of_data, results.data) if results.data else ""
    return [
        Text(what_was_done(run, summaries)),
        *_cut(results),
        *map(Text, sentences),
        Heading("What was measured"),
        Facts("What was measured", _axes(list(run.cases.values()), results.facets)),
        *([Text(f"Common to all cases{of_data}: {constants}.", "caption")] if constants else []),
        *(Text(sentence, "caption") for sentence in chosen_sizes(run)),
    ]


def _terminal(results: Results) -> list[Block]:
    run, summaries, most = results.run, results.summaries, results.most_remarks
    found = result_remarks(run, summaries, results.analysis if most is not None and run.ceilings else None)
    left_out = len(found) - len(found[:most])
    more = f"… {left_out} more: strider show, strider show --limits"
    wrong = problems(run, summaries, results.comparisons, results.value_comparisons)
    return [
        *([] if summaries else [Text("This run has no results: no phase was completed.")]),
        # After a run, the lines of its preparation have them.
        *(map(Text, chosen_sizes(run)) if most is None else ()),
        *_cut(results),
        *map(Text, checks(run, summaries, results.comparisons, results.value_comparisons)),
        *(Text(sentence, "doubt" if is_doubt else "") for sentence, is_doubt in found[:most]),
        *([Text(more)] if left_out else []),
        *([Alert("Read this first", wrong)] if wrong else []),
    ]


def _cut(results: Results) -> list[Text]:
    """Returns the sentences on omissions by the time limit, and on the starts of a resumed run."""
    run = results.run
    found = [time_limit_sentence(run), *cut_sentences(run.cuts), ceilings_sentence(run)]
    return [Text(sentence, "doubt") for sentence in found if sentence]


def _json(results: Results) -> dict[str, Any]:
    run = results.run
    return {
        "results": as_rows(results),
        "time_limit": time_limit_row(run),
        "cuts": [cut.model_dump(mode="json") for cut in run.cuts],
    }


def _reference_remark(summaries: Sequence[OperationSummary], reference: Reference | None) -> list[str]:
    return [reference.remark] if reference and reference.applies(summaries) else []


def _axes(cases: Sequence[Case], facets: Facets) -> list[tuple[str, str]]:
    """Returns the varied parameters with their values in the order of the plan."""
    sizes = sorted({case.transfer_bytes for case in cases if case.transfer_bytes is not None})
    groups = {
        of_metadata: list(
            dict.fromkeys(facets.group[case.number] for case in cases if case.is_metadata is of_metadata)
        )
        for of_metadata in (False, True)
    }
    axes = {
        "interface": facets.series_order,
        "pattern and its conditions": groups[False],
        "tree and its conditions": groups[True],
        "transfer": [format_bytes(size) for size in sizes],
        "clients": [str(count) for count in sorted({case.clients for case in cases})],
        **{name: _placement_values(cases, key) for name, key in _PLACEMENT_KEYS.items()},
        "operation": list(dict.fromkeys(name for case in cases for name in case.operations)),
    }
    return [(name, _joined([*values])) for name, values in axes.items() if values]


def _placement_values(cases: Sequence[Case], key: str) -> list[str]:
    """Returns the values of a key of placement where they differ; none where a single value is used."""
    values = dict.fromkeys(case.common_parameters.get(key) for case in cases)
    return [str(value or "any") for value in values] if len(values) > 1 else []


def _joined(values: Sequence[str]) -> str:
    """Values of an axis; of many, the first ones in a few lines and the number of the others."""
    if len(values) <= _MOST_VALUES:
        return " · ".join(values)
    lengths = accumulate(map(len, values[:_MOST_VALUES]))
    shown = max(1, sum(length <= _MOST_CHARACTERS for length in lengths))
    return " · ".join([*values[:shown], f"and {grouped(len(values) - shown)} more"])


SECTION = Section("summary", "Summary", _page, _terminal, _json)

"""The starts of a run that was cut and resumed: when, why, and what each of them measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from strider.report.blocks import Block, Section, Table, Text
from strider.report.results.results import Results
from strider.report.words.cuts import starts_sentence
from strider.report.words.numbers import NOTHING
from strider.report.words.wording import shown_time
from strider.store.starts import Span, spans
from strider.units import format_ranges, format_seconds

_MOST_STARTS = 12
"""Columns of the table by case; with more starts, a row is wider than a page."""
_FEW_ROWS = 24
_COLUMNS = ("start", "began", "took", "end", "pause", "repetitions", "phases", "which cases", "remarks")


def _page(results: Results) -> list[Block]:
    found = spans(results.run)
    by_case = [_by_case(results, found)] if len(found) <= _MOST_STARTS else []
    return [Text(starts_sentence(found)), _starts(results, found), *by_case]


def _terminal(results: Results) -> list[Block]:
    found = spans(results.run)
    left_out = len(found) - _FEW_ROWS
    more = [Text(f"… {left_out} earlier starts: strider report")] if left_out > 0 else []
    return [Text("Starts of this run:"), *more, _starts(results, found[-_FEW_ROWS:])]


def _starts(results: Results, found: Sequence[Span]) -> Table:
    rows = [_row(results, span) for span in found]
    folding = {"end": 28, "which cases": 14, "remarks": 30}
    table = Table("Starts", [(name, "") for name in _COLUMNS], rows, labels=1, folding=folding)
    return table.without_empty()


def _row(results: Results, span: Span) -> list[str]:
    before = results.run.cuts[span.number - 2] if span.number > 1 else None
    return [
        str(span.number),
        shown_time(span.began) if span.began else NOTHING,
        _duration(span.elapsed_s),
        span.end,
        _duration(span.pause_s),
        str(span.repetitions),
        str(len(span.samples)),
        format_ranges(span.cases),
        "; ".join(before.differences) if before else "",
    ]


def _duration(seconds: float) -> str:
    return format_seconds(seconds) if seconds >= 0 else NOTHING


def _by_case(results: Results, found: Sequence[Span]) -> Table:
    """Returns the number of repetitions of each case in each start."""
    counts: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for span in found:
        for sample in span.samples:
            if not sample.warmup:
                counts[sample.case, span.number].add(sample.repetition)
    cases = results.run.cases.values()
    rows = [
        [
            str(case.number),
            f"{case.interface_name}, {case.in_words}",
            *(str(len(counts[case.number, span.number])) for span in found),
        ]
        for case in cases
    ]
    heads = ["case", "what", *(f"start {span.number}" for span in found)]
    caption = "Repetitions of each case in each start, without warm-up"
    columns = [(head, "") for head in heads]
    return Table(caption, columns, rows, labels=2, is_open=len(rows) <= _FEW_ROWS)


SECTION = Section("starts", "Starts", _page, _terminal, applies=lambda results: bool(results.run.cuts))

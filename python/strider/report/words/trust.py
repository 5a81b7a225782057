"""Grades of trust in cells and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from strider.report.words.numbers import NOTHING
from strider.statistics import OperationSummary


def trust_letter(summary: OperationSummary) -> str:
    """Returns the grade alone."""
    return summary.trust.grade if summary.trust else NOTHING


def trust_cell(summary: OperationSummary) -> str:
    """Returns the grade with its reasons: `C short, spread`."""
    return str(summary.trust) if summary.trust else NOTHING


def trust_line(summaries: Sequence[OperationSummary]) -> str:
    """Returns the number of results of each grade, with the reasons; empty without graded results."""
    grades = [summary.trust for summary in summaries if summary.trust]
    parts = []
    for letter in "ABCD":
        own = [trust for trust in grades if trust.grade == letter]
        if own:
            words = Counter(word for trust in own for word in trust.reasons)
            why = ", ".join(f"{word} {count}" for word, count in words.most_common())
            parts.append(f"{letter} {len(own)}" + (f" ({why})" if why else ""))
    return f"Trust (number of results): {'; '.join(parts)}." if parts else ""

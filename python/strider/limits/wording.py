"""What limits a run, in as few sentences as there are findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass

from strider.limits.findings import UNEXPLAINED, Finding, Verdict, with_detail
from strider.statistics.distribution import typical_repetitions_for
from strider.statistics.rule import FEWEST_REPETITIONS
from strider.statistics.trust import MANY, WIDE

#: Up to so many values of interface or operation a sentence names.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Said:
    """A sentence and the results that it is about.

    Attributes:
        findings: The findings behind it; none of a sentence on results that no rule explains.
    """

    text: str
    verdicts: Sequence[Verdict]
    findings: Sequence[Finding] = ()

    @property
    def is_certain(self) -> bool:
        """Whether it follows from the measurement alone, with any numbers."""
        return bool(self.findings) and self.findings[0].rule.test == "definition"

    @property
    def explains(self) -> bool:
        """Whether it alone accounts for rates."""
        return bool(self.findings) and self.findings[0].rule.weight == "explains"

    @property
    def grade(self) -> str:
        """The weakest grade of the results; empty where the grade does not matter."""
        grades = [one.summary.trust.grade for one in self.verdicts if one.summary.trust]
        return "" if self.is_certain else max(grades, default="")


def sentences(verdicts: Sequence[Verdict], without: Container[str] = ()) -> list[str]:
    """One sentence for each rule that applies: what explains the most results first.

    Args:
        verdicts: The results.
        without: Names of rules that are reported elsewhere.
    """
    found = said(verdicts, without)
    unjudged = [verdict for verdict in verdicts if not verdict.explained and not verdict.is_judged]
    if not unjudged:
        return [one.text for one in found]
    reasons = dict.fromkeys(reason for verdict in unjudged for reason in verdict.reasons)
    last = f"{_about(unjudged, verdicts)}: not judged ({', '.join(reasons)}){_needs(unjudged)}."
    return [*(one.text for one in found), last]


def _needs(unjudged: Sequence[Verdict]) -> str:
    """How many repetitions it takes to judge results that have too few of them; empty for other reasons."""
    if any(len(verdict.summary.samples) < FEWEST_REPETITIONS for verdict in unjudged):
        return f"; {FEWEST_REPETITIONS} repetitions or more are needed"
    wide = [verdict.summary.rate for verdict in unjudged if "spread" in verdict.reasons]
    if not wide:
        return ""
    needed = typical_repetitions_for([rate for rate in wide if rate], WIDE)
    many = "more than 1000" if needed is None else f"about {max(MANY, needed)}"
    return f"; intervals within ±{100 * WIDE:.0f} % take {many} repetitions"


def said(verdicts: Sequence[Verdict], without: Container[str] = ()) -> list[Said]:
    """The sentences on the results that are good enough to be judged, each with its results."""
    groups: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in (one for verdict in verdicts for one in verdict.findings if one.rule.name not in without):
        groups[finding.rule.name, finding.rule.words(finding.evidence)].append(finding)
    order = {name: position for position, name in enumerate(dict.fromkeys(_names(verdicts)))}

    def importance(item: tuple[tuple[str, str], list[Finding]]) -> tuple[bool, int, int]:
        (name, _), group = item
        return group[0].rule.weight != "explains", -len(group), order[name]

    found = [_said(words, group, verdicts) for (_, words), group in sorted(groups.items(), key=importance)]
    rest = [verdict for verdict in verdicts if not verdict.explained and verdict.is_judged]
    if rest:
        found.append(Said(f"{_about(rest, verdicts)}: {UNEXPLAINED}.", rest))
    return found


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    from strider.limits.rules import RULES

    used = {finding.rule.name for verdict in verdicts for finding in verdict.findings}
    return [rule.name for rule in RULES if rule.name in used]


def _said(words: str, group: Sequence[Finding], verdicts: Sequence[Verdict]) -> Said:
    shares = [finding.share for finding in group if finding.share is not None]
    number = group[0].rule.number(min(shares), max(shares)) if shares else ""
    detail = group[0].rule.detail(group[0].evidence) if len(group) == 1 else ""
    clause = with_detail(words.format(share=number), detail)
    own = {id(finding.evidence) for finding in group}
    about = [one for one in verdicts if id(one.evidence) in own]
    return Said(f"{_about(about, verdicts)}: {clause}.", about, group)


def _about(some: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Which results: all, or how many of them, with what they have in common."""
    if len(some) == len(verdicts):
        return "All results" if len(some) > 1 else _title(some[0])
    if len(some) == 1:
        return _title(some[0])
    named = [
        _in_common([one.evidence.interface for one in some], [one.evidence.interface for one in verdicts])
    ]
    operations = [one.summary.operation for one in some]
    named.append(_in_common(operations, [one.summary.operation for one in verdicts]))
    inside = ", ".join(text for text in named if text)
    return f"{len(some)} of {len(verdicts)} results" + (f" ({inside})" if inside else "")


def _in_common(own: Sequence[str], of_all: Sequence[str]) -> str:
    """The values of some results, where they are few and not those of all."""
    values = list(dict.fromkeys(own))
    return " and ".join(values) if len(values) <= _MOST_NAMED and len(values) < len(set(of_all)) else ""


def _title(verdict: Verdict) -> str:
    summary = verdict.summary
    return f"{verdict.evidence.interface} {summary.operation} ({summary.case.in_words})"

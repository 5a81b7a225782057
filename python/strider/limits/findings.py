"""Findings of the rules in a run."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule
from strider.limits.rules import RULES
from strider.statistics import OperationSummary
from strider.statistics.ceilings import Ceilings
from strider.statistics.counters import by_operation
from strider.statistics.exceeding import file_system_of
from strider.store.model import NodeCounters, Run

UNEXPLAINED = "nothing measured here explains it"


@dataclass(frozen=True)
class Finding:
    """A rule that applies to a result.

    Attributes:
        rule: The rule.
        share: The number that decided; None where the rule applies by definition and it is not known.
        evidence: The measurements of the result.
    """

    rule: Rule
    share: float | None
    evidence: Evidence

    @property
    def text(self) -> str:
        """The clause for this result."""
        number = "" if self.share is None else self.rule.number(self.share, self.share)
        said = self.rule.words(self.evidence).format(share=number)
        detail = self.rule.detail(self.evidence)
        return with_detail(said, detail)


@dataclass(frozen=True)
class Verdict:
    """What limits one operation of one case, as far as it was measured.

    Attributes:
        evidence: The measurements of the result.
        shares: The number of each rule for which it is known, by the rule's name.
        findings: The rules that apply, in their order.
    """

    evidence: Evidence
    shares: dict[str, float]
    findings: Sequence[Finding]

    @property
    def is_judged(self) -> bool:
        """Whether the result is good enough for the rules to be asked."""
        return self.evidence.may_be_judged()

    @property
    def summary(self) -> OperationSummary:
        """The operation."""
        return self.evidence.summary

    @property
    def explained(self) -> bool:
        """Whether one of the findings accounts for the rate."""
        return any(finding.rule.weight == "explains" for finding in self.findings)

    def text(self, without: Container[str] = ()) -> str:
        """All that is to be said of it, as clauses.

        Args:
            without: Names of rules that are reported elsewhere.
        """
        clauses = [finding.text for finding in self.findings if finding.rule.name not in without]
        if self.explained:
            return "; ".join(clauses)
        return "; ".join([UNEXPLAINED if self.is_judged else self.not_judged, *clauses])

    @property
    def not_judged(self) -> str:
        """The reason that the rules report nothing."""
        return f"not judged ({', '.join(self.reasons)})"

    @property
    def reasons(self) -> list[str]:
        """Why its grade is below B, in short words."""
        trust = self.evidence.trust
        return list(trust.reasons) if trust and trust.reasons else ["no grade"]


def with_detail(said: str, detail: str) -> str:
    """A clause with its detail: in parentheses as it is, otherwise after a comma."""
    return f"{said}{'' if detail.startswith(' ') else ', '}{detail}" if detail else said


def find(
    run: Run, summaries: Sequence[OperationSummary], counters: Sequence[NodeCounters] = ()
) -> list[Verdict]:
    """What limits each operation that has a sample, in the order of the summaries.

    Args:
        run: The run.
        summaries: Its summaries, with the counters of its nodes where the rules about them are to apply.
        counters: What its nodes counted in each repetition.
    """
    ceilings = Ceilings.of(run)
    counted = by_operation(counters)
    transports = _transports(run)
    return [
        _judge(
            Evidence(
                summary,
                ceilings,
                file_system_of(run, summary.case),
                counted[summary.key],
                transports.get(summary.case.number, ""),
            )
        )
        for summary in summaries
        # What nodes count while several groups measure is of all of them.
        if summary.samples and not summary.case.measured_together
    ]


def _transports(run: Run) -> dict[int, str]:
    """By case, the transport of list I/O, as reported by the first repetition."""
    return {sample.case: sample.facts["transport"] for sample in run.samples if "transport" in sample.facts}


def _judge(evidence: Evidence) -> Verdict:
    shares = {rule.name: rule.share(evidence) for rule in RULES}
    findings = [
        Finding(rule, shares[rule.name], evidence)
        for rule in RULES
        if rule.applies(evidence, shares[rule.name])
    ]
    return Verdict(evidence, {name: share for name, share in shares.items() if share is not None}, findings)


def common_rules(verdicts: Sequence[Verdict]) -> set[str]:
    """Names of the rules that apply to every one of several results."""
    if len(verdicts) < 2:
        return set()
    return set.intersection(*({finding.rule.name for finding in one.findings} for one in verdicts))

"""A rule of the limits: a number of each repetition, a threshold, and a test against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from strider.limits.evidence import Evidence
from strider.limits.scene import Scene
from strider.statistics.rule import Card, Rates, interval_of, rates_of

Weight = Literal["explains", "adds"]
Test = Literal["definition", "beyond", "reaches", "own"]
"""How a share is held against the threshold.

- `definition`: the rule follows from the parameters of the case, with any measurement.
- `beyond`: the lower end of the 95 % interval over the repetitions is above it.
- `reaches`: the centre is above it, and the lower end of the interval at most a tenth below it, which is how
  far two measurements of a ceiling differ. More repetitions make it speak more often, never less.
- `own`: `holds` decides.
"""

TESTS: dict[Test, str] = {
    "definition": "by definition",
    "beyond": "lower end of the 95 % interval above the threshold",
    "reaches": "centre above the threshold, lower end of the 95 % interval at most 10 points below it",
    "own": "",
}

#: Two measurements of a ceiling differ by so much.
_OF_CEILINGS = 0.1


def _nothing(_: Evidence) -> str:
    return ""


def always(text: str) -> Callable[[Evidence], str]:
    """Returns words that are the same of each result."""
    return lambda _: text


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: Its subject, one or two words.
        weight: Whether it alone explains a rate.
        threshold: Effect size: from this value of `share` on it applies; 0 where it applies at any.
        share: The number that decides, of most rules a share from 0 to 1; None where it is not known.
        words: The clause that is printed, with `{share}` for the number.
        why: Reason for the threshold.
        measures: The measurements behind the number, for the manual.
        test: How the number is held against the threshold.
        detail: Details of a single result.
        below: From this value on it is another rule's, or not true.
        holds: What must hold as well; of a rule that applies by definition, all that must.
        unit: Unit in which the number is reported.
        counts: The fewest repetitions or events, for the manual.
        described: The test in words, where it is the rule's own.
        despite: Reasons for a low grade of the result that the rule itself is about.
        scene: Simulated runs that show how often it errs; None of a rule by definition.
    """

    name: str
    weight: Weight
    threshold: float
    share: Callable[[Evidence], float | None]
    words: Callable[[Evidence], str]
    why: str
    measures: str
    test: Test = "beyond"
    detail: Callable[[Evidence], str] = _nothing
    below: float = float("inf")
    holds: Callable[[Evidence], bool] | None = None
    unit: Literal["%", "×"] = "%"
    counts: str = "3 repetitions"
    described: str = ""
    despite: frozenset[str] = frozenset()
    scene: Scene | None = None

    def applies(self, evidence: Evidence, share: float | None) -> bool:
        """Whether the rule speaks of a result with this share."""
        if self.holds and not self.holds(evidence):
            return False
        if self.test in ("definition", "own"):
            return self.holds is not None
        if not evidence.may_be_judged(self.despite) or share is None:
            return False
        found = interval_of([self.share(one) for one in evidence.repetitions])
        if found is None:
            return False
        centre, low, _ = found
        if self.test == "reaches":
            return self.threshold <= centre < self.below and low >= self.threshold - _OF_CEILINGS
        return low >= self.threshold and centre < self.below

    def number(self, lowest: float, highest: float) -> str:
        """A share, or the range of several, as text: `41 %`, `41–63 %`, `1.8 ×`."""
        low, high = (_digits(100 * share if self.unit == "%" else share) for share in (lowest, highest))
        return f"{low} {self.unit}" if low == high else f"{low}–{high} {self.unit}"

    @property
    def from_to(self) -> str:
        """The effect size as text: `any`, `90 %`, `90 % to 110 %`."""
        if not self.threshold:
            return "any"
        scale = 100 if self.unit == "%" else 1
        ends = [self.threshold] + ([self.below] if self.below < float("inf") else [])
        return " to ".join(f"{scale * end:.3g} {self.unit}" for end in ends)

    @property
    def card(self) -> Card:
        """The rule in the form of all rules."""
        test = self.described or TESTS[self.test]
        return Card(self.name, self.measures, self.counts, test, self.from_to, self.why)

    @property
    def rates(self) -> Rates | None:
        """How often it was wrong and right in simulation."""
        return rates_of(self.name)


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.095 else f"{value:.2g}"

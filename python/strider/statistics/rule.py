"""What every sentence that Strider says by itself is made of, in one form for all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from strider.statistics.distribution import LEVEL, MINIMUM_FOR_INTERVAL, student_interval

#: Fewest repetitions from which a result is judged.
FEWEST_REPETITIONS = MINIMUM_FOR_INTERVAL
#: Measured by benchmarks/diagnoses.py.
_RATES = Path(__file__).with_name("rule_rates.json")


@dataclass(frozen=True)
class Rates:
    """How often a rule speaks in simulated runs, by number of repetitions, 0 to 1.

    Attributes:
        runs: Simulated runs for each number.
        false_alarms: Without a cause; the largest share of several kinds of noise.
        found: With the cause planted.
        cause: The planted cause, and the noise.
    """

    runs: int
    false_alarms: Mapping[int, float]
    found: Mapping[int, float]
    cause: str


@dataclass(frozen=True)
class Card:
    """The description of a rule: its measurements, its requirements, and its condition.

    Attributes:
        name: Its subject, one or two words.
        evidence: The measurements that it uses.
        counts: The fewest repetitions, phases or events.
        test: The statistical test, with its level.
        effect: The smallest reported effect.
        words: Its sentence, as an example.
    """

    name: str
    evidence: str
    counts: str
    test: str
    effect: str
    words: str

    @property
    def rates(self) -> Rates | None:
        """How often it was wrong and right in simulation; None where there is nothing to simulate."""
        return rates_of(self.name)


def rates_of(name: str) -> Rates | None:
    """The measured rates of a rule."""
    return _all_rates().get(name)


def forget_rates() -> None:
    """Reads the file again when a rate is asked for next."""
    _all_rates.cache_clear()


@cache
def _all_rates() -> dict[str, Rates]:
    if not _RATES.is_file():
        return {}
    return {
        name: Rates(
            one["runs"],
            {int(n): share for n, share in one["false_alarms"].items()},
            {int(n): share for n, share in one["found"].items()},
            one["cause"],
        )
        for name, one in json.loads(_RATES.read_text(encoding="utf-8")).items()
    }


def interval_of(values: Sequence[float | None], level: float = LEVEL) -> tuple[float, float, float] | None:
    """Centre and ends of the interval of the typical value: Student's t on logarithms.

    None for fewer than three values, and where one of them is unknown, 0 or less.
    """
    known = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    if len(known) < max(FEWEST_REPETITIONS, len(values)):
        return None
    if min(known) == max(known):
        return known[0], known[0], known[0]
    logs = [math.log(value) for value in known]
    low, high = student_interval(logs, level)
    return math.exp(fmean(logs)), math.exp(low), math.exp(high)


def lower_share(events: int, trials: int, level: float = 0.99) -> float:
    """The one-sided lower bound of a share from counts (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    if events <= 0 or trials <= 0:
        return 0.0
    return 1.0 if events >= trials else float(betaincinv(events, trials - events + 1, 1 - level))

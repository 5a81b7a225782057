"""Verdicts of a test before it runs: the chance that equal systems pass it, and that a slower one fails.

Found by simulation with the tests that decide later, on normal logarithms of rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from strider.compare.judge import SIGNIFICANT
from strider.report.words.numbers import significant
from strider.report.words.wording import plural
from strider.statistics import adjust, paired_ratio, simes
from strider.statistics.distribution import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Condition = Literal["slower", "different", "unproven"]

#: Where nothing is known of the spread between runs, the chances are given for a quiet, a usual and a noisy
#: system.
USUAL_SPREADS = (0.01, 0.03, 0.10)
#: Without a threshold, the slower system is slower by this.
_SLOWER = 0.05
_SEED = 20261122
_VALUES_AT_MOST = 3_000_000
_MOST_TRIALS = 2000


@dataclass(frozen=True)
class Test:
    """A test by pairs.

    Attributes:
        rows: Number of operations.
        threshold: As of a comparison.
        condition: What fails it.
    """

    pairs: int
    rows: int
    threshold: float
    condition: Condition


def chance_to_fail(test: Test, spread: float, slowdown: float) -> float:
    """The share of tests that fail.

    Args:
        test: The test.
        spread: Standard deviation of the logarithms of runs of one system.
        slowdown: How much slower one of the operations is, as a share: 0.05 for 1 ÷ 1.05 of the rate.
    """
    import numpy as np

    trials = max(200, min(_MOST_TRIALS, _VALUES_AT_MOST // (test.rows * test.pairs)))
    rng = np.random.default_rng(_SEED)
    logs = rng.normal(0, math.sqrt(2) * spread, (trials, test.rows, test.pairs))
    logs[:, 0, :] -= math.log1p(slowdown)
    return float(np.mean(_fails(test, np.exp(logs), np.exp(logs.mean(axis=1)))))


def _fails(test: Test, ratios: NDArray[np.float64], of_suite: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np

    rows, suite = (paired_ratio(np.ones_like(values), values) for values in (ratios, of_suite))
    if test.condition == "unproven":
        low, _ = rows.interval(LEVEL)
        return np.asarray((low < 1 / (1 + test.threshold)).any(axis=-1))
    p_rows, p_suite = adjust(rows.p_value(test.threshold)), suite.p_value(test.threshold)
    if test.rows > 1:
        both = simes(p_rows.min(axis=-1), p_suite)
        p_rows, p_suite = np.maximum(p_rows, both[:, None]), np.maximum(p_suite, both)
    named, suite_named = p_rows < SIGNIFICANT, p_suite < SIGNIFICANT
    if test.condition == "slower":
        named, suite_named = named & (rows.log < 0), suite_named & (suite.log < 0)
    return np.asarray(named.any(axis=-1) | suite_named)


def chances_text(test: Test, spread: float | None, known: int = 0) -> list[str]:
    """Sentences with the chances of a test.

    Args:
        test: The test.
        spread: As of `chance_to_fail`; None where it is unknown.
        known: Number of runs that it was found from.
    """
    spreads: Sequence[float] = USUAL_SPREADS if spread is None else (spread,)
    source = "" if spread is None or not known else f" ({plural(known, 'run')})"
    one = f"one of {test.rows} operations is" if test.rows > 1 else "the operation is"
    slower = test.threshold or _SLOWER
    lines = []
    for each in spreads:
        equal = 1 - chance_to_fail(test, each, 0.0)
        least, double = (chance_to_fail(test, each, size) for size in (slower, 2 * slower))
        lines.append(
            f"with {test.pairs} pairs and runs that vary by {significant(100 * each, 2)} %{source}, "
            f"--fail-on {test.condition} passes equal systems in {_percent(equal)} of tests; it fails in "
            f"{_percent(least)} if {one} {significant(100 * slower, 2)} % slower, and in {_percent(double)} "
            f"if {significant(200 * slower, 2)} % slower"
        )
    return lines


def _percent(share: float) -> str:
    """A chance as found by some hundred trials: no 0 and no 100 %."""
    return "< 1 %" if share < 0.01 else "> 99 %" if share > 0.99 else f"{100 * share:.0f} %"

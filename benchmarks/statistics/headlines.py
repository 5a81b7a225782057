"""How much too high the highest rates of the first page are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from grids import Grid, Progress, Share
from noise import lognormal
from runs import MIB, Planned, Setting, Synthetic
from strider.report.blocks import Block, Cards, Fold
from strider.report.results.results import Results
from strider.statistics.best import best_of

CANDIDATES = (5, 15, 60)
COUNTS = (3, 5)
#: Largest mean deviation of a headline from the true rate of its case.
MOST = 0.005
#: Of fewer headlines a mean says nothing.
_FEWEST = 20
_NUMBER = re.compile(r"[\d.,\u202f\u00a0 ]*\d")


def bias_of_headlines(trials: int, rng: np.random.Generator, progress: Progress) -> Grid:
    """Mean of headline ÷ true rate - 1, where the cases differ in nothing and where they do."""
    about = (
        "Mean deviation of the highest rate of the first page from the true rate of its case, in percent, "
        f"with its standard error; in parentheses the share of {trials} runs that have a headline; no mean "
        f"of fewer than {_FEWEST}. Each of k cases is measured n times with a coefficient of variation of 5 "
        "or 10 %. In truth they differ by nothing or by 10 % (standard deviation). At most ±0.5 % is "
        "promised."
    )
    progress.expect(8.8 * sum(trials * k // 5 for k in CANDIDATES))
    grid = Grid("Bias of headlines", about, ["noise, true spread", "n", *(f"k = {k}" for k in CANDIDATES)])
    for variation, spread in ((0.05, 0.0), (0.1, 0.0), (0.05, 0.1), (0.1, 0.1)):
        for n in COUNTS:
            cells = []
            for k in CANDIDATES:
                found = [headline_error(k, n, variation, spread, rng) for _ in range(trials)]
                progress.step("headlines", trials * k // 5)
                known = [one for one in found if one is not None]
                cells.append(cell(known, trials))
                if len(known) >= _FEWEST and abs(np.mean(known)) - 3 * _error(known) > MOST:
                    grid.claims.append(
                        f"headline, noise {100 * variation:g} %, true spread {100 * spread:g} %, n = {n}, "
                        f"k = {k}: {100 * np.mean(known):+.1f} %"
                    )
            grid.rows.append([f"{100 * variation:g} %, {100 * spread:g} %", str(n), *cells])
    return grid


def cell(errors: Sequence[float], trials: int) -> str:
    """A mean with its standard error, and of how many of so many runs it is: `+0.2 ± 0.1 (24 %)`."""
    share = f"({Share(len(errors), trials).percent} %)"
    if len(errors) < _FEWEST:
        return f"– {share}"
    return f"{100 * np.mean(errors):+.1f} ± {100 * _error(errors):.1f} {share}".replace("-", "−")


def _error(errors: Sequence[float]) -> float:
    return float(np.std(errors, ddof=1)) / math.sqrt(len(errors))


def named_sets(trials: int, rng: np.random.Generator, progress: Progress) -> Grid:
    """Shares of runs whose results that do not differ from the best contain it, and the number of these."""
    about = (
        "Share of runs, in percent, in which the truly best case is among those that cannot be told from the "
        f"highest, and the mean number of these; {10 * trials} runs each with a true spread of 5 %. 95 % or "
        "more is promised."
    )
    grid = Grid("Results that may be the best", about, ["noise", "n", *(f"k = {k}" for k in CANDIDATES)])
    for variation in (0.03, 0.1):
        for n in COUNTS:
            cells = []
            for k in CANDIDATES:
                share, size = _named_set(k, n, variation, 10 * trials, rng)
                progress.step("sets of the best", trials * k // 50)
                cells.append(f"{share.percent} ({size:.1f})")
                if share.is_below(0.95):
                    grid.claims.append(
                        f"set of the best, noise {100 * variation:g} %, n = {n}, k = {k}: {share.percent} %"
                    )
            grid.rows.append([f"{100 * variation:g} %", str(n), *cells])
    return grid


def _named_set(
    k: int, n: int, variation: float, trials: int, rng: np.random.Generator
) -> tuple[Share, float]:
    held, size = 0, 0
    for _ in range(trials):
        truths = rng.normal(0, 0.05, (k, 1))
        found = best_of(np.exp(truths + lognormal(variation).draw(rng, (k, n))).tolist())
        held += int(truths.argmax()) in found.members
        size += len(found.members)
    return Share(held, trials), size / trials


def headline_error(k: int, n: int, variation: float, spread: float, rng: np.random.Generator) -> float | None:
    """Headline ÷ true rate of the case that it names - 1; None where there is no headline."""
    truths = 1000 * np.exp(rng.normal(0, spread, k))
    cases = [
        Planned(
            pattern={"name": "segmented", "transfer": MIB, "block": (1000 + number) * MIB},
            clients=1,
            rate_mib_s=float(truth),
        )
        for number, truth in enumerate(truths)
    ]
    setting = Setting(repetitions=n, noise=lognormal(variation), of_ranks=0.0, counted=False)
    results = Results(Synthetic(cases, setting, rng).load(Path("headline")))
    section = import_module("strider.report.sections.findings").SECTION
    for cards in _cards(section.page(results)):
        for card in cards.cards:
            found = _NUMBER.search(card.value)
            if found:
                rate = float(re.sub(r"[^\d.]", "", found.group()))
                own = [number for number in range(k) if f"block {_block(number)}" in card.how]
                truth = truths[own[0]] if len(own) == 1 else truths.mean() if spread == 0 else None
                return None if truth is None else float(rate / truth - 1)
    return None


def _block(number: int) -> str:
    from strider.units import format_bytes

    return format_bytes((1000 + number) * MIB)


def _cards(blocks: Sequence[Block]) -> Iterator[Cards]:
    for block in blocks:
        if isinstance(block, Cards):
            yield block
        elif isinstance(block, Fold):
            yield from _cards(block.blocks)

"""Rules by themselves, without the runs around them: many more trials in the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np

from grids import Grid, Progress, Share
from noise import Logs, Noise, Random, autocorrelated, last_of_ranks, lognormal, two_levels
from scenes import Scene, scenes
from strider.report.blocks import Charts
from strider.report.figures import svg
from strider.report.results.results import Results
from strider.report.words.steadiness import steps_or_lines
from strider.statistics import (
    Distribution,
    OperationSummary,
    adjust,
    describe,
    outliers,
    paired_ratio,
    resemblance,
    simes,
)

#: At most so many runs without a cause, at least so many with it, and tables without a difference.
FALSE, FOUND, TABLES = 0.01, 0.95, 0.05
#: Operations of a run.
_OPERATIONS = 4
_COUNTS = (5, 10, 20)
#: Kinds of noise without a cause; with the last one, repetitions rightly resemble each other.
_NULL: tuple[Noise, ...] = (
    lognormal(0.05) + last_of_ranks(0.03),
    lognormal(0.15) + last_of_ranks(0.1),
    autocorrelated(0.5, 0.08) + last_of_ranks(0.03),
)
_RESEMBLING = _NULL[-1].name
_LINE, _STEP, _TURN, _OUT = "No steady state", "Level shift", "Two levels", "Outlier"
_ALIKE = "Repetitions resemble"


@dataclass(frozen=True)
class Operation:
    """Values of an operation's summary for the rules."""

    key: tuple[int, str]
    rates: Sequence[float]

    @property
    def n(self) -> int:
        return len(self.rates)

    @property
    def samples(self) -> Sequence[int]:
        """Stand for those of a run."""
        return range(self.n)

    @cached_property
    def rate(self) -> Distribution | None:
        """The rates in numbers."""
        return describe(self.rates)


def sentences_on(logs: Logs) -> set[str]:
    """The findings on the repetitions of a run; a row of logarithms for each operation."""
    own = cast(
        Sequence[OperationSummary],
        [Operation((number, "write"), rates) for number, rates in enumerate(np.exp(logs).tolist(), 1)],
    )
    jumps, slopes = steps_or_lines(own)
    return {
        *([_LINE] if slopes else []),
        *(_TURN if jump.since is None else _STEP for jump in jumps),
        *([_OUT] if outliers(own) else []),
        *([_ALIKE] if resemblance(own) is not None else []),
    }


def rules(trials: int, rng: Random, progress: Progress) -> list[Grid]:
    """The tables of all rules that are tried by themselves."""
    progress.expect(36 * trials + 24 * trials + 120 * trials + trials)
    return [
        false_sentences(4 * trials, rng, progress),
        found_sentences(2 * trials, rng, progress),
        methods(trials, rng, progress),
        false_tables(40 * trials, rng, progress),
    ]


def false_sentences(trials: int, rng: Random, progress: Progress) -> Grid:
    """Share of equal repetitions with a finding."""
    about = (
        f"Share of runs of {_OPERATIONS} operations without a cause, in percent, of which a sentence is "
        f"said, by the number of repetitions; {trials} runs each. The rate is that of the last of 8 ranks. "
        "At most 1 % is promised."
    )
    grid = Grid("Sentences on repetitions without a cause", about, ["sentence", "noise", *map(str, _COUNTS)])
    rows: dict[tuple[str, str], list[Share]] = {}
    for noise in _NULL:
        for n in _COUNTS:
            said: Counter[str] = Counter()
            for _ in range(trials):
                said.update(sentences_on(noise.draw(rng, (_OPERATIONS, n))))
                progress.step("sentences on repetitions")
            for name in (_OUT, _LINE, _STEP, _TURN, _ALIKE):
                if not (name == _ALIKE and noise.name == _RESEMBLING):
                    rows.setdefault((name, noise.name), []).append(Share(said[name], trials))
    for (name, kind), shares in sorted(rows.items()):
        grid.rows.append([name, kind, *(share.percent for share in shares)])
        grid.claims.extend(
            f"sentence, n = {n}, {kind}: said without a cause in {share.percent} %: {name}"
            for n, share in zip(_COUNTS, shares, strict=True)
            if share.is_above(FALSE)
        )
    return grid


def _trend(logs: Logs, _: Random) -> None:
    logs[0] += np.linspace(0.25, -0.25, logs.shape[1])


def _shift(logs: Logs, _: Random) -> None:
    logs[0, logs.shape[1] // 2 :] += np.log(0.7)


def _turn(logs: Logs, rng: Random) -> None:
    logs[0] = (two_levels(0.5, 0.6, 0.02) + last_of_ranks(0.03)).draw(rng, (1, logs.shape[1]))[0]


def _half(logs: Logs, _: Random) -> None:
    logs[0, logs.shape[1] // 2] += np.log(0.5)


#: Causes in one operation, each with its sentence, and whether it is promised from 10 repetitions on.
_CAUSES: Mapping[str, tuple[Callable[[Logs, Random], None], str]] = {
    "a trend of 40 %": (_trend, _LINE),
    "a shift to 0.7 × the rate": (_shift, _STEP),
    "two levels, 1 : 0.6": (_turn, _TURN),
    "a repetition at half the rate": (_half, _OUT),
}


def found_sentences(trials: int, rng: Random, progress: Progress) -> Grid:
    """Share of runs that report a cause in one operation."""
    about = (
        f"Share of runs of {_OPERATIONS} operations in percent of which the sentence is said, if one "
        f"operation has its cause; {trials} runs each, {_NULL[0].name}."
    )
    grid = Grid("Sentences on repetitions with their cause", about, ["cause", *map(str, _COUNTS)])
    for cause, (plant, wanted) in _CAUSES.items():
        shares = []
        for n in _COUNTS:
            hits = 0
            for _ in range(trials):
                logs = np.array(_NULL[0].draw(rng, (_OPERATIONS, n)))
                plant(logs, rng)
                hits += wanted in sentences_on(logs)
                progress.step("sentences on repetitions")
            shares.append(Share(hits, trials))
        grid.rows.append([cause, *(share.percent for share in shares)])
        grid.claims.extend(
            f"sentence, n = {n}: {cause} is named in only {share.percent} % of the runs that have it"
            for n, share in zip(_COUNTS, shares, strict=True)
            if share.is_below(FOUND)
        )
    return grid


def methods(trials: int, rng: Random, progress: Progress) -> Grid:
    """Share of runs in which two methods of list I/O are reported to differ, and to cross over."""
    counts, few = (3, 5, 10), max(trials // 5, 1)
    about = (
        "Share of runs of list I/O by two methods over five lengths, in percent, of which a sentence is "
        f"said; {trials} runs of equal methods whose rates vary by 10 %, {few} of others, which vary by "
        "5 %. At most 1 % is promised where methods are equal."
    )
    grid = Grid("Sentences on methods of list I/O", about, ["runs", "sentence", *map(str, counts)])
    tried = (
        ("list I/O, equal methods", " times the rate of ", trials),
        ("list I/O, equal methods", " is faster than ", trials),
        ("list I/O, one method twice as fast", " times the rate of ", few),
        ("list I/O, crossover", " is faster than ", few),
    )
    captions: dict[tuple[str, int], list[str]] = {}
    for name, words, count in tried:
        scene = next(one for one in scenes() if one.name == name)
        shares = []
        for n in counts:
            key = name, n
            if key not in captions:
                captions[key] = [_caption(scene, n, rng) for _ in range(count)]
                progress.step(f"{name}, n = {n}", 40 * count)
            shares.append(Share(sum(words in one for one in captions[key]), count))
        grid.rows.append([name, f"…{words}…", *(share.percent for share in shares)])
        grid.claims.extend(
            f"methods, n = {n}, {name}: {share.percent} % of runs are said to have one that{words}the other"
            for n, share in zip(counts, shares, strict=True)
            if (share.is_above(FALSE) if scene.is_null else share.is_below(FOUND))
        )
    return grid


def _caption(scene: Scene, n: int, rng: Random) -> str:
    """The captions of the charts of methods of a run."""
    section = import_module("strider.report.sections.listio").SECTION
    draw = svg.draw
    vars(svg)["draw"] = lambda *_: ""
    try:
        blocks = section.page(Results(scene.made(n, rng).load(Path("methods"))))
    finally:
        vars(svg)["draw"] = draw
    return " ".join(chart.caption for one in blocks if isinstance(one, Charts) for chart in one.charts)


def false_tables(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often the tests of a comparison name anything in a table without a difference."""
    counts, sizes = (3, 5, 6, 10), (1, 10, 100)
    about = (
        "Share of tables without a difference, in percent, of which the tests of `strider compare` name a "
        f"row or the suite, by the number of pairs; {trials} tables of 1 and 10 rows, {trials // 4} of 100. "
        "Rows vary by 5 % from pair to pair, pairs as a whole by nothing or by 3 %. At most 5 % is promised."
    )
    grid = Grid(
        "False verdicts of pairs, by the tests alone", about, ["pairs vary by", "rows", *map(str, counts)]
    )
    for common in (0.0, 0.03):
        for rows in sizes:
            many = trials if rows <= 10 else trials // 4
            shares = [Share(_named(common, rows, n, many, rng), many) for n in counts]
            grid.rows.append([f"{100 * common:g} %", str(rows), *(share.percent for share in shares)])
            grid.claims.extend(
                f"tables of {rows} rows, {n} pairs: {share.percent} % without a difference name one"
                for n, share in zip(counts, shares, strict=True)
                if share.is_above(TABLES)
            )
    progress.step("tables", trials / 40)
    return grid


def _named(common: float, rows: int, n: int, trials: int, rng: Random) -> int:
    """Of so many tables those that name anything; as `strider.compare.judge.settle` decides."""
    logs = rng.normal(0, 0.05, (trials, rows, n)) + rng.normal(0, common, (trials, 1, n))
    of_rows = adjust(paired_ratio(np.ones_like(logs), np.exp(logs)).p_value()).min(axis=-1)
    if rows == 1:
        return int((of_rows < TABLES).sum())
    of_suite = paired_ratio(np.ones((trials, n)), np.exp(logs.mean(axis=1))).p_value()
    gate = simes(of_rows, of_suite)
    return int((np.minimum(np.maximum(of_rows, gate), np.maximum(of_suite, gate)) < TABLES).sum())

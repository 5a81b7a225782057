"""Coverage of intervals, and false and true verdicts of comparisons, through Strider's own functions."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import strider.statistics as statistics
from grids import Grid, Progress, Share
from noise import (
    Logs,
    Noise,
    Random,
    autocorrelated,
    drift,
    lognormal,
    quantised,
    run_effect,
    stalls,
    two_levels,
)
from runs import MIB, Planned, Setting, Synthetic
from strider.compare import compare, compare_within
from strider.compare.model import Comparison
from strider.statistics import Interval, describe, paired_ratio, unpaired_ratio
from strider.statistics.crossover import crossover
from strider.store.model import Run, Sample
from strider.suite.values import FEWEST_UNTIL

COUNTS = (3, 5, 10)
#: Coverage that a 95 % interval promises where repetitions are independent.
LEAST, MOST = 0.93, 0.97
NOISES: tuple[Noise, ...] = (
    lognormal(0.03),
    lognormal(0.1),
    lognormal(0.3),
    two_levels(0.5),
    two_levels(0.8),
    stalls(),
    autocorrelated(0.3),
    autocorrelated(0.7),
    drift(0.1),
    lognormal(0.05) + run_effect(0.05, of_rows=True),
)
#: Kinds for which the manual promises 93 to 97 %.
PROMISED = frozenset(one.name for one in NOISES[:3])


def coverage_of_rates(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often `describe` gives an interval that holds the truth."""
    centred = hasattr(describe([1.0, 2.0, 3.0]), "centre")
    about = (
        f"Share of the 95 % intervals, in percent, that contain the true {'centre' if centred else 'mean'} "
        f"of a rate, by the number of repetitions; {trials} series for each number (300 for 50). Promised: "
        "93 to 97 for independent repetitions from one distribution (lognormal noise)."
    )
    counts = (*COUNTS, 30, 50)
    grid = Grid("Intervals of rates", about, ["noise", *map(str, counts)])
    for noise in NOISES:
        truth = 1.0 if centred else noise.mean_factor()
        found = [
            _held(noise, n, truth, trials if n < 50 else min(trials, 300), rng, progress) for n in counts
        ]
        grid.rows.append([noise.name, *(share.percent for share in found)])
        if noise.name in PROMISED:
            grid.claims.extend(
                f"interval of a rate, {noise.name}, n = {n}: coverage {share.percent} %"
                for n, share in zip(counts, found, strict=True)
                if share.is_below(LEAST) or share.is_above(MOST)
            )
    return grid


def _held(noise: Noise, n: int, truth: float, trials: int, rng: Random, progress: Progress) -> Share:
    held = 0
    for values in np.exp(noise.draw(rng, (trials, n))).tolist():
        found = describe(values)
        held += bool(found and found.interval and found.interval.low <= truth <= found.interval.high)
    progress.step(f"intervals of rates, {noise.name}", trials)
    return Share(held, trials)


#: `until`, the largest number of repetitions, and the smallest numbers that the table compares.
_UNTIL, _MOST, _FEWEST = 0.05, 30, (3, 5, FEWEST_UNTIL)


def coverage_of_until(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often the interval of a case that `until` has ended holds the truth, by its smallest number."""
    about = (
        "Share of the 95 % intervals, in percent, that hold the true centre of a rate if a case repeats "
        f"until the interval is ±{100 * _UNTIL:g} %, up to {_MOST} times, by the smallest number of "
        f"repetitions; in brackets, the mean number of repetitions. {trials} series each. Strider takes at "
        f"least {FEWEST_UNTIL}."
    )
    grid = Grid("Intervals after `until`", about, ["noise", *map(str, _FEWEST)])
    for noise in (*NOISES[:2], *NOISES[3:6]):
        cells = []
        for fewest in _FEWEST:
            ended = [_until_narrow(values, fewest) for values in np.exp(noise.draw(rng, (trials, _MOST)))]
            held = Share(sum(found.low <= 1 <= found.high for _, found in ended), trials)
            cells.append(f"{held.percent} ({np.mean([count for count, _ in ended]):.0f})")
            progress.step(f"until, {noise.name}", trials)
        grid.rows.append([noise.name, *cells])
    return grid


def _until_narrow(values: NDArray[np.float64], fewest: int) -> tuple[int, Interval]:
    """The number of repetitions that the engine takes (repetitions/schedule.cpp), and their interval."""
    for count in range(fewest, len(values) + 1):
        found = describe(values[:count].tolist())
        if not (found and found.interval and found.half_width is not None):
            continue
        if found.half_width <= _UNTIL or count == len(values):
            return count, found.interval
    raise ValueError(f"fewer than {fewest} repetitions")


@dataclass(frozen=True)
class Design:
    """Two sides of a ratio whose truth is 1.

    Attributes:
        draw: Logarithms of both sides, each of shape (trials, n).
        is_promised: Whether the manual promises 95 %.
    """

    name: str
    ratio: Callable[..., Any]
    draw: Callable[[Random, int, int], tuple[Logs, Logs]]
    is_promised: bool = True


def _apart(first: Noise, second: Noise) -> Callable[[Random, int, int], tuple[Logs, Logs]]:
    return lambda rng, trials, n: (first.draw(rng, (trials, n)), second.draw(rng, (trials, n)))


def _together(common: Noise, own: Noise) -> Callable[[Random, int, int], tuple[Logs, Logs]]:
    def draw(rng: Random, trials: int, n: int) -> tuple[Logs, Logs]:
        shared = common.draw(rng, (trials, n))
        return shared + own.draw(rng, (trials, n)), shared + own.draw(rng, (trials, n))

    return draw


_OWN = lognormal(0.05)
DESIGNS: tuple[Design, ...] = (
    Design("paired, independent rounds", paired_ratio, _apart(_OWN, _OWN)),
    Design("paired, rounds autocorrelated 0.7", paired_ratio, _together(autocorrelated(0.7, 0.1), _OWN)),
    Design("paired, rounds drift 20 %", paired_ratio, _together(drift(0.2), _OWN)),
    Design("unpaired, equal spreads", unpaired_ratio, _apart(_OWN, _OWN)),
    Design("unpaired, spreads 3 and 15 %", unpaired_ratio, _apart(lognormal(0.03), lognormal(0.15)), False),
    Design("unpaired, autocorrelated 0.7", unpaired_ratio, _apart(*[autocorrelated(0.7)] * 2), False),
    Design("unpaired, two levels 50:50", unpaired_ratio, _apart(*[two_levels(0.5)] * 2), False),
    Design("paired, two levels 50:50", paired_ratio, _apart(*[two_levels(0.5)] * 2), False),
)


def coverage_of_ratios(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often the interval of a ratio holds 1 where both sides are alike."""
    many = 10 * trials
    about = (
        "Share of the 95 % intervals of a ratio, in percent, that contain the true one, by the number of "
        f"pairs or of repetitions of each side; {many} pairs of series for each number."
    )
    grid = Grid("Intervals of ratios", about, ["design", *map(str, COUNTS)])
    for design in DESIGNS:
        found = [_held_ratio(design, n, many, rng) for n in COUNTS]
        progress.step("intervals of ratios", 30)
        grid.rows.append([design.name, *(share.percent for share in found)])
        if design.is_promised:
            grid.claims.extend(
                f"ratio, {design.name}, n = {n}: coverage {share.percent} %"
                for n, share in zip(COUNTS, found, strict=True)
                if share.is_below(LEAST) or share.is_above(0.985)
            )
    by_history = getattr(statistics, "ratio_by_history", None)
    if by_history is not None:
        cells = [_held_history(by_history, runs, trials, rng).percent for runs in COUNTS]
        grid.rows.append(["two single runs, by so many earlier runs", *cells])
    return grid


def _held_ratio(design: Design, n: int, trials: int, rng: Random) -> Share:
    base, other = design.draw(rng, trials, n)
    low, high = design.ratio(np.exp(base), np.exp(other)).interval()
    return Share(int(((low <= 1) & (high >= 1)).sum()), trials)


def _held_history(by_history: Callable[..., Any], runs: int, trials: int, rng: Random) -> Share:
    held = 0
    for logs in rng.normal(0, 0.03, (trials, runs + 2)):
        low, high = by_history(*np.exp(logs[:2]), np.exp(logs[2:])).interval()
        held += bool(low <= 1 <= high)
    return Share(held, trials)


def false_alarms_of_trends(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often a line without slope is called one by `fit_trend` alone, before any correction."""
    from strider.statistics.series import fit_trend

    about = (
        f"Share of series without a trend, in percent, whose fitted line has p < 0.05, of {10 * trials}. "
        "A run reports a trend only under stricter conditions, see the sentences below."
    )
    grid = Grid("Fits of trends", about, ["noise", "5", "10", "30"])
    for noise in (lognormal(0.05), autocorrelated(0.3), autocorrelated(0.5), autocorrelated(0.7)):
        cells = []
        for n in (5, 10, 30):
            _, p = fit_trend(np.exp(noise.draw(rng, (10 * trials, n))))[:2]
            cells.append(Share(int((np.asarray(p) < 0.05).sum()), 10 * trials).percent)
        progress.step("fits", 10)
        grid.rows.append([noise.name, *cells])
    return grid


def coverage_of_crossovers(trials: int, rng: Random, progress: Progress) -> Grid:
    """The interval of the length from which one method is faster, on five lengths and a straight line."""
    lengths, true = (128, 512, 2048, 8192, 32768), 1500.0
    about = (
        "Share of the 95 % intervals of a crossover between two methods of list I/O, in percent, that hold "
        f"the true length, {true:.0f} bytes; in brackets, the share of the series that show a crossover. "
        f"The ratio of the rates doubles from each of {len(lengths)} lengths to the next. {trials} series "
        "each."
    )
    grid = Grid("Intervals of crossovers", about, ["noise", *map(str, COUNTS)])
    for noise in (lognormal(0.03), lognormal(0.1), lognormal(0.3), autocorrelated(0.5, 0.1)):
        cells = []
        for n in COUNTS:
            found = [
                crossover(
                    {
                        one: np.exp(logs + 0.5 * np.log(one / true))
                        for one, logs in zip(lengths, own, strict=True)
                    },
                    {one: np.exp(logs) for one, logs in zip(lengths, other, strict=True)},
                )
                for own, other in (
                    (noise.draw(rng, (len(lengths), n)), noise.draw(rng, (len(lengths), n)))
                    for _ in range(trials)
                )
            ]
            shown = [one for one in found if one is not None]
            share = Share(sum(one.low <= true <= one.high for one in shown), len(shown))
            cells.append(f"{share.percent} ({Share(len(shown), trials).percent})")
            if noise.independent and (share.is_below(LEAST) or share.is_above(MOST)):
                grid.claims.append(
                    f"crossover, n = {n}, {noise.name}: {share.percent} % of intervals hold it"
                )
        progress.step("crossovers", 1)
        grid.rows.append([noise.name, *cells])
    return grid


@dataclass(frozen=True)
class Contest:
    """A way to compare, with its noise.

    Attributes:
        name: For tables.
        kind: `within` a run, two `single` runs, those with `history`, or runs in `turns`.
        shared: Noise that both sides of a round (or pair of runs) have in common.
        own: Noise of each measurement.
        of_runs: Run effect.
        metric: The compared metric.
        is_promised: Whether at most 5 % of tables may name anything.
    """

    name: str
    kind: str
    shared: Noise
    own: Noise
    of_runs: Noise | None = None
    metric: str = "rate"
    is_promised: bool = True
    counts: Sequence[int] = (5,)


_AR = autocorrelated(0.7, 0.05)
CONTESTS: tuple[Contest, ...] = (
    Contest("one run, rounds drift", "within", _AR, lognormal(0.05), counts=COUNTS),
    Contest("one run, two levels 50:50", "within", _AR, two_levels(0.5), is_promised=False),
    Contest("one run, p50 of latency", "within", lognormal(1e-9), lognormal(0.003), metric="latency-p50"),
    Contest("single runs, 3 % apart", "single", lognormal(1e-9), lognormal(0.05), run_effect(0.03)),
    Contest(
        "single runs, rows 3 % apart", "single", lognormal(1e-9), lognormal(0.05), run_effect(0.03, True)
    ),
    Contest("single runs, 10 earlier", "history", lognormal(1e-9), lognormal(0.05), run_effect(0.03)),
    Contest("runs in turns, 3 % apart", "turns", lognormal(1e-9), lognormal(0.05), run_effect(0.03)),
)


@dataclass(frozen=True)
class Outcome:
    """What comparisons of one kind came to.

    Attributes:
        tables: Share of tables that name a row or the suite.
        rows: Share of rows that are named in the planted direction.
        suites: Share of tables whose suite as a whole is named.
        sizes: Share of the intervals of named rows that hold the planted size.
    """

    tables: Share
    rows: Share
    suites: Share
    sizes: Share


def verdicts(trials: int, rng: Random, progress: Progress, largest: int = 100) -> list[Grid]:
    """Shares of comparisons that name a missing difference, and a present one."""
    sizes = [rows for rows in (1, 10, 100) if rows <= largest]
    few = max(trials // 10, 1)
    false = Grid(
        "False verdicts of comparisons",
        "Share of tables without any difference, in percent, that name one, in a row or for the whole suite, "
        "by the number of rows; n is the number of repetitions, or of pairs of runs with 3 repetitions each. "
        f"{trials} tables of 1 and of 10 rows, {few} of 100. Promised: at most 5 %, except for two levels.",
        ["comparison", "n", *(f"{rows} rows" for rows in sizes)],
    )
    power = Grid(
        "Verdicts on planted differences",
        f"Side B is slower in all 10 rows. Shares in percent: rows that are named slower; of {few} tables, "
        "those that name the whole suite slower; intervals of named rows that contain the true size.",
        ["comparison", "n", "2 %", "5 %", "10 %", "suite 2 %", "suite 5 %", "sizes held"],
    )
    progress.expect(sum(_work(n, sizes, trials, few) for one in CONTESTS for n in one.counts))
    for contest in CONTESTS:
        if contest.kind == "history" and not _takes_history():
            continue
        for n in contest.counts:
            counts = [few if rows > 10 else trials for rows in sizes]
            none = [
                contested(contest, n, rows, 0.0, rng, trials=count, progress=progress)
                for rows, count in zip(sizes, counts, strict=True)
            ]
            false.rows.append([contest.name, str(n), *(one.tables.percent for one in none)])
            false.claims.extend(
                f"comparison, {contest.name}, n = {n}, {rows} rows: {one.tables.percent} % of tables without "
                "a difference name one"
                for rows, one in zip(sizes, none, strict=True)
                if contest.is_promised and one.tables.is_above(0.05)
            )
            planted = [
                contested(contest, n, 10, effect, rng, trials=few, progress=progress)
                for effect in (0.02, 0.05, 0.1)
            ]
            power.rows.append(
                [
                    contest.name,
                    str(n),
                    *(one.rows.percent for one in planted),
                    *(one.suites.percent for one in planted[:2]),
                    Share(
                        sum(one.sizes.hits for one in planted), sum(one.sizes.trials for one in planted)
                    ).percent,
                ]
            )
    return [false, power]


def _work(n: int, sizes: Sequence[int], trials: int, few: int) -> int:
    """Steps of a contest: one, and those of all rows and repetitions."""
    null = sum((few if rows > 10 else trials) * (rows * n // 5 + 1) for rows in sizes)
    return null + 3 * few * (2 * n + 1)


def _takes_history() -> bool:
    return "history" in inspect.signature(compare).parameters


_TEMPLATES: dict[tuple[str, int, int], Run] = {}


def contested(
    contest: Contest, n: int, rows: int, effect: float, rng: Random, *, trials: int, progress: Progress
) -> Outcome:
    """Compares two sides so often, of which B is slower by a share of its rate."""
    counts: Counter[str] = Counter()
    for _ in range(trials):
        found = compared(contest, n, rows, -np.log1p(effect), rng)
        change = 1 / (1 + effect)
        wanted = "slower"
        named = [row for row in found.rows if row.verdict in ("slower", "faster")]
        overall = [one for one in getattr(found, "overall", ()) if one.verdict in ("slower", "faster")]
        if contest.metric != "rate":
            change = 1 + effect
        counts["tables"] += bool(named or overall)
        counts["rows"] += sum(row.verdict == wanted for row in named)
        counts["suites"] += any(one.verdict == wanted for one in overall)
        counts["named"] += len(named)
        counts["held"] += sum(row.change.low <= change <= row.change.high for row in named if row.change)
        progress.step(contest.name, rows * n // 5 + 1)
    return Outcome(
        Share(counts["tables"], trials),
        Share(counts["rows"], trials * rows),
        Share(counts["suites"], trials),
        Share(counts["held"], counts["named"]),
    )


def compared(contest: Contest, n: int, rows: int, effect: float | Logs, rng: Random) -> Comparison:
    """Compares two sides, of which B has an effect in logarithms of the rate, or one for each row."""
    if contest.kind == "within":
        run = _within(contest, n, rows, effect, rng)
        return compare_within(run, "interface", metrics=[contest.metric])
    of_runs = contest.of_runs or run_effect(0.0)
    if contest.kind == "turns":
        pairs = [
            [_single(contest, 3, rows, side * effect, of_runs, rng, minute=2 * k + side) for side in (0, 1)]
            for k in range(n)
        ]
        return compare([base for base, _ in pairs], [other for _, other in pairs], [contest.metric])
    base, other = (_single(contest, n, rows, s * effect, of_runs, rng, minute=20 + s) for s in (0, 1))
    if contest.kind == "history":
        from strider.compare.history import History

        past = [_single(contest, n, rows, 0.0, of_runs, rng, minute=k) for k in range(10)]
        return compare([base], [other], [contest.metric], history=History(past, past))
    return compare([base], [other], [contest.metric])


def _template(kind: str, n: int, rows: int) -> Run:
    """A run whose samples are given other rates for each trial."""
    key = kind, n, rows
    if key not in _TEMPLATES:
        interfaces = ("posix", "mpiio") if kind == "within" else ("posix",)
        cases = [
            Planned({"name": name}, {"name": "segmented", "transfer": 4096 * (row + 1), "block": 64 * MIB})
            for row in range(rows)
            for name in interfaces
        ]
        _TEMPLATES[key] = Synthetic(
            [replace(case, clients=1) for case in cases],
            Setting(repetitions=n, counted=False),
            np.random.default_rng(1),
        ).load()
    return _TEMPLATES[key]


def _within(contest: Contest, n: int, rows: int, effect: float | Logs, rng: Random) -> Run:
    shared = contest.shared.draw(rng, (rows, n))
    sides = [shared + contest.own.draw(rng, (rows, n)) + side * effect for side in (0, 1)]
    return _with(_template("within", n, rows), np.stack(sides, 1).reshape(2 * rows, n), contest.metric)


def _single(
    contest: Contest, n: int, rows: int, effect: float | Logs, of_runs: Noise, rng: Random, *, minute: int
) -> Run:
    logs = contest.own.draw(rng, (rows, n)) + of_runs.draw(rng, (rows, n)) + effect
    run = _with(_template("single", n, rows), logs, contest.metric)
    started = f"2026-11-21T{4 + minute // 60:02d}:{minute % 60:02d}:00Z"
    info = run.info.model_copy(update={"started": started, "run": f"run-{minute}"})
    return run.model_copy(update={"info": info})


def _with(run: Run, logs: NDArray[np.float64], metric: str) -> Run:
    """The run with other rates; of a latency, with quantised ones."""
    latencies = quantised(0.001 * np.exp(-logs)) if metric != "rate" else logs
    return run.model_copy(update={"samples": list(_samples(run.samples, logs, latencies, metric))})


def _samples(samples: Sequence[Sample], logs: Logs, seconds: Logs, metric: str) -> Iterator[Sample]:
    for sample in samples:
        at = sample.case - 1, sample.repetition
        factor = float(np.exp(logs[at]))
        update: dict[str, Any] = {"rate_mib_s": 1000 * factor, "elapsed_s": 2 / factor}
        if metric != "rate" and sample.latency:
            field = metric.replace("latency-", "") + "_s"
            update["latency"] = sample.latency.model_copy(update={field: float(seconds[at])})
        yield sample.model_copy(update=update)

"""What Strider announces beside its results: percentiles of latencies, and the difference that it can see."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from grids import Grid, Progress, Share
from noise import Logs, Random, buckets_of, lognormal
from strider.statistics.histogram import SCHEME
from strider.statistics.latency import histogram_of, summarize_latency
from strider.store.model import Part
from trials import CONTESTS, COUNTS, LEAST, MOST, Contest, compared

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_SPREAD, _MEDIAN_NS = 0.45, 1e6
_ANNOUNCED = re.compile(r"(?:(?P<percent>[\d.]+) %|factor of (?P<factor>[\d.]+)) would be named")


def coverage_of_percentiles(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often the interval of a percentile holds that of a typical repetition."""
    about = (
        "Share of the 95 % intervals of a latency percentile, in percent, that contain that of a typical "
        f"repetition; {trials} results for each number of repetitions. Latencies are lognormal (45 %), and "
        "each repetition as a whole is faster or slower by the deviation named. Above 97 % where the buckets "
        "of the histograms, 0.8 % wide, are most of the deviation."
    )
    grid = Grid("Intervals of percentiles", about, ["percentile, requests, deviation", *map(str, COUNTS)])
    for requests in (1000, 10_000):
        for deviation in (0.002, 0.05, 0.2):
            found = {n: held(requests, deviation, n, trials, rng) for n in COUNTS}
            progress.step("percentiles", trials * 3)
            for name in PERCENTILES:
                shares = [found[n][name] for n in COUNTS]
                label = f"{name}, {requests}, {100 * deviation:g} %"
                grid.rows.append([label, *(share.percent for share in shares)])
                grid.claims.extend(
                    f"interval of {label}, n = {n}: coverage {share.percent} %"
                    for n, share in zip(COUNTS, shares, strict=True)
                    if share.is_below(LEAST) or (deviation > 0.01 and share.is_above(MOST))
                )
    return grid


def held(requests: int, deviation: float, n: int, trials: int, rng: Random) -> dict[str, Share]:
    """How often each percentile's interval holds it, in so many results of n repetitions."""
    hits: Counter[str] = Counter()
    for _ in range(trials):
        effects = rng.normal(0, deviation, n)
        parts = [_part(_MEDIAN_NS * np.exp(one + rng.normal(0, _SPREAD, requests))) for one in effects]
        found = summarize_latency(parts, histogram_of(parts))
        for name, share in PERCENTILES.items():
            truth = 1e-9 * _MEDIAN_NS * float(np.exp(_SPREAD * NormalDist().inv_cdf(share)))
            ends = [getattr(found, f"{name}_{end}_s") for end in ("low", "high")]
            hits[name] += ends[0] <= truth <= ends[1]
    return {name: Share(hits[name], trials) for name in PERCENTILES}


def _part(nanoseconds: Logs) -> Part:
    buckets, counts = np.unique(buckets_of(nanoseconds), return_counts=True)
    seconds = 1e-9 * nanoseconds
    p50, p90, p99, p999 = (float(one) for one in np.quantile(seconds, (0.5, 0.9, 0.99, 0.999)))
    latency = {
        "count": len(seconds),
        "min_s": float(seconds.min()),
        "mean_s": float(seconds.mean()),
        "p50_s": p50,
        "p90_s": p90,
        "p99_s": p99,
        "p999_s": p999,
        "max_s": float(seconds.max()),
    }
    histogram = {"scheme": SCHEME, "unit": "ns", "buckets": np.stack([buckets, counts], 1).tolist()}
    return Part.model_validate(
        {"operation": "read", "requests": len(seconds), "latency": latency, "histogram": histogram}
    )


def announced_differences(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often a difference is named that a comparison says it can see."""
    about = (
        "A comparison of 10 rows without a difference says which difference it would name in a row with a "
        "probability of 90 %. Here one row of a second comparison has that difference: its typical size, and "
        f"the share of {trials} comparisons, in percent, that name the row."
    )
    grid = Grid("Differences that can be seen", about, ["comparison", "n", "typical size", "named"])
    for contest in CONTESTS:
        if contest.kind in ("within", "turns") and contest.is_promised and contest.metric == "rate":
            for n in (5, 8):
                sizes, named = announced(contest, n, trials, rng, progress)
                typical = f"{100 * float(np.median(sizes)):.2g} %" if sizes else "–"
                grid.rows.append([contest.name, str(n), typical, named.percent])
                if not sizes:
                    grid.claims.append(f"announced difference, {contest.name}, n = {n}: none is announced")
                elif named.is_below(0.8):
                    grid.claims.append(
                        f"announced difference, {contest.name}, n = {n}: named in {named.percent} % of "
                        "comparisons (promised: 90 %)"
                    )
    return grid


def announced(
    contest: Contest, n: int, trials: int, rng: Random, progress: Progress
) -> tuple[list[float], Share]:
    """The sizes that comparisons say they can see, and how often each is named where it is there."""
    sizes: list[float] = []
    named = 0
    steady = replace(contest, own=lognormal(0.03))
    for _ in range(trials):
        found = _ANNOUNCED.search(" ".join(compared(steady, n, 10, 0.0, rng).remarks))
        progress.step("announced differences", 12)
        if found is None:
            continue
        size = float(found["percent"]) / 100 if found["percent"] else float(found["factor"]) - 1
        sizes.append(size)
        effect = np.zeros((10, 1))
        effect[0] = np.log1p(size)
        rows = compared(steady, n, 10, effect, rng).rows
        named += rows[0].verdict == "faster"
    return sizes, Share(named, len(sizes))

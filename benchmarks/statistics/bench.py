#!/usr/bin/env python3
"""Measures the guarantees of Strider's statistics, on simulated runs whose truth is known.

    python benchmarks/statistics/bench.py                  all tables, half an hour or more on one core
    python benchmarks/statistics/bench.py --write          the same, and writes docs/reference/statistics.md
    python benchmarks/statistics/bench.py --only headlines verdicts --write    replaces two parts of the page
    python benchmarks/statistics/bench.py --only verdicts --trials 100

Nothing is measured on this machine: results depend on the seed alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "python")]

import numpy as np  # noqa: E402 - after the path is set

from announced import announced_differences, coverage_of_percentiles  # noqa: E402
from grids import Grid, Progress  # noqa: E402
from headlines import bias_of_headlines, named_sets  # noqa: E402
from parts import Measured, page, parts_of  # noqa: E402
from repeated_cards import coverage_of_cards  # noqa: E402
from rules import rules  # noqa: E402
from sentences import false_alarms, found_with  # noqa: E402
from trials import (  # noqa: E402
    coverage_of_crossovers,
    coverage_of_rates,
    coverage_of_ratios,
    coverage_of_until,
    false_alarms_of_trends,
    verdicts,
)

PAGE = ROOT / "docs" / "reference" / "statistics.md"
Part = Callable[[int, np.random.Generator, Progress], Sequence[Grid]]


def _coverage(trials: int, rng: np.random.Generator, progress: Progress) -> list[Grid]:
    progress.expect(89 * trials + 3284)
    return [
        coverage_of_rates(2 * trials, rng, progress),
        coverage_of_percentiles(trials // 2, rng, progress),
        coverage_of_ratios(4 * trials, rng, progress),
        coverage_of_until(4 * trials, rng, progress),
        false_alarms_of_trends(4 * trials, rng, progress),
        coverage_of_crossovers(2 * trials, rng, progress),
    ]


def _cards(trials: int, rng: np.random.Generator, progress: Progress) -> list[Grid]:
    progress.expect(20)
    return [coverage_of_cards(2 * trials, rng, progress)]


def _headlines(trials: int, rng: np.random.Generator, progress: Progress) -> list[Grid]:
    return [bias_of_headlines(trials // 2, rng, progress), named_sets(trials // 2, rng, progress)]


def _announced(trials: int, rng: np.random.Generator, progress: Progress) -> list[Grid]:
    progress.expect(12 * 4 * (trials // 2))
    return [announced_differences(trials // 2, rng, progress)]


#: Each part by its name, with its time beside the others, in seconds for 500 trials.
PARTS: dict[str, tuple[Part, int]] = {
    "coverage": (_coverage, 60),
    "cards": (_cards, 20),
    "verdicts": (verdicts, 150),
    "announced": (_announced, 40),
    "headlines": (_headlines, 120),
    "rules": (rules, 70),
    "silence": (false_alarms, 120),
    "causes": (found_with("causes"), 70),
    "steady-causes": (found_with("steady-causes"), 70),
    "unlike": (found_with("unlike"), 85),
    "networks": (found_with("networks"), 65),
    "runs": (found_with("runs"), 95),
}


def main() -> int:
    """Runs the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=500, help="simulated runs of each kind (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="of all chance (default: 1)")
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", metavar="PART", help=f"some parts alone: {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}; other parts stay as they are"
    )
    chosen = parser.parse_args()
    names = [name for name in PARTS if name in (chosen.only or PARTS)]
    known = parts_of(PAGE.read_text(encoding="utf-8")) if chosen.write and PAGE.is_file() else {}
    missing = [name for name in PARTS if name not in known and name not in names]
    if chosen.write and missing:
        parser.error(
            f"{PAGE.relative_to(ROOT)} lacks {', '.join(missing)}: name these parts, too, or leave out --only"
        )
    found = run(chosen.trials, chosen.seed, names)
    claims = [claim for grids in found.values() for grid in grids for claim in grid.claims]
    print(
        "\n".join(["Does not hold:", *(f"- {claim}"[:200] for claim in claims)] if claims else ["All hold."])
    )
    if chosen.write:
        commit = _commit()
        new = {name: Measured.of(own, commit, chosen.trials, chosen.seed) for name, own in found.items()}
        parts = {**known, **new}
        PAGE.write_text(page({name: parts[name] for name in PARTS}), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


def run(trials: int, seed: int, names: Sequence[str], quiet: bool = False) -> dict[str, list[Grid]]:
    """The tables of some parts; each part has chance of its own, so that it is the same alone."""
    grids: dict[str, list[Grid]] = {}
    began, done = time.monotonic(), 0
    for name in names:
        part, weight = PARTS[name]
        progress = Progress(trials * weight, quiet, began, done, sum(PARTS[one][1] for one in names) * trials)
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        grids[name] = list(part(trials, rng, progress))
        done += trials * weight
        if not quiet:
            print("\n".join(grid.text() for grid in grids[name]), flush=True)
    return grids


def _commit() -> str:
    """The commit that is measured, as far as git knows it."""
    found = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())

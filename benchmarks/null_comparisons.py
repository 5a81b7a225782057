#!/usr/bin/env python3
"""Compares real runs of one system with each other: how many tables name a difference that is none?

    .strider/venv/bin/python benchmarks/null_comparisons.py STORE
    .strider/venv/bin/python benchmarks/null_comparisons.py STORE --trials 1000 --seed 2

STORE holds 45 or more complete runs of one suite on one target, made at different hours. Runs on other
targets are compared among themselves. `strider run SUITE --target DIR --against DIR` makes such runs.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from strider import store  # noqa: E402 - after the path is set
from strider.compare import Comparison, compare, history, history_of  # noqa: E402
from strider.store import Run  # noqa: E402

#: Runs before the first of a pair of single runs, so that it has a history.
_EARLIER = 6
_NAMED = ("faster", "slower")
Draw = Callable[[Sequence[Run], random.Random], Comparison]


def main() -> int:
    """Prints the share of tables that name anything, by the way of comparing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("store", type=Path, help="directory with the runs")
    parser.add_argument("--trials", type=int, default=334, help="comparisons of each kind (default: 334)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all draws (default: 1)")
    chosen = parser.parse_args()
    targets = [runs for runs in by_target(chosen.store) if len(runs) >= 2 * _EARLIER]
    if not targets:
        parser.error(f"{chosen.store} has no target with {2 * _EARLIER} complete runs of one suite")
    print(f"{sum(map(len, targets))} runs of {len(targets)} targets, {_period(targets)}", flush=True)
    # A history of 60 runs is read for every table: each of them from its files once.
    for name in ("load", "load_info"):
        setattr(history, name, functools.cache(getattr(history, name)))
    ways: dict[str, Draw] = {
        "3 pairs of alternating runs": lambda runs, rng: in_turns(runs, 3, rng),
        "6 pairs of alternating runs": lambda runs, rng: in_turns(runs, 6, rng),
        "two single runs with their history": with_history,
    }
    for name, draw in ways.items():
        rng = random.Random(chosen.seed)  # noqa: S311 - not for security
        found = [draw(rng.choice(targets), rng) for _ in range(chosen.trials)]
        named, judged = sum(map(names_any, found)), sum(one.judged > 0 for one in found)
        share = 100 * named / chosen.trials
        print(
            f"{name}: {named} of {chosen.trials} tables name a difference ({share:.1f} %); {judged} judged",
            flush=True,
        )
    return 0


def _period(targets: Sequence[Sequence[Run]]) -> str:
    """When the runs were made."""
    started = sorted(run.info.started for runs in targets for run in runs)
    return f"{started[0][:16]} to {started[-1][:16]} UTC"


def by_target(folder: Path) -> Iterator[list[Run]]:
    """The complete runs of each suite on each target, in the order of time."""
    found: defaultdict[tuple[str, str], list[Run]] = defaultdict(list)
    for file in sorted(folder.glob("*/run.json")):
        run = store.load(file.parent)
        if run.status == "complete":
            found[run.plan.suite.name, run.plan.target].append(run)
    yield from found.values()


def in_turns(runs: Sequence[Run], pairs: int, rng: random.Random) -> Comparison:
    """Compares neighbours in time, as if one of each pair, by chance, had been made on another system."""
    first = rng.randrange(len(runs) - 2 * pairs + 1)
    drawn = [rng.sample(runs[at : at + 2], 2) for at in range(first, first + 2 * pairs, 2)]
    return compare([pair[0] for pair in drawn], [pair[1] for pair in drawn])


def with_history(runs: Sequence[Run], rng: random.Random) -> Comparison:
    """Compares two single runs at any distance in time."""
    earlier, later = sorted(rng.sample(range(_EARLIER, len(runs)), 2))
    sides = runs[earlier], runs[later]
    return compare([sides[0]], [sides[1]], history=history_of(*sides))


def names_any(found: Comparison) -> bool:
    """Whether a table names a difference, in a row or for the suite."""
    return any(one.verdict in _NAMED for one in (*found.rows, *found.overall))


if __name__ == "__main__":
    sys.exit(main())

"""Runs with rates that are known: for tests of comparisons."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from builders import CaseSpec, RunBuilder
from strider.store import Case, Run, load

Factor = Callable[[Case, int], float]


def run_of(
    directory: Path,
    cases: Sequence[CaseSpec],
    *,
    repetitions: int = 12,
    seed: int = 1,
    factor: Factor = lambda case, repetition: 1.0,
    noise: float = 0.03,
) -> Run:
    """A run whose rates are 1000 MiB/s times a factor of case and repetition, with normal noise."""
    run = load(RunBuilder(cases, repetitions=repetitions, seed=seed).write(directory))
    drawn = random.Random(seed)
    samples = [
        sample.model_copy(
            update={
                "rate_mib_s": 1000 * factor(run.cases[sample.case], sample.repetition) * drawn.gauss(1, noise)
            }
        )
        for sample in run.samples
    ]
    return run.model_copy(update={"samples": samples})


def started(run: Run, minute: int, name: str = "") -> Run:
    """The run as if it had been started at some minute of an hour, under another name."""
    update = {"started": f"2026-11-21T04:{minute:02d}:00Z", "run": name or f"{run.id}-{minute}"}
    return run.model_copy(update={"info": run.info.model_copy(update=update)})


def in_turns(
    directory: Path,
    base: Sequence[CaseSpec],
    other: Sequence[CaseSpec] | None = None,
    *,
    pairs: int = 12,
    factor: Factor = lambda case, pair: 1.0,
    noise: float = 0.03,
    seed: int = 1,
) -> tuple[list[Run], list[Run]]:
    """Alternating runs of two sides, one repetition each; `factor` is that of the other side, by pair."""
    drawn = random.Random(seed)
    sides: list[list[Run]] = []
    for name, cases, own in (("a", base, lambda *_: 1.0), ("b", other or base, factor)):
        run = load(RunBuilder(cases, repetitions=1, seed=seed).write(directory / name))
        sides.append([])
        for pair in range(pairs):
            rates = [
                1000 * own(run.cases[sample.case], pair) * drawn.gauss(1, noise) for sample in run.samples
            ]
            sides[-1].append(started(rated(run, rates), 2 * pair + len(sides) - 1))
    return sides[0], sides[1]


def rated(run: Run, rates: Sequence[float]) -> Run:
    """The run with other rates, in the order of its samples."""
    pairs = zip(run.samples, rates, strict=True)
    return run.model_copy(
        update={"samples": [sample.model_copy(update={"rate_mib_s": rate}) for sample, rate in pairs]}
    )

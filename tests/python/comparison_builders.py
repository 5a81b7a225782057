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

"""A notice on a run with simulated ranks, before all else."""

from __future__ import annotations

from strider.report.blocks import Alert, Block, Section
from strider.report.results.results import Results
from strider.statistics.trust import are_simulated

_SENTENCES = (
    "The ranks of this run are simulated: no storage was accessed, and its rates are no measurements.",
    "In each case of several clients, one rank was made to take 1.5 times as long as the others.",
    "In each case of three nodes or more, one node took 1.75 times as long in every third repetition.",
)


def _alert(_: Results) -> list[Block]:
    return [Alert("Simulated", _SENTENCES)]


def _applies(results: Results) -> bool:
    return are_simulated(results.run.samples)


SECTION = Section("simulated", "Simulated", _alert, _alert, applies=_applies)

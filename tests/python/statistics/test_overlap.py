"""Overlap is the share of the shorter of transfer and think time that the other hid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.tables.thinking import overlap_cell
from strider.statistics import OperationSummary, overlaps, summarize
from strider.store import load


def summaries_of(
    tmp_path: Path, *thinks: float, other: dict[str, object] | None = None
) -> list[OperationSummary]:
    """A write of each think time, with what else is in `other` for those that think."""
    cases = [
        CaseSpec(
            operations=("write",), common={"think": think, "depth": 4, **((other or {}) if think else {})}
        )
        for think in thinks
    ]
    return summarize(load(RunBuilder(cases).write(tmp_path / "run")))


def timed(
    summary: OperationSummary, transfer_s: float | Sequence[float], compute_s: float
) -> OperationSummary:
    """With times of each repetition, or the same in all."""
    each = [transfer_s] * summary.n if isinstance(transfer_s, float) else transfer_s
    samples = [
        sample.model_copy(update={"transfer_s": one, "compute_s": compute_s})
        for sample, one in zip(summary.samples, each, strict=True)
    ]
    return replace(summary, samples=samples)


@pytest.mark.parametrize(
    ("compute_s", "together_s", "share"),
    [
        (2.0, 3.0, 0.0),  # one after the other
        (2.0, 2.0, 1.0),  # all of the transfer hidden
        (0.5, 1.0, 1.0),  # all of the thinking hidden
        (1.0, 1.5, 0.5),
        (4.0, 4.25, 0.75),
        (1.0, 2.5, 0.0),  # slower together than apart: nothing was hidden
        (1.0, 0.5, 1.0),  # less than either, by chance
    ],
)
# proves measuring: overlap-column, overlap, overlap-times
def test_the_share_is_that_of_the_intel_mpi_benchmarks(
    tmp_path: Path, compute_s: float, together_s: float, share: float
) -> None:
    alone, thinking = summaries_of(tmp_path, 0.0, 0.001)
    found = overlaps([timed(alone, 1.0, 0.0), timed(thinking, together_s, compute_s)])
    assert list(found) == [(2, "write")]
    assert found[2, "write"].share == pytest.approx(share)


# proves measuring: overlap-column, overlap
def test_a_case_without_its_twin_has_none(tmp_path: Path) -> None:
    assert overlaps([timed(s, 1.0, 1.0) for s in summaries_of(tmp_path, 0.001, 0.002)]) == {}
    other = summaries_of(tmp_path / "other", 0.0, 0.001, other={"depth": 8})
    assert overlaps([timed(s, 1.0, 1.0) for s in other]) == {}, "of another depth"


# proves measuring: overlap-column, overlap
def test_repetitions_and_names_make_no_other_twin(tmp_path: Path) -> None:
    alone, thinking = summaries_of(tmp_path, 0.0, 0.001, other={"settle": 1.0, "warmup": 2})
    assert overlaps([timed(alone, 1.0, 0.0), timed(thinking, 1.0, 1.0)])


@pytest.mark.parametrize(
    ("together_s", "shown", "words"),
    [
        ([2.95, 3.02, 2.9], False, "none shown"),
        ([2.3, 2.32, 2.28], True, "70 (59–81)"),
        ([3.1, 3.2, 3.3], False, "none shown"),
    ],
)
# proves measuring: overlap-interval, overlap-none-shown
def test_overlap_within_the_scatter_of_repetitions_is_not_shown(
    tmp_path: Path, together_s: list[float], shown: bool, words: str
) -> None:
    alone, thinking = summaries_of(tmp_path, 0.0, 0.001)
    found = overlaps([timed(alone, [0.95, 1.0, 1.05], 0.0), timed(thinking, together_s, 2.0)])
    assert found[2, "write"].is_shown is shown
    assert overlap_cell(found)(thinking) == words


# proves measuring: overlap-interval
def test_overlap_of_two_repetitions_has_no_interval(tmp_path: Path) -> None:
    alone, thinking = summaries_of(tmp_path, 0.0, 0.001)
    two = [replace(one, samples=one.samples[:2]) for one in (alone, thinking)]
    found = overlaps([timed(two[0], 1.0, 0.0), timed(two[1], 2.0, 2.0)])
    assert found[2, "write"].interval is None
    assert overlap_cell(found)(two[1]) == "–"

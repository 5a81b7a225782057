"""Times of processes are those of the repetitions that count."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.statistics import summarize
from strider.statistics.processes import process_times
from strider.store import RankRow, load, load_events


def test_each_rank_has_the_means_of_its_own_times(tmp_path: Path) -> None:
    case = CaseSpec(operations=("write",), slow_ranks={1: 2.0})
    run = load(RunBuilder([case], repetitions=3).write(tmp_path / "run"))
    rows = load_events(run.directory, RankRow)
    fast, slow = process_times(summarize(run), rows)
    assert [(one.rank, one.n) for one in (fast, slow)] == [(0, 3), (1, 3)]
    own = [row for row in rows if row.rank == 1]
    assert slow.wall_s == pytest.approx(sum(row.end_s - row.start_s for row in own) / 3)
    assert slow.user_s == pytest.approx(sum(row.user_s for row in own) / 3)
    assert slow.system_s == pytest.approx(sum(row.system_s for row in own) / 3)
    assert slow.wall_s > fast.wall_s


def test_void_repetitions_and_warm_ups_do_not_count(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(wrong_data=True)], repetitions=2, warmup=1).write(tmp_path / "run"))
    found = process_times(summarize(run), load_events(run.directory, RankRow))
    assert {(one.summary.operation, one.rank, one.n) for one in found} == {("write", 0, 2), ("write", 1, 2)}


def test_clients_without_rows_take_no_memory(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(operations=("write",))], repetitions=1).write(tmp_path / "run"))
    (summary,) = summarize(run)
    large = replace(summary, case=summary.case.model_copy(update={"clients": 1_000_000}))
    rows = load_events(run.directory, RankRow)
    tracemalloc.start()
    found = process_times([large], rows)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [one.rank for one in found] == [0, 1]
    assert most_bytes < 1 << 20

"""Of many ranks without rows of their own, one that is mostly the last is named, from distributions alone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from printed import printed
from strider.report.charts.rank_maps import rank_map_of
from strider.report.labels.facets import Facets
from strider.report.words.steadiness import steadiness
from strider.statistics import last_ranks, stragglers, summarize
from strider.store import Run, load, query
from strider.store.tables import derive, export

RANKS = 100
Distribution = dict[str, object]


def _distribution(quantity: str, low: float, middle: float, high: float, last: int) -> Distribution:
    found: Distribution = {"quantity": quantity, "ranks": RANKS, "mean": middle}
    found |= {"min": low, "min_rank": 0, "min_node": 0, "max": high, "max_rank": last, "max_node": 0}
    return found | dict.fromkeys(("p05", "p25", "p50", "p75", "p95"), middle)


def run_of(
    folder: Path,
    last: Callable[[int], int],
    lateness: float = 2.0,
    end_s: float = 1.0,
    least_bytes: int = 1 << 20,
    repetitions: int = 8,
) -> Run:
    """A run of writes of 100 ranks without rows, as the engine records them.

    Args:
        folder: Where to write it.
        last: The last rank of each repetition.
        lateness: When it finished ÷ when the median rank did.
        end_s: When the median rank finished.
        least_bytes: Bytes of the rank with the least.
        repetitions: How many.
    """
    case = CaseSpec(operations=("write",), clients=RANKS)
    directory = RunBuilder([case], repetitions=repetitions).write(folder / "run")
    kept = []
    for event in map(json.loads, (directory / "events.jsonl").read_text().splitlines()):
        if event["event"] == "sample":
            event["rank_distributions"] = [
                _distribution("end_s", end_s, end_s, end_s * lateness, last(event["repetition"])),
                _distribution("bytes", least_bytes, 1 << 20, 1 << 20, 0),
            ]
        if event["event"] != "rank":
            kept.append(json.dumps(event))
    (directory / "events.jsonl").write_text("\n".join(kept) + "\n")
    return load(directory)


def test_a_rank_that_is_mostly_the_last_is_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, lambda repetition: 42 if repetition else 3)
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, found.last, found.n, found.lost) == (42, 7, 8, None)
    assert found.lateness == pytest.approx(2.0)
    (sentence,) = steadiness(run, summarize(run))
    assert sentence.startswith("Straggler: rank 42 on ")
    assert " finished last in 7 of 8 phases of write " in sentence
    assert sentence.endswith(" and took 2.0 × as long as the median rank there.")


@pytest.mark.parametrize(
    "changes",
    [
        {"last": lambda repetition: repetition},
        {"lateness": 1.05},
        {"end_s": 0.01},
        {"least_bytes": 1 << 19},
        {"repetitions": 1},
    ],
    ids=["another each time", "hardly late", "short phases", "unequal work", "one repetition"],
)
def test_else_none_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    run = run_of(tmp_path, **{"last": lambda repetition: 42, **changes})  # type: ignore[arg-type]
    assert stragglers(run, last_ranks(run)) == []


def test_equal_ranks_seldom_name_one(tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(6):
        run = run_of(tmp_path / str(number), lambda repetition: chance.randrange(RANKS))
        assert stragglers(run, last_ranks(run)) == []


def test_reports_say_nothing_of_single_ranks_without_rows(tmp_path: Path) -> None:
    run = run_of(tmp_path, lambda repetition: repetition)
    assert rank_map_of(run, Facets.of(list(run.cases.values()))) is None
    text = printed(run, option="processes")
    assert "with more than 64 clients" in " ".join(text.split())


def test_distributions_are_a_table(tmp_path: Path) -> None:
    run = run_of(tmp_path, lambda repetition: 42)
    question = "SELECT ranks, max_rank, p50 FROM distributions WHERE quantity = 'end_s' AND repetition = 0"
    assert query([run.directory], question) == [{"ranks": RANKS, "max_rank": 42, "p50": 1.0}]
    derive(run.directory)
    assert query([run.directory], question) == [{"ranks": RANKS, "max_rank": 42, "p50": 1.0}]
    out = export(run.directory, "csv", tmp_path / "distributions.csv", "distributions")
    assert len(out.read_text().splitlines()) == 1 + 2 * 8

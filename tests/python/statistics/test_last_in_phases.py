"""Of many ranks without rows of their own, one that is mostly the last is named, from distributions alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from printed import printed
from report_runs import MANY_RANKS, of_many_ranks
from strider.report.charts.rank_maps import rank_map_of
from strider.report.labels.facets import Facets
from strider.report.words.steadiness import steadiness
from strider.statistics import last_ranks, stragglers, summarize
from strider.store import query
from strider.store.tables import derive, export


# proves limits: last-rank, phases-not-loss
def test_a_rank_that_is_mostly_the_last_is_named(tmp_path: Path) -> None:
    run = of_many_ranks(tmp_path, lambda repetition: 42 if repetition else 3)
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
    run = of_many_ranks(tmp_path, **{"last": lambda repetition: 42, **changes})  # type: ignore[arg-type]
    assert stragglers(run, last_ranks(run)) == []


# proves limits: last-rank
def test_equal_ranks_seldom_name_one(tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(6):
        run = of_many_ranks(tmp_path / str(number), lambda repetition: chance.randrange(MANY_RANKS))
        assert stragglers(run, last_ranks(run)) == []


@pytest.mark.parametrize("nodes", [2, 4, 20])
# proves limits: last-node
def test_a_node_whose_ranks_take_turns_is_named(tmp_path: Path, nodes: int) -> None:
    of_node = MANY_RANKS // nodes
    run = of_many_ranks(
        tmp_path, lambda repetition: of_node + repetition % of_node, repetitions=20, nodes=nodes
    )
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, found.node, found.last, found.n) == (None, "node 1", 20, 20)
    (sentence,) = steadiness(run, summarize(run))
    assert sentence.startswith("Straggler: a rank of node 1 finished last in 20 of 20 phases of write ")
    assert sentence.endswith(" and took 2.0 × as long as the median rank of the other nodes there.")


@pytest.mark.parametrize(("nodes", "fewest"), [(10, 4), (5, 5), (2, 10)])
# proves limits: last-node
def test_so_many_repetitions_name_a_node(tmp_path: Path, nodes: int, fewest: int) -> None:
    of_node = MANY_RANKS // nodes
    for repetitions in (fewest - 1, fewest):
        place = tmp_path / str(repetitions)
        run = of_many_ranks(
            place, lambda repetition: repetition % of_node, repetitions=repetitions, nodes=nodes
        )
        assert len(stragglers(run, last_ranks(run))) == (repetitions == fewest)


def test_a_rank_that_is_most_of_its_slow_node_is_named_instead(tmp_path: Path) -> None:
    run = of_many_ranks(
        tmp_path, lambda repetition: 30 if repetition % 4 == 0 else 42, repetitions=20, nodes=4
    )
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, found.last) == (42, 15)


def test_the_node_of_a_named_rank_is_not_named_beside_it(tmp_path: Path) -> None:
    of_node = MANY_RANKS // 10
    run = of_many_ranks(
        tmp_path, lambda repetition: of_node + (repetition % 3 == 2), repetitions=12, nodes=10
    )
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, found.last) == (of_node, 8)


def test_a_slow_rank_does_not_make_its_node_slow(tmp_path: Path) -> None:
    """Rank 0 is last in 16 of 60 phases; of the other 44, its node has 30, which may be chance."""
    of_node = MANY_RANKS // 2

    def last(repetition: int) -> int:
        return 0 if repetition < 16 else repetition if repetition < 46 else of_node + repetition - 46

    run = of_many_ranks(tmp_path, last, repetitions=60, nodes=2)
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, found.last) == (0, 16)


# proves limits: beside-named-rank
def test_a_slow_rank_does_not_hide_a_slow_node(tmp_path: Path) -> None:
    of_node = MANY_RANKS // 10
    run = of_many_ranks(
        tmp_path,
        lambda repetition: of_node + repetition % of_node if repetition % 3 == 2 else 42,
        repetitions=12,
        nodes=10,
    )
    node, rank = sorted(stragglers(run, last_ranks(run)), key=lambda one: one.rank or 0)
    assert (rank.rank, rank.last, rank.n) == (42, 8, 12)
    assert (node.rank, node.node, node.last, node.n) == (None, "node 1", 4, 12)


# proves limits: beside-named-rank
def test_beside_a_slow_rank_equal_nodes_are_not_named(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(6):
        run = of_many_ranks(
            tmp_path / str(number),
            lambda repetition: 42 if repetition % 2 else chance.randrange(MANY_RANKS),
            repetitions=20,
            nodes=10,
        )
        assert [one.rank for one in stragglers(run, last_ranks(run))] == [42]


@pytest.mark.parametrize("nodes", [2, 4, 20])
# proves limits: last-node
def test_equal_nodes_seldom_name_one(tmp_path: Path, nodes: int) -> None:
    chance = random.Random(nodes)
    for number in range(6):
        run = of_many_ranks(
            tmp_path / str(number), lambda repetition: chance.randrange(MANY_RANKS), nodes=nodes
        )
        assert stragglers(run, last_ranks(run)) == []


def test_the_slow_phases_of_a_short_operation_are_not_all_there_is(tmp_path: Path) -> None:
    """The short phases are not left out alone: in those that remain, something disturbed a rank."""
    run = of_many_ranks(tmp_path, lambda repetition: 42 if repetition < 3 else repetition, end_s=0.02)
    samples = [
        sample
        if sample.repetition >= 3
        else sample.model_copy(
            update={
                "rank_distributions": [
                    one.model_copy(update={"max": 0.3}) if one.quantity == "end_s" else one
                    for one in sample.rank_distributions
                ]
            }
        )
        for sample in run.samples
    ]
    run = run.model_copy(update={"samples": samples})
    assert stragglers(run, last_ranks(run)) == []


def test_reports_say_nothing_of_single_ranks_without_rows(tmp_path: Path) -> None:
    run = of_many_ranks(tmp_path, lambda repetition: repetition)
    assert rank_map_of(run, Facets.of(list(run.cases.values()))) is None
    text = printed(run, option="processes")
    assert "with more than 64 clients" in " ".join(text.split())


def test_distributions_are_a_table(tmp_path: Path) -> None:
    run = of_many_ranks(tmp_path, lambda repetition: 42)
    question = "SELECT ranks, max_rank, p50 FROM distributions WHERE quantity = 'end_s' AND repetition = 0"
    assert query([run.directory], question) == [{"ranks": MANY_RANKS, "max_rank": 42, "p50": 1.0}]
    derive(run.directory)
    assert query([run.directory], question) == [{"ranks": MANY_RANKS, "max_rank": 42, "p50": 1.0}]
    out = export(run.directory, "csv", tmp_path / "distributions.csv", "distributions")
    assert len(out.read_text().splitlines()) == 1 + 2 * 8

"""Timelines: the work of ranks in each interval adds up to their work in the phase."""

import math
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine, tree_case
from strider.engine import Engine

LISTS = ("bytes", "requests", "busy_s", "latency_max_s")


def small(**keys: Json) -> Json:
    return case("segmented", pattern_transfer=4096, pattern_block=1 << 20, clients=3, **keys)


def phases(done: EngineRun) -> list[tuple[Json, list[Json], list[Json]]]:
    """Each measured sample with its ranks and its timelines."""
    found = []
    for sample in done.of("sample", measured=True):
        phase = {key: sample[key] for key in ("case", "repetition", "operation")}
        found.append((sample, done.of("rank", **phase), done.of("timeline", **phase)))
    return found


@pytest.mark.parametrize(
    "one",
    [
        small(operations=["write", "read", "read-modify-write"]),
        small(interface="uring", depth=8, operations=["write", "read"]),
        small(depth=4, operations=["write", "read"]),
        small(interface="mpiio", interface_access="collective", operations=["write", "read"]),
        small(operations=["read"], deadline=0.2, wear_out=True),
        tree_case(["mkdir", "create", "small-read", "unlink"], tree_items=300, tree_file_size=100, clients=3),
        tree_case(
            ["create", "mix"], tree_items=300, clients=3, mix={"stat": 3, "unlink": 2}, mix_operations=200
        ),
    ],
    ids=["data", "uring", "threads", "collective", "deadline", "metadata", "mix"],
)
# proves measuring: timelines, interval-bounds, bounds-drift
def test_intervals_add_up_to_what_ranks_did(engine: Engine, tmp_path: Path, one: Json) -> None:
    available = {entry.name: entry.available for entry in engine.description.interfaces}
    if not available[one["interface"]["name"]]:
        pytest.skip(f"machine: no {one['interface']['name']}")
    done = run_engine(engine, plan([one]), tmp_path, options=["--timeline-interval", "0.01"])
    assert done.returncode == 0, done.stderr
    found = phases(done)
    assert [sample["operation"] for sample, _, _ in found] == one["operations"]
    for sample, ranks, timelines in found:
        assert [timeline["rank"] for timeline in timelines] == [0, 1, 2]
        for rank, timeline in zip(ranks, timelines, strict=True):
            assert timeline["node"] == rank["node"]
            assert sum(timeline["bytes"]) == rank["bytes"]
            assert sum(timeline["requests"]) == rank["requests"]
            assert sum(timeline["busy_s"]) == pytest.approx(rank["io_s"], abs=1e-8)
        longest = max(value for timeline in timelines for value in timeline["latency_max_s"])
        assert longest == pytest.approx(sample["latency"]["max_s"], abs=1e-9)
        assert len({timeline["interval_s"] for timeline in timelines}) == 1
        assert len({timeline["start_s"] for timeline in timelines}) == 1
        assert len({len(timeline[name]) for timeline in timelines for name in LISTS}) == 1
        assert timelines[0]["start_s"] <= sample["start_s"]


# proves measuring: counted-at-end
def test_requests_are_in_the_intervals_in_which_they_ended(engine: Engine, tmp_path: Path) -> None:
    """A rank that thinks for 5 ms between its requests cannot have more than eleven in 50 ms."""
    one = case(
        "segmented",
        "null",
        pattern_transfer=4096,
        pattern_block=4096 * 100,
        think=0.005,
        operations=["write"],
    )
    done = run_engine(engine, plan([one]), tmp_path, options=["--timeline-interval", "0.05"])
    (timeline,), sample = done.of("timeline"), done.sample()
    lasted_s = sample["start_s"] - timeline["start_s"] + sample["elapsed_s"]
    assert len(timeline["requests"]) <= lasted_s / timeline["interval_s"] + 1
    assert sum(timeline["requests"]) == 100
    assert max(timeline["requests"]) <= timeline["interval_s"] / 0.005 + 1


# proves measuring: intervals-double, any-length
def test_long_phases_have_600_intervals_at_most(engine: Engine, tmp_path: Path) -> None:
    one = case(
        "segmented",
        "null",
        pattern_transfer=4096,
        pattern_block=1 << 40,  # more than any machine does by the deadline
        clients=2,
        deadline=1.5,
        wear_out=False,
        operations=["write"],
    )
    done = run_engine(engine, plan([one]), tmp_path, options=["--timeline-interval", "0.001"])
    ((sample, ranks, timelines),) = phases(done)
    (interval_s,) = {timeline["interval_s"] for timeline in timelines}
    assert math.log2(interval_s / 0.001) == pytest.approx(round(math.log2(interval_s / 0.001)))
    # The shortest interval with which 600 suffice; a rank may do its last request long before the other.
    assert 299 <= max(len(timeline["requests"]) for timeline in timelines) <= 600
    lasted_s = sample["start_s"] + sample["elapsed_s"] - timelines[0]["start_s"]
    for rank, timeline in zip(ranks, timelines, strict=True):
        assert (len(timeline["requests"]) - 1) * interval_s <= lasted_s
        assert sum(timeline["requests"]) == rank["requests"]


@pytest.mark.parametrize(
    ("clients", "options", "ranks"),
    [
        (4, ["--timeline", "node"], [None, None]),
        (4, ["--timeline", "rank"], [0, 1, 2, 3]),
        (4, ["--timeline", "none"], []),
        (65, [], [None] * 22),
    ],
)
# proves measuring: timelines, timeline-option
def test_timelines_are_of_ranks_or_of_nodes(
    engine: Engine, tmp_path: Path, clients: int, options: list[str], ranks: list[int | None]
) -> None:
    one = case("segmented", "null", pattern_transfer=4096, pattern_block=8192, clients=clients)
    document = {**plan([{**one, "operations": ["write"]}]), "ranks_per_node": 3}
    done = run_engine(engine, document, tmp_path, options=options)
    timelines = done.of("timeline")
    assert [timeline["rank"] for timeline in timelines] == ranks
    if None in ranks:
        assert [timeline["node"] for timeline in timelines] == list(range(len(ranks)))
        of_node = [sum(timeline["requests"]) for timeline in timelines]
        assert of_node == [2 * min(3, clients - first) for first in range(0, clients, 3)]


def test_what_is_not_measured_has_none(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(engine, plan([small(operations=["read"], cache="warm")]), tmp_path)
    assert {sample["operation"] for sample in done.of("sample", measured=False)} == {"prefill", "preread"}
    assert {timeline["operation"] for timeline in done.of("timeline")} == {"read"}


@pytest.mark.parametrize(
    "options", [["--timeline", "all"], ["--timeline-interval", "0"], ["--timeline-interval", "soon"]]
)
def test_what_is_no_choice_is_refused(engine: Engine, tmp_path: Path, options: list[str]) -> None:
    done = run_engine(engine, plan([small()]), tmp_path, options=options)
    assert done.returncode == 2
    assert options[0].removeprefix("--") in done.stderr


def test_of_many_nodes_the_slowest_have_a_timeline_and_the_others_one_together(
    engine: Engine, tmp_path: Path
) -> None:
    one = case("segmented", pattern_transfer=4096, pattern_block=1 << 18, clients=67, operations=["write"])
    done = run_engine(engine, plan([one], ranks_per_node=1), tmp_path)
    assert done.returncode == 0, done.stderr
    timelines = done.of("timeline")
    *named, others = timelines
    assert len({timeline["node"] for timeline in named}) == len(named) == 64
    assert [timeline["nodes"] for timeline in timelines] == [1] * 64 + [3]
    assert (others["node"], others["rank"]) == (None, None)
    (sample,) = done.of("sample", measured=True)
    assert sum(sum(timeline["bytes"]) for timeline in timelines) == sample["bytes"]
    latencies = [sum(timeline["busy_s"]) / sum(timeline["requests"]) for timeline in timelines]
    assert min(latencies[:-1]) >= latencies[-1]

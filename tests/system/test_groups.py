"""Groups of ranks: several workloads at the same time, by the events of real runs."""

import signal
from pathlib import Path

from harness import EngineJob, EngineRun, Json, case, plan, read_events, run_engine, tree_case, wait_for
from strider.engine import Engine
from strider.statistics.groups import covered

NONE = {"placement": "pack", "nodes": 0, "per_node": 0}


def turn(number: int, *earlier: int, alone: int = 1) -> Json:
    return {"number": number, "alone": alone, "earlier": [{"clients": one, **NONE} for one in earlier]}


def writes(**keys: Json) -> Json:
    keys = {
        "clients": 2,
        "operations": ["write"],
        "runtime": 1.0,
        "repetitions": 2,
        "group": "writes",
        **keys,
    }
    return case("segmented", pattern_transfer=65536, pattern_block=1 << 20, **keys)


def reads(**keys: Json) -> Json:
    keys = {
        "clients": 3,
        "operations": ["read"],
        "runtime": 1.0,
        "repetitions": 2,
        "group": "reads",
        "verify": "full",
        **keys,
    }
    return case("segmented", pattern_transfer=65536, pattern_block=1 << 20, **keys)


def samples(done: EngineRun, number: int) -> list[Json]:
    """The measured ones of a case."""
    return [one for one in done.of("sample", case=number) if one["measured"]]


def span(sample: Json) -> tuple[float, float]:
    """When it was measured, seconds since the start of the run."""
    return sample["start_s"], sample["start_s"] + sample["elapsed_s"]


def files_of_cases(done: EngineRun) -> list[Path]:
    return [file for file in done.directory.rglob("case*") if file.is_file()]


def test_groups_measure_at_the_same_time_on_different_ranks(engine: Engine, tmp_path: Path) -> None:
    cases = [
        writes(turn=turn(0)),
        reads(turn=turn(0, 2)),
        writes(turn=turn(1)),
        reads(turn=turn(1, 2)),
        tree_case(["create", "unlink"], tree_items=3, clients=1),
    ]
    done = run_engine(engine, plan(cases, ranks=5, ranks_per_node=2), tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    first, second, third, fourth = ([span(one) for one in samples(done, n)] for n in (1, 2, 3, 4))
    for one, other in zip(third, fourth, strict=True):
        assert covered(one, [other]) > 0
    alone = [*first, *second]
    for position, each in enumerate(alone):
        others = alone[:position] + alone[position + 1 :] + third + fourth
        assert all(covered(each, [other]) == 0 for other in others)
    for number, operation, nodes in (
        (1, "write", [0, 0]),
        (3, "write", [0, 0]),
        (2, "read", [1, 1, 2]),
        (4, "read", [1, 1, 2]),
    ):
        rows = done.of("rank", case=number, operation=operation, repetition=1)
        assert [row["node"] for row in rows] == nodes
    assert all(one["valid"] and one["verify"]["checked_bytes"] for one in samples(done, 4))
    ends = [(end["case"], end["repetition"]) for end in done.of("repetition")]
    expected = [(number, repetition) for number in range(1, 5) for repetition in (0, 1)]
    assert sorted(ends) == [*expected, (5, 0)]
    assert done.of("end")[0]["samples"] == len(done.of("sample"))
    assert not files_of_cases(done)


def test_a_group_starts_after_its_delay_and_keeps_its_rate(engine: Engine, tmp_path: Path) -> None:
    cases = [
        writes(clients=1, runtime=1.5, turn=turn(1)),
        reads(clients=1, start=0.8, runtime=0.5, rate_limit=1 << 20, turn=turn(1, 1)),
    ]
    done = run_engine(engine, plan(cases, ranks=2), tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    second = samples(done, 2)[0]
    # All groups prepare their files before a common start.
    _, prepared_s = span(done.sample(case=2, operation="prefill", repetition=second["repetition"]))
    assert second["start_s"] >= prepared_s + 0.8 - 1e-6
    assert second["bytes"] <= (1 << 20) * (second["elapsed_s"] + 1)


def test_unmeasured_work_of_a_group_is_not_beside_measured_work_of_another(
    engine: Engine, tmp_path: Path
) -> None:
    cases = [
        writes(clients=1, runtime=0.3, verify="full", repetitions=1, turn=turn(1)),
        reads(clients=1, runtime=1.2, repetitions=1, settle=0.3, turn=turn(1, 1)),
    ]
    done = run_engine(engine, plan(cases, ranks=2), tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    (first,), (second,) = (map(span, samples(done, number)) for number in (1, 2))
    _, prepared_s = span(done.sample(case=2, operation="prefill"))
    checked_s, _ = span(done.sample(case=1, operation="check"))
    assert prepared_s <= first[0], "all groups prepare their files before a common start"
    assert checked_s >= second[1], "files are checked when all groups are done"


def test_progress_of_a_group_without_rank_0_is_seen_while_it_measures(engine: Engine, tmp_path: Path) -> None:
    cases = [reads(clients=1, runtime=2, repetitions=1, turn=turn(0, 1))]
    done = run_engine(engine, plan(cases, ranks=2), tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    kinds = [event["event"] for event in done.events if event.get("case") == 1]
    assert kinds.index("progress") < kinds.index("case"), "results come at the end of the repetition"


def test_no_group_measures_where_one_cannot_begin(engine: Engine, tmp_path: Path) -> None:
    cases = [
        writes(clients=1, turn=turn(1)),
        reads(clients=1, mount="listio", turn=turn(1, 1)),
        writes(clients=1, group="", repetitions=1),
    ]
    done = run_engine(engine, plan(cases, ranks=2), tmp_path)
    errors = done.of("error")
    assert [(error["case"], error["kind"]) for error in errors] == [(1, "group"), (2, "plan")]
    assert not samples(done, 1)
    assert samples(done, 3), "the run goes on"
    assert [end["failed"] for end in done.of("repetition", case=1)] == [True]
    assert not files_of_cases(done)


def test_an_interrupted_turn_is_repeated_as_a_whole(engine: Engine, tmp_path: Path) -> None:
    cases = [writes(runtime=0, turn=turn(1)), reads(runtime=60, turn=turn(1, 2))]
    with EngineJob(engine, plan(cases, ranks=5), tmp_path) as job:
        wait_for(
            lambda: [one for one in read_events(job.events_file) if one.get("case") == 2],
            "progress of the second group, while the first one waits",
        )
        job.process.send_signal(signal.SIGINT)
        done = job.finish()
    assert samples(done, 1), "the first group was done"
    assert not done.of("repetition"), "strider resume measures both again"
    assert not done.of("error")
    assert not files_of_cases(done)


def test_an_interrupt_before_the_common_start_is_no_failure(engine: Engine, tmp_path: Path) -> None:
    cases = [writes(runtime=60, turn=turn(1)), reads(runtime=60, settle=60, turn=turn(1, 2))]
    with EngineJob(engine, plan(cases, ranks=5), tmp_path) as job:
        wait_for(lambda: [one for one in read_events(job.events_file) if one["event"] == "case"], "the turn")
        job.process.send_signal(signal.SIGINT)
        done = job.finish()
    assert done.of("end")[0]["status"] == "interrupted"
    assert not done.of("error")
    assert not done.of("repetition")
    assert not files_of_cases(done)


def test_an_interrupt_ends_all_groups_and_removes_their_files(engine: Engine, tmp_path: Path) -> None:
    cases = [writes(runtime=60, turn=turn(1)), reads(runtime=60, turn=turn(1, 2))]
    document = plan(cases, ranks=5)
    with EngineJob(engine, document, tmp_path) as job:
        wait_for(lambda: "progress" in {one["event"] for one in read_events(job.events_file)}, "progress")
        job.process.send_signal(signal.SIGINT)
        done = job.finish()
    assert done.of("end")[0]["status"] == "interrupted"
    assert not files_of_cases(done)

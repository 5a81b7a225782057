"""Values of a sample agree with each other, with the ranks' rows and with the plan."""

import math
from pathlib import Path

import pytest

from harness import Json, case, plan, run_engine
from strider.engine import Engine


# proves measuring: last-done, elapsed, first-done, first-done-rate, exact-to-ns, histograms-added
def test_a_sample_is_the_sum_of_its_ranks(engine: Engine, tmp_path: Path) -> None:
    one = case(
        "segmented", pattern_transfer=4096, pattern_block=1 << 20, clients=3, operations=["write", "read"]
    )
    done = run_engine(engine, plan([one]), tmp_path)
    for sample in done.of("sample"):
        rows = done.of("rank", operation=sample["operation"])
        assert len(rows) == sample["clients"] == 3
        assert sample["bytes"] == sum(row["bytes"] for row in rows) == 3 << 20
        assert sample["requests"] == sum(row["requests"] for row in rows) == 3 * 256
        first, last = min(row["start_s"] for row in rows), max(row["end_s"] for row in rows)
        assert math.isclose(sample["elapsed_s"], last - first, abs_tol=1e-6)
        assert math.isclose(sample["rate_mib_s"], 3 / sample["elapsed_s"], rel_tol=1e-6)
        assert math.isclose(sample["first_done_s"], min(row["end_s"] for row in rows) - first, abs_tol=1e-6)
        assert 0 < sample["first_done_s"] <= sample["elapsed_s"]
        latency = sample["latency"]
        assert latency["count"] == sum(count for _, count in sample["histogram"]["buckets"]) == 3 * 256
        assert latency["min_s"] <= latency["p50_s"] <= latency["p99_s"] <= latency["max_s"]
        io_s = sum(row["io_s"] for row in rows)
        assert math.isclose(latency["mean_s"] * latency["count"], io_s, rel_tol=1e-6)
        for row in rows:
            parts = row["open_s"] + row["transfer_s"] + row["close_s"]
            assert row["start_s"] + parts <= row["end_s"] + 1e-6
        for part in ("open_s", "transfer_s", "close_s"):
            assert sample[part] == max(row[part] for row in rows) > 0
        # The longest of any rank each, which need not be the same one.
        assert max(sample["open_s"], sample["close_s"]) <= sample["elapsed_s"]
        assert sample["system_s"] >= 0


def test_every_case_gets_its_repetitions_and_clients(engine: Engine, tmp_path: Path) -> None:
    keys: Json = {"pattern_transfer": 4096, "pattern_count": 4}
    cases = [
        case(
            "strided",
            **keys,
            clients=clients,
            repetitions=2,
            warmup=1,
            operations=["write", "rewrite", "read", "reread"],
        )
        for clients in (1, 3, 4)
    ]
    done = run_engine(engine, plan(cases, interleave="random"), tmp_path)
    assert done.returncode == 0, done.stderr
    for number, clients in enumerate((1, 3, 4), 1):
        samples = done.of("sample", case=number)
        assert [(s["repetition"], s["warmup"]) for s in samples[::4]] == [(0, True), (1, False), (2, False)]
        assert [s["operation"] for s in samples[:4]] == ["write", "rewrite", "read", "reread"]
        assert {s["clients"] for s in samples} == {clients}
        assert {s["bytes"] for s in samples} == {clients * 4 * 4096}
    assert done.of("end")[0] | {"time_s": 0} == {
        "event": "end",
        "time_s": 0,
        "status": "complete",
        "samples": 36,
        "errors": 0,
    }


def test_repetitions_stop_when_the_interval_is_narrow(engine: Engine, tmp_path: Path) -> None:
    keys: Json = {
        "pattern_transfer": 4096,
        "pattern_block": 1 << 30,
        "operations": ["write"],
        "interface": "null",
    }
    loose = case("segmented", **keys) | {"repetitions": {"min": 3, "max": 50, "until": 1.0}}
    done = run_engine(engine, plan([loose]), tmp_path)
    # Three, unless a machine that stalls makes one of them last twice as long.
    assert 3 <= len(done.of("sample")) < 50


@pytest.mark.parametrize("wear_out", [True, False])
# proves measuring: deadline-field, wear-out, later-phases
def test_a_deadline_stops_and_wear_out_evens(engine: Engine, tmp_path: Path, wear_out: bool) -> None:
    one = case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=1 << 40,  # more than any machine does by the deadline
        clients=2,
        sync="each",
        verify="full",
        deadline=0.5,
        wear_out=wear_out,
        readback="shift",
        operations=["write", "read"],
    )
    done = run_engine(engine, plan([one]), tmp_path)
    assert done.returncode == 0, done.stderr
    write, read = done.sample(operation="write"), done.sample(operation="read")
    requests = [row["requests"] for row in done.of("rank", operation="write")]
    deadline = write["deadline"]
    assert deadline["deadline_s"] == 0.5
    assert 0.5 - 1e-4 <= deadline["elapsed_s"] <= write["elapsed_s"] + 1e-6
    assert 0 < deadline["requests"] <= write["requests"] == sum(requests) < 2 << 28
    assert deadline["requests_per_rank_min"] <= deadline["requests_per_rank_max"]
    if wear_out:
        assert set(requests) == {deadline["requests_per_rank_max"]}
    else:
        assert (min(requests), max(requests)) == (
            deadline["requests_per_rank_min"],
            deadline["requests_per_rank_max"],
        )
    # Only written data can be read, and is right for any writer.
    assert read["requests"] <= 2 * min(requests)
    assert read["verify"]["mismatches"] == 0


# proves measuring: later-phases, reread
def test_a_read_that_its_deadline_cuts_limits_a_reread_alone(engine: Engine, tmp_path: Path) -> None:
    """The file was prepared as a whole, so a rewrite may do more requests than the read before it."""
    endless = {"pattern_size": 1 << 20, "pattern_transfer": 4096, "pattern_count": 1 << 40}
    one = case(
        "random",
        "null",
        pattern_replacement=True,
        **endless,
        repetitions={"min": 40, "max": 40, "until": 0},
        deadline=0.005,
        wear_out=False,
        operations=["read", "reread", "rewrite"],
    )
    done = run_engine(engine, plan([one]), tmp_path)
    assert done.returncode == 0, done.stderr
    read, reread, rewrite = (
        [sample["requests"] for sample in done.of("sample", operation=operation)]
        for operation in ("read", "reread", "rewrite")
    )
    assert all(again <= first for first, again in zip(read, reread, strict=True))
    # Phases of equal length: the chance that none of 40 does more requests is nil.
    assert any(later > first for first, later in zip(read, rewrite, strict=True))


# proves measuring: collective-deadline, collective-agreement
def test_collective_transfers_keep_deadlines_together(engine: Engine, tmp_path: Path) -> None:
    one = case(
        "strided",
        interface="mpiio",
        interface_access="collective",
        pattern_transfer=4096,
        pattern_count=10_000_000,
        clients=2,
        deadline=0.5,
        operations=["write"],
    )
    done = run_engine(engine, plan([one]), tmp_path)
    assert done.returncode == 0, done.stderr
    assert len({row["requests"] for row in done.of("rank")}) == 1


def test_hints_in_force_are_reported(engine: Engine, tmp_path: Path) -> None:
    one = case(
        "strided", interface="mpiio", interface_hints={"romio_cb_write": "disable"}, operations=["write"]
    )
    done = run_engine(engine, plan([one]), tmp_path)
    facts = done.sample(operation="write")["facts"]
    if "MPICH" not in engine.version.mpi.library:
        pytest.skip("machine: these hints are ROMIO's, and this MPI has another MPI-IO")
    assert facts["hint.romio_cb_write"] == "disable"
    assert "hint.cb_buffer_size" in facts


def test_memory_does_not_grow_with_the_number_of_requests(engine: Engine, tmp_path: Path) -> None:
    """The largest resident size of the ranks, of 10^3 and of 10^6 requests each."""

    def largest_kib(count: int, name: str) -> int:
        work = tmp_path / name
        work.mkdir()
        one = case(
            "strided", interface="null", pattern_transfer=4096, pattern_count=count, clients=2, order="random"
        )
        wrap = ["/usr/bin/env", "python3", "-c", MEASURE]
        done = run_engine(engine, plan([one]), work, wrap)
        assert done.returncode == 0, done.stderr
        return int(done.stderr.split("largest_kib=")[1].split()[0])

    few, many = largest_kib(1_000, "few"), largest_kib(1_000_000, "many")
    # Pages come in groups of up to 2 MiB. Four bytes for each request would be more.
    assert many < few + 3072


MEASURE = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]);"
    "print(f'largest_kib={resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}'); sys.exit(code)"
)


# proves measuring: idle-ranks
def test_ranks_without_work_say_nothing_about_rates(engine: Engine, tmp_path: Path) -> None:
    """They open and close, so the interval includes that; the first finisher and ranks' rates do not."""
    one = case("sequential", pattern_transfer=65536, pattern_size=16 << 20, clients=3, operations=["write"])
    done = run_engine(engine, plan([one]), tmp_path)
    sample = done.sample(operation="write")
    (worker,) = (row for row in done.of("rank", operation="write") if row["requests"])
    assert sample["first_done_s"] == pytest.approx(worker["end_s"] - sample["start_s"])
    assert sample["rank_rate_mib_s"]["min_rank"] == sample["rank_rate_mib_s"]["max_rank"] == 0
    assert sample["rank_rate_mib_s"]["mean"] == pytest.approx(sample["rank_rate_mib_s"]["max"])


def test_the_rate_until_the_first_rank_is_done_counts_what_was_done_by_then(
    engine: Engine, tmp_path: Path
) -> None:
    """Rank 0 has one request, rank 1 has 4000 in four seconds or more."""
    requests = tmp_path / "requests.csv"
    rows = ["rank,request,file_offset,length", "0,0,0,4096"]
    rows += [f"1,{number},{(number + 1) * 4096},4096" for number in range(4000)]
    requests.write_text("\n".join(rows) + "\n")
    one = case("list", pattern_file=str(requests), clients=2, think=0.001, operations=["write"])
    sample = run_engine(engine, plan([one]), tmp_path).sample(operation="write")
    by_then = sample["rate_first_done_mib_s"] * sample["first_done_s"] * (1 << 20)
    assert 4096 <= by_then < 0.5 * sample["bytes"]


# proves measuring: first-done, first-done-rate, milestone-interval, first-done-error, wait-not-counted
# proves measuring: end-without-work
def test_a_deadline_that_is_not_reached_changes_no_ranks_end(engine: Engine, tmp_path: Path) -> None:
    """Two of three ranks have a sixteenth of the work of the last one: they are done long before.

    At the pace that is set, the last one has more than four seconds of work.
    """
    requests = tmp_path / "requests.csv"
    counts = (64, 64, 1024)
    rows = [
        f"{rank},{number},{(rank * 1024 + number) * 4096},4096"
        for rank, count in enumerate(counts)
        for number in range(count)
    ]
    requests.write_text("\n".join(["rank,request,file_offset,length", *rows]) + "\n")
    one = case("list", pattern_file=str(requests), clients=3, think=0.004, operations=["write"])
    done = run_engine(engine, plan([{**one, "deadline": 600}]), tmp_path)
    *others, last = sorted(done.of("rank"), key=lambda row: int(row["requests"]))
    assert [row["requests"] for row in (*others, last)] == [*counts]
    assert last["transfer_s"] >= 1024 * 0.004 - 1e-6
    # To end as late, they would need 14 times the time of the last one for a request.
    assert all(row["transfer_s"] < 0.9 * last["transfer_s"] for row in others)
    # What all had done by then: a rank needs its time for each request, so the last one was under way.
    sample = done.sample(operation="write")
    by_then = sample["rate_first_done_mib_s"] * sample["first_done_s"] * 2**20 / 4096
    one_rank_at_most = sample["first_done_s"] / 0.004 + 1
    assert 64 <= by_then <= 2 * 64 + min(1024, one_rank_at_most)


def test_a_phase_that_was_not_cut_short_limits_no_later_one(engine: Engine, tmp_path: Path) -> None:
    """Ranks with unequal work: the least of them has all of its requests done, and so have the others."""
    one = case(
        "random",
        pattern_transfer=4096,
        pattern_size=4 << 20,
        clients=3,
        sharing=2,
        deadline=600,
        operations=["write", "read", "reread"],
    )
    done = run_engine(engine, plan([one]), tmp_path)
    assert done.returncode == 0, done.stderr
    for operation in ("write", "read", "reread"):
        rows = done.of("rank", operation=operation)
        assert sorted(row["requests"] for row in rows) == [512, 512, 1024]


# proves measuring: end-skew
def test_ranks_without_work_do_not_count_as_stragglers(engine: Engine, tmp_path: Path) -> None:
    """Some of them are done later than the only one that works, in one of so many repetitions."""
    one = case("sequential", pattern_transfer=4096, pattern_size=4096, clients=4, operations=["write"])
    samples = run_engine(engine, plan([one | {"repetitions": 20}]), tmp_path).of("sample")
    assert [sample["end_skew_s"] for sample in samples] == [0] * 20


# proves measuring: user-and-system, all-included
def test_user_time_is_that_of_computing_and_system_time_that_of_the_kernel(
    engine: Engine, tmp_path: Path
) -> None:
    computing = case(
        "strided",
        interface="null",
        pattern_transfer=4096,
        pattern_count=100,
        think=0.01,
        operations=["write"],
    )
    calling = case(
        "strided", pattern_transfer=1 << 20, pattern_count=512, clients=2, operations=["write", "rewrite"]
    )
    done = run_engine(engine, plan([computing, calling]), tmp_path)
    assert done.returncode == 0, done.stderr
    (computed,) = done.of("sample", case=1)
    assert computed["user_s"] > 2 * computed["system_s"]
    for sample in done.of("sample", case=2):
        assert sample["system_s"] > sample["user_s"]
    for sample in done.of("sample"):
        rows = done.of("rank", case=sample["case"], operation=sample["operation"])
        for key in ("user_s", "system_s"):
            assert sum(row[key] for row in rows) == pytest.approx(sample[key], abs=1e-6)


def test_a_case_counts_the_nodes_of_its_own_ranks(engine: Engine, tmp_path: Path) -> None:
    keys: Json = {"pattern_transfer": 512, "pattern_count": 2, "operations": ["write"]}
    cases = [case("strided", clients=clients, **keys) for clients in (1, 2, 3, 4)]
    done = run_engine(engine, plan(cases, ranks_per_node=2), tmp_path)
    assert [sample["nodes"] for sample in done.of("sample")] == [1, 1, 2, 2]

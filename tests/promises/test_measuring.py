"""What docs/measuring.md promises and no other test shows. Times are compared with lower bounds alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from statistics import fmean

import pytest

from contents import MASK, hash_numbers
from harness import (
    DEADLINE_S,
    EngineJob,
    EngineRun,
    Json,
    case,
    kill,
    other_clock,
    plan,
    read_events,
    run_and_read,
    run_engine,
    time_before,
    wait_for,
)
from strider.engine import Engine
from strider.errors import StriderError
from strider.suite import load as load_suite
from strider.suite import locate

ROOT = Path(__file__).parents[2]
TINY_S = 1e-6
"""Of times that are printed to the microsecond."""

CREATE_S, REQUEST_S, SYNC_S, CLOSE_S, REMOVE_S = 0.04, 0.02, 0.06, 0.05, 0.1
"""By how much the calls on some files are delayed."""
DELAYS = {
    "openat,openat2": CREATE_S,
    "fallocate": CREATE_S,
    "pwrite64": REQUEST_S,
    "fsync": SYNC_S,
    "close": CLOSE_S,
    "unlink,unlinkat": REMOVE_S,
}
SLOW_FILES = ("case1.0", "case2.0", "case3.1")
REQUESTS = 5
THINK_S = 0.01


@pytest.fixture(scope="module")
def slow(engine: Engine, strace: str, tmp_path_factory: pytest.TempPathFactory) -> EngineRun:
    """A run in which the calls on some files are slow."""
    work = tmp_path_factory.mktemp("slow")
    small: Json = {"pattern_transfer": 4096, "sharing": "per-rank", "operations": ["write"]}
    keys: Json = {**small, "pattern_count": REQUESTS}
    cases = [
        case("strided", clients=2, interface_preallocate=True, **keys),
        case("strided", sync="each", **keys),
        case("strided", clients=2, deadline=0.2, think=THINK_S, pattern_count=1 << 20, **small),
        case("strided", **keys),
    ]
    wrap = [strace, "-f", "-o", "/dev/null"]
    wrap += [word for name in SLOW_FILES for word in ("-P", str(work / "target" / name), "-P", name)]
    for calls, delay_s in DELAYS.items():
        wrap += ["-e", f"inject={calls}:delay_exit={round(delay_s * 1e6)}"]
    done = run_engine(engine, plan(cases), work, wrap)
    assert done.returncode == 0, done.stderr
    return done


# proves measuring: start-and-open, open-s, transfer, sync, close-and-end, parts-are-maxima, last-done
# proves measuring: elapsed
def test_what_is_timed_is_in_the_field_of_its_part(slow: EngineRun) -> None:
    """Each is that of rank 0, the slower one of two."""
    sample = slow.sample(case=1)
    assert sample["open_s"] >= 2 * CREATE_S
    assert sample["transfer_s"] >= REQUESTS * REQUEST_S
    assert sample["sync_s"] >= SYNC_S
    assert sample["close_s"] >= CLOSE_S
    assert sample["elapsed_s"] >= 2 * CREATE_S + REQUESTS * REQUEST_S + SYNC_S + CLOSE_S


# proves measuring: close-and-end
def test_what_is_timed_is_in_one_part_alone(slow: EngineRun) -> None:
    sample = slow.sample(case=2)
    parts = ("open_s", "transfer_s", "sync_s", "close_s")
    assert sum(sample[part] for part in parts) <= sample["elapsed_s"] + 4 * TINY_S


# proves measuring: sync-each, sync-none, latency, latency-covers
def test_a_sync_of_each_request_is_part_of_its_latency(slow: EngineRun) -> None:
    assert slow.sample(case=2)["latency"]["min_s"] >= REQUEST_S + SYNC_S


# proves measuring: removal-untimed
def test_removing_files_is_not_timed(slow: EngineRun) -> None:
    first, second = slow.sample(case=1), slow.sample(case=2)
    assert second["start_s"] >= first["start_s"] + first["elapsed_s"] + REMOVE_S - TINY_S


# proves measuring: with-deadline, wear-out, wait-not-counted, end-without-work
def test_the_wear_out_is_transfer_and_waiting_for_it_is_not(slow: EngineRun) -> None:
    """Rank 1 does at its own pace what rank 0 has done long before."""
    deadline = slow.sample(case=3)["deadline"]
    fast, late = slow.of("rank", case=3)
    assert deadline["requests_per_rank_min"] < deadline["requests_per_rank_max"]
    assert fast["requests"] == late["requests"] == deadline["requests_per_rank_max"]
    assert late["transfer_s"] >= late["requests"] * (REQUEST_S + THINK_S) - TINY_S
    assert late["transfer_s"] <= slow.sample(case=3)["transfer_s"] + TINY_S
    assert fast["end_s"] < late["end_s"] - 0.5 * deadline["requests_per_rank_max"] * REQUEST_S


def numbered(**cases: Json) -> tuple[Json, dict[str, int]]:
    """A plan, and the number of each case by its name."""
    return plan(cases.values()), {name: number for number, name in enumerate(cases, 1)}


ONE: Json = {"pattern_transfer": 4096, "pattern_block": 4096 * 20, "operations": ["write"]}
UNEVEN: Json = {
    "pattern_transfer": 4096,
    "pattern_size": 4096 * 32,
    "clients": 3,
    "sharing": 2,
    "operations": ["write"],
}
"""Two ranks share a file, one has twice their requests: 16, 16 and 32."""
RATE = 200
IDLE_S = 0.3
CASES: dict[str, Json] = {
    "timer": case("segmented", "null", pattern_transfer=4096, pattern_block=4096 << 16, operations=["write"]),
    "verified": case(
        "strided",
        pattern_transfer=1 << 20,
        pattern_count=8,
        clients=2,
        verify="full",
        operations=["write", "read"],
    ),
    "again": case(
        "random",
        pattern_transfer=4096,
        pattern_size=8192,
        pattern_count=50,
        pattern_replacement=True,
        operations=["write"],
    ),
    "pair": case("segmented", clients=2, settle=IDLE_S, **{**ONE, "operations": ["write", "read"]}),
    "thinking": case("segmented", think=0.005, **ONE),
    "queued": case("segmented", think=0.005, depth=4, **ONE),
    "uneven": case("random", "null", think=0.004, **UNEVEN),
    "paced": case("random", "null", arrivals="fixed", arrival_rate=RATE, **UNEVEN),
    "cut": case("random", "null", arrivals="fixed", arrival_rate=RATE, deadline=0.1, **UNEVEN),
    "poisson": case("segmented", arrivals="poisson", arrival_rate=1000, repetitions=2, **ONE),
    "poisson too": case("segmented", "null", arrivals="poisson", arrival_rate=1000, repetitions=2, **ONE),
    "idle": case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=4096 * 5,
        arrivals="fixed",
        arrival_rate=10,
        operations=["read"],
    ),
    "mapped": case("segmented", "mmap", **{**ONE, "operations": ["write", "read"]}),
    "each": case("segmented", sync="each", **ONE),
}


class Measured:
    """A run of some cases, which are known by their names."""

    def __init__(self, done: EngineRun, numbers: dict[str, int]) -> None:
        self.done, self.numbers = done, numbers

    def sample(self, name: str, operation: str = "write", repetition: int = 0) -> Json:
        return self.done.sample(case=self.numbers[name], operation=operation, repetition=repetition)

    def ranks(self, name: str, operation: str = "write") -> list[Json]:
        return self.done.of("rank", case=self.numbers[name], operation=operation)


@pytest.fixture(scope="module")
def measured(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """All of `CASES` in one run."""
    document, numbers = numbered(**CASES)
    done = run_engine(engine, document, tmp_path_factory.mktemp("measured"))
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    return Measured(done, numbers)


# proves measuring: settle
def test_idle_time_is_between_phases(measured: Measured) -> None:
    write, read = measured.sample("pair"), measured.sample("pair", "read")
    assert read["start_s"] >= write["start_s"] + write["elapsed_s"] + IDLE_S - TINY_S


# proves measuring: transfer-s, latency-excludes, prepare-s, verify-lowers-rates, verify-not-latency
def test_generating_and_checking_is_part_of_the_transfer_and_of_no_latency(measured: Measured) -> None:
    for operation in ("write", "read"):
        sample, ranks = measured.sample("verified", operation), measured.ranks("verified", operation)
        assert 0 < sample["prepare_s"] <= sample["transfer_s"]
        assert sample["prepare_s"] + min(rank["io_s"] for rank in ranks) <= sample["transfer_s"] + TINY_S
        assert all(rank["io_s"] < rank["transfer_s"] for rank in ranks)


# proves measuring: digest-of-rank, digest-of-sample
def test_the_digest_of_a_sample_is_that_of_its_ranks(measured: Measured) -> None:
    ranks = measured.ranks("verified", "read")
    expected = sum(hash_numbers(int(rank["digest"], 16), rank["rank"]) for rank in ranks) & MASK
    assert int(measured.sample("verified", "read")["digest"], 16) == expected


# proves measuring: check-pieces
def test_the_check_of_whole_files_divides_them_and_reads_pieces_of_4_mib(measured: Measured) -> None:
    sample = measured.sample("verified", "check")
    assert (sample["bytes"], sample["requests"], sample["measured"]) == (16 << 20, 4, False)
    assert [rank["requests"] for rank in measured.ranks("verified", "check")] == [2, 2]


# proves measuring: bytes-moved
def test_what_is_moved_twice_counts_twice(measured: Measured) -> None:
    assert measured.sample("again")["bytes"] == 50 * 4096


# proves measuring: rank-rate, requests-s
def test_rates_are_work_by_time(measured: Measured) -> None:
    sample, ranks = measured.sample("pair"), measured.ranks("pair")
    assert sample["requests_s"] == pytest.approx(40 / sample["elapsed_s"], rel=1e-3)
    own = [rank["bytes"] / 2**20 / (rank["end_s"] - rank["start_s"]) for rank in ranks]
    assert sample["rank_rate_mib_s"]["mean"] == pytest.approx(fmean(own), rel=0.03)


def test_of_ranks_that_are_done_together_both_rates_are_one(measured: Measured) -> None:
    sample = measured.sample("each")
    assert sample["rate_first_done_mib_s"] == pytest.approx(sample["rate_mib_s"], rel=1e-4)


# proves measuring: timer-error
def test_a_latency_is_too_long_by_about_a_reading_of_the_timer(measured: Measured) -> None:
    """Interface null does nothing: the rest is the timer."""
    (run,) = measured.done.of("run")
    assert measured.sample("timer")["latency"]["p50_s"] <= 10e-9 * run["timer_cost_ns"]


# proves measuring: think, think-excluded, think-included
def test_thinking_is_part_of_latencies_of_queued_requests_alone(measured: Measured) -> None:
    single, queued = measured.sample("thinking"), measured.sample("queued")
    (rank,) = measured.ranks("thinking")
    assert rank["io_s"] + single["compute_s"] <= single["transfer_s"] + TINY_S
    assert queued["latency"]["min_s"] >= 0.005 - TINY_S


# proves measuring: compute-s
def test_the_time_of_thinking_is_the_longest_ranks(measured: Measured) -> None:
    sample = measured.sample("uneven")
    assert 32 * 0.004 - TINY_S <= sample["compute_s"] <= sample["transfer_s"] + TINY_S


# proves measuring: arrival-shares
def test_clients_with_more_requests_have_a_larger_part_of_the_rate(measured: Measured) -> None:
    """All have work until the end: 15 of 16 gaps, or 31 of 32, of the time of the 64 requests."""
    for rank in measured.ranks("paced"):
        assert rank["transfer_s"] >= 64 / RATE * (rank["requests"] - 1) / rank["requests"] - TINY_S


# proves measuring: arrival-seed
def test_arrivals_are_the_same_through_every_interface(measured: Measured) -> None:
    def offered(name: str) -> list[float]:
        samples = [measured.sample(name, repetition=repetition) for repetition in (0, 1)]
        return [sample["arrivals"]["offered_requests_s"] for sample in samples]

    assert offered("poisson") == pytest.approx(offered("poisson too"), rel=1e-6)
    assert offered("poisson")[0] != pytest.approx(offered("poisson")[1], rel=1e-3)


# proves measuring: preparation-closed, no-open-wear-out
def test_preparation_is_not_paced(measured: Measured) -> None:
    assert measured.sample("idle", "prefill")["arrivals"] is None
    assert measured.sample("idle", "read")["arrivals"]["offered_requests_s"] == pytest.approx(10, rel=1e-3)


# proves measuring: spins, issued-late
def test_a_client_that_waits_for_arrivals_sleeps(measured: Measured) -> None:
    sample = measured.sample("idle", "read")
    assert sample["elapsed_s"] >= 0.4 - TINY_S
    assert sample["user_s"] + sample["system_s"] < 0.5 * sample["elapsed_s"]


# proves measuring: preparation-closed, no-open-wear-out
def test_in_open_loop_there_is_no_wear_out(measured: Measured) -> None:
    requests = [rank["requests"] for rank in measured.ranks("cut")]
    assert len(set(requests)) > 1
    assert sum(requests) < 64


# proves measuring: transfer-calls-only, reading-cost, other-calls, no-calls
def test_syncs_and_mapped_memory_make_no_calls_that_read_or_write(measured: Measured) -> None:
    assert (measured.sample("each")["read_calls"], measured.sample("each")["write_calls"]) == (0, 20)
    for operation in ("write", "read"):
        sample = measured.sample("mapped", operation)
        assert (sample["read_calls"], sample["write_calls"]) == (0, 0)


# proves measuring: timelines
def test_intervals_of_timelines_are_a_tenth_of_a_second(measured: Measured) -> None:
    assert {timeline["interval_s"] for timeline in measured.done.of("timeline")} == {0.1}


# proves measuring: noise, noise-not-unique
def test_without_verification_all_requests_of_a_rank_have_the_same_noise(
    engine: Engine, tmp_path: Path
) -> None:
    keys: Json = {"pattern_transfer": 4096, "pattern_count": 3, "clients": 2, "operations": ["write", "read"]}
    _, content = run_and_read(engine, plan([case("strided", settle=0.7, **keys)]), tmp_path)
    blocks = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    assert len(blocks) == 6
    assert len(set(blocks[0::2])) == len(set(blocks[1::2])) == 1
    assert blocks[0] != blocks[1]


# proves measuring: holes-not-read
def test_holes_that_no_request_writes_are_not_read(engine: Engine, tmp_path: Path) -> None:
    """A file of 3 GiB with 4000 bytes in it."""
    keys: Json = {"pattern_pieces": 4, "pattern_piece": 1000, "pattern_count": 1, "operations": ["write"]}
    one = case("vector", pattern_file_gap=1 << 30, pattern_memory_gap=50, verify="full", **keys)
    done = run_engine(engine, plan([one]), tmp_path)
    assert done.returncode == 0, done.stderr
    check = done.sample(operation="check")
    assert check["valid"]
    assert check["verify"]["checked_bytes"] >= 4000
    assert check["bytes"] < 64 << 20


# proves measuring: check-interrupted
def test_the_check_of_whole_files_shows_progress_and_can_be_interrupted(
    engine: Engine, strace: str, tmp_path: Path
) -> None:
    """Each of its ten reads takes 0.3 s."""
    file = tmp_path / "target" / "case1.0"
    wrap = [strace, "-f", "-o", "/dev/null", "-P", str(file), "-e", "inject=pread64:delay_exit=300000"]
    keys: Json = {"pattern_transfer": 4 << 20, "pattern_block": 40 << 20, "operations": ["write"]}
    document = plan([case("segmented", verify="full", sync="none", **keys)])
    with EngineJob(engine, document, tmp_path, wrap) as job:

        def shown() -> list[Json]:
            events = read_events(job.events_file)
            return [e for e in events if (e["event"], e.get("operation")) == ("progress", "check")]

        wait_for(shown, "progress of the check")
        kill(job.ranks()[0], signal.SIGTERM)
        done = job.finish()
    assert done.of("end")[0]["status"] == "interrupted"
    assert not list(done.directory.iterdir())


def cut_before_it_is_closed(engine: Engine, strace: str, work: Path, delay_s: float) -> list[Json] | None:
    """The errors of a run whose file loses its end while it is synced; None where that came too late."""
    work.mkdir()
    file = work / "target" / "case1.0"
    wrap = [strace, "-f", "-o", "/dev/null", "-P", str(file)]
    wrap += ["-e", f"inject=fsync:delay_exit={round(delay_s * 1e6)}"]
    with EngineJob(engine, plan([case("segmented", verify="full", **ONE)]), work, wrap) as job:
        full = ONE["pattern_block"]
        begin_s = time_before(lambda: file.exists() and file.stat().st_size == full, "the last request")
        os.truncate(file, full - 4096)
        in_time = time.monotonic() - begin_s < delay_s
        done = job.finish()
    return done.of("error") if in_time else None


# proves measuring: size-at-close
def test_the_size_of_a_file_is_compared_once_it_is_closed(
    engine: Engine, strace: str, tmp_path: Path
) -> None:
    runs = (cut_before_it_is_closed(engine, strace, tmp_path / str(s), s) for s in (0.5, 5, 25))
    errors = next(found for found in runs if found is not None)
    assert {(error["class"], error["operation"]) for error in errors} == {("missing end", "write")}
    assert {error["message"].split(", ")[1] for error in errors} == {"says posix", "says the mount"}


# proves measuring: remount-not-in-suite
def test_a_suite_names_no_command_that_remounts(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text(
        '[suite]\nname = "x"\nremount_command = "reboot"\n[[case]]\npattern = "strided"\n', "utf-8"
    )
    with pytest.raises(StriderError, match="remount_command"):
        load_suite(file, engine.description, target="optional")


# proves measuring: collective-latency
def test_a_collective_request_waits_for_other_ranks(engine: Engine, strace: str, tmp_path: Path) -> None:
    """One rank reads for both, and is slow."""
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("machine: needs an MPI whose I/O is ROMIO")
    one = case(
        "strided",
        "mpiio",
        interface_access="collective",
        interface_hints={"romio_cb_read": "enable", "cb_nodes": "1"},
        pattern_transfer=4096,
        pattern_count=REQUESTS,
        clients=2,
        operations=["write", "read"],
    )
    wrap = [strace, "-f", "-o", "/dev/null", "-P", str(tmp_path / "target" / "case1.0")]
    wrap += ["-e", f"inject=pread64:delay_exit={round(REQUEST_S * 1e6)}"]
    done = run_engine(engine, plan([one]), tmp_path, wrap)
    assert done.returncode == 0, done.stderr
    ranks = done.of("rank", operation="read")
    assert 0 in {rank["read_calls"] for rank in ranks}
    assert all(rank["io_s"] >= REQUESTS * REQUEST_S for rank in ranks)


# proves measuring: clock-of-run, local-seconds, local-latencies
def test_times_of_a_rank_are_seconds_of_its_own_clock(engine: Engine, tmp_path: Path) -> None:
    """The clock of the second node is half as fast again; it also measures the times of requests."""
    since_s = time.clock_gettime(time.CLOCK_MONOTONIC)
    settings = {"RANKS_PER_NODE": 1, "SHIFT": 0, "DRIFT": 0.5, "SINCE": since_s, "DELAY": 0}
    wrap = ["env", f"LD_PRELOAD={other_clock(tmp_path)}"]
    wrap += [f"OTHER_CLOCK_{name}={value!r}" for name, value in settings.items()]
    one = case(
        "segmented",
        "null",
        pattern_transfer=4096,
        pattern_block=1 << 40,
        clients=2,
        sharing="per-rank",
        deadline=0.4,
        wear_out=False,
        operations=["write"],
    )
    done = run_engine(engine, plan([one]), tmp_path, wrap)
    assert done.returncode == 0, done.stderr
    first, second = done.of("rank")
    assert [clock["node"] for clock in done.of("clock")] == [1]
    assert second["transfer_s"] > 1.2 * (second["end_s"] - second["start_s"])
    assert first["transfer_s"] <= first["end_s"] - first["start_s"] + TINY_S
    (run,) = done.of("run")
    assert [{"clock_offset_s", "clock_error_s"} <= set(node) for node in run["nodes"]] == [True, True]


# proves measuring: observe-by-hand, observe-interval, show-observed
def test_observing_writes_a_line_each_second(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "observed.jsonl"
    words = [str(engine.path), "observe", "--out", str(out), "--for", "0.1"]
    subprocess.run(words, check=True, capture_output=True, timeout=DEADLINE_S)
    assert read_events(out)[0]["interval_s"] == 1


# proves measuring: served-unknown
def test_without_counters_the_processes_still_tell_what_storage_served(engine: Engine) -> None:
    folder = ROOT / "build"
    words = ["stat", "-f", "-c", "%T", str(folder if folder.is_dir() else ROOT)]
    kind = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    if kind not in ("ext2/ext3", "xfs", "btrfs", "ext4", "overlayfs"):
        pytest.skip(f"machine: the checkout is on {kind}, of which processes tell nothing")
    folder.mkdir(exist_ok=True)
    work = folder / f"strider-served-{os.getpid()}"
    work.mkdir()
    try:
        one = case("segmented", pattern_transfer=1 << 20, pattern_block=8 << 20, operations=["write", "read"])
        done = run_engine(engine, plan([one]), work, options=["--counters", "none"])
        assert done.returncode == 0, done.stderr
        assert done.of("counters") == []
        if done.sample(operation="write")["storage_write_bytes"] < 0.9 * (8 << 20):
            pytest.skip("machine: the file system of the checkout is in memory")
        assert done.sample(operation="read")["served_source"] == "process"
    finally:
        shutil.rmtree(work)


# proves measuring: load-curve
def test_the_suite_load_is_latency_against_load(engine: Engine) -> None:
    cases = load_suite(locate("load"), engine.description, target="optional").plan.cases
    assert len({one.model_dump()["arrival_rate"] for one in cases}) == len(cases) >= 5

"""Requests in flight: the kernel's view of them, and their data."""

import json
import re
import resource
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine
from strider.engine import Engine
from test_methods import PATTERNS, name_of

ENTER = re.compile(r"io_uring_enter\(\d+[^,]*, (?P<wanted>\d+), (?P<least>\d+), [^)]*\) += (?P<sent>-?\d+)")
MOVE = re.compile(r"^(?:pread64|pwrite64)\(\d+<[^>]*case1\.0>")

QUEUES: dict[str, Json] = {
    "posix 4": {"interface": "posix", "depth": 4},
    "posix vectored 4": {"interface": "posix", "interface_method": "vectored", "depth": 4},
    "posix sieve 3": {
        "interface": "posix",
        "interface_method": "sieve",
        "interface_sieve_buffer": 5000,
        "depth": 3,
    },
    "mmap": {"interface": "mmap"},
    "mmap random": {"interface": "mmap", "interface_advice": "random", "interface_populate": True},
}
URING: dict[str, Json] = {
    "uring 1": {"interface": "uring"},
    "uring 2": {"interface": "uring", "depth": 2},
    "uring 32": {"interface": "uring", "depth": 32},
    "uring 32 in threes": {"interface": "uring", "depth": 32, "interface_batch": 3},
    "uring 8 fixed": {
        "interface": "uring",
        "depth": 8,
        "interface_fixed_files": True,
        "interface_fixed_buffers": True,
    },
    "uring 8 polled": {"interface": "uring", "depth": 8, "interface_submit_polled": True},
}


@pytest.fixture(scope="module")
def uring(engine: Engine) -> None:
    """The interface uring can be used."""
    (found,) = [one for one in engine.description.interfaces if one.name == "uring"]
    if not found.available:
        machine = "" if "not built" in found.unavailable_reason else "machine: "
        pytest.skip(f"{machine}{found.unavailable_reason}")


def digests(done: EngineRun, number: int) -> list[str]:
    """The data that a case has read."""
    return [s["digest"] for s in done.of("sample", case=number) if s["operation"] in ("read", "reread")]


@pytest.mark.parametrize("order", ["forward", "random"])
@pytest.mark.parametrize("pattern", PATTERNS, ids=name_of)
def test_queues_move_the_same_bytes(
    engine: Engine, tmp_path: Path, uring: None, pattern: Json, order: str
) -> None:
    keys: Json = {
        "clients": 4,
        "verify": "full",
        "order": order,
        "operations": ["write", "rewrite", "read", "reread"],
    }
    methods = [{"interface": "posix"}, *QUEUES.values(), *URING.values()]
    done = run_engine(engine, plan([case(**pattern, **method, **keys) for method in methods]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    wanted = digests(done, 1)
    assert len(wanted) == 2
    for number, name in enumerate(["posix", *QUEUES, *URING], 1):
        assert digests(done, number) == wanted, name
    work = {s["operation"]: (s["requests"], s["bytes"]) for s in done.of("sample", case=1)}
    for sample in done.of("sample", measured=True):
        assert (sample["requests"], sample["bytes"]) == work[sample["operation"]]
        assert sample["latency"]["count"] == sample["requests"]


def test_mixed_files_and_readers(engine: Engine, tmp_path: Path, uring: None) -> None:
    keys: Json = {
        "clients": 4,
        "verify": "full",
        "sharing": "per-rank",
        "readback": "shift",
        "operations": ["read"],
    }
    methods = [{"interface": "posix"}, *QUEUES.values(), *URING.values()]
    pattern: Json = {"pattern_transfer": 777, "pattern_count": 60}
    done = run_engine(engine, plan([case("strided", **pattern, **m, **keys) for m in methods]), tmp_path)
    assert done.returncode == 0, done.stderr
    assert len({tuple(digests(done, number)) for number in range(1, len(methods) + 1)}) == 1


def trace(engine: Engine, document: Json, work: Path, strace: str, calls: str) -> list[str]:
    """Runs a plan of one rank under strace; the lines of all its threads that made such calls."""
    log = work / "trace"
    wrap = [strace, "-ff", "-y", "-s", "0", "-e", "signal=none", "-e", f"trace={calls}", "-o", str(log)]
    done = run_engine(engine, document, work, wrap)
    assert done.returncode == 0, done.stderr
    return [line for path in sorted(work.glob("trace.*")) for line in path.read_text().splitlines()]


def batches(engine: Engine, document: Json, work: Path, strace: str) -> dict[int, int]:
    """How many calls handed so many entries to the kernel."""
    lines = trace(engine, document, work, strace, "io_uring_enter")
    sent = Counter(int(found["sent"]) for found in map(ENTER.search, lines) if found)
    return {size: count for size, count in sent.items() if size > 0}


@pytest.mark.parametrize("depth", [1, 2, 32])
def test_requests_go_to_the_kernel_in_batches_of_the_depth(
    engine: Engine, memory_folder: Path, uring: None, strace: str, depth: int
) -> None:
    keys: Json = {"depth": depth, "interface_wait": depth, "operations": ["write", "read"]}
    document = plan([case("random", "uring", pattern_transfer=4096, pattern_size=4096 * 320, **keys)])
    assert batches(engine, document, memory_folder, strace) == {depth: 2 * 320 // depth}


def test_without_a_word_each_request_that_is_done_makes_room_for_the_next(
    engine: Engine, memory_folder: Path, uring: None, strace: str
) -> None:
    keys: Json = {"depth": 32, "operations": ["read"]}
    document = plan([case("random", "uring", pattern_transfer=4096, pattern_size=4096 * 320, **keys)])
    sent = batches(engine, document, memory_folder, strace)
    assert max(sent) == 32, "the first ones"
    # Files are prepared with one request at a time.
    assert sum(size * count for size, count in sent.items()) == 320 + 1


@pytest.mark.parametrize("batch", [1, 4])
def test_a_batch_is_what_one_call_hands_over(
    engine: Engine, memory_folder: Path, uring: None, strace: str, batch: int
) -> None:
    keys: Json = {"depth": 16, "interface_batch": batch, "interface_wait": 16, "operations": ["write"]}
    document = plan([case("random", "uring", pattern_transfer=4096, pattern_size=4096 * 64, **keys)])
    assert batches(engine, document, memory_folder, strace) == {batch: 64 // batch}


@pytest.mark.parametrize(("gap", "entries"), [(50, 7), (0, 1)])
def test_a_list_of_extents_is_one_batch(
    engine: Engine, memory_folder: Path, uring: None, strace: str, gap: int, entries: int
) -> None:
    """Seven pieces with holes between them make seven entries; pieces that follow each other make one."""
    keys: Json = {"pattern_pieces": 7, "pattern_piece": 100, "pattern_count": 5, "operations": ["write"]}
    document = plan([case("vector", "uring", pattern_file_gap=gap, pattern_memory_gap=50, **keys)])
    assert batches(engine, document, memory_folder, strace) == {entries: 5}


def test_threads_share_the_calls_of_posix(engine: Engine, tmp_path: Path, strace: str) -> None:
    document = plan(
        [case("segmented", pattern_transfer=4096, pattern_block=4096 * 50, depth=4, operations=["write"])]
    )
    trace(engine, document, tmp_path, strace, "pwrite64")
    calls = [
        len([line for line in path.read_text().splitlines() if MOVE.match(line)])
        for path in tmp_path.glob("trace.*")
    ]
    assert sum(calls) == 50
    assert 1 <= len([count for count in calls if count]) <= 4


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_a_kernel_that_refuses_is_a_reason_and_no_crash(
    engine: Engine, uring: None, strace: str, error: str
) -> None:
    words = [strace, "-o", "/dev/null", "-e", "trace=io_uring_setup"]
    words += ["-e", f"inject=io_uring_setup:error={error}", str(engine.path), "describe"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (found,) = [one for one in json.loads(printed)["interfaces"] if one["name"] == "uring"]
    assert found["available"] is False
    assert "io_uring" in found["unavailable_reason"]
    assert "seccomp" in found["unavailable_reason"]


def test_a_failing_request_ends_the_phase_with_its_place(engine: Engine, tmp_path: Path, uring: None) -> None:
    """The file is full after 16 MiB (MPI needs some), in the middle of the requests in flight."""
    keys: Json = {"pattern_transfer": 65536, "pattern_block": 20 << 20, "operations": ["write"]}
    methods: list[Json] = [{"interface": "posix", "depth": 8}, {"interface": "uring", "depth": 8}]
    document = plan([case("segmented", **method, **keys) for method in methods])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 << 20, before[1]))
    try:
        done = run_engine(engine, document, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 1, done.stderr
    for number in (1, 2):
        (error,) = done.of("error", case=number)
        assert error["file"].endswith(f"case{number}.0")
        assert error["offset"] >= 16 << 20
        assert "large" in error["message"]


def test_think_time_is_counted_and_not_part_of_latencies(engine: Engine, tmp_path: Path, uring: None) -> None:
    keys: Json = {"pattern_transfer": 4096, "pattern_block": 4096 * 50, "operations": ["write", "read"]}
    methods: list[Json] = [{"interface": "posix"}, {"interface": "uring", "depth": 4}]
    cases = [case("segmented", **method, **keys, think=think) for method in methods for think in (0, 0.002)]
    done = run_engine(engine, plan(cases), tmp_path)
    assert done.returncode == 0, done.stderr
    for sample in done.of("sample"):
        if sample["case"] % 2:
            assert sample["compute_s"] == 0
        else:
            assert 0.1 - 1e-6 <= sample["compute_s"] <= sample["transfer_s"] + 1e-6

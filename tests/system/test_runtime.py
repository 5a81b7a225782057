"""A phase with a runtime repeats its requests: the data on disk afterwards, and its verification."""

from pathlib import Path

import pytest

from contents import contents
from harness import (
    EngineJob,
    EngineRun,
    Json,
    Pause,
    after_samples,
    case,
    extents,
    plan,
    run_engine,
    run_with_pauses,
)
from strider.engine import Engine

RUNTIME_S = 0.03
SIZE = 48_000
PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 1000, "pattern_block": 12_000, "pattern_segments": 2},
    {"pattern": "strided", "pattern_transfer": 4000, "pattern_count": 6},
    {"pattern": "random", "pattern_transfer": 1000, "pattern_size": SIZE},
    {
        "pattern": "vector",
        "pattern_pieces": 4,
        "pattern_piece": 1000,
        "pattern_file_gap": 2000,
        "pattern_count": 3,
    },
]
WAYS: list[Json] = [
    {"interface": "posix"},
    {"interface": "posix", "depth": 3},
    {"interface": "uring", "depth": 4},
    {"interface": "mpiio", "interface_access": "collective"},
]
EVERY_OPERATION = ["write", "read", "rewrite", "reread", "read-write", "read", "read-modify-write", "read"]


def usable(engine: Engine) -> list[Json]:
    known = {one.name for one in engine.description.interfaces if one.available}
    return [way for way in WAYS if way["interface"] in known]


def left_on_disk(engine: Engine, document: Json, done: EngineRun, work: Path, number: int) -> bytes:
    """The data after the first phase of a case, byte for byte, from the number of requests of each rank."""
    one = document["cases"][number - 1]
    made: dict[int, bytes] = {}
    left = bytearray(SIZE)
    for row in done.of("rank", case=number, operation="write"):
        requests = extents(engine, document, work, row["rank"], "write", number)
        pieces = len(requests) // one["pattern"].get("count", 10**9) if "pieces" in one["pattern"] else 1
        per_pass = len(requests) // pieces
        for n in range(max(0, row["requests"] - 2 * per_pass), row["requests"]):
            turn, index = divmod(n, per_pass)
            data = made.setdefault(turn, contents(one, SIZE, turn=turn))
            for offset, length in requests[index * pieces : (index + 1) * pieces]:
                left[offset : offset + length] = data[offset : offset + length]
    return bytes(left)


# proves measuring: pass-of-request, runtime-writes, pass-data, newest-pass
def test_the_file_holds_the_last_pass_of_each_request(engine: Engine, tmp_path: Path) -> None:
    """Compared with the definition in docs/measuring.md, without the engine's own verification."""
    cases = [
        case(
            **pattern,
            **way,
            order=order,
            clients=2,
            verify="full",
            sync="none",
            settle=0.15,
            runtime=0.1,
            operations=["write", "read"],
        )
        for pattern, way, order in zip(
            PATTERNS, usable(engine) * 2, ["forward", "backward", "random", "forward"], strict=False
        )
    ]
    document = plan(cases)
    found: dict[int, bytes] = {}

    def read(number: int) -> Pause:
        def act(job: EngineJob) -> None:
            found[number] = (job.directory / f"case{number}.0").read_bytes()

        return after_samples(3 * number - 2, act)

    done = run_with_pauses(engine, document, tmp_path, *(read(number) for number in range(1, len(cases) + 1)))

    assert done.returncode == 0, done.stderr
    assert not done.of("error")
    passes = [sample["runtime"]["passes_min"] for sample in done.of("sample", operation="write")]
    assert max(passes) > 2  # unless the machine stalls in all of them
    for number in range(1, len(cases) + 1):
        expected = left_on_disk(engine, document, done, tmp_path, number)
        assert found[number] == expected[: len(found[number])], number


@pytest.mark.parametrize("readback", ["same", "shift"])
# proves measuring: runtime, runtime-completes, equal-time, runtime-field, later-phases-know, mix-draw
def test_every_interface_verifies_what_a_runtime_leaves(
    engine: Engine, tmp_path: Path, readback: str
) -> None:
    ways = [*usable(engine), {"interface": "posix", "sharing": "per-rank"}]
    cases = [
        case(
            **PATTERNS[0],
            **{key: value for key, value in way.items() if key != "depth"},
            clients=2,
            verify="full",
            runtime=RUNTIME_S,
            readback=readback,
            read_share=60,
            operations=EVERY_OPERATION,
        )
        for way in ways
    ]
    done = run_engine(engine, plan(cases), tmp_path)

    assert done.returncode == 0, done.stderr
    assert not done.of("error")
    for sample in done.of("sample", measured=True):
        assert sample["valid"]
        runtime = sample["runtime"]
        assert runtime["runtime_s"] == RUNTIME_S
        assert sample["elapsed_s"] >= RUNTIME_S
        rows = done.of("rank", case=sample["case"], operation=sample["operation"])
        assert runtime["requests_per_rank_min"] >= 1
        assert sample["requests"] <= sum(row["requests"] for row in rows)
        read = sample["bytes"]
        if sample["operation"] == "read-write":
            read = sum(part["bytes"] for part in sample["parts"] if part["operation"] == "read")
        if "read" in sample["operation"]:
            assert sample["verify"]["checked_bytes"] == read


def test_a_block_of_the_pass_before_is_found(engine: Engine, tmp_path: Path) -> None:
    """The read finds it, and the check of the whole file finds what no phase reads."""
    one = case(
        **PATTERNS[0],
        clients=2,
        verify="full",
        settle=0.15,
        runtime=RUNTIME_S,
        operations=["write", "read"],
    )
    document = plan([one, one])

    def plant(job: EngineJob) -> None:
        file = job.directory / "case1.0"
        old = contents(document["cases"][0], SIZE, turn=0)
        with file.open("r+b") as stream:
            stream.seek(2000)
            stream.write(old[2000:3000])

    done = run_with_pauses(engine, document, tmp_path, after_samples(1, plant))

    assert done.returncode == 1
    assert not done.sample(case=1, operation="read")["valid"]
    (error, *_) = done.of("error", case=1, operation="read")
    assert error["offset"] in range(2000, 2010)  # of random bytes some agree
    assert 950 < error["length"] <= 1000
    assert not done.of("error", case=2)


# proves measuring: runtime-field, ramp, after-ramp, ramp-field
def test_a_ramp_is_issued_and_verified_but_not_counted(engine: Engine, tmp_path: Path) -> None:
    one = case(**PATTERNS[1], clients=2, verify="full", runtime=0.2, ramp=0.1, operations=["write", "read"])
    done = run_engine(engine, plan([one]), tmp_path)

    assert done.returncode == 0, done.stderr
    for operation in ("write", "read"):
        sample = done.sample(operation=operation)
        runtime = sample["runtime"]
        assert runtime["ramp_s"] == 0.1
        assert runtime["ramp_requests"] > 0
        assert runtime["ramp_bytes"] == 4000 * runtime["ramp_requests"]
        assert sample["latency"]["count"] == sample["requests"] == sample["bytes"] / 4000
        rows = done.of("rank", operation=operation)
        first, last = min(row["start_s"] for row in rows), max(row["end_s"] for row in rows)
        assert sample["elapsed_s"] == pytest.approx(last - first - 0.1, abs=1e-6)
        all_requests = sample["requests"] + runtime["ramp_requests"]
        assert runtime["requests_per_rank_min"] <= all_requests / 2 <= runtime["requests_per_rank_max"]
    checked = done.sample(operation="read")["verify"]["checked_bytes"]
    read = done.sample(operation="read")
    assert checked == read["bytes"] + read["runtime"]["ramp_bytes"]


def test_what_storage_served_includes_the_ramp(engine: Engine, tmp_path: Path) -> None:
    """The counters have seen all requests, so the share is not more than all."""
    one = case(
        "segmented",
        interface_direct=True,
        pattern_transfer=65536,
        pattern_block=1 << 20,
        runtime=0.2,
        ramp=0.15,
        operations=["write", "read"],
    )
    done = run_engine(engine, plan([one]), tmp_path)

    if "EINVAL" in str(done.of("error")):
        pytest.skip("machine: the file system has no direct I/O")
    assert done.returncode == 0, done.stderr
    served = done.sample(operation="read")["served_by_storage"]
    assert served is None or served <= 1.1

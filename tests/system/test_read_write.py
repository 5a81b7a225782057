"""Read-write: requests that read and requests that write, mixed, seen from outside and verified."""

from pathlib import Path

import pytest

from contents import contents
from harness import (
    EngineJob,
    EngineRun,
    Json,
    after_samples,
    case,
    extents,
    plan,
    run_engine,
    run_with_pauses,
)
from strider.engine import Engine
from test_system_calls import Calls, trace

BLOCK = 400
TRANSFER = 512
SIZE = 2 * BLOCK * TRANSFER
MIXED: Json = {
    "pattern": "segmented",
    "pattern_transfer": TRANSFER,
    "pattern_block": BLOCK * TRANSFER,
    "clients": 2,
    "read_share": 70,
}


def of_phase(calls: Calls, first: int, count: int) -> list[list[tuple[str, str, int, int]]]:
    return [sequence[first : first + count] for sequence in calls.values()]


@pytest.mark.parametrize("share", [30, 70])
@pytest.mark.parametrize("order", ["forward", "random"])
# proves measuring: draw-for-all
def test_each_request_reads_or_writes_and_nothing_else_happens(
    engine: Engine, tmp_path: Path, strace: str, order: str, share: int
) -> None:
    document = plan([case(**MIXED | {"read_share": share}, order=order, operations=["write", "read-write"])])

    calls, _ = trace(engine, document, tmp_path, strace)

    expected = {tuple(extents(engine, document, tmp_path, rank, "write")) for rank in range(2)}
    mixed = of_phase(calls, BLOCK, 10 * BLOCK)
    assert {tuple(piece for *_, offset, length in one for piece in [(offset, length)]) for one in mixed} == {
        tuple(one) for one in expected
    }
    reads = sum(call[0] == "pread64" for one in mixed for call in one)
    assert reads / (2 * BLOCK) == pytest.approx(share / 100, abs=4 / BLOCK)
    assert len({tuple(call[0] for call in one) for one in mixed}) == 1


def with_file(engine: Engine, document: Json, work: Path, after: int) -> tuple[EngineRun, bytes]:
    """A run, and the content of its first case's file after so many samples."""
    found: list[bytes] = []

    def read(job: EngineJob) -> None:
        found.append((job.directory / "case1.0").read_bytes())

    done = run_with_pauses(engine, document, work, after_samples(after, read))
    return done, found[0]


@pytest.mark.parametrize(
    "way", [{"interface": "posix"}, {"interface": "uring", "depth": 8}], ids=["posix", "uring"]
)
# proves measuring: mix-draw, mix-verified, mix-written
def test_the_file_holds_old_data_where_it_was_read_and_new_data_elsewhere(
    engine: Engine, tmp_path: Path, way: Json
) -> None:
    """Compared with the definition of the data in docs/measuring.md, without the engine's verification."""
    if way["interface"] not in {one.name for one in engine.description.interfaces if one.available}:
        pytest.skip("machine: no io_uring")
    one = case(**MIXED, **way, verify="full", settle=0.3, operations=["write", "read-write", "read"])
    document = plan([one])

    done, file = with_file(engine, document, tmp_path, 2)

    assert done.returncode == 0, done.stderr
    old, new = (contents(document["cases"][0], SIZE, generation=number) for number in (1, 2))
    pieces = [file[at : at + TRANSFER] for at in range(0, SIZE, TRANSFER)]
    kept = sum(piece == old[i * TRANSFER : (i + 1) * TRANSFER] for i, piece in enumerate(pieces))
    changed = sum(piece == new[i * TRANSFER : (i + 1) * TRANSFER] for i, piece in enumerate(pieces))
    assert kept + changed == 2 * BLOCK
    sample = done.sample(operation="read-write")
    parts = {part["operation"]: part for part in sample["parts"]}
    assert (parts["read"]["requests"], parts["write"]["requests"]) == (kept, changed)
    assert {name: part["bytes"] for name, part in parts.items()} == {
        "read": kept * TRANSFER,
        "write": changed * TRANSFER,
    }
    assert sum(part["latency"]["count"] for part in parts.values()) == sample["latency"]["count"]
    assert sample["bytes"] == SIZE
    assert sample["verify"]["checked_bytes"] == kept * TRANSFER
    assert done.sample(operation="read")["verify"]["checked_bytes"] == SIZE


@pytest.mark.parametrize("which", ["kept", "changed"])
# proves measuring: mix-checked
def test_wrong_data_is_found_whether_it_was_kept_or_changed(
    engine: Engine, tmp_path: Path, which: str
) -> None:
    one = case(**MIXED, verify="full", settle=0.3, operations=["write", "read-write", "read"])
    document = plan([one])
    old = contents(document["cases"][0], SIZE, generation=1)
    spoilt: list[int] = []

    def spoil(job: EngineJob) -> None:
        path = job.directory / "case1.0"
        file = path.read_bytes()
        at = next(
            at
            for at in range(0, SIZE, TRANSFER)
            if (file[at : at + TRANSFER] == old[at : at + TRANSFER]) == (which == "kept")
        )
        spoilt.append(at)
        with path.open("r+b") as stream:
            stream.seek(at)
            stream.write(bytes([file[at] ^ 1]))

    done = run_with_pauses(engine, document, tmp_path, after_samples(2, spoil))

    assert done.returncode == 1
    (error, *_) = done.of("error", operation="read")
    assert (error["offset"], error["length"]) == (spoilt[0], 1)
    assert done.sample(operation="read-write")["valid"]


# proves measuring: mix-verified, mix-checked
def test_wrong_data_is_found_by_the_reads_of_the_mix(engine: Engine, tmp_path: Path) -> None:
    one = case(**MIXED | {"read_share": 90}, verify="full", settle=0.3, operations=["write", "read-write"])

    def spoil(job: EngineJob) -> None:
        with (job.directory / "case1.0").open("r+b") as stream:
            stream.write(bytes(SIZE))

    done = run_with_pauses(engine, plan([one]), tmp_path, after_samples(1, spoil))

    assert done.returncode == 1
    sample = done.sample(operation="read-write")
    (reads,) = (part for part in sample["parts"] if part["operation"] == "read")
    assert sample["verify"]["wrong_bytes"] > 0.9 * reads["bytes"]


# proves measuring: mix-overlapping
def test_overlapping_requests_cannot_be_verified(engine: Engine, tmp_path: Path) -> None:
    keys: Json = {
        "pattern_transfer": 512,
        "pattern_size": 20000,
        "pattern_count": 7,
        "pattern_replacement": True,
    }
    document = plan(
        [case("random", **keys, verify="full", read_share=70, operations=["write", "read-write"])]
    )

    done = run_engine(engine, document, tmp_path)

    assert done.returncode == 2
    assert "read-write of bytes that several requests share cannot be verified" in done.stderr


def test_the_share_must_be_given(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(engine, plan([case("segmented", operations=["read-write"])]), tmp_path)

    assert done.returncode == 2
    assert "read-write needs the share of its requests that read" in done.stderr


# proves measuring: mix-overlapping
def test_a_lone_writer_cannot_be_verified(engine: Engine, tmp_path: Path) -> None:
    keys: Json = {"pattern_transfer": 512, "pattern_size": 20000, "clients": 2, "read_share": 70}
    document = plan([case("sequential", **keys, verify="full", operations=["write", "read-write"])])

    done = run_engine(engine, document, tmp_path)

    assert done.returncode == 2
    assert "only one rank takes part in read-write" in done.stderr


@pytest.mark.parametrize("requests", [1, 2])
# proves measuring: all-or-none
def test_few_requests_that_would_all_read_are_refused(engine: Engine, tmp_path: Path, requests: int) -> None:
    keys: Json = {"pattern_transfer": 1000, "pattern_block": 1000 * requests, "read_share": 99}

    done = run_engine(engine, plan([case("segmented", **keys, operations=["write", "read-write"])]), tmp_path)

    assert done.returncode == 2
    assert f"all {requests} requests of a rank would read, so read-write mixes nothing" in done.stderr

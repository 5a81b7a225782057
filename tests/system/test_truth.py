"""Read data is checked, wrong data is found and located, and the interfaces agree on it."""

import os
import re
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from contents import MASK, hash_numbers, scramble
from harness import (
    DEADLINE_S,
    EngineJob,
    Json,
    after_samples,
    case,
    extents,
    plan,
    read_events,
    run_and_read,
    run_engine,
    run_with_pauses,
    strider_command,
    time_before,
)
from strider.engine import Engine


def digest(data: bytes, offset: int) -> int:
    """The digest of a request, as docs/measuring.md defines it."""
    total = counter = 0
    for start in range(0, len(data), 8):
        counter = (counter + 0x9E3779B97F4A7C15) & MASK
        x = (int.from_bytes(data[start : start + 8], "little") + counter) & MASK
        total += scramble(x)
    return hash_numbers(total & MASK, offset, len(data))


INTERFACES: list[Json] = [
    {"interface": "posix"},
    {"interface": "posix", "interface_preallocate": True},
    {"interface": "mpiio"},
    {"interface": "mpiio", "interface_access": "collective"},
    {"interface": "mpiio", "interface_prefix": "ufs:"},
]
PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 4099, "pattern_block": 20011, "pattern_segments": 2},
    {"pattern": "strided", "pattern_transfer": 5000, "pattern_count": 9},
    {"pattern": "random", "pattern_transfer": 1024, "pattern_size": 100000},
    {
        "pattern": "random",
        "pattern_transfer": 1000,
        "pattern_size": 50001,
        "pattern_count": 20,
        "pattern_align": 1,
        "pattern_replacement": True,
    },
    {"pattern": "sequential", "pattern_transfer": 3000, "pattern_size": 25000},
]


@pytest.mark.parametrize("sharing", ["shared", "per-rank", 2])
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: f"{p['pattern']}-{p['pattern_transfer']}")
# proves measuring: draw-for-all, draw-collective, verify-full, compared-bytes, generations, digest
# proves measuring: digest-compares
def test_every_interface_reads_the_same_verified_data(
    engine: Engine, tmp_path: Path, pattern: Json, sharing: str | int
) -> None:
    keys: Json = {
        "clients": 3,
        "sharing": sharing,
        "verify": "full",
        "readback": "shuffle",
        "order": "random",
        "read_share": 40,
    }
    operations = ["write", "read", "read-write", "read", "read-modify-write", "reread"]
    if pattern["pattern"] == "sequential":
        operations[2] = "rewrite"  # one rank writes
    if pattern.get("pattern_replacement"):  # pieces overlap: their changes could not be distinguished
        operations = ["write", "read", "rewrite", "reread"]

    done = run_engine(
        engine, plan([case(**i, **pattern, **keys, operations=operations) for i in INTERFACES]), tmp_path
    )

    assert done.returncode == 0, done.stderr
    digests = {
        number: [s["digest"] for s in done.of("sample", case=number) if s["operation"] in ("read", "reread")]
        for number in range(1, len(INTERFACES) + 1)
    }
    assert all(digests[1])
    assert all(other == digests[1] for other in digests.values())
    # Each generation is other data.
    assert all(before != after for before, after in pairwise(digests[1]))
    assert all(
        s["verify"]["checked_bytes"] == s["bytes"]
        for s in done.of("sample")
        if "read" in s["operation"] and s["operation"] != "read-write"
    )
    assert not list(done.directory.iterdir())


# proves measuring: digest-of-piece, digest-of-rank, digest-of-sample
def test_the_digest_is_that_of_the_file(engine: Engine, tmp_path: Path) -> None:
    """An independent reader digests the file between write and read."""
    document = plan(
        [
            case(
                "segmented",
                pattern_transfer=999,
                pattern_block=5000,
                clients=2,
                verify="full",
                settle=1.0,
                operations=["write", "read"],
            )
        ]
    )
    done, data = run_and_read(engine, document, tmp_path)
    for row in done.of("rank", operation="read"):
        pieces = extents(engine, document, tmp_path, row["rank"], "read")
        expected = sum(digest(data[offset : offset + length], offset) for offset, length in pieces) & MASK
        assert int(row["digest"], 16) == expected


# proves measuring: prefill
def test_a_read_only_case_gets_its_file_prepared(engine: Engine, tmp_path: Path) -> None:
    document = plan(
        [
            case(
                "random",
                pattern_transfer=1000,
                pattern_size=9_000_001,
                clients=2,
                verify="full",
                operations=["read"],
            )
        ]
    )
    done = run_engine(engine, document, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [(s["operation"], s["measured"]) for s in done.of("sample")] == [
        ("prefill", False),
        ("read", True),
        ("check", False),
    ]
    assert done.sample(operation="read")["verify"]["checked_bytes"] == 9_000_000


def flip(path: Path, offset: int) -> int:
    """Flips all bits of a byte; the byte that was there."""
    with path.open("r+b") as file:
        before = os.pread(file.fileno(), 1, offset)[0]
        os.pwrite(file.fileno(), bytes([before ^ 0xFF]), offset)
    return before


# proves measuring: mismatch, mismatch-report
def test_a_flipped_byte_is_found_and_located(engine: Engine, tmp_path: Path) -> None:
    """Byte 100 of the second request of rank 1 of two: offset (1 · 2 + 1) · 4096 + 100."""
    document = plan(
        [
            case(
                "strided",
                pattern_transfer=4096,
                pattern_count=8,
                clients=2,
                verify="full",
                settle=1.0,
                operations=["write", "read"],
            )
        ]
    )
    offset = 3 * 4096 + 100
    before = 0

    def damage(job: EngineJob) -> None:
        nonlocal before
        before = flip(job.directory / "case1.0", offset)

    done = run_with_pauses(engine, document, tmp_path, after_samples(1, damage))
    assert done.returncode == 1
    (error,) = done.of("error")
    assert error["kind"] == "verify"
    assert (error["rank"], error["offset"], error["length"]) == (1, offset, 1)
    assert error["file"] == str(done.directory / "case1.0")
    assert bytes.fromhex(error["expected"])[0] == before
    assert bytes.fromhex(error["found"])[0] == before ^ 0xFF
    sample = done.sample(operation="read")
    assert not sample["valid"]
    assert sample["verify"] == {
        "checked_bytes": 65536,
        "wrong_bytes": 1,
        "mismatches": 1,
        "outside_bytes": 0,
        "files": 1,
    }


@pytest.mark.parametrize(
    ("harm", "blame"),
    [
        ("zero", "zero"),
        ("older", "stale"),
        ("elsewhere", "misplaced"),
        ("text", "foreign"),
    ],
)
# proves measuring: zero
def test_wrong_data_is_classified(engine: Engine, tmp_path: Path, harm: str, blame: str) -> None:
    """A whole request of 1024 bytes is replaced before the last read."""
    document = plan(
        [
            case(
                "strided",
                pattern_transfer=1024,
                pattern_count=16,
                verify="full",
                settle=0.8,
                operations=["write", "rewrite", "read"],
            )
        ]
    )
    old = b""

    def keep(job: EngineJob) -> None:
        nonlocal old
        old = (job.directory / "case1.0").read_bytes()

    def replace(job: EngineJob) -> None:
        file = job.directory / "case1.0"
        piece = {
            "zero": bytes(1024),
            "older": old[5120:6144],
            "elsewhere": file.read_bytes()[2048:3072],
            "text": b"something else. " * 64,
        }[harm]
        with file.open("r+b") as stream:
            os.pwrite(stream.fileno(), piece, 5120)

    done = run_with_pauses(engine, document, tmp_path, after_samples(1, keep), after_samples(2, replace))
    assert done.returncode == 1
    (error,) = done.of("error")
    assert (error["class"], error["offset"], error["count"]) == (blame, 5120, 1)
    (cause,) = error["causes"]
    assert (cause["class"], cause["offset"]) == (blame, 5120)
    assert cause["bytes"] == error["length"]
    if blame == "misplaced":
        assert cause["value"] == 2048
        assert "offset 2048" in error["message"]


SUITE = """
[suite]
name = "flip"
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "4KiB"
block = "64KiB"
operations = ["write", "read"]
repetitions = 1
settle = "{settle_s}s"
verify = "full"
"""


def flip_in_a_run(work: Path, settle_s: float) -> tuple[int, str, int] | None:
    """Exit code and output of `strider run`, and the byte that was flipped after the write.

    None where the idle time before the read may have been over by then.
    """
    work.mkdir()
    suite = work / "flip.toml"
    suite.write_text(SUITE.format(settle_s=settle_s))
    target = work / "target"
    target.mkdir()
    (target / "mine.txt").write_text("not Strider's")
    store = work / "store"

    def written() -> bool:
        events = [event for path in store.glob("*/events.jsonl") for event in read_events(path)]
        return any(event["event"] == "sample" for event in events)

    command = strider_command("run", suite, "--target", target, "--store", store, "--ceilings", "none")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=work
    ) as process:
        try:
            begin_s = time_before(written, "the write")
            try:
                (file,) = target.glob("strider-*/case1.0")
                before = flip(file, 5000)
            except (OSError, ValueError):  # the file may be gone by then
                before = 0
            in_time = time.monotonic() - begin_s < settle_s
            output, _ = process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
    assert [path.name for path in target.iterdir()] == ["mine.txt"]
    return (process.returncode, output, before) if in_time else None


# proves measuring: mismatch, mismatch-report
def test_the_command_line_reports_a_flipped_byte(tmp_path: Path) -> None:
    runs = (flip_in_a_run(tmp_path / str(settle_s), settle_s) for settle_s in (1, 5, 25))
    code, output, before = next(filter(None, runs))
    assert code == 1, output
    flat = re.sub(r"\s+", " ", output)
    assert "case1.0" in flat
    assert "5000" in flat
    assert f"{before:02x}" in flat
    assert f"{before ^ 0xFF:02x}" in flat

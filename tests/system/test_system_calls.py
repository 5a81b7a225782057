"""The system calls of a run are exactly the plan's extents, seen from outside by strace."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from harness import Json, case, extents, plan, run_engine
from strider.engine import Engine

CALL = re.compile(
    r"^(?P<call>pread64|pwrite64)\(\d+<(?P<path>[^>]*)>, .*, "
    r"(?P<length>\d+), (?P<offset>\d+)\) += (?P<moved>\d+)$"
)
SYNC = re.compile(r"^fsync\(\d+<(?P<path>[^>]*)>\) += 0$")

Calls = dict[int, list[tuple[str, str, int, int]]]
"""By process: call, file, offset, length."""


def trace(engine: Engine, document: Json, work: Path, strace: str) -> tuple[Calls, str]:
    """Runs a plan under strace; the calls on its files, and the whole trace."""
    log = work / "trace"
    wrap = [strace, "-ff", "-y", "-s", "0", "-e", "signal=none", "-o", str(log)]
    wrap += ["-e", "trace=pread64,pwrite64,openat,openat2,fsync,fallocate,unlink"]
    done = run_engine(engine, document, work, wrap)
    assert done.returncode == 0, done.stderr
    assert not list(done.directory.iterdir())
    calls: Calls = defaultdict(list)
    texts = {int(path.suffix[1:]): path.read_text(errors="replace") for path in work.glob("trace.*")}
    for pid, text in texts.items():
        for found in filter(None, map(CALL.match, text.splitlines())):
            if str(done.directory) in found["path"]:
                assert found["moved"] == found["length"], f"a short transfer: {found[0]}"
                piece = int(found["offset"]), int(found["length"])
                calls[pid].append((found["call"], Path(found["path"]).name, *piece))
    return calls, "".join(texts.values())


@pytest.mark.parametrize("order", ["forward", "backward", "random"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("sharing", ["shared", "per-rank"])
@pytest.mark.parametrize(
    "pattern",
    [
        {"pattern": "segmented", "pattern_transfer": 3000, "pattern_block": 10000, "pattern_segments": 3},
        {"pattern": "strided", "pattern_transfer": 4096, "pattern_count": 7},
    ],
    ids=lambda pattern: pattern["pattern"],
)
# proves measuring: transfer
def test_calls_are_the_extents(
    engine: Engine, tmp_path: Path, strace: str, pattern: Json, sharing: str, ranks: int, order: str
) -> None:
    document = plan(
        [case(**pattern, clients=ranks, sharing=sharing, order=order, operations=["write", "read"])]
    )

    calls, _ = trace(engine, document, tmp_path, strace)

    # Each process shows which rank it is by the calls it makes: no two ranks have the same.
    expected = set()
    for rank in range(ranks):
        name = f"case1.{rank if sharing == 'per-rank' else 0}"
        written = [("pwrite64", name, *e) for e in extents(engine, document, tmp_path, rank, "write")]
        read = [("pread64", name, *e) for e in extents(engine, document, tmp_path, rank, "read")]
        assert written
        expected.add((*written, *read))
    assert len(expected) == ranks
    assert {tuple(sequence) for sequence in calls.values()} == expected


def test_read_modify_write_reads_each_piece_before_writing_it(
    engine: Engine, tmp_path: Path, strace: str
) -> None:
    document = plan(
        [
            case(
                "strided",
                pattern_transfer=512,
                pattern_count=5,
                clients=2,
                operations=["write", "read-modify-write"],
            )
        ]
    )
    calls, _ = trace(engine, document, tmp_path, strace)
    for sequence in calls.values():
        pieces = [call[2:] for call in sequence[:5]]
        assert sequence[5::2] == [("pread64", "case1.0", *piece) for piece in pieces]
        assert sequence[6::2] == [("pwrite64", "case1.0", *piece) for piece in pieces]


@pytest.mark.parametrize(("sync", "count"), [("none", 0), ("end", 1), ("each", 4)])
# proves measuring: sync, syncs-own-data
def test_data_is_synced_as_often_as_asked(
    engine: Engine, tmp_path: Path, strace: str, sync: str, count: int
) -> None:
    document = plan(
        [case("strided", pattern_transfer=512, pattern_count=4, sync=sync, operations=["write", "read"])]
    )
    _, text = trace(engine, document, tmp_path, strace)
    assert len([line for line in text.splitlines() if SYNC.match(line)]) == count


@pytest.mark.parametrize(
    ("option", "sign"),
    [
        ("interface_direct", r"openat2?\(.*case1\.0.*O_DIRECT"),
        ("interface_dsync", r"openat2?\(.*case1\.0.*O_DSYNC"),
        ("interface_preallocate", r"fallocate\(.*case1\.0>, 0, 0, 32768\) += 0"),
    ],
)
def test_posix_options_reach_the_system(
    engine: Engine, tmp_path: Path, strace: str, option: str, sign: str
) -> None:
    keys: Json = {option: True, "clients": 2, "operations": ["write", "read"]}
    document = plan([case("strided", pattern_transfer=4096, pattern_count=4, **keys)])
    _, text = trace(engine, document, tmp_path, strace)
    assert re.search(sign, text)


def test_per_node_files_and_a_number_of_files(engine: Engine, tmp_path: Path, strace: str) -> None:
    keys: Json = {"pattern_transfer": 512, "pattern_count": 2, "clients": 4, "operations": ["write"]}
    document = plan(
        [case("strided", sharing="per-node", **keys), case("strided", sharing=3, **keys)], ranks_per_node=2
    )
    calls, _ = trace(engine, document, tmp_path, strace)
    files = sorted([call[1] for call in sequence[::2]] for sequence in calls.values())
    # Two ranks on each of the two nodes; then four ranks on three files.
    assert [row[0] for row in files] == ["case1.0", "case1.0", "case1.1", "case1.1"]
    assert sorted(row[1] for row in files) == ["case2.0", "case2.0", "case2.1", "case2.2"]


def test_shifted_readers_read_what_their_neighbour_wrote(engine: Engine, tmp_path: Path, strace: str) -> None:
    keys: Json = {"clients": 3, "sharing": "per-rank", "readback": "shift", "shift": 1, "verify": "full"}
    document = plan(
        [case("strided", pattern_transfer=512, pattern_count=2, **keys, operations=["write", "read"])]
    )
    calls, _ = trace(engine, document, tmp_path, strace)
    # Of each process two writes, two reads, and the last one of the check.
    pairs = {(sequence[0][1], sequence[2][1]) for sequence in calls.values()}
    assert pairs == {("case1.0", "case1.1"), ("case1.1", "case1.2"), ("case1.2", "case1.0")}

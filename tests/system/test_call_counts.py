"""The file system calls of a phase: what each method makes of the same requests."""

import re
from collections import Counter
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine
from strider.engine import Engine

POSIX: dict[str, Json] = {
    "posix multiple": {"interface": "posix"},
    "posix sieve": {"interface": "posix", "interface_method": "sieve"},
}
ROMIO: dict[str, Json] = {
    "mpiio independent": {"interface": "mpiio"},
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
    "mpiio collective view": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
    },
}
METHODS = POSIX | ROMIO

DUMPS = 4
RANKS = 4
CLASS_A_PIECES = 2 * 32 * 32
"""Of each rank in each dump: it owns 2 of the 8 cells of 32³ points, each row of a cell is a piece."""

CALL = re.compile(r"^(?P<call>p?(?:read|write)(?:v2?|64)?)\(\d+<(?P<path>[^>]*)>")

Counts = tuple[int, int]
"""Read-like and write-like calls."""


def counts_of(event: Json) -> Counts:
    """The engine's counts of a phase, or of a rank in it."""
    return event["read_calls"], event["write_calls"]


@pytest.fixture(scope="module")
def btio(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Counts]:
    """BTIO of class A on 4 ranks by every method in one run: counts by method and operation."""
    keys: Json = {"pattern_class": "A", "pattern_dumps": DUMPS, "clients": RANKS}
    document = plan([case("btio", **keys, operations=["write", "read"], **how) for how in METHODS.values()])
    done = run_engine(engine, document, tmp_path_factory.mktemp("btio"))
    assert done.returncode == 0, done.stderr
    assert {sample["requests"] for sample in done.of("sample")} == {DUMPS * RANKS}
    names = list(METHODS)
    return {(names[s["case"] - 1], s["operation"]): counts_of(s) for s in done.of("sample")}


# proves measuring: calls-of-methods
def test_each_piece_is_a_call_of_multiple(btio: dict[tuple[str, str], Counts]) -> None:
    pieces = DUMPS * RANKS * CLASS_A_PIECES
    assert pieces == 32768
    assert btio["posix multiple", "write"] == (0, pieces)
    assert btio["posix multiple", "read"] == (pieces, 0)


# proves measuring: calls-of-methods
def test_sieving_needs_a_call_for_each_buffer(btio: dict[tuple[str, str], Counts]) -> None:
    """A dump is 10 MiB and each rank's pieces are all over it: three buffers of 4 MiB."""
    buffers = DUMPS * RANKS * 3
    assert btio["posix sieve", "read"] == (buffers, 0)
    reads, writes = btio["posix sieve", "write"]
    assert writes == buffers
    # The data in the holes is read before; at the present end of the file in several pieces.
    assert buffers <= reads <= 2 * buffers


def test_romio_sieves_what_is_independent(btio: dict[tuple[str, str], Counts], romio: None) -> None:
    read, write = btio["mpiio independent", "read"], btio["mpiio independent", "write"]
    assert DUMPS * RANKS <= read[0] < 1000
    assert DUMPS * RANKS <= write[1] < 1000
    assert DUMPS * RANKS <= write[0] < 1000
    assert read[1] == 0


@pytest.mark.parametrize("method", ["mpiio collective", "mpiio collective view"])
# proves measuring: calls-of-methods
def test_two_phases_make_one_call_of_a_dump(
    btio: dict[tuple[str, str], Counts], romio: None, method: str
) -> None:
    """One aggregator on one node, whose buffer of 16 MiB holds a dump."""
    assert btio[method, "write"] == (0, DUMPS)
    assert btio[method, "read"] == (DUMPS, 0)


@pytest.fixture
def romio(engine: Engine) -> None:
    """MPI-IO is ROMIO."""
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("machine: needs an MPI whose I/O is ROMIO")


def traced_calls(texts: list[str], directory: Path) -> dict[str, Counter[Counts]]:
    """By file: how many processes made so many read-like and write-like calls on it."""
    found: dict[str, Counter[Counts]] = {}
    for text in texts:
        calls = [call for call in map(CALL.match, text.splitlines()) if call]
        made = Counter(
            (Path(call["path"]).name, "read" in call["call"])
            for call in calls
            if Path(call["path"]).parent == directory
        )
        for name in {name for name, _ in made}:
            found.setdefault(name, Counter())[made[name, True], made[name, False]] += 1
    return found


def reported_calls(done: EngineRun, number: int) -> Counter[Counts]:
    """How many ranks made so many calls in all phases of a case, as the engine says; without idle ranks."""
    of_rank: Counter[int] = Counter()
    reads: Counter[int] = Counter()
    for event in done.of("rank", case=number):
        reads[event["rank"]] += event["read_calls"]
        of_rank[event["rank"]] += event["read_calls"] + event["write_calls"]
    return Counter((reads[rank], calls - reads[rank]) for rank, calls in of_rank.items() if calls)


# proves measuring: call-counts, transfer-calls-only, reading-cost
def test_counts_are_those_of_strace(engine: Engine, tmp_path: Path, strace: str) -> None:
    keys: Json = {"pattern_class": "S", "pattern_dumps": 3, "clients": RANKS}
    document = plan([case("btio", **keys, operations=["write", "read"], **how) for how in METHODS.values()])
    log = tmp_path / "trace"
    wrap = [strace, "-ff", "-y", "-s", "0", "-e", "signal=none", "-o", str(log)]
    wrap += ["-e", "trace=read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2"]

    done = run_engine(engine, document, tmp_path, wrap)

    assert done.returncode == 0, done.stderr
    traced = traced_calls(
        [path.read_text(errors="replace") for path in tmp_path.glob("trace.*")], done.directory
    )
    assert len(traced) == len(METHODS)
    for number, method in enumerate(METHODS, 1):
        assert reported_calls(done, number) == traced[f"case{number}.0"], method


@pytest.mark.parametrize("interface", ["posix", "mpiio", "null"])
# proves measuring: transfer-calls-only, reading-cost, own-calls
def test_striders_own_calls_are_not_counted(engine: Engine, tmp_path: Path, interface: str) -> None:
    """A phase long enough for rank 0 to report its progress, which it does by writing."""
    keys: Json = {"clients": 2, "deadline": 1.2, "operations": ["write", "read"]}
    document = plan([case("strided", interface, pattern_transfer=1, pattern_count=1 << 40, **keys)])

    done = run_engine(engine, document, tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.of("progress", operation="write")
    for operation in ("write", "read"):
        sample = done.sample(operation=operation)
        calls = 0 if interface == "null" else sample["requests"]
        assert counts_of(sample) == ((0, calls) if operation == "write" else (calls, 0))
        ranks = [counts_of(rank) for rank in done.of("rank", operation=operation)]
        assert tuple(map(sum, zip(*ranks, strict=True))) == counts_of(sample)

"""What `sync` sends to the kernel: after the last write of a phase, and before its sample is reported."""

from pathlib import Path

import pytest

from harness import Json, case, plan, run_engine, tree_case
from strider.engine import Engine
from traces import Call, Phases, calls_in, rhythm, unstable, watching

RANKS = 2
REQUESTS = 4
"""Of each rank."""
FILES = 3
"""Of a tree."""

WAYS: dict[str, Json] = {
    "posix": {"interface": "posix"},
    "posix sieve": {"interface": "posix", "interface_method": "sieve"},
    "uring": {"interface": "uring"},
    "mmap": {"interface": "mmap"},
    "mpiio": {"interface": "mpiio"},
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
    "hdf5": {"interface": "hdf5"},
    "hdf5 collective": {"interface": "hdf5", "interface_access": "collective"},
    **{
        f"{interface} verified": {"interface": interface, "verify": "full"}
        for interface in ("posix", "mpiio", "hdf5")
    },
    "hdf5 chunks verified": {"interface": "hdf5", "interface_chunk": 4096, "verify": "full"},
}
DEPTH = 3
QUEUES: dict[str, Json] = {
    f"{way} with requests in flight": {**keys, "depth": DEPTH}
    for way, keys in (
        *((way, WAYS[way]) for way in ("posix", "uring", "mpiio", "mpiio collective")),
        ("mpiio shared pointer", {"interface": "mpiio", "interface_pointer": "shared"}),
        ("mpiio view", {"interface": "mpiio", "interface_method": "view"}),
    )
}
CASES: dict[tuple[str, str], Json] = {
    (name, sync): {**way, "sync": sync}
    for ways, policies in ((WAYS, ("none", "end", "each")), (QUEUES, ("none", "end")))
    for name, way in ways.items()
    for sync in policies
}
RHYTHMS = {"none": "w", "end": "ws", "each": "ws" * REQUESTS}
"""Of a file: its writes and its syncs, in their order."""
SUPERBLOCK = (0, 96)
"""Where HDF5 writes once more when it closes a file, the earlier content."""


@pytest.fixture(scope="module")
def phases(engine: Engine, tmp_path_factory: pytest.TempPathFactory, strace: str) -> Phases:
    """All cases in one run under strace; each rank writes a file of its own."""
    work = tmp_path_factory.mktemp("sync")
    keys: Json = {"clients": RANKS, "sharing": "per-rank", "operations": ["write"]}
    test: Json = {"pattern": "strided", "pattern_transfer": 4096, "pattern_count": REQUESTS, **keys}
    document = plan([case(**test, **way) for way in CASES.values()])
    done = run_engine(engine, document, work, watching(strace, work / "traces"))
    return Phases(done, calls_in(work / "traces"), "write")


def calls_on_files(calls: list[Call], number: int) -> list[list[Call]]:
    """The writes and syncs on each of the files of a case."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        if Path(call.path).name.startswith(f"case{number}.") and (call.is_write or call.is_sync):
            found.setdefault(call.path, []).append(call)
    return list(found.values())


@pytest.mark.parametrize("interface", ["posix", "mpiio"])
# proves measuring: metadata-sync
def test_what_is_created_is_synced_where_it_is_asked_for(
    engine: Engine, tmp_path: Path, strace: str, interface: str
) -> None:
    tree: Json = {"tree_items": FILES, "tree_file_size": 1000, "interface": interface}
    document = plan([tree_case(["create"], **tree, sync=sync) for sync in ("none", "each")])

    done = run_engine(engine, document, tmp_path, watching(strace, tmp_path / "traces"))

    none, each = Phases(done, calls_in(tmp_path / "traces"), "create").calls
    assert not [call for call in none if call.is_sync]
    written = {call.path for call in each if call.is_write and "/case2." in call.path}
    assert len(written) == FILES
    for path in written:
        assert rhythm(call for call in each if call.path == path) == "ws"


@pytest.mark.parametrize(("way", "sync"), CASES)
# proves measuring: sync, sync-each, sync-none, syncs-own-data, sync-tests, posix-sync, mmap-sync, mpiio-sync
# proves measuring: hdf5-sync, none-means-none
def test_a_sync_is_the_kernels_between_the_last_write_and_the_sample(
    phases: Phases, way: str, sync: str
) -> None:
    number = list(CASES).index((way, sync)) + 1
    interface = way.split()[0]
    syncs = [call for call in phases.calls[number - 1] if call.is_sync]
    end_s = phases.ends_s[number - 1]
    expected = RHYTHMS[sync]
    if sync == "end" and way == "mpiio collective with requests in flight":  # each has a handle of its own
        expected += "s" * (DEPTH - 1)

    called = "msync" if interface == "mmap" else "fsync"
    assert [call.name for call in syncs] == [called] * (RANKS * expected.count("s"))
    assert all(call.result == 0 and call.end_s <= end_s for call in syncs)
    if interface in ("mmap", "uring"):  # their writes are no system calls
        return
    files = calls_on_files(phases.calls[number - 1], number)
    assert len(files) == RANKS
    for calls in files:
        if interface == "hdf5":
            assert calls.pop().extent == SUPERBLOCK
        assert bool(unstable(calls, end_s)) == (sync == "none")
        assert rhythm(calls) == expected

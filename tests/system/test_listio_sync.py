"""Sync of the list-I/O service: the calls of its servers, and the data that outlives their power cut."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contents import contents
from forgetfs import mounted
from harness import EngineJob, Json, case, kill, plan, read_events, run_engine, tree_case, wait_for
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, processes_of, serve, stop
from traces import Call, Phases, calls_in, rhythm, unstable, watched, watching

SERVERS = 2
STRIP_BYTES = 4096
REQUESTS = 4
REQUEST_BYTES = 16384
"""Two strips of each server."""
SIZE = REQUESTS * REQUEST_BYTES
FILES = 3
"""Of a tree."""


@contextmanager
def served(engine: Engine, directory: Path) -> Iterator[list[int]]:
    """The processes of the servers of a new volume."""
    serve(engine, directory, ServerOptions(servers=SERVERS, strip_bytes=STRIP_BYTES))
    try:
        yield [process.pid for process in processes_of(directory)]
    finally:
        stop(directory)


def writing(directory: Path, **keys: Json) -> Json:
    shape: Json = {"pattern": "strided", "pattern_transfer": REQUEST_BYTES, "pattern_count": REQUESTS}
    keys = {"operations": ["write"], "interface_volume": str(directory / VOLUME_FILE), **keys}
    return case(**shape, interface="listio", **keys)


class Trace:
    """Calls of the servers in the phases of a run.

    Attributes:
        written: Of the writing of each policy: its calls and when its sample was reported.
        created: The calls of the creation of files with each policy.
        rest: The calls of all other phases.
    """

    def __init__(self, engine: Engine, strace: str, work: Path) -> None:
        directory = work / "volume"
        options: Json = {"name": "listio", "volume": str(directory / VOLUME_FILE)}
        tree: Json = {"tree_items": FILES, "tree_file_size": 1000}
        names = ["create", "rename", "unlink", "mkdir", "rename-directory", "rmdir"]
        cases = [writing(directory, sync=sync) for sync in ("none", "end", "each")]
        cases += [
            {**tree_case(operations, **tree, sync=sync), "interface": options}
            for operations, sync in ((["create"], "each"), (names, "none"))
        ]
        with served(engine, directory) as pids, watched(strace, pids, work / "servers"):
            done = run_engine(engine, plan(cases), work, watching(strace, work / "engine"))
        calls = [
            call
            for call in calls_in(work / "servers")
            if call.path.startswith(f"{directory}/server-") and (call.is_write or call.is_sync)
        ]
        engine_calls = calls_in(work / "engine")
        written = Phases(done, engine_calls, "write", calls)
        self.directory = directory
        self.written = dict(
            zip(("none", "end", "each"), zip(written.calls, written.ends_s, strict=True), strict=True)
        )
        created = Phases(done, engine_calls, "create", calls).calls
        self.created = dict(zip(("each", "none"), created, strict=True))
        known = [call for calls, _ in self.written.values() for call in calls] + self.created["each"]
        self.rest = [call for call in calls if call not in known]

    def of_server(self, number: int, calls: list[Call]) -> list[Call]:
        return [call for call in calls if call.path.startswith(f"{self.directory}/server-{number}/")]


@pytest.fixture(scope="module")
def trace(engine: Engine, strace: str, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return Trace(engine, strace, tmp_path_factory.mktemp("listio"))


def syncs_of(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.is_sync]


def kind(call: Call) -> str:
    """A sync and its object: a data file, its folder, the folder of these, the names, checksums."""
    parts = Path(call.path).parts
    below = parts[next(i for i, part in enumerate(parts) if part.startswith("server-")) + 1 :]
    if below[0] in ("names", "entries"):
        return f"{call.name} names"
    prefix = {"data": "", "sums": "sums "}[below[0]]
    what = {1: "folders", 2: "folder", 3: "file"}[len(below)]
    return f"{call.name} {prefix}{what}"


@pytest.mark.parametrize("number", range(SERVERS))
@pytest.mark.parametrize(("sync", "times"), [("none", 0), ("end", 1), ("each", REQUESTS)])
# proves listio: sync-order, write-durable, sync-durable
# proves measuring: sync-tests, listio-sync, none-means-none
def test_a_sync_is_of_data_folder_and_names(trace: Trace, sync: str, times: int, number: int) -> None:
    """In this order, and behind the writes; that of names, on the manager, where they have changed."""
    calls, end_s = trace.written[sync]
    mine = trace.of_server(number, calls)
    syncs = syncs_of(mine)

    header = "fdatasync sums file"
    once = ["fdatasync file", "fdatasync sums file", "fsync sums folder", "fsync folder", header]
    # The next write makes the header dirty, and that durable.
    assert [kind(call) for call in syncs if kind(call) in once] == (
        [*once, *[header, *once] * (times - 1)] if times else []
    )
    assert all(call.result == 0 and call.end_s <= end_s for call in syncs)
    names = [kind(call) for call in syncs if "names" in kind(call)]
    # At least the entry and its directory, the copy and its folder; also removed files.
    assert len(names) >= 4 if times and number == 0 else not names
    assert set(names) <= {"fsync names"}
    # That of the first file is new; a later one may have the same, as there are 256 names.
    folders = [kind(call) for call in syncs].count("fsync folders")
    assert folders in {"none": [0], "end": [1], "each": [0, 1]}[sync]
    data = [call for call in mine if "/data/" in call.path and (call.is_write or call.name == "fdatasync")]
    assert sum(call.result for call in data if call.is_write) == SIZE // SERVERS
    assert bool(unstable(data, end_s)) == (sync == "none")
    if sync == "each":
        assert rhythm(data) == "ws" * REQUESTS


# proves measuring: metadata-sync
def test_what_is_created_is_synced_with_its_name(trace: Trace) -> None:
    syncs = [kind(call) for call in syncs_of(trace.created["each"])]
    assert syncs.count("fdatasync file") == FILES
    # A server without data of a file syncs its folder, too, if that is there for other files.
    assert syncs.count("fsync folder") >= FILES
    assert syncs.count("fsync names") >= 4 * FILES


# proves listio: create-durable, rename-durable, close-durable
def test_nothing_else_is_synced_but_names_before_data_are_removed(trace: Trace) -> None:
    """Not by creating and renaming, nor by closing a file."""
    assert trace.rest
    assert not syncs_of(trace.created["none"])
    assert {kind(call) for call in syncs_of(trace.rest)} == {"fsync names"}


def data_of(folder: Path, first: int) -> bytes:
    """A volume's only file, of which server `first` has the first strip; empty where data files are lost."""
    files = [sorted(folder.glob(f"server-{number}/data/*/*")) for number in range(SERVERS)]
    if not all(files):
        return b""
    turns = [files[(first + turn) % SERVERS][0].read_bytes() for turn in range(SERVERS)]
    strips = range(0, SIZE // SERVERS, STRIP_BYTES)
    return b"".join(data[at : at + STRIP_BYTES] for at in strips for data in turns)


@pytest.mark.parametrize("sync", ["none", "end", "each"])
# proves measuring: listio-sync
def test_data_outlives_a_power_cut_of_the_servers(engine: Engine, tmp_path: Path, sync: str) -> None:
    """Where a name is stable only when its folder was synced: everything on the way to the data files."""
    with mounted(engine, "default", "--strict") as forgetful:
        directory = forgetful.mount / "volume"
        directory.mkdir()
        forgetful.persist()
        test = writing(directory, sync=sync, verify="full")
        with served(engine, directory) as pids:
            # The removal of the file would be another reason why it is not there.
            forgetful.fault("unlink", "hang", name="case1.0")
            with EngineJob(engine, plan([test]), tmp_path) as job:
                wait_for(
                    lambda: [e for e in read_events(job.events_file) if e["event"] == "sample"], "a sample"
                )
                # Not through the mount: a client that removes a name keeps others from its folder.
                now = forgetful.dump(tmp_path / "now", "now")
                for pid in pids:
                    kill(pid, signal.SIGKILL)
            forgetful.cut()
            forgetful.clear()
        disk = forgetful.dump(tmp_path / "disk")
    (name,) = now.glob("volume/server-0/names/**/*case1.0")
    layout = name.read_text().split()
    left = data_of(disk / "volume", int(layout[layout.index("first") + 1]))
    if sync == "none":
        assert not any(left)
    else:
        assert left == contents(test, SIZE)

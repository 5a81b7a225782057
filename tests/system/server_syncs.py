"""Guarantees of `sync` on servers whose calls can be seen: data reported as stored was synced."""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import Json, case, plan, run_engine, tree_case
from labs import Native, own_directory
from strider.engine import Engine
from traces import Call, Phases, calls_in, covered, rhythm, unstable, watched, watching

RANKS = 2
REQUESTS = 4
"""Of each rank."""
REQUEST_BYTES = 8192
FILES = 3
"""Of a tree."""


@dataclass(frozen=True)
class Server:
    """Where the calls of a file system's servers are seen.

    Attributes:
        pids: Their processes.
        folder: Below it are the files that clients write.
        own: A part of the paths of files of their own.
        syncs_at_close: Number of syncs by a client's library when it closes a file, with any `sync`.
        shares_syncs: Whether one sync does for all clients that have asked for one.
    """

    pids: list[int]
    folder: Path
    own: str = "\n"
    syncs_at_close: int = 0
    shares_syncs: bool = False

    def of(self, calls: Iterable[Call]) -> list[Call]:
        """The calls on files of clients."""
        return [
            call
            for call in calls
            if call.path.startswith(f"{self.folder}/") and self.own not in call.path
            if call.is_write or call.is_sync
        ]


def processes_of(program: str, *words: str) -> list[int]:
    """The processes of a program in whose command lines all the words are."""
    listed = subprocess.run(["pgrep", "-x", program], capture_output=True, text=True, check=False)
    return [
        int(pid)
        for pid in listed.stdout.split()
        if all(word in Path(f"/proc/{pid}/cmdline").read_text() for word in words)
    ]


def check_server(
    engine: Engine, work: Path, strace: str, parent: Path, native: Native, server: Server, wrap: Iterable[str]
) -> None:
    """Each policy sends the server as many syncs as promised, each behind the writes that it is for.

    Args:
        engine: The engine.
        work: A folder for traces, plan and events.
        strace: The tracer.
        parent: The mounted file system, or the folder that is served.
        native: The file system's own library.
        server: Where its calls are seen.
        wrap: Words to put before the command of the engine.
    """
    native.require(engine)
    policies: list[Json] = [
        {"sync": "none", "clients": RANKS},
        {"sync": "end", "clients": RANKS},
        {"sync": "each"},
        {"sync": "end", "depth": REQUESTS},
    ]
    shape: Json = {"pattern": "strided", "pattern_transfer": REQUEST_BYTES, "pattern_count": REQUESTS}
    cases = [case(**shape, **native.keys(), **keys, operations=["write"]) for keys in policies]
    tree: Json = {"tree_items": FILES, "tree_file_size": 1000}
    options: Json = {"name": native.interface, **native.options}
    cases += [{**tree_case(["create"], **tree, sync=sync), "interface": options} for sync in ("none", "each")]
    with own_directory(parent) as directory, watched(strace, server.pids, work / "server"):
        words = [*wrap, *watching(strace, work / "engine")]
        done = run_engine(engine, plan(cases), work, words, directory)
    engine_calls, calls = calls_in(work / "engine"), server.of(calls_in(work / "server"))
    _check_data(server, policies, Phases(done, engine_calls, "write", calls))
    _check_metadata(server, Phases(done, engine_calls, "create", calls))


def _check_data(server: Server, policies: list[Json], phases: Phases) -> None:
    for keys, calls, end_s in zip(policies, phases.calls, phases.ends_s, strict=True):
        ranks = keys.get("clients", 1)
        assert covered(call for call in calls if call.is_write) == ranks * REQUESTS * REQUEST_BYTES, keys
        wanted = {"none": 0, "end": 1, "each": REQUESTS}[keys["sync"]] + server.syncs_at_close
        syncs = [call for call in calls if call.is_sync]
        least = min(1, wanted) if server.shares_syncs else ranks * wanted
        assert least <= len(syncs) <= ranks * wanted, keys
        assert all(call.result == 0 and call.end_s <= end_s for call in syncs), keys
        if wanted:
            assert not unstable(calls, end_s), keys
        if keys["sync"] == "each":
            assert rhythm(calls) == "ws" * REQUESTS + "s" * server.syncs_at_close


def _check_metadata(server: Server, phases: Phases) -> None:
    for wanted, calls, end_s in zip((0, 1), phases.calls, phases.ends_s, strict=True):
        written = {call.path for call in calls if call.is_write}
        assert len(written) == FILES
        syncs = [call for call in calls if call.is_sync]
        assert len(syncs) == FILES * (wanted + server.syncs_at_close)
        if syncs:
            assert not any(unstable([call for call in calls if call.path == path], end_s) for path in written)

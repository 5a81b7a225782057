"""CephFS: reads through the mount return the written data."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from contents import contents
from harness import (
    EngineJob,
    Json,
    after_samples,
    case,
    kill,
    plan,
    read_events,
    run_engine,
    wait_for,
)
from labs import (
    PATTERNS,
    Native,
    check_interruption,
    check_metadata,
    check_mount,
    check_refusal,
    mount,
    own_directory,
)
from strider.engine import Engine
from strider.lab import Record


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_data_is_right(engine: Engine, tmp_path: Path, cephfs: Record, pattern: Json) -> None:
    (endpoint,) = cephfs.endpoints
    check_mount(engine, tmp_path, endpoint, pattern)


METHODS: list[Json] = [
    {"interface_method": "multiple"},
    {"interface_method": "vectored"},
    {"interface_cache": False},
    {"interface_stripe_unit": 65536, "interface_stripe_count": 4, "interface_object_size": 262144},
]


def native(record: Record) -> Native:
    """The library, with its settings."""
    return Native("cephfs", {"conf": record.endpoints[0].native["configuration"]}, METHODS)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_the_library_moves_the_same_bytes_as_the_mount(
    engine: Engine, tmp_path: Path, cephfs: Record, pattern: Json
) -> None:
    check_mount(engine, tmp_path, cephfs.endpoints[0], pattern, native=native(cephfs))


def test_metadata_by_the_library(engine: Engine, tmp_path: Path, cephfs: Record) -> None:
    check_metadata(engine, tmp_path, mount(cephfs), native(cephfs))


def test_the_layout_that_was_asked_for_is_in_force(engine: Engine, tmp_path: Path, cephfs: Record) -> None:
    library = native(cephfs)
    library.require(engine)
    one = case(**PATTERNS[0], **library.keys(), **METHODS[-1])
    with own_directory(mount(cephfs)) as directory:
        done = run_engine(engine, plan([one]), tmp_path, (), directory)
    facts = done.sample(operation="write")["facts"]
    assert (facts["stripe unit"], facts["stripe count"], facts["object size"]) == ("65536", "4", "262144")


def test_a_wrong_address_is_an_error(engine: Engine, tmp_path: Path, cephfs: Record) -> None:
    error = check_refusal(engine, tmp_path, mount(cephfs), native(cephfs), conf="/no/such/ceph.conf")
    assert "No such file" in error["message"]


def test_ctrl_c_ends_a_run_through_the_library(engine: Engine, tmp_path: Path, cephfs: Record) -> None:
    check_interruption(engine, tmp_path, mount(cephfs), native(cephfs))


STRIPE: Json = {"pattern": "strided", "pattern_transfer": 8192, "pattern_count": 8}
"""64 KiB, which is in one object of an object store."""
JOURNAL = "200.00000001"
"""The object of the metadata journal that is written to, for the first 4 MiB of a file system's life."""


@dataclass
class Stopped:
    """A run that rewrites a file while the object store of its data does not answer.

    Attributes:
        reported: Whether the rewriting ended nevertheless.
        content: The content of the file in the object stores at the end, while the client was stopped.
    """

    reported: bool
    content: bytes


def store_of(cephfs: Record, pool: str, name: str) -> str:
    """Returns the process name of the object store that keeps an object."""
    conf = cephfs.endpoints[0].native["configuration"]
    words = ["ceph", "-c", conf, "--format", "json", "osd", "map", pool, name]
    found = subprocess.run(words, capture_output=True, check=True, timeout=60, text=True)
    return f"osd{json.loads(found.stdout)['acting_primary']}"


def comes(condition: Callable[[], bool], deadline_s: float) -> bool:
    """Returns whether a condition comes true before a deadline."""
    try:
        return bool(wait_for(condition, "it", deadline_s))
    except AssertionError:
        return False


def rewrite_without_store(
    engine: Engine, work: Path, cephfs: Record, keys: Json, settle_s: float
) -> Stopped | None:
    """Returns nothing where the store could not be stopped in time, or keeps the metadata journal as well.

    A write waits for the journal if the client has to ask for its capabilities again, synced or not.
    """
    conf = cephfs.endpoints[0].native["configuration"]
    journal = store_of(cephfs, "metadata", JOURNAL)
    name = ""
    stopped: list[int] = []

    def stop_store(job: EngineJob) -> None:
        nonlocal name
        (inode,) = [entry.inode() for entry in os.scandir(job.directory)]
        name = f"{inode:x}.00000000"
        store = store_of(cephfs, "data", name)
        if store != journal:
            stopped.extend(process.pid for process in cephfs.processes if process.name == store)
        for pid in stopped:
            kill(pid, signal.SIGSTOP)

    def stop_client(job: EngineJob) -> None:
        for pid in job.ranks():
            kill(pid, signal.SIGSTOP)

    def reported() -> bool:
        return len([event for event in read_events(job.events_file) if event["event"] == "sample"]) == 2

    work.mkdir()
    with (
        own_directory(mount(cephfs)) as directory,
        EngineJob(engine, plan([{**keys, "settle": settle_s}]), work, (), directory) as job,
    ):
        try:
            is_stopped = after_samples(1, stop_store).taken(job, settle_s) and bool(stopped)
            found = is_stopped and comes(reported, settle_s + 2)
        finally:
            for pid in stopped:
                kill(pid, signal.SIGCONT)
        if not is_stopped:
            job.finish()  # a client that is killed keeps its folder from being removed for a minute
            return None
        in_time = after_samples(2, stop_client).taken(job, settle_s)
        words = ["rados", "-c", conf, "-p", "data", "get", name, "-"]
        content = subprocess.run(words, capture_output=True, check=True, timeout=60).stdout
        for pid in job.ranks():
            kill(pid, signal.SIGCONT)
        assert job.finish().returncode == 0
    return Stopped(found, content) if in_time else None


@pytest.mark.parametrize(("sync", "lazy"), [("none", False), ("end", False), ("each", False), ("end", True)])
# proves measuring: cephfs-sync
def test_a_sync_waits_until_the_object_stores_have_it(
    engine: Engine, tmp_path: Path, cephfs: Record, sync: str, lazy: bool
) -> None:
    """The one of the file is stopped while it is written once more: only without a sync the phase can end."""
    library = native(cephfs)
    library.require(engine)
    keys: Json = {"operations": ["write", "rewrite", "read"], "verify": "full", "sync": sync}
    test = case(**STRIPE, **library.keys(), interface_lazy=lazy, **keys)

    # Each run makes another file, and one file of four is on the store that keeps the journal.
    tries = enumerate([1] * 8 + [5] * 8 + [25] * 4)
    runs = (rewrite_without_store(engine, tmp_path / str(n), cephfs, test, settle_s) for n, settle_s in tries)
    run = next(filter(None, runs))

    assert run.reported == (sync == "none")
    if sync != "none":
        assert run.content == contents({**test, "settle": 1}, 8 * 8192, generation=2)

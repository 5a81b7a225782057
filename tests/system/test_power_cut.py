"""After a power cut all data reported as stable is there: on a file system that discards the rest."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from contents import contents
from forgetfs import Event, ForgetFs, mounted
from harness import EngineJob, Json, case, plan, read_events, wait_for
from strider.engine import Engine

REQUESTS = 4
"""Of each rank."""
REQUEST_BYTES = 8192

WAYS: dict[str, Json] = {
    "posix": {"interface": "posix"},
    "uring": {"interface": "uring"},
    "mmap": {"interface": "mmap"},
    "mpiio": {"interface": "mpiio"},
    "hdf5": {"interface": "hdf5"},
}
VARIANTS: dict[str, Json] = {
    "posix direct": {"interface": "posix", "interface_direct": True},
    "posix in flight": {"interface": "posix", "depth": 3},
    "uring in flight": {"interface": "uring", "depth": 3},
    "uring fixed": {"interface": "uring", "interface_fixed_files": True, "interface_fixed_buffers": True},
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
    "mpiio in flight": {"interface": "mpiio", "depth": 3},
    "hdf5 collective": {"interface": "hdf5", "interface_access": "collective"},
    "hdf5 latest": {"interface": "hdf5", "interface_libver": "latest"},
}
DSYNC: dict[str, Json] = {
    "posix": {"interface": "posix", "interface_dsync": True},
    "posix direct": {"interface": "posix", "interface_dsync": True, "interface_direct": True},
    "uring": {"interface": "uring", "interface_dsync": True},
}


@pytest.fixture(scope="module", params=["default", "write-back"])
def forgetful(engine: Engine, request: pytest.FixtureRequest) -> Iterator[ForgetFs]:
    """One that writes through, and one that writes cached data when the kernel decides."""
    with mounted(engine, request.param) as found:
        yield found


def reported(job: EngineJob) -> bool:
    return "sample" in {event["event"] for event in read_events(job.events_file)}


def calls_until_the_cut(engine: Engine, work: Path, forgetful: ForgetFs, test: Json) -> list[Event]:
    """Kills a run when the sample of its only phase is out, then cuts the power; the calls before that."""
    target = forgetful.mount / work.name
    target.mkdir()
    forgetful.persist()
    forgetful.erase()
    # The removal of the file, which follows, would be another reason why it is not there.
    forgetful.fault("unlink", "hang")
    try:
        with EngineJob(engine, plan([test]), work, directory=target) as job:
            wait_for(
                lambda: [e for e in read_events(job.events_file) if e["event"] == "sample"], "the sample"
            )
            calls = forgetful.events()
        forgetful.cut()
    finally:
        forgetful.clear()
    return calls


def what_is_left(forgetful: ForgetFs, work: Path, test: Json) -> bytes:
    """The data of a file after the cut; empty where it is lost."""
    file = forgetful.dump(work / "disk") / work.name / "case1.0"
    if not file.exists() or test["interface"]["name"] != "hdf5":
        return file.read_bytes() if file.exists() else b""
    h5py = pytest.importorskip("h5py")
    try:
        with h5py.File(file) as opened:
            return bytes(opened["data"][:])
    except OSError:
        return b""


def syncs_of(calls: list[Event]) -> list[Event]:
    return [call for call in calls if call.op in ("fsync", "fdatasync", "fsyncdir")]


def written(way: Json, **keys: Json) -> tuple[Json, bytes]:
    """A case that writes a file, and the expected content."""
    shape: Json = {"pattern": "strided", "pattern_transfer": REQUEST_BYTES, "pattern_count": REQUESTS}
    keys = {"clients": 2, "verify": "full", "operations": ["write"], **keys}
    test = case(**shape, **way, **keys)
    return test, contents(test, keys["clients"] * REQUESTS * REQUEST_BYTES)


@pytest.mark.parametrize("way", [*WAYS, *VARIANTS])
# proves measuring: posix-sync, mmap-sync, mpiio-sync, hdf5-sync
def test_what_was_synced_at_the_end_outlives_the_cut(
    engine: Engine, tmp_path: Path, forgetful: ForgetFs, way: str
) -> None:
    test, expected = written((WAYS | VARIANTS)[way], sync="end")
    calls_until_the_cut(engine, tmp_path, forgetful, test)
    assert what_is_left(forgetful, tmp_path, test) == expected


@pytest.mark.parametrize("way", WAYS)
# proves measuring: sync-each, sync-none, sync-tests, none-means-none
def test_what_is_not_synced_is_lost(engine: Engine, tmp_path: Path, forgetful: ForgetFs, way: str) -> None:
    test, expected = written(WAYS[way], sync="none")
    calls = calls_until_the_cut(engine, tmp_path, forgetful, test)
    assert not syncs_of(calls)
    assert not any(what_is_left(forgetful, tmp_path, test))
    assert any(expected)


@pytest.mark.parametrize("way", WAYS)
# proves measuring: syncs-own-data
def test_each_request_is_synced_before_the_next(
    engine: Engine, tmp_path: Path, forgetful: ForgetFs, way: str
) -> None:
    test, expected = written(WAYS[way], sync="each", clients=1, sharing="per-rank")
    calls = calls_until_the_cut(engine, tmp_path, forgetful, test)
    assert what_is_left(forgetful, tmp_path, test) == expected
    # HDF5 writes its own description of the file before and after the data.
    order = [call.op for call in calls if call.op in ("write", "fsync", "fdatasync")]
    rhythm = [(op, len(list(group))) for op, group in groupby(order)]
    assert [count for op, count in rhythm if op != "write"] == [1] * REQUESTS


@pytest.mark.parametrize("mode", ["default", "direct"])
@pytest.mark.parametrize("way", DSYNC)
def test_synchronous_writes_need_no_sync(engine: Engine, tmp_path: Path, way: str, mode: str) -> None:
    test, expected = written(DSYNC[way], sync="none")
    with mounted(engine, mode) as forgetful:
        calls_until_the_cut(engine, tmp_path, forgetful, test)
        assert what_is_left(forgetful, tmp_path, test) == expected


# proves measuring: mmap-sync
def test_mmap_that_asks_for_no_more_than_a_hint_is_lost(engine: Engine, tmp_path: Path) -> None:
    """`mmap.msync = "async"` is nothing to Linux, as its page says."""
    test, _ = written({"interface": "mmap", "interface_msync": "async"}, sync="end")
    with mounted(engine) as forgetful:
        calls = calls_until_the_cut(engine, tmp_path, forgetful, test)
        assert not syncs_of(calls)
        assert not any(what_is_left(forgetful, tmp_path, test))

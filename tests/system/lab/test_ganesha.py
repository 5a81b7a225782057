"""NFS-Ganesha: reads return the written data. There is no mount; see python/strider/lab/ganesha.py."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from shutil import which

import pytest

from harness import EngineJob, Json, case, kill, plan, read_events, wait_for
from labs import (
    PATTERNS,
    Native,
    check_interruption,
    check_metadata,
    check_mount,
    check_refusal,
    running,
)
from server_syncs import Server, check_server
from strider.engine import Engine
from strider.lab import Record


def test_a_file_comes_back_as_it_went(ganesha: Record, tmp_path: Path) -> None:
    if which("nfs-cp") is None:
        pytest.skip("needs nfs-cp (Debian package libnfs-utils)")
    (endpoint,) = ganesha.endpoints
    folder, _, options = endpoint.native["url"].partition("?")
    url = f"{folder}/file?{options}"
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(3_000_001))

    subprocess.run(["nfs-cp", sent, url], check=True, timeout=60)

    received = subprocess.run(["nfs-cat", url], check=True, timeout=60, stdout=subprocess.PIPE).stdout
    assert received == sent.read_bytes()


def native(record: Record) -> Native:
    """The library, with its settings."""
    url = record.endpoints[0].native["url"]
    folder = Path(url.removeprefix("nfs://127.0.0.1").partition("?")[0])
    return Native("nfs", {"url": url, "mount": str(folder)}, [{}, {"depth": 4}], folder)


def folder(record: Record) -> Path:
    """Its exports."""
    found = native(record).folder
    assert found is not None
    return found


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_the_library_moves_the_same_bytes_as_the_file_system_below(
    engine: Engine, tmp_path: Path, ganesha: Record, pattern: Json
) -> None:
    check_mount(engine, tmp_path, ganesha.endpoints[0], pattern, native=native(ganesha))


def test_metadata_by_the_library(engine: Engine, tmp_path: Path, ganesha: Record) -> None:
    check_metadata(engine, tmp_path, folder(ganesha), native(ganesha))


def test_a_wrong_address_is_an_error(engine: Engine, tmp_path: Path, ganesha: Record) -> None:
    url = "nfs://127.0.0.1/data?version=3&nfsport=9&mountport=9"
    error = check_refusal(engine, tmp_path, folder(ganesha), native(ganesha), url=url)
    assert "nfs.url" in error["remedy"]


def test_ctrl_c_ends_a_run_through_the_library(engine: Engine, tmp_path: Path, ganesha: Record) -> None:
    check_interruption(engine, tmp_path, folder(ganesha), native(ganesha))


@pytest.mark.parametrize("keys", [{}, {"depth": 4}], ids=["calls that wait", "calls in flight"])
def test_a_server_that_dies_is_an_error_and_no_hang(engine: Engine, tmp_path: Path, keys: Json) -> None:
    with running("ganesha") as own:
        library = native(own)
        library.require(engine)
        (server,) = [process for process in own.processes if process.name == "ganesha"]
        directory = Path(tempfile.mkdtemp(dir=folder(own)))
        endless = case(**PATTERNS[0], **library.keys(), **keys, repetitions=100_000)
        with EngineJob(engine, plan([endless]), tmp_path, (), directory) as job:
            wait_for(
                lambda: "sample" in {event["event"] for event in read_events(job.events_file)}, "a sample"
            )
            kill(server.pid, signal.SIGKILL)
            done = job.finish()
        assert done.returncode == 1, done.stderr
        assert done.of("error", kind="io")
        assert done.events[-1]["status"] == "complete"


# proves measuring: nfs-sync, none-means-none
def test_a_sync_is_the_servers(engine: Engine, tmp_path: Path, ganesha: Record, strace: str) -> None:
    """libnfs commits written data when it closes a file, even with `sync = "none"`."""
    (pid,) = [process.pid for process in ganesha.processes if process.name == "ganesha"]
    server = Server([pid], folder(ganesha), syncs_at_close=1)
    check_server(engine, tmp_path, strace, folder(ganesha), native(ganesha), server, ganesha.enter)

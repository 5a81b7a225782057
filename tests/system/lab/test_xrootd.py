"""XRootD: reads through xrootdfs return the written data."""

from pathlib import Path

import pytest

from harness import Json
from labs import PATTERNS, Native, check_interruption, check_metadata, check_mount, check_refusal, mount
from server_syncs import Server, check_server
from strider.engine import Engine
from strider.lab import Record


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_data_is_right(engine: Engine, tmp_path: Path, xrootd: Record, pattern: Json) -> None:
    (endpoint,) = xrootd.endpoints
    check_mount(engine, tmp_path, endpoint, pattern)


METHODS: list[Json] = [
    {"interface_method": "multiple"},
    {"interface_method": "list"},
    {"interface_method": "list", "depth": 4},
]


def native(record: Record) -> Native:
    """The library, with its settings."""
    return Native("xrootd", {"url": record.endpoints[0].native["server"]}, METHODS)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_the_library_moves_the_same_bytes_as_the_mount(
    engine: Engine, tmp_path: Path, xrootd: Record, pattern: Json
) -> None:
    check_mount(engine, tmp_path, xrootd.endpoints[0], pattern, xrootd.enter, native(xrootd))


def test_metadata_by_the_library(engine: Engine, tmp_path: Path, xrootd: Record) -> None:
    check_metadata(engine, tmp_path, mount(xrootd), native(xrootd), xrootd.enter)


@pytest.mark.parametrize("wrong", [{"url": "root://127.0.0.1:9"}, {"root": "/other"}])
def test_a_wrong_address_is_an_error(engine: Engine, tmp_path: Path, xrootd: Record, wrong: Json) -> None:
    error = check_refusal(engine, tmp_path, mount(xrootd), native(xrootd), xrootd.enter, **wrong)
    assert "xrootd." in error["remedy"]


def test_ctrl_c_ends_a_run_through_the_library(engine: Engine, tmp_path: Path, xrootd: Record) -> None:
    check_interruption(engine, tmp_path, mount(xrootd), native(xrootd), xrootd.enter)


# proves measuring: xrootd-sync
def test_a_sync_is_the_servers(engine: Engine, tmp_path: Path, xrootd: Record, strace: str) -> None:
    (pid,) = [process.pid for process in xrootd.processes if process.name == "xrootd"]
    server = Server([pid], mount(xrootd).parent / "data", shares_syncs=True)
    check_server(engine, tmp_path, strace, mount(xrootd), native(xrootd), server, xrootd.enter)

"""CephFS: what is written through the mount is what is read."""

from pathlib import Path

import pytest

from harness import Json, case, plan, run_engine
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
    """The library, with what it has to be told."""
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

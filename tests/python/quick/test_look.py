"""Facts on a directory before a measurement."""

import itertools
from pathlib import Path

import pytest

from strider.quick.look import can_write_directly, first_touch_us, kind_of, look


@pytest.mark.parametrize(
    ("file_system", "kind"),
    [
        ("ext4", "local"),
        ("tmpfs", "memory"),
        ("nfs4", "network"),
        ("lustre", "network"),
        ("fuse.glusterfs", "network"),
        ("fuse.mergerfs", "fuse"),
        ("", "local"),
    ],
)
def test_the_type_of_a_file_system_tells_where_its_data_is(file_system: str, kind: str) -> None:
    assert kind_of(file_system) == kind


def test_looking_leaves_no_file(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert found.free_bytes <= found.total_bytes
    assert found.cores >= 1
    assert found.available_bytes <= found.memory_bytes


def test_a_directory_that_cannot_be_written_has_no_direct_io() -> None:
    assert not can_write_directly(Path("/proc"))


def test_a_library_is_a_client_of_servers(tmp_path: Path) -> None:
    found = look(tmp_path, "nfs")
    assert (found.kind, found.device, found.is_direct, found.native) == ("network", "", False, "nfs")
    assert look(tmp_path).native == ""


def test_touching_new_memory_takes_nanoseconds_to_microseconds() -> None:
    found = first_touch_us()
    assert found is not None
    assert 0.001 < found < 1e6


def test_the_time_of_new_memory_is_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr("time.thread_time", lambda: next(ticks) * 1e-3)
    assert first_touch_us() == pytest.approx(1000 / 1024, abs=1e-3)  # 1 ms for each of 16 parts of 4 MiB


def test_memory_that_cannot_be_had_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(12, "no memory")

    monkeypatch.setattr("mmap.mmap", refused)
    assert first_touch_us() is None

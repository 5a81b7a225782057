"""Sizes of the files of a quick measurement."""

from hypothesis import given
from hypothesis import strategies as st

from quick_builders import place
from strider.quick.probe import Probe
from strider.quick.sizes import MOST_FILE_BYTES, sizes_of
from strider.units import GIB, KIB, MIB

RATES = st.floats(1e3, 1e11)


@given(write=RATES, read=RATES, free=st.integers(64 * MIB, 10**15), ram=st.integers(256 * MIB, 10**13))
def test_no_case_takes_more_than_a_quarter_of_the_space_or_of_memory(
    write: float, read: float, free: int, ram: int
) -> None:
    for kind in ("local", "memory"):
        found = sizes_of(place(kind, free_bytes=free, available_bytes=ram), Probe(write, read), 1.0, 0.3)
        most = max(16 * MIB, min(free, ram if kind == "memory" else free, 4 * MOST_FILE_BYTES) // 4)
        for size in (found.file, found.read, found.random, found.bounded):
            assert MIB <= size <= most
            assert size % MIB == 0
        assert found.items * 4 * KIB <= most


@given(write=RATES, read=RATES)
def test_a_phase_finds_enough_to_do(write: float, read: float) -> None:
    found = sizes_of(place(free_bytes=10**15), Probe(write, read), 1.0, 0.3)
    assert found.file >= min(write, MOST_FILE_BYTES) * 0.99 - MIB
    assert found.read >= min(read, MOST_FILE_BYTES) * 0.99 - MIB


def test_slow_storage_gets_files_that_it_can_sync_in_a_short_phase() -> None:
    found = sizes_of(place(), Probe(20e6, 20e6), 1.0, 0.3)
    assert found.bounded <= 20e6 * 0.3
    assert found.file <= 60e6


def test_a_read_of_what_was_just_written_needs_writes_that_are_faster() -> None:
    assert sizes_of(place(), Probe(3e9, 1e9), 1.0, 0.3).is_joint
    assert not sizes_of(place(), Probe(1e9, 1e9), 1.0, 0.3).is_joint


def test_few_inodes_are_left_to_others() -> None:
    assert sizes_of(place(free_files=1000, free_bytes=GIB), Probe(1e9, 1e9), 1.0, 0.3).items == 250

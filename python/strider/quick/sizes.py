"""Sizes of files: phases are to last their time, come from storage, and leave space for others."""

from collections.abc import Sequence
from dataclasses import dataclass

from strider.quick.look import Place
from strider.quick.probe import Probe
from strider.units import GIB, KIB, MIB

MOST_FILE_BYTES = 8 * GIB
MOST_RANDOM_BYTES = GIB
LEAST_FILE_BYTES = 16 * MIB
MOST_ITEMS = 200_000
#: A probe sees bursts and slow starts: files are larger than its rate asks for, and deadlines end the phases.
_RESERVE = 1.4
#: Phases that the slowest of several directories may take to write the data of the reads.
_MOST_PREFILL = 3
#: Share of the free space and of the available memory that the files of a case may take.
_SHARE = 4
#: Bytes of a small request, and of a file of a metadata case.
SMALL = 4 * KIB


@dataclass(frozen=True)
class Sizes:
    """Sizes of the cases; bytes are those of all clients together.

    Attributes:
        file: Of a file that is written from its beginning until the deadline.
        read: Of a file that is written first and then read until the deadline.
        random: Of a file with random requests.
        bounded: Of files in the page cache, which a sync at the end writes within a short phase.
        items: Number of files of a metadata case.
        is_joint: Whether one phase writes enough for the next one to read.
        is_repeated: Whether reads go to random places of one file again and again, because no file can be
            written in time that is long enough to be read once.
    """

    file: int
    read: int
    random: int
    bounded: int
    items: int
    is_joint: bool
    is_repeated: bool = False


def sizes_of(place: Place, probe: Probe, phase_s: float, short_s: float) -> Sizes:
    """Returns the sizes for phases of some lengths.

    Args:
        place: The directory.
        probe: Its rates.
        phase_s: Length of a phase.
        short_s: Length of a phase of a ratio.
    """
    most = capacity(place)
    write_s = probe.write_bytes_s or 0.0
    read_s = probe.read_bytes_s or write_s
    return Sizes(
        file=_clamped(write_s * phase_s * 2 * _RESERVE, most),
        read=_clamped(read_s * phase_s * _RESERVE, most),
        random=_clamped(write_s * phase_s / 3, min(most, MOST_RANDOM_BYTES)),
        bounded=_clamped(write_s * short_s, min(most, MOST_RANDOM_BYTES), least=4 * MIB),
        items=_items(place, most),
        is_joint=write_s > read_s * _RESERVE,
        is_repeated=place.kind == "memory",
    )


def common_sizes(places: Sequence[Place], probes: Sequence[Probe], phase_s: float) -> Sizes:
    """Returns sizes for the same work in several directories, so that a phase lasts its time in the fastest.

    The slowest one limits the writes before reads: it may take three phases. Reads that this file is too
    short for repeat it.

    Args:
        places: The directories, all with direct I/O or all without.
        probes: Their rates.
        phase_s: Length of a phase.
    """
    each = [sizes_of(place, probe, phase_s, phase_s) for place, probe in zip(places, probes, strict=True)]
    most = min(map(capacity, places)) // MIB * MIB
    slowest = min(probe.write_bytes_s or 0.0 for probe in probes)
    wanted = min(most, max(one.read for one in each))
    read = _clamped(min(wanted, slowest * phase_s * _MOST_PREFILL), most)
    is_joint = all(one.is_joint for one in each)
    is_short = read < wanted and places[0].is_direct
    return Sizes(
        file=min(most, max(one.file for one in each)),
        read=read,
        random=min(one.random for one in each),
        bounded=min(one.bounded for one in each),
        items=min(one.items for one in each),
        is_joint=is_joint,
        is_repeated=any(one.is_repeated for one in each) or (is_short and not is_joint),
    )


def capacity(place: Place) -> int:
    """Returns the largest number of bytes that the files of a case may have."""
    memory = place.available_bytes if place.kind == "memory" else place.free_bytes
    return max(LEAST_FILE_BYTES, min(place.free_bytes, memory, MOST_FILE_BYTES * _SHARE) // _SHARE)


def _clamped(wanted: float, most: int, least: int = LEAST_FILE_BYTES) -> int:
    """Whole MiB."""
    return max(min(least, most), min(int(wanted), most)) // MIB * MIB


def _items(place: Place, most: int) -> int:
    files = place.free_files if place.free_files is not None else MOST_ITEMS * _SHARE
    return max(16, min(MOST_ITEMS, files // _SHARE, most // SMALL))

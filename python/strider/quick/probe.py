"""The probe: a run of about two seconds that finds the order of magnitude of the rates."""

from collections.abc import Sequence
from dataclasses import dataclass

from strider.quick.look import Place
from strider.store.model import Run
from strider.suite.document import Document, parse
from strider.suite.estimate import ProbedRates
from strider.units import MIB

PHASE_S = 0.4
#: Below this much free space no data is written.
LEAST_DATA_BYTES = 64 * MIB
#: Below this much nothing is: names need space too.
LEAST_NAMES_BYTES = 24 * MIB
_MOST_BYTES = 2048 * MIB
#: A library that needs longer for its first write is left out.
REACH_S = 5.0


@dataclass(frozen=True)
class Probe:
    """Results of the probe.

    Attributes:
        write_bytes_s: Rate of stable writes of 1 MiB; None if it could not be measured.
        read_bytes_s: Rate of cold reads of 1 MiB, likewise.
        why: The first error; empty without one.
        start_s: Time to start and stop the ranks.
    """

    write_bytes_s: float | None
    read_bytes_s: float | None
    why: str = ""
    start_s: float = 1.0


def has_space(place: Place) -> bool:
    """Returns whether data may be written."""
    return place.free_bytes >= LEAST_DATA_BYTES


def has_space_for_names(place: Place) -> bool:
    """Returns whether files without data may be made."""
    return place.free_bytes >= LEAST_NAMES_BYTES


def probe_document(place: Place, phase_s: float = PHASE_S, depth: int = 1) -> Document:
    """Returns the suite of the probe: one write and one read of 1 MiB requests.

    Args:
        place: The directory.
        phase_s: Length of a phase.
        depth: Requests in flight.
    """
    block = max(16 * MIB, min(place.free_bytes // 8, place.available_bytes // 8, _MOST_BYTES)) // MIB
    direct = "posix.direct = true" if place.is_direct else 'cache        = "cold"'
    text = f"""\
[suite]
name        = "quick-probe"
repetitions = 1
deadline    = "{phase_s:.2f}s"
wear_out    = false

[[case]]
interface  = "{place.interface}"
{direct}
pattern    = "segmented"
transfer   = "1MiB"
block      = "{block}MiB"
depth      = {depth}
operations = ["write", "read"]
"""
    return parse(text, "quick-probe")


def rates_document(place: Place) -> Document:
    """Returns the suite that finds the rates of an estimate: storage, memory and names."""
    storage = probe_document(place)
    text = f"""\
{storage.text}
[[case]]
name       = "memory"
interface  = "posix"
pattern    = "segmented"
transfer   = "64KiB"
block      = "64MiB"
operations = ["write", "read"]
sync       = "none"

[[case]]
name       = "names"
interface  = "posix"
tree       = "balanced"
items      = 1000
operations = ["create", "stat", "unlink"]
"""
    return parse(text, "probe")


def probed_rates(run: Run, place: Place, reads: frozenset[str]) -> tuple[ProbedRates | None, int]:
    """Returns the rates of data, and those of names in operations per second; None without all of them.

    Args:
        run: A run of `rates_document`.
        place: The directory.
        reads: Operations that only read.
    """
    storage, memory, of_names = 1, 2, 3
    found = {(s.case, s.operation): s.rate_mib_s * MIB for s in run.samples}
    kinds = [(storage, "write"), (storage, "read"), (memory, "write"), (memory, "read")]
    rates = [found.get(kind, 0.0) for kind in kinds]
    names = [s for s in run.samples if s.case == of_names]
    if not all(rates) or not names:
        return None, 0
    names_s = sum(s.requests for s in names) / sum(s.elapsed_s for s in names)
    write_s, read_s, cached_write_s, cached_read_s = rates
    rates_s = ProbedRates(write_s, read_s, cached_write_s, cached_read_s, place.available_bytes, reads)
    return rates_s, int(names_s)


def native_document(interface: str) -> Document:
    """Returns the suite that shows whether the library of a file system reaches its servers."""
    text = f"""\
[suite]
name          = "quick-native"
repetitions   = 1
stall_timeout = "{REACH_S:.0f}s"

[[case]]
interface  = "{interface}"
pattern    = "segmented"
transfer   = "64KiB"
block      = "64KiB"
operations = ["write"]
"""
    return parse(text, "quick-native")


def probed(run: Run, wall_s: float) -> Probe:
    """Returns the results of a probe's run.

    Args:
        run: The run.
        wall_s: Time that it took, with the start of the ranks.
    """
    start_s = wall_s - run.end.time_s if run.end else wall_s
    return Probe(
        write_bytes_s=_rate(run, "write"),
        read_bytes_s=_rate(run, "read"),
        why=_reason([error.message for error in run.errors]),
        start_s=max(0.0, start_s),
    )


def _rate(run: Run, operation: str) -> float | None:
    rates = [sample.rate_mib_s * MIB for sample in run.samples if sample.operation == operation]
    return next((rate for rate in rates if rate > 0), None)


def _reason(messages: Sequence[str]) -> str:
    return messages[0] if messages else ""

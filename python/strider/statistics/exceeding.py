"""Rates that neither the device below the target nor the network to it can have moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from strider.statistics.ceilings import Ceilings
from strider.statistics.rule import interval_of
from strider.store.case import Case
from strider.store.model import CounterGroup, NodeCounters, Run, Sample

#: A rate has to exceed the measured rate of the device by this factor: one stream is no hard limit.
BEYOND_DEVICE = 1.1
#: From this share of the bytes on, counters say that a device moved them after all, or that loopback did.
MOVED = 0.9
_THROUGH_LOOPBACK = 0.1

_NETWORKED = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "lustre",
        "ceph",
        "beegfs",
        "gpfs",
        "pvfs2",
        "orangefs",
        "afs",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.ceph-fuse",
        "fuse.mfs",
        "fuse.moosefs",
        "fuse.sshfs",
        "fuse.xrootdfs",
    ]
)
_IN_MEMORY = frozenset(["tmpfs", "ramfs", "rootfs"])
#: Interfaces that bring a client of their own, for runs of engines that did not say so.
OWN_CLIENTS = frozenset(["cephfs", "gfapi", "nfs", "pvfs2", "xrootd"])
#: One moves no bytes; the other's servers are Strider's own, wherever these have the bytes.
_ELSEWHERE = frozenset(["null", "listio"])
_Amount = Callable[[Sequence[CounterGroup]], float]


@dataclass(frozen=True)
class Exceeding:
    """A rate that exceeds the ceiling of its path.

    Attributes:
        what: The ceiling that it exceeds.
        factor: Quotient of rate and ceiling, by the geometric mean of the repetitions.
        least: The same by the lower end of the 95 % interval.
    """

    what: Literal["device", "network"]
    factor: float
    least: float


def file_system_of(run: Run, case: Case | None = None) -> str:
    """Type of the file system of the target, or of the target of a case; empty where unknown."""
    targets = run.info.environment.get("targets")
    own = (case.model_extra or {}).get("target") if case else None
    target = targets.get(own) if isinstance(targets, dict) and own else run.info.environment.get("target")
    return str(target.get("file_system", "")) if isinstance(target, dict) else ""


def is_networked(file_system: str) -> bool:
    """Whether a file system of this type is on other machines."""
    return file_system in _NETWORKED


def is_in_memory(file_system: str) -> bool:
    """Whether a file system of this type is in memory."""
    return file_system in _IN_MEMORY


def is_through_target(case: Case) -> bool:
    """Whether the bytes of a case go through the file system of the target's directory."""
    on_volume = case.common_parameters.get("mount") == "listio" or case.interface.get("prefix") == "listio:"
    if case.interface_name in _ELSEWHERE or on_volume:
        return False
    return case.interface_name not in OWN_CLIENTS if case.own_client is None else not case.own_client


def exceeding(
    case: Case,
    operation: str,
    samples: Sequence[Sample],
    counters: Mapping[int, Sequence[NodeCounters]],
    ceilings: Ceilings,
    file_system: str,
) -> Exceeding | None:
    """Whether the samples of an operation are faster than the device or the network; None if they are not.

    They are where the lower end of the 95 % interval of their rate is, so three repetitions are the fewest.
    Only rates that a cache can serve are judged. A rate above the device's is no proof by itself, as one
    stream is not the limit of a device: direct I/O, synced data, and the counters at the
    device are left alone, and so is what does not go through the target's directory, or was measured while
    other groups moved bytes.

    Args:
        case: The case.
        operation: Its operation.
        samples: Those that count.
        counters: What nodes counted, by repetition; may be empty.
        ceilings: Those of the run.
        file_system: Type of the target's file system.
    """
    direction = _direction(operation)
    if case.is_metadata or direction is None or not samples:
        return None
    if not is_through_target(case) or case.interface.get("direct") or case.measured_together:
        return None
    found = interval_of([sample.rate_mib_s for sample in samples])
    if found is None:
        return None
    rate, least, _ = found
    nodes = max(sample.nodes for sample in samples)
    device = ceilings.of_nodes(f"device_{direction}", nodes)
    if device and least > BEYOND_DEVICE * device and not _reached_device(case, direction, samples, counters):
        return Exceeding("device", rate / device, least / device)
    link = ceilings.of_nodes("link", nodes) if is_networked(file_system) else None
    if link and least > link and _left_the_node(samples, counters):
        return Exceeding("network", rate / link, least / link)
    return None


def _direction(operation: str) -> Literal["read", "write"] | None:
    if operation in ("read", "reread"):
        return "read"
    return "write" if operation in ("write", "rewrite") else None


def _reached_device(
    case: Case,
    direction: Literal["read", "write"],
    samples: Sequence[Sample],
    counters: Mapping[int, Sequence[NodeCounters]],
) -> bool:
    """Whether the bytes were at the device when a phase ended, as far as is known."""
    if direction == "write":
        synced = case.common_parameters.get("sync", "end") != "none"
        return synced or _share(samples, counters, _written) >= MOVED
    served = [sample.served_by_storage for sample in samples if sample.served_by_storage is not None]
    if served:
        return median(served) >= MOVED
    return _share(samples, counters, _read) >= MOVED


def _left_the_node(samples: Sequence[Sample], counters: Mapping[int, Sequence[NodeCounters]]) -> bool:
    """Whether counters say that servers are not on the nodes themselves; unknown without counters."""
    return bool(counters) and _share(samples, counters, _looped) < _THROUGH_LOOPBACK


def _share(
    samples: Sequence[Sample], counters: Mapping[int, Sequence[NodeCounters]], amount: _Amount
) -> float:
    """Bytes that counters saw ÷ bytes moved, over the repetitions that were counted; 0 without."""
    counted = [sample for sample in samples if counters.get(sample.repetition)]
    moved = sum(sample.bytes for sample in counted)
    seen = sum(amount(node.counters) for sample in counted for node in counters[sample.repetition])
    return seen / moved if moved else 0.0


def _written(groups: Sequence[CounterGroup]) -> float:
    """By the busiest device of a node: devices may be stacked."""
    return max(
        (group.values.get("written_bytes", 0.0) for group in groups if group.source == "block"), default=0.0
    )


def _read(groups: Sequence[CounterGroup]) -> float:
    return max(
        (group.values.get("read_bytes", 0.0) for group in groups if group.source == "block"), default=0.0
    )


def _looped(groups: Sequence[CounterGroup]) -> float:
    """Over loopback: received data was sent by the same node."""
    return sum(
        group.values.get("received_bytes", 0.0)
        for group in groups
        if group.source == "network" and group.instance == "lo"
    )

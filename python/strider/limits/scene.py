"""Simulated runs of one result, with and without the cause of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strider.units import MIB

Groups = Sequence[tuple[str, str, Mapping[str, float]]]
"""Groups of counters of a node: source, instance, values."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Runs in which the number of a rule is at `absent` without its cause, and at `present` with it.

    A repetition takes 2 s and moves 1000 MiB/s with two clients.

    Attributes:
        keys: Of the result: `operation`, `interface`, and `keys`, the parameters of the case.
        fields: Fields of the samples by the number of each repetition.
        groups: Counters of a node by the same.
        by_rate: Whether the number is the rate ÷ 1000 MiB/s, with the noise of the rate.
        of_node: Ceilings of a node by name.
        of_clients: Ceilings of the clients by name.
        is_served: Whether reads are known to be served by storage.
        is_exact: Whether each repetition has the same number, as if its events alone were random.
        cause: The cause in words; by default, the two numbers.
    """

    absent: float
    present: float
    keys: Mapping[str, Any] = field(default_factory=dict)
    fields: Callable[[float], Mapping[str, Any]] = lambda _: {}
    groups: Callable[[float], Groups] = lambda _: ()
    by_rate: bool = False
    of_node: Mapping[str, float] = field(default_factory=dict)
    of_clients: Mapping[str, float] = field(default_factory=dict)
    is_served: bool = True
    is_exact: bool = False
    cause: str = ""


def spend(name: str) -> Callable[[float], Mapping[str, Any]]:
    """Returns seconds of a field for a share of two seconds."""
    return lambda share: {name: 2.0 * share}


def processor_time(name: str) -> Callable[[float], Groups]:
    """Returns processor time of four processors for a share of it."""
    return lambda share: [("cpu", "", {name: 8.0 * share, "idle_s": 8.0 * (1 - share)})]


def sent(share: float) -> Groups:
    """Returns bytes that a node sent for a share of 1000 MiB/s."""
    return [("network", "eth0", {"sent_bytes": 2000 * share * MIB})]

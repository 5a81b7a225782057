"""Ceilings looked up for a case, and rates that exceed them."""

from __future__ import annotations

from typing import Any

import pytest

from limits_builders import Result, of_clients, of_node, run_of
from strider.engine import Engine
from strider.statistics import summarize
from strider.statistics.ceilings import Ceilings
from strider.statistics.exceeding import OWN_CLIENTS, Exceeding
from strider.store.model import CeilingReport
from strider.units import MIB


def ceilings(*reports: CeilingReport) -> Ceilings:
    return Ceilings.of(run_of(ceilings=reports))


# proves limits: higher-value
def test_of_start_and_end_the_higher_one_counts() -> None:
    found = ceilings(
        of_clients("start", memory_copy=1000), of_clients("end", memory_copy=1200, verification=None)
    )
    assert found.of_clients("memory_copy", 2) == 1200
    assert found.of_clients("verification", 2) is None


@pytest.mark.parametrize(("clients", "value"), [(1, 100), (2, 200), (3, 800), (8, 800), (16, 800)])
def test_a_number_of_clients_that_was_not_measured_has_the_next_ones(clients: int, value: float) -> None:
    reports = [of_clients(clients=count, memory_copy=100.0 * count) for count in (8, 1, 2)]
    assert ceilings(*reports).of_clients("memory_copy", clients) == value


def test_clients_on_other_nodes_have_ceilings_of_their_own() -> None:
    reports = [
        of_clients(memory_copy=100.0 * nodes).model_copy(update={"nodes": nodes}) for nodes in (2, 1, 3)
    ]
    found = ceilings(*reports)
    assert [found.of_clients("memory_copy", 2, nodes) for nodes in (1, 2)] == [100, 200]
    assert found.of_clients("memory_copy", 2, 4) == 300, "not measured: that of the nodes that reached most"
    assert found.of_clients("memory_copy", 2) == 300


def test_nodes_add_up_as_far_as_all_are_known() -> None:
    found = ceilings(of_node(1, link=30, device_read=5), of_node(0, link=10, device_read=None))
    assert [found.of_nodes("link", nodes) for nodes in (1, 2, 3)] == [10, 40, 40]
    assert found.of_nodes("device_read", 2) is None
    assert found.of_nodes("network", 2) is None
    assert ceilings().of_nodes("link", 1) is None


def exceeding(result: Result, *reports: CeilingReport, file_system: str = "ext4") -> Exceeding | None:
    run = run_of(result, ceilings=reports, file_system=file_system)
    (summary,) = summarize(run, result.nodes(1))
    return summary.exceeding


DEVICE = of_node(device_read=500, device_write=500)
UNSYNCED = {"sync": "none"}


# proves limits: faster-than-device, no-evidence-of-device
def test_a_read_faster_than_the_device_is_one_of_a_cache() -> None:
    assert exceeding(Result("read"), DEVICE) == Exceeding("device", 2.0, 2.0)
    assert exceeding(Result("read", rates=[540.0]), DEVICE) is None
    assert exceeding(Result("read")) is None


def test_a_rate_that_may_be_that_of_the_device_is_none_of_a_cache() -> None:
    assert exceeding(Result("read", rates=[500.0, 700.0, 680.0]), DEVICE) is None, "1.24 times on average"
    assert exceeding(Result("read", rates=[1000.0, 1000.0]), DEVICE) is None, "two repetitions"
    assert exceeding(Result("read", rates=[545.0] * 3), DEVICE) is None, "measurements of a device differ"
    assert exceeding(Result("read", rates=[555.0] * 3), DEVICE) is not None
    assert exceeding(Result("read", rates=[950.0, 1050.0, 1000.0]), DEVICE) is not None


# proves limits: faster-than-device, no-evidence-of-device
def test_a_write_that_was_not_synced_too() -> None:
    assert exceeding(Result("write", keys=UNSYNCED), DEVICE) == Exceeding("device", 2.0, 2.0)


@pytest.mark.parametrize(
    "result",
    [
        Result("write"),  # synced at the end
        Result("read", interface={"name": "posix", "direct": True}),
        Result("read", interface={"name": "null"}),
        Result("read", interface={"name": "listio"}),  # to servers, wherever these have the bytes
        Result("read", interface={"name": "nfs"}),
        Result("read", times={"served_by_storage": 0.95}),
        Result("read", counters=[("block", "sda", {"read_bytes": 950 * MIB})]),
        Result("write", keys=UNSYNCED, counters=[("block", "sda", {"written_bytes": 950 * MIB})]),
        Result("read-modify-write"),
    ],
)
# proves limits: faster-than-device, no-evidence-of-device
def test_what_was_at_the_device_is_not_accused(result: Result) -> None:
    assert exceeding(result, DEVICE) is None


@pytest.mark.parametrize(
    ("name", "own_client", "accused"),
    [("posix", False, True), ("posix", None, True), ("nfs", None, False), ("novel", True, False)],
)
def test_the_engine_says_which_interface_has_a_client_of_its_own(
    name: str, own_client: bool | None, accused: bool
) -> None:
    result = Result("read", interface={"name": name}, keys={"own_client": own_client})
    assert (exceeding(result, DEVICE) is not None) is accused


def test_clients_of_their_own_in_older_runs_are_those_that_the_engine_names(engine: Engine) -> None:
    available = [interface for interface in engine.description.interfaces if interface.available]
    own_clients = {interface.name for interface in available if interface.capabilities["own_client"]}
    assert own_clients == OWN_CLIENTS & {interface.name for interface in available}


OUTSIDE = {"counters": [("network", "eth0", {"received_bytes": 100 * MIB})]}
WITHIN = {"counters": [("network", "lo", {"received_bytes": 1000 * MIB})]}


@pytest.mark.parametrize(
    ("keys", "file_system", "found"),
    [
        (OUTSIDE, "nfs4", Exceeding("network", 2.0, 2.0)),
        (OUTSIDE, "ext4", None),
        (WITHIN, "nfs4", None),  # servers on the node itself
        ({}, "nfs4", None),  # no counters
    ],
)
# proves limits: faster-than-network
def test_a_rate_beyond_the_links_is_one_of_a_cache(
    keys: dict[str, Any], file_system: str, found: Exceeding | None
) -> None:
    assert exceeding(Result("read", **keys), of_node(link=500), file_system=file_system) == found

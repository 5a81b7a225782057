"""Counters that differ between interfaces with the same work."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from limits_builders import Result, analysis_of
from strider.limits import Analysis

FIVE = (1000.0,) * 5


def switching(
    interface: str,
    switches: float,
    clients: int = 2,
    rates: Sequence[float] = FIVE,
    **options: object,
) -> Result:
    own = {"voluntary_switches": round(switches)}
    return Result(interface={"name": interface, **options}, times=own, clients=clients, rates=rates)


# proves limits: counters-differ, rank-counters
def test_what_moved_most_is_reported_beside_posix() -> None:
    analysis = analysis_of(switching("mpiio", 64000), switching("posix", 20000))
    (move,) = analysis.moves
    assert (move.counter, move.base.case.interface_name) == ("voluntary switches", "posix")
    assert move.ratio == pytest.approx(3.2)
    assert analysis.sentences[-1] == (
        "mpiio beside posix, write, for each MiB: 3.2 × the voluntary switches "
        "(64 instead of 20; 95 % interval 3.2–3.2)."
    )
    assert analysis.text(analysis.verdicts[0]) == (
        "nothing measured here explains it; 3.2 × the voluntary switches of posix"
    )


def test_without_posix_the_fastest_is_the_base() -> None:
    fast = switching("uring", 20000, rates=[2000.0] * 5)
    (move,) = analysis_of(switching("mpiio", 64000), fast).moves
    assert move.base.case.interface_name == "uring"


# proves limits: counter-ratio
def test_small_differences_are_not_reported() -> None:
    assert not analysis_of(switching("posix", 20000), switching("mpiio", 28000)).moves


def test_a_rate_of_zero_is_not_reported() -> None:
    assert not analysis_of(switching("posix", 10), switching("mpiio", 90)).moves


# proves limits: counters-differ
def test_one_interface_with_several_settings_is_reported_by_these() -> None:
    results = [
        switching("posix", 20000, direct=False, method="multiple", depth=1),
        switching("posix", 64000, direct=True, method="vectored", depth=1),
        switching("mpiio", 80000, collective=True, hints={}),
    ]
    analysis = analysis_of(*results)
    assert [sentence.partition(":")[0] for sentence in analysis.sentences[-2:]] == [
        "posix direct method vectored beside posix method multiple, write, for each MiB",
        "mpiio beside posix method multiple, write, for each MiB",
    ]
    assert analysis.text(analysis.verdicts[1]).endswith(
        "3.2 × the voluntary switches of posix method multiple"
    )


def test_the_same_twice_is_not_compared_with_itself() -> None:
    analysis = analysis_of(switching("posix", 20000), switching("posix", 64000), switching("mpiio", 64000))
    assert [move.other_name for move in analysis.moves] == ["mpiio"]


def test_other_work_and_null_are_not_compared() -> None:
    assert not analysis_of(switching("posix", 20000), switching("mpiio", 64000, clients=4)).moves
    assert not analysis_of(switching("posix", 20000), switching("null", 64000)).moves


# proves limits: tested-together
def test_a_difference_within_the_noise_is_not_reported() -> None:
    calls = ({"read_calls": 0, "write_calls": 1000}, {"read_calls": 0, "write_calls": 1600})

    def of(interface: str, rates: list[float], times: dict[str, int]) -> Result:
        return Result(interface={"name": interface}, rates=rates, times=times)

    steady: Analysis = analysis_of(of("posix", [1000.0] * 5, calls[0]), of("mpiio", [1000.0] * 5, calls[1]))
    assert [move.counter for move in steady.moves] == ["system calls"]
    # As many calls for different amounts of data: calls for each MiB vary, and their ratio may be below 1.5.
    shaky = analysis_of(
        of("posix", [1000.0, 960.0, 1040.0, 920.0, 1080.0], calls[0]),
        of("mpiio", [1060.0, 940.0, 1000.0, 960.0, 1040.0], calls[1]),
    )
    assert not shaky.moves


# proves limits: five-and-b
def test_fewer_than_five_repetitions_say_nothing() -> None:
    four = [1000.0] * 4
    assert not analysis_of(switching("posix", 20000, rates=four), switching("mpiio", 64000, rates=four)).moves


# proves limits: no-node-counters
def test_what_the_nodes_counted_is_not_compared() -> None:
    def of(interface: str, switches: float) -> Result:
        counted = [
            ("kernel", "", {"context_switches": switches, "interrupts": switches, "page_faults": switches}),
            ("cpu", "", {"user_s": switches / 1e4, "system_s": switches / 1e4}),
            ("network", "eth0", {"received_packets": switches, "sent_packets": switches}),
        ]
        return Result(interface={"name": interface}, counters=counted, rates=FIVE)

    assert not analysis_of(of("posix", 20000), of("mpiio", 90000)).moves


# proves limits: rank-counters
def test_processor_time_is_that_of_the_ranks() -> None:
    def of(interface: str, seconds: float) -> Result:
        return Result(interface={"name": interface}, times={"system_s": seconds}, rates=FIVE)

    assert analysis_of(of("posix", 0.2), of("mpiio", 0.6)).sentences[-1] == (
        "mpiio beside posix, write, for each MiB: 3 × the system time (0.6 ms instead of 0.2 ms; "
        "95 % interval 3–3)."
    )


# proves limits: five-and-b
def test_a_result_below_grade_b_is_not_compared() -> None:
    shaky = [1000.0, 500.0, 2000.0, 700.0, 1500.0]
    assert not analysis_of(switching("posix", 20000, rates=shaky), switching("mpiio", 900000)).moves


def test_metadata_is_compared_by_operation() -> None:
    def of(interface: str, switches: float) -> Result:
        own = {"voluntary_switches": round(switches)}
        keys = {"tree": {"name": "balanced"}}
        return Result("create", interface={"name": interface}, keys=keys, times=own, rates=FIVE)

    analysis = analysis_of(of("posix", 20000), of("mpiio", 64000))
    assert analysis.sentences[-1].startswith(
        "mpiio beside posix, create, for each operation: 3.2 × the voluntary switches (64 instead of 20;"
    )


def test_several_results_of_a_pair_are_one_sentence() -> None:
    results = [
        switching(name, switches, clients=clients)
        for clients, switches in ((1, 40000), (2, 60000))
        for name, switches in (("posix", 20000), ("mpiio", switches))
    ]
    assert analysis_of(*results).sentences[-1] == (
        "mpiio beside posix, write, for each MiB: 2–3 × the voluntary switches (2 results)."
    )

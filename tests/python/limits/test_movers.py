"""Counters that differ between interfaces with the same work."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from limits_builders import Result, analysis_of
from strider.limits import Analysis, movers
from strider.statistics import CounterSummary
from strider.statistics.counters import summarize_counters
from strider.store.model import NodeCounters, Sample


def switching(
    interface: str,
    switches: float,
    clients: int = 2,
    rates: Sequence[float] = (1000.0, 1000.0, 1000.0),
    **options: object,
) -> Result:
    counted = [("kernel", "", {"context_switches": switches})]
    return Result(interface={"name": interface, **options}, counters=counted, clients=clients, rates=rates)


def test_what_moved_most_is_reported_beside_posix() -> None:
    analysis = analysis_of(switching("mpiio", 64000), switching("posix", 20000))
    (move,) = analysis.moves
    assert (move.counter, move.base.case.interface_name) == ("context switches", "posix")
    assert move.ratio == pytest.approx(3.2)
    assert analysis.sentences[-1] == (
        "mpiio beside posix, write, for each MiB: 3.2 × the context switches "
        "(64 instead of 20; 95 % interval 3.2–3.2)."
    )
    assert analysis.text(analysis.verdicts[0]) == (
        "nothing measured here explains it; 3.2 × the context switches of posix"
    )


def test_without_posix_the_fastest_is_the_base() -> None:
    fast = switching("uring", 20000, rates=[2000.0] * 3)
    (move,) = analysis_of(switching("mpiio", 64000), fast).moves
    assert move.base.case.interface_name == "uring"


def test_small_differences_are_not_reported() -> None:
    assert not analysis_of(switching("posix", 20000), switching("mpiio", 28000)).moves


def test_a_rate_of_zero_is_not_reported() -> None:
    assert not analysis_of(switching("posix", 10), switching("mpiio", 90)).moves


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
    assert analysis.text(analysis.verdicts[1]).endswith("3.2 × the context switches of posix method multiple")


def test_the_same_twice_is_not_compared_with_itself() -> None:
    analysis = analysis_of(switching("posix", 20000), switching("posix", 64000), switching("mpiio", 64000))
    assert [move.other_name for move in analysis.moves] == ["mpiio"]


def test_other_work_and_null_are_not_compared() -> None:
    assert not analysis_of(switching("posix", 20000), switching("mpiio", 64000, clients=4)).moves
    assert not analysis_of(switching("posix", 20000), switching("null", 64000)).moves


def test_a_difference_within_the_noise_is_not_reported() -> None:
    calls = ({"read_calls": 0, "write_calls": 1000}, {"read_calls": 0, "write_calls": 1600})

    def of(interface: str, rates: list[float], times: dict[str, int]) -> Result:
        return Result(interface={"name": interface}, rates=rates, times=times)

    steady: Analysis = analysis_of(of("posix", [1000.0] * 3, calls[0]), of("mpiio", [1000.0] * 3, calls[1]))
    assert [move.counter for move in steady.moves] == ["system calls"]
    # As many calls for very different amounts of data: calls for each MiB vary by a factor of ten.
    shaky = analysis_of(
        of("posix", [1000.0, 300.0, 3000.0], calls[0]), of("mpiio", [300.0, 3000.0, 1000.0], calls[1])
    )
    assert not shaky.moves


def test_what_was_counted_around_a_repetition_is_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    added_up: list[tuple[int, int]] = []

    def counting(samples: Sequence[Sample], counters: Sequence[NodeCounters]) -> CounterSummary | None:
        added_up.extend((sample.case, sample.repetition) for sample in samples)
        return summarize_counters(samples, counters)

    monkeypatch.setattr(movers, "summarize_counters", counting)
    analysis = analysis_of(switching("posix", 20000), switching("mpiio", 64000), switching("uring", 80000))
    assert [move.other_name for move in analysis.moves] == ["mpiio", "uring"]
    assert sorted(added_up) == [(case, repetition) for case in (1, 2, 3) for repetition in range(3)]


def test_metadata_is_compared_by_operation() -> None:
    def of(interface: str, switches: float) -> Result:
        counted = [("kernel", "", {"context_switches": switches})]
        keys = {"tree": {"name": "balanced"}}
        return Result(operation="create", interface={"name": interface}, keys=keys, counters=counted)

    analysis = analysis_of(of("posix", 20000), of("mpiio", 64000))
    assert analysis.sentences[-1].startswith(
        "mpiio beside posix, create, for each operation: 3.2 × the context switches (64 instead of 20;"
    )


def test_several_results_of_a_pair_are_one_sentence() -> None:
    results = [
        switching(name, switches, clients=clients)
        for clients, switches in ((1, 40000), (2, 60000))
        for name, switches in (("posix", 20000), ("mpiio", switches))
    ]
    assert analysis_of(*results).sentences[-1] == (
        "mpiio beside posix, write, for each MiB: 2–3 × the context switches (2 results)."
    )

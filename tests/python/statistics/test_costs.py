"""Costs for each MiB: the parts of the time add up, and what nodes count is divided from what ranks count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.statistics import OperationSummary, summarize
from strider.statistics.costs import Costs, costs_of
from strider.store import NodeCounters, load, load_events
from strider.store.records import CounterGroup

MIB = 128
"""Of all ranks in a repetition."""


def summary_of(
    folder: Path,
    case: CaseSpec,
    processes: dict[str, dict[str, float]] | None = None,
    **counts: dict[str, float],
) -> OperationSummary:
    """The write of a case, with counters by source, and of processes by name, for each repetition."""
    run = load(RunBuilder([case], repetitions=2).write(folder / "run"))
    counters = load_events(run.directory, NodeCounters)
    if counts:
        groups = [
            *(CounterGroup(source=source, values=values) for source, values in counts.items()),
            *(
                CounterGroup(source="process", instance=name, values=values)
                for name, values in (processes or {}).items()
            ),
        ]
        counters = [
            NodeCounters(case=1, repetition=number, operation="write", elapsed_s=1.0, counters=groups)
            for number in range(2)
        ]
    (summary,) = summarize(run, counters)
    return summary


def costs(summary: OperationSummary, packed: int | None = None) -> Costs:
    found = costs_of(summary, packed)
    assert found is not None
    return found


WRITE = CaseSpec(operations=("write",))


def test_the_time_of_the_ranks_is_processor_time_and_waiting(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, WRITE)
    elapsed = sum(sample.elapsed_s for sample in summary.samples) / 2
    found = costs(summary)
    assert found.time_s == pytest.approx(2 * elapsed / MIB)
    assert found.user_s == pytest.approx(2 * 0.1 * elapsed / MIB)
    assert found.system_s == pytest.approx(2 * 0.4 * elapsed / MIB)
    assert found.waiting_s == pytest.approx(2 * 0.5 * elapsed / MIB)


def test_calls_and_switches_are_those_of_the_ranks(tmp_path: Path) -> None:
    found = costs(summary_of(tmp_path, WRITE))
    assert found.calls == pytest.approx(1)
    assert found.switches == pytest.approx(15 / MIB)


def test_without_counters_nothing_is_said_of_others(tmp_path: Path) -> None:
    found = costs(summary_of(tmp_path, CaseSpec(operations=("write",), calls_per_request=None)))
    assert (found.servers_s, found.others_s, found.others_switches, found.packets) == (None,) * 4
    assert found.calls is None


def test_others_have_what_the_nodes_count_beyond_the_ranks(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        WRITE,
        cpu={"user_s": 3.0, "nice_s": 1.0, "system_s": 2.0, "softirq_s": 1.0, "idle_s": 9.0},
        kernel={"context_switches": 655.0},
        network={"sent_packets": 256.0, "received_packets": 999.0},
    )
    found = costs(summary)
    assert found.user_s is not None
    assert found.system_s is not None
    assert found.others_s == pytest.approx(7.0 / MIB - found.user_s - found.system_s)
    assert found.others_switches == pytest.approx((655 - 15) / MIB)
    assert found.packets == pytest.approx(2)
    assert (found.mounts_s, found.servers_s, found.servers_switches) == (None,) * 3


def test_mounts_and_servers_that_were_watched_are_no_others(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        WRITE,
        cpu={"user_s": 4.0, "system_s": 3.0, "idle_s": 9.0},
        kernel={"context_switches": 655.0},
        network={"sent_packets": 256.0},
        processes={
            "mount": {
                "user_s": 0.5,
                "system_s": 0.5,
                "voluntary_switches": 90.0,
                "involuntary_switches": 10.0,
            },
            "server 1": {"user_s": 1.0, "system_s": 1.0, "voluntary_switches": 100.0, "sent_packets": 50.0},
            "server 2": {
                "user_s": 0.0,
                "system_s": 1.0,
                "voluntary_switches": 100.0,
                "received_packets": 14.0,
            },
        },
    )
    found = costs(summary)
    assert found.user_s is not None
    assert found.system_s is not None
    assert found.mounts_s == pytest.approx(1 / MIB)
    assert found.servers_s == pytest.approx(3 / MIB)
    assert found.others_s == pytest.approx((7 - 1 - 3) / MIB - found.user_s - found.system_s)
    assert found.mounts_switches == pytest.approx(100 / MIB)
    assert found.servers_switches == pytest.approx(200 / MIB)
    assert found.others_switches == pytest.approx((655 - 15 - 100 - 200) / MIB)
    assert found.packets == pytest.approx(64 / MIB)


def test_clocks_that_hardly_ticked_say_nothing_of_others(tmp_path: Path) -> None:
    found = costs(summary_of(tmp_path, WRITE, cpu={"user_s": 0.1, "system_s": 0.09, "idle_s": 60.0}))
    assert found.others_s is None


def test_what_is_packed_is_copied(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, WRITE)
    samples = [
        sample.model_copy(update={"call_read_bytes": 0, "call_write_bytes": 64 << 20})
        for sample in summary.samples
    ]
    counted = replace(summary, samples=samples)
    assert costs(counted).copied == pytest.approx(0.5)
    # Each of the two clients packed 32 of its 64 MiB.
    assert costs(counted, 32 << 20).copied == pytest.approx(1.0)


def test_metadata_and_empty_results_have_no_costs(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(wrong_data=True)], repetitions=1).write(tmp_path / "run"))
    assert [costs_of(summary) is None for summary in summarize(run)] == [False, True]

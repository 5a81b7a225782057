"""What nodes counted, added up and averaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder
from strider.statistics import CounterSummary, summarize
from strider.statistics.counters import summarize_counters
from strider.store import load, load_events
from strider.store.model import CounterGroup, NodeCounters


def counters_of(tmp_path: Path, nodes: int, repetitions: int = 3, warmup: int = 0) -> CounterSummary:
    """Of the write of a run."""
    builder = RunBuilder([CaseSpec(counting_nodes=nodes)], repetitions=repetitions, warmup=warmup)
    directory = builder.write(tmp_path / "run")
    found = summarize(load(directory), load_events(directory, NodeCounters))[0].counters
    assert found is not None
    return found


def test_counters_are_summed_over_nodes_and_averaged_over_repetitions(tmp_path: Path) -> None:
    found = counters_of(tmp_path, nodes=2)
    assert found.nodes == 2
    assert found.elapsed_s == pytest.approx(3.0)
    assert found.total("kernel", "context_switches") == pytest.approx(2 * 3000)
    assert found.per_second("kernel", "context_switches") == pytest.approx(2000)
    assert found.total("network", "received_packets") == pytest.approx(2 * 42)
    assert found.memory_bytes == 2 * (8 << 30)


# proves limits: clock-ticks
def test_shares_of_processor_time_are_those_of_vmstat(tmp_path: Path) -> None:
    found = counters_of(tmp_path, nodes=3)
    assert found.processor_share("user_s", "nice_s") == pytest.approx(0.5)
    assert found.processor_share("system_s") == pytest.approx(0.25)
    assert found.processor_share("iowait_s") == 0


def test_a_device_on_top_of_another_does_not_count_twice(tmp_path: Path) -> None:
    assert counters_of(tmp_path, nodes=1).total("block", "read_bytes") == 64 * MIB


def test_of_two_devices_the_busier_one_counts(tmp_path: Path) -> None:
    quiet = CounterGroup(source="block", instance="a", values={"read_bytes": 5.0, "written_bytes": 5.0})
    busy = CounterGroup(source="block", instance="b", values={"read_bytes": 1.0, "written_bytes": 70.0})
    samples = summarize(load(RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "run")))[0].samples
    for groups in ([quiet, busy], [busy, quiet]):
        node = NodeCounters(case=1, repetition=0, operation="write", elapsed_s=1, counters=groups)
        found = summarize_counters(samples, [node])
        assert found is not None
        assert found.total("block", "written_bytes") == 70


def test_an_event_of_several_nodes_counts_them_all(tmp_path: Path) -> None:
    samples = summarize(load(RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "run")))[0].samples
    group = CounterGroup(source="block", instance="busiest", values={"read_bytes": 5.0})
    one = NodeCounters(case=1, repetition=0, operation="write", node=70, elapsed_s=1, counters=[group])
    others = one.model_copy(update={"node": None, "nodes": 40, "elapsed_s": 2})
    found = summarize_counters(samples, [one, others])
    assert found is not None
    assert (found.nodes, found.elapsed_s, found.total("block", "read_bytes")) == (41, 2, 10)


def test_warm_ups_do_not_count(tmp_path: Path) -> None:
    found = counters_of(tmp_path, nodes=1, repetitions=1, warmup=1)
    assert found.elapsed_s == 3.0


def test_what_was_not_counted_is_unknown(tmp_path: Path) -> None:
    found = counters_of(tmp_path, nodes=1)
    assert found.total("infiniband", "sent_packets") is None
    assert found.per_second("infiniband", "sent_packets") is None
    directory = RunBuilder([CaseSpec()]).write(tmp_path / "without")
    assert summarize(load(directory), load_events(directory, NodeCounters))[0].counters is None


def test_of_lustre_what_was_sent_counts_and_not_what_was_asked_for(tmp_path: Path) -> None:
    samples = summarize(load(RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "run")))[0].samples
    groups = [
        CounterGroup(source="lustre", instance=f"scratch/{layer}", values={"read_bytes": size})
        for layer, size in (("llite", 1000), ("osc", 300))
    ]
    node = NodeCounters(case=1, repetition=0, operation="write", elapsed_s=1, counters=groups)
    found = summarize_counters(samples, [node])
    assert found is not None
    assert found.total("lustre", "read_bytes") == 300

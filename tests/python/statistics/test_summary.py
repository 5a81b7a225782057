"""The summary of each operation is computed from the samples that count, and from no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder, sweep
from strider.statistics import CallSummary, compare_digests, summarize
from strider.store import Run, load


def run_of(tmp_path: Path, *cases: CaseSpec, repetitions: int = 3, warmup: int = 0) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions, warmup=warmup).write(tmp_path / "run"))


def test_there_is_one_summary_for_each_operation_of_each_case(tmp_path: Path) -> None:
    summaries = summarize(run_of(tmp_path, CaseSpec(), CaseSpec(operations=("read",))))
    assert [(s.case.number, s.operation) for s in summaries] == [(1, "write"), (1, "read"), (2, "read")]


# proves measuring: prefill, sample, not-counted-samples
def test_warm_ups_and_preparation_do_not_count(tmp_path: Path) -> None:
    run = run_of(tmp_path, CaseSpec(operations=("read",)), warmup=2)
    (summary,) = summarize(run)
    counted = [s.rate_mib_s for s in run.samples if s.operation == "read" and not s.warmup]
    assert summary.n == 3
    assert summary.rate is not None
    assert summary.rate.mean == pytest.approx(sum(counted) / 3)


# proves measuring: sample, not-counted-samples
def test_void_samples_do_not_count_but_are_reported(tmp_path: Path) -> None:
    write, read = summarize(run_of(tmp_path, CaseSpec(wrong_data=True)))
    assert (write.n, write.voided) == (3, 0)
    assert (read.n, read.voided, read.rate) == (0, 3, None)
    assert read.verify is not None
    assert read.verify.wrong_bytes == 3 * 512
    assert [error.cause for error in read.errors] == ["zero"] * 3


# proves measuring: summary-columns
def test_both_averages_of_rates_are_given(tmp_path: Path) -> None:
    run = run_of(tmp_path, CaseSpec(operations=("write",)))
    (summary,) = summarize(run)
    assert summary.rate is not None
    total = sum(s.bytes for s in run.samples) / MIB / sum(s.elapsed_s for s in run.samples)
    assert summary.total_rate == pytest.approx(total)
    assert summary.total_rate < summary.rate.mean, "slow repetitions weigh more"


def test_latency_is_that_of_all_repetitions_together(tmp_path: Path) -> None:
    run = run_of(tmp_path, CaseSpec(operations=("write",)))
    (summary,) = summarize(run)
    latencies = [sample.latency for sample in run.samples if sample.latency]
    assert summary.latency is not None
    assert summary.latency.count == sum(one.count for one in latencies)
    assert summary.latency.maximum_s == max(one.max_s for one in latencies)
    medians = sorted(one.p50_s for one in latencies)
    assert medians[0] * 0.99 <= summary.latency.p50_s <= medians[-1] * 1.01
    assert summary.latency.p50_s <= summary.latency.p90_s <= summary.latency.maximum_s


def test_what_was_never_reached_has_no_summary(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec(), CaseSpec()], repetitions=1).write(tmp_path / "run", status=None)
    events = directory / "events.jsonl"
    events.write_text(
        "".join(line for line in events.read_text().splitlines(True) if '"case": 2' not in line)
    )
    assert {summary.case.number for summary in summarize(load(directory))} == {1}


def test_the_deadline_keeps_both_numbers(tmp_path: Path) -> None:
    (summary, _) = summarize(run_of(tmp_path, CaseSpec(common={"deadline": 30.0})))
    assert summary.deadline is not None
    assert summary.rate is not None
    assert summary.deadline.deadline_s == 30
    assert summary.deadline.rate == pytest.approx(1.08 * summary.rate.mean)


# proves measuring: digest, digest-compares
def test_the_same_case_through_two_interfaces_reads_the_same_data(tmp_path: Path) -> None:
    comparisons = compare_digests(run_of(tmp_path, *sweep(transfers=(4096, 8192))))
    assert [(one.operation, one.verdict, one.repetitions) for one in comparisons] == [
        ("read", "same data", 3),
        ("read", "same data", 3),
    ]
    assert [[case.interface_name for case in one.cases] for one in comparisons] == [["posix", "mpiio"]] * 2


def test_parameters_of_the_interface_do_not_excuse_different_data(tmp_path: Path) -> None:
    direct = CaseSpec(interface={"name": "posix", "direct": True}, wrong_data=True)
    (comparison,) = compare_digests(run_of(tmp_path, CaseSpec(), direct))
    assert comparison.verdict == "different data"


@pytest.mark.parametrize("key", ["warmup", "settle", "deadline"])
def test_how_long_a_case_is_run_does_not_matter_to_its_data(tmp_path: Path, key: str) -> None:
    other = CaseSpec(interface={"name": "mpiio"}, name="other", common={key: 1})
    (comparison,) = compare_digests(run_of(tmp_path, CaseSpec(), other))
    assert [case.number for case in comparison.cases] == [1, 2]


def test_different_workloads_are_not_compared(tmp_path: Path) -> None:
    shared, own = CaseSpec(), CaseSpec(interface={"name": "mpiio"}, common={"sharing": "per-rank"})
    assert compare_digests(run_of(tmp_path, shared, own)) == []


def test_each_case_that_rewrites_a_data_set_reads_a_generation_of_its_own(tmp_path: Path) -> None:
    def cases(name: str) -> list[CaseSpec]:
        ways = ({"name": "posix"}, {"name": "mpiio"})
        return [CaseSpec(way, operations=("rewrite", "read"), common={"dataset": name}) for way in ways]

    assert compare_digests(run_of(tmp_path / "set", *cases("kept"))) == []
    assert [one.operation for one in compare_digests(run_of(tmp_path / "own", *cases("")))] == ["read"]


def test_different_amounts_cannot_be_compared(tmp_path: Path) -> None:
    run = run_of(tmp_path, *sweep(transfers=(4096,)))
    cut = [s.model_copy(update={"bytes": 1}) if s.case == 2 else s for s in run.samples]
    (comparison,) = compare_digests(run.model_copy(update={"samples": cut}))
    assert comparison.verdict == "not comparable"


def test_calls_are_means_over_repetitions(tmp_path: Path) -> None:
    write, read = summarize(run_of(tmp_path, CaseSpec(calls_per_request=0.25)))
    assert write.calls == CallSummary(requests=128, read_calls=0, write_calls=32)
    assert read.calls == CallSummary(requests=128, read_calls=32, write_calls=0)


def test_where_the_kernel_did_not_count_there_are_no_calls(tmp_path: Path) -> None:
    assert all(
        summary.calls is None for summary in summarize(run_of(tmp_path, CaseSpec(calls_per_request=None)))
    )


def test_runs_from_before_calls_were_counted_have_none(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / "run")
    events = directory / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    older = [{key: value for key, value in event.items() if "_calls" not in key} for event in lines]
    events.write_text("".join(json.dumps(event) + "\n" for event in older))
    assert all(summary.calls is None for summary in summarize(load(directory)))

"""Results of metadata operations: operations per second, latencies, the parts of a mix."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import sweep
from metadata_builders import FILES, MIX, MetadataBuilder, TreeSpec, trees
from strider.statistics import compare_digests, summarize
from strider.statistics.summary import OperationSummary
from strider.store import load


def summaries_of(tmp_path: Path, cases: list[TreeSpec], warmup: int = 0) -> list[OperationSummary]:
    return summarize(load(MetadataBuilder(cases, warmup=warmup).write(tmp_path / "run")))


def test_a_rate_of_metadata_is_operations_per_second(tmp_path: Path) -> None:
    create = summaries_of(tmp_path, trees(sharing=["shared"]))[0]
    assert create.rate is not None
    assert (create.operation, create.rate_unit, create.rate.n) == ("create", "op/s", 3)
    assert create.rate.mean == pytest.approx(sum(s.requests_s for s in create.samples) / 3)


def test_all_its_rates_are_in_that_unit(tmp_path: Path) -> None:
    create = summaries_of(tmp_path, trees(sharing=["shared"]))[0]
    assert create.rate is not None
    assert create.first_done is not None
    assert create.ranks is not None
    elapsed_s = sum(sample.elapsed_s for sample in create.samples)
    assert create.total_rate == pytest.approx(3 * 2 * FILES / elapsed_s)
    assert create.first_done.mean == pytest.approx(1.05 * create.rate.mean)
    assert create.ranks.slowest < create.ranks.mean < create.ranks.fastest < create.rate.mean
    assert create.ranks.slowest > 1000


def test_warm_ups_do_not_count(tmp_path: Path) -> None:
    assert {summary.n for summary in summaries_of(tmp_path, trees(), warmup=2)} == {3}


def test_the_rate_at_a_deadline_is_operations_per_second(tmp_path: Path) -> None:
    create = summaries_of(tmp_path, [TreeSpec(common={"deadline": 3.0})])[0]
    assert create.deadline is not None
    assert create.deadline.rate == pytest.approx(900 / 3.0)
    assert create.deadline.requests == 900


def test_the_operations_of_a_mix_are_distinguished(tmp_path: Path) -> None:
    (mix,) = summaries_of(tmp_path, [TreeSpec(operations=("mix",), mix=MIX)])
    assert [part.operation for part in mix.parts] == list(MIX)
    assert [part.share for part in mix.parts] == pytest.approx([0.6, 0.25, 0.1, 0.05])
    assert sum(part.rate.mean for part in mix.parts if part.rate) == pytest.approx(
        mix.rate.mean if mix.rate else 0
    )
    stat = mix.parts[0]
    assert stat.latency is not None
    assert stat.latency.count == stat.requests == 3 * 2 * FILES * 0.6
    assert stat.latency.minimum_s < stat.latency.p50_s < stat.latency.p99_s <= stat.latency.maximum_s


def test_the_operations_of_a_mix_are_in_the_order_of_the_plan(tmp_path: Path) -> None:
    run = load(MetadataBuilder([TreeSpec(operations=("mix",), mix=MIX)]).write(tmp_path / "run"))
    sorted_by_name = [
        sample.model_copy(update={"parts": sorted(sample.parts, key=lambda part: part.operation)})
        for sample in run.samples
    ]
    (mix,) = summarize(run.model_copy(update={"samples": sorted_by_name}))
    assert [part.operation for part in mix.parts] == list(MIX)


def test_only_a_mix_has_parts(tmp_path: Path) -> None:
    assert not any(summary.parts for summary in summaries_of(tmp_path, trees()))


def test_latencies_are_merged_over_repetitions(tmp_path: Path) -> None:
    create = summaries_of(tmp_path, trees(sharing=["shared"]))[0]
    assert create.histogram is not None
    assert create.latency is not None
    assert create.histogram.count == create.latency.count == 3 * 2 * FILES


def test_what_a_check_found_is_summed(tmp_path: Path) -> None:
    stat = summaries_of(tmp_path, [TreeSpec(wrong_data=True)])[1]
    assert stat.verify is not None
    assert (stat.n, stat.voided, stat.verify.mismatches) == (0, 3, 6)


def test_one_run_may_have_data_and_metadata(tmp_path: Path) -> None:
    run = load(MetadataBuilder([*sweep(interfaces=["posix", "mpiio"]), *trees()]).write(tmp_path / "run"))
    units = {summary.operation: summary.rate_unit for summary in summarize(run)}
    assert (units["write"], units["create"]) == ("MiB/s", "op/s")
    assert {one.operation for one in compare_digests(run)} == {"read"}

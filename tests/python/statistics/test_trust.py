"""Grades: each criterion has its threshold, the weakest decides, and less data never gets a better letter."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from metadata_builders import MetadataBuilder, TreeSpec
from strider.statistics import OperationSummary, Trust, grade_of, is_trusted, summarize
from strider.statistics.exceeding import Exceeding
from strider.store import Run, load

STEADY = (100.0, 101.0, 99.5, 100.4, 99.0, 100.8)
COLD = {"policy": "cold", "action": "fsync", "cached_share": 0.0, "examined_by": "cachestat"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    case = CaseSpec(common={"verify": "off", "sync": "end"}, served=1.0)
    return load(RunBuilder([case]).write(tmp_path_factory.mktemp("runs") / "run"))


def of(
    run: Run,
    operation: str = "write",
    rates: tuple[float, ...] = STEADY,
    seconds: float | tuple[float, ...] = 2.0,
    file_system: str = "ext4",
    case: dict[str, Any] | None = None,
    sample: dict[str, Any] | None = None,
) -> Trust:
    """The trust in an operation with some rates and durations; further fields of its case and samples."""
    trust = grade_of(summary_of(run, operation, rates, seconds, case, sample), file_system)
    assert trust is not None
    return trust


def summary_of(
    run: Run,
    operation: str = "write",
    rates: tuple[float, ...] = STEADY,
    seconds: float | tuple[float, ...] = 2.0,
    case: dict[str, Any] | None = None,
    sample: dict[str, Any] | None = None,
) -> OperationSummary:
    base = next(one for one in run.samples if one.operation == operation)
    lengths = seconds if isinstance(seconds, tuple) else (seconds,) * len(rates)
    samples = [
        base.model_copy(
            update={
                "repetition": number,
                "rate_mib_s": rate,
                "elapsed_s": length,
                "bytes": round(rate * length * (1 << 20)),
                "served_bytes": round(rate * length * (1 << 20)),
                **(sample or {}),
            }
        )
        for number, (rate, length) in enumerate(zip(rates, lengths, strict=True))
    ]
    cases = {1: run.cases[1].model_copy(update=case or {})}
    (summary,) = summarize(run.model_copy(update={"samples": samples, "cases": cases}))
    return summary


def test_a_steady_synced_write_and_a_read_from_storage_are_an_a(run: Run) -> None:
    assert str(of(run)) == "A"
    assert str(of(run, "read")) == "A"
    assert is_trusted(of(run))


@pytest.mark.parametrize(
    ("rates", "seconds", "grade"),
    [
        (STEADY[:5], 1.0, "A"),
        (STEADY[:5], 0.99, "C short"),
        (STEADY[:4], 1.0, "B 4 repetitions"),
        (STEADY[:3], 1.0, "B 3 repetitions"),
        (STEADY[:2], 1.0, "C 2 repetitions"),
        (STEADY[:1], 60.0, "C 1 repetition"),
        (STEADY, 0.2, "C short"),
        (STEADY, 0.19, "D short"),
        (STEADY, (1.0, 1.0, 1.0, 0.5, 0.5, 0.5), "B short"),
        (STEADY, (1.0, 1.0, 0.5, 0.5, 0.5, 0.5), "C short"),
        ((100.0, 104, 96, 103, 98, 101), 2.0, "A"),
        ((100.0, 110, 91, 108, 94, 101), 2.0, "B spread"),
        ((100.0, 130, 75, 120, 80, 101), 2.0, "C spread"),
    ],
)
# proves measuring: short-phases
def test_repetitions_their_length_and_their_interval_count(
    run: Run, rates: tuple[float, ...], seconds: float | tuple[float, ...], grade: str
) -> None:
    assert str(of(run, rates=rates, seconds=seconds)) == grade


@pytest.mark.parametrize(
    ("share", "source", "grade"),
    [
        (1.0, "process", "A"),
        (0.98, "process", "B cache"),
        (0.89, "process", "C cache"),
        (0.09, "process", "D cache"),
        (1.0, "network", "B servers?"),
        (1.0, "nfs", "B servers?"),
        (None, None, "C source?"),
    ],
)
def test_reads_count_as_far_as_storage_served_them(
    run: Run, share: float | None, source: str | None, grade: str
) -> None:
    summary = summary_of(run, "read")
    served = [round(sample.bytes * share) if share is not None else None for sample in summary.samples]
    samples = [
        sample.model_copy(update={"served_by_storage": share, "served_bytes": count, "served_source": source})
        for sample, count in zip(summary.samples, served, strict=True)
    ]
    (summary,) = summarize(run.model_copy(update={"samples": samples}))
    assert str(grade_of(summary, "ext4")) == grade


def test_a_client_that_is_proven_cold_leaves_the_servers(run: Run) -> None:
    unknown: dict[str, Any] = {"served_by_storage": None, "served_bytes": None, "served_source": None}
    base = load_cold(run)
    assert str(of(base, "read", sample=unknown, file_system="nfs4")) == "B servers?"
    # A local file system has no servers.
    assert str(of(base, "read", sample=unknown)) == "B source?"
    warm = base.samples[-1].cache.model_copy(update={"cached_share": 0.02})  # type: ignore[union-attr]
    assert str(of(base, "read", sample={**unknown, "cache": warm})) == "D cache"
    unseen = base.samples[-1].cache.model_copy(update={"cached_share": None})  # type: ignore[union-attr]
    assert str(of(base, "read", sample={**unknown, "cache": unseen})) == "C source?"
    direct = {"interface": {"name": "posix", "direct": True}}
    assert str(of(run, "read", case=direct, sample=unknown, file_system="nfs4")) == "B servers?"
    assert str(of(run, "read", case=direct, sample=unknown)) == "B source?"


def load_cold(run: Run) -> Run:
    spec = CaseSpec(common={"verify": "off"}, served=1.0, prepared=COLD)
    return load(RunBuilder([spec]).write(run.directory.parent / "cold"))


def test_writes_count_if_they_were_synced_or_direct(run: Run) -> None:
    assert str(of(run, case={"sync": "none"})) == "C not synced"
    direct = {"name": "posix", "direct": True}
    assert str(of(run, case={"sync": "none", "interface": direct})) == "A"


@pytest.mark.parametrize("file_system", ["nfs4", "fuse.glusterfs", "fuse.mergerfs"])
def test_what_servers_say_of_a_sync_is_no_a(run: Run, file_system: str) -> None:
    direct = {"name": "posix", "direct": True}
    assert str(of(run, file_system=file_system)) == "B servers?"
    assert str(of(run, case={"sync": "none", "interface": direct}, file_system=file_system)) == "B servers?"


def test_a_target_in_memory_is_graded_and_never_an_a(run: Run) -> None:
    assert str(of(run, file_system="tmpfs")) == "B memory"
    assert str(of(run, "read", file_system="tmpfs")) == "B memory"
    assert str(of(run, file_system="tmpfs", seconds=0.5)) == "C short"


def test_errors_void_samples_clocks_levels_and_checks_are_found(run: Run) -> None:
    summary = summary_of(run)
    assert str(grade_of(dataclasses.replace(summary, voided=1))) == "D void"
    fast = dataclasses.replace(summary, exceeding=Exceeding("device", 3.0, 2.5))
    assert str(grade_of(fast)) == "D cache"
    assert str(of(run, sample={"flags": ["clock"]})) == "C clock"
    assert str(of(run, case={"verify": "full"})) == "C verified"
    assert str(of(run, case={"verify": "full"}).apart_from({"verified"})) == "A"
    assert str(of(run, rates=(100.0, 101, 100, 110, 111, 110))) == "C level"
    assert str(of(run, rates=(100.0, 98, 96, 94, 92))) == "C trend"


def test_an_error_of_a_case_is_a_d(tmp_path: Path) -> None:
    broken = load(RunBuilder([CaseSpec(wrong_data=True)]).write(tmp_path / "run"))
    trust = {one.operation: one.trust for one in summarize(broken)}["read"]
    assert trust is not None
    assert trust.grade == "D"
    assert set(trust.reasons) >= {"errors", "void"}


def test_the_interface_that_moves_nothing_has_no_grade(run: Run) -> None:
    summary = summary_of(run, case={"interface": {"name": "null"}})
    assert summary.trust is None
    assert not is_trusted(summary.trust)


@pytest.mark.parametrize(
    ("operation", "common", "file_system", "words"),
    [
        ("create", {"sync": "each"}, "ext4", set()),
        ("create", {"sync": "each"}, "nfs4", {"servers?"}),
        ("create", {"sync": "each"}, "fuse.mergerfs", {"servers?"}),
        ("create", {"sync": "none"}, "ext4", {"not synced"}),
        ("unlink", {"sync": "each"}, "ext4", {"not synced"}),
        ("unlink", {"sync": "node"}, "ext4", set()),
        ("create", {"sync": "node"}, "nfs4", {"servers?"}),
        ("unlink", {"sync": "none"}, "nfs4", {"servers?"}),
        ("stat", {"sync": "none"}, "nfs4", {"source?"}),
        ("stat", {"sync": "none"}, "tmpfs", {"memory"}),
    ],
)
def test_metadata_is_durable_at_the_servers_or_in_doubt(
    tmp_path: Path, operation: str, common: dict[str, str], file_system: str, words: set[str]
) -> None:
    spec = TreeSpec(operations=("create", "stat", "unlink"), common=common)
    summaries = summarize(load(MetadataBuilder([spec]).write(tmp_path / "run")))
    trust = grade_of({one.operation: one for one in summaries}[operation], file_system)
    assert trust is not None
    known = {"not synced", "servers?", "source?", "memory"}
    assert {word for _, word in trust.findings} & known == words


Worse = Callable[[random.Random, tuple[float, ...], tuple[float, ...]], dict[str, Any]]


def _fewer(draw: random.Random, rates: tuple[float, ...], seconds: tuple[float, ...]) -> dict[str, Any]:
    """The repetition that is nearest to the centre is lost: the rest is not steadier."""
    middle = sorted(range(len(rates)), key=lambda one: rates[one])[len(rates) // 2]
    keep = [number for number in range(len(rates)) if number != middle]
    return {"rates": tuple(rates[one] for one in keep), "seconds": tuple(seconds[one] for one in keep)}


def _shorter(draw: random.Random, rates: tuple[float, ...], seconds: tuple[float, ...]) -> dict[str, Any]:
    return {"rates": rates, "seconds": tuple(one * draw.uniform(0.1, 1) for one in seconds)}


def _wider(draw: random.Random, rates: tuple[float, ...], seconds: tuple[float, ...]) -> dict[str, Any]:
    mean = sum(rates) / len(rates)
    factor = draw.uniform(1, 3)
    return {
        "rates": tuple(max(1.0, mean + factor * (one - mean)) for one in rates),
        "seconds": seconds,
    }


@pytest.mark.parametrize("worse", [_fewer, _shorter, _wider])
# proves limits: fewer-says-less
def test_less_data_never_gets_a_better_letter(run: Run, worse: Worse) -> None:
    draw = random.Random(7)
    seen = set()
    for _ in range(60):
        n, spread, length = draw.randint(2, 9), draw.choice([0.005, 0.02, 0.08]), draw.choice([0.3, 1, 3])
        rates = tuple(100 * draw.lognormvariate(0, spread) for _ in range(n))
        seconds = tuple(length * draw.lognormvariate(0, 0.3) for _ in range(n))
        before = of(run, rates=rates, seconds=seconds)
        if {"level", "trend"} & set(before.reasons):
            continue  # which repetitions show an unsteady rate is not kept by these changes
        after = of(run, **worse(draw, rates, seconds))
        assert after.grade >= before.grade, (rates, seconds, before, after)
        seen.add((before.grade, after.grade))
    assert len(seen) > 3


def test_errors_never_get_a_better_letter(run: Run, tmp_path: Path) -> None:
    broken = load(RunBuilder([CaseSpec(wrong_data=True)]).write(tmp_path / "run"))
    for rates in (STEADY, STEADY[:3], STEADY[:1]):
        summary = summary_of(run, rates=rates)
        for worse in (
            dataclasses.replace(summary, voided=1),
            dataclasses.replace(summary, errors=broken.errors),
        ):
            trust = grade_of(worse)
            assert trust is not None
            assert trust.grade == "D"

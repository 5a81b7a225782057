"""What storage served of the reads of operations that also write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders import MIB, CaseSpec, RunBuilder
from strider.report.words.caches import cache_notes
from strider.statistics import OperationSummary, summarize
from strider.statistics.trust import grade_of
from strider.store import Part, load
from strider.store.records import Runtime

#: A phase of 100 MiB, of which 70 are read.
BYTES, READ = 100 * MIB, 70 * MIB
STEADY = (100.0, 101.0, 99.0, 100.5, 99.5)
COLD = {"policy": "cold", "action": "fsync, posix_fadvise", "cached_share": 0.0, "examined_by": "cachestat"}


def mixed(
    folder: Path,
    fetched: int | None,
    operation: str = "read-write",
    direct: bool = False,
    prepared: dict[str, Any] | None = None,
    process_counts: bool = True,
    ramp_bytes: int = 0,
) -> OperationSummary:
    """An operation that reads and writes, after reads that show whether the ranks' counters see the target.

    Args:
        folder: Where the run directory is written.
        fetched: Bytes that the kernel fetched from storage for the ranks; None where it does not count.
        operation: The operation.
        direct: Whether it uses direct I/O.
        prepared: Cache preparation.
        process_counts: Whether the engine used the counters of the ranks for the reads of the run.
        ramp_bytes: Bytes of the ramp, in addition.
    """
    case = CaseSpec(
        interface={"name": "posix", "direct": direct},
        operations=("read", operation),
        common={"verify": "off", "sync": "end"},
        served=1.0 if process_counts else None,
        prepared=prepared,
    )
    run = load(RunBuilder([case], repetitions=len(STEADY)).write(folder / "run"))
    parts = [
        Part(operation=name, requests=size // MIB, bytes=size, latency=None, histogram=None)
        for name, size in (("read", READ), ("write", BYTES - READ))
    ]
    ramp = Runtime(
        runtime_s=2,
        ramp_s=1,
        ramp_requests=1,
        ramp_bytes=ramp_bytes,
        requests_per_rank_min=1,
        requests_per_rank_max=1,
        passes_min=1,
        passes_max=1,
    )
    update = {
        "parts": parts if operation == "read-write" else [],
        "bytes": BYTES,
        "elapsed_s": 2.0,
        "storage_read_bytes": fetched,
        "runtime": ramp if ramp_bytes else None,
        "cache": run.samples[1].cache,
    }
    samples = [
        sample.model_copy(update={**update, "rate_mib_s": STEADY[sample.repetition]})
        if sample.operation == operation
        else sample
        for sample in run.samples
    ]
    return summarize(run.model_copy(update={"samples": samples}))[1]


# proves measuring: mix-caches, mix-exact
def test_direct_reads_are_counted_exactly(tmp_path: Path) -> None:
    summary = mixed(tmp_path, READ, direct=True)
    assert summary.served is not None
    assert (summary.served.share, summary.served.source, summary.served.is_most) == (1.0, "process", False)
    assert str(grade_of(summary, "ext4")) == "A"


# proves measuring: mix-caches
def test_a_read_modify_write_reads_all_bytes(tmp_path: Path) -> None:
    summary = mixed(tmp_path, BYTES // 2, "read-modify-write", direct=True)
    assert summary.served is not None
    assert summary.served.share == 0.5


def test_the_counters_have_seen_the_ramp(tmp_path: Path) -> None:
    summary = mixed(tmp_path, 2 * READ, direct=True, ramp_bytes=BYTES)
    assert summary.served is not None
    assert summary.served.share == pytest.approx(1.0)


# proves measuring: mix-upper-bound
def test_buffered_reads_have_an_upper_bound_which_shows_a_cache_and_never_storage(tmp_path: Path) -> None:
    cached = mixed(tmp_path / "cached", 0)
    assert str(grade_of(cached, "ext4")) == "D cache"
    assert cache_notes(cached) == ["reads from cache"]
    half = mixed(tmp_path / "half", READ // 2)
    assert str(grade_of(half, "ext4")) == "C cache"
    assert cache_notes(half) == ["at most 50 % of reads from storage"]
    # Writes of a part of a page fetch the page: this may be theirs.
    full = mixed(tmp_path / "full", BYTES)
    assert str(grade_of(full, "ext4")) == "C source?"
    assert cache_notes(full) == []
    cold = mixed(tmp_path / "cold", BYTES, prepared=COLD)
    assert str(grade_of(cold, "ext4")) == "B source?"


@pytest.mark.parametrize("keys", [{"process_counts": False, "fetched": 0}, {"fetched": None}])
# proves measuring: mix-caches-need
def test_nothing_is_known_without_counters_that_the_engine_uses(tmp_path: Path, keys: dict[str, Any]) -> None:
    summary = mixed(tmp_path, direct=True, **keys)
    assert summary.served is None
    assert str(grade_of(summary, "ext4")) == "B source?"
    assert str(grade_of(summary, "nfs4")) == "B servers?"

"""The table of reads and writes of read-write."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from printed import printed, rows_of
from strider.statistics import summarize
from strider.store import Run, load
from strider.store.records import Part

READ_SHARE = 0.75


def mixed_run(folder: Path) -> Run:
    """Three quarters of the requests of read-write read, each as large as those that write."""
    run = load(
        RunBuilder([CaseSpec(operations=("write", "read-write"))], repetitions=5).write(folder / "run")
    )
    samples = []
    for sample in run.samples:
        parts = [
            Part(
                operation=operation,
                requests=round(share * sample.requests),
                bytes=round(share * sample.bytes),
                latency=sample.latency,
                histogram=sample.histogram,
            )
            for operation, share in (("read", READ_SHARE), ("write", 1 - READ_SHARE))
        ]
        is_mixed = sample.operation == "read-write"
        samples.append(sample.model_copy(update={"parts": parts}) if is_mixed else sample)
    return run.model_copy(update={"samples": samples})


# proves measuring: mix-share-reached
def test_both_have_a_row_whose_rates_add_up(tmp_path: Path) -> None:
    run = mixed_run(tmp_path)
    lines = printed(run, 120).splitlines()
    begin = lines.index("Reads and writes of read-write:")
    rows = {line.split()[1]: line.split()[2:] for line in lines[begin:] if line.startswith("posix")}
    (whole,) = (one for one in summarize(run) if one.operation == "read-write")
    assert whole.rate is not None
    assert {name: row[0] for name, row in rows.items()} == {"read": "75", "write": "25"}
    rates = {name: float(row[1]) for name, row in rows.items()}
    assert rates["read"] / rates["write"] == pytest.approx(3, rel=0.02)
    assert sum(rates.values()) == pytest.approx(whole.rate.centre, rel=0.02)


def test_other_phases_have_no_such_table(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec()], repetitions=5).write(tmp_path / "run"))
    assert "Reads and writes of read-write" not in printed(run, 120)


def test_rows_for_programs_have_both(tmp_path: Path) -> None:
    write, mixed = rows_of(mixed_run(tmp_path))
    assert "parts" not in write
    assert [part["operation"] for part in mixed["parts"]] == ["read", "write"]
    assert sum(part["bytes"] for part in mixed["parts"]) == sum(
        sample.bytes for sample in mixed_run(tmp_path / "again").samples if sample.operation == "read-write"
    )

"""The table at the end of a run fits the terminal and has the essential values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from limits_builders import of_clients
from printed import printed, rows_of
from strider.limits import Analysis
from strider.report.figures.points import point_of
from strider.report.labels.facets import Facets
from strider.report.words.numbers import significant
from strider.statistics import summarize
from strider.store import Run, load


def run_of(
    tmp_path: Path, cases: Iterable[CaseSpec], status: str | None = "complete", repetitions: int = 3
) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions).write(tmp_path / "run", status=status))


def rendered(run: Run, width: int = 100) -> str:
    return printed(run, width)


def test_each_case_and_operation_is_a_row_with_its_rate(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(transfers=(64 * KIB, MIB)))
    text = rendered(run)
    for row in rows_of(run):
        size = "64 KiB" if row["transfer_bytes"] == 64 * KIB else "1 MiB"
        line = next(
            line
            for line in text.splitlines()
            if line.startswith(row["interface"]) and size in line and row["operation"] in line
        )
        assert f" {row['rate_mib_s']:.0f} " in line


def test_each_result_has_its_letter_in_a_narrow_table_and_its_reasons_elsewhere(tmp_path: Path) -> None:
    """Phases of two tenths of a second are a C or a D; `null` has no grade."""
    run = run_of(tmp_path, [CaseSpec(), CaseSpec(interface={"name": "null"})])
    text = rendered(run, 80)
    lines = [line.split() for line in text.splitlines() if "±" in line and line.startswith(("posix", "null"))]
    rows = {(row["interface"], row["operation"]): row for row in rows_of(run)}
    assert {(line[0], line[1], line[-1]) for line in lines} == {
        (*key, row["trust"] or "–") for key, row in rows.items()
    }
    assert rows["null", "read"]["trust"] is None
    assert rows["posix", "read"]["trust"] == "D"
    assert rows["posix", "read"]["trust_reasons"] == ["short"]
    assert "Trust (number of results): C 1 (" in text


# proves measuring: rate-of-result, one-number
def test_table_export_and_chart_have_one_centre(tmp_path: Path) -> None:
    """The geometric mean of the repetitions' rates, not three different ones."""
    run = run_of(tmp_path, [CaseSpec(operations=("write",))], repetitions=4)
    (row,) = rows_of(run)
    centre = math.exp(fmean(math.log(sample.rate_mib_s) for sample in run.samples))
    assert row["rate_mib_s"] == pytest.approx(centre)
    assert row["rate_interval_low_mib_s"] < centre < row["rate_interval_high_mib_s"]
    (point,) = [point_of(summary, Facets.of(list(run.cases.values()))) for summary in summarize(run)]
    assert point is not None
    assert point.rate_mib_s == pytest.approx(centre)
    assert f" {significant(centre)} ± " in rendered(run, 80)


# proves measuring: rate-0
def test_repetitions_at_zero_are_counted_and_said(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",))], repetitions=4)
    stopped = run.samples[0].model_copy(update={"rate_mib_s": 0.0})
    broken = run.model_copy(update={"samples": [stopped, *run.samples[1:]]})
    (row,) = rows_of(broken)
    assert (row["rate_mib_s"], row["rate_zeros"], row["n"]) == (0.0, 1, 4)
    assert "1 of 4 repetitions at 0" in rendered(broken, 200)


def test_what_all_rows_share_is_said_once_below(tmp_path: Path) -> None:
    text = rendered(run_of(tmp_path, sweep()), width=120)
    assert text.count("pattern segmented") == 1
    shared = "pattern segmented · block 64 MiB · clients 2 · sharing shared · order forward"
    assert f"{shared} · readback shift · verify full · 3 repetitions" in " ".join(text.split())


@pytest.mark.parametrize("width", [70, 80, 100, 140])
def test_the_table_fits_and_cuts_no_number(tmp_path: Path, width: int) -> None:
    text = rendered(run_of(tmp_path, sweep(clients=(2, 4))), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_a_narrow_terminal_loses_the_least_important_columns_first(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(clients=(2, 4)))
    assert "first" in rendered(run, 120)
    narrow = rendered(run, 80)
    assert "first" not in narrow
    assert "rate ± 95 %" in narrow


@pytest.mark.parametrize("width", [80, 100])
def test_a_large_run_is_condensed(tmp_path: Path, width: int) -> None:
    transfers = [1 << power for power in range(12, 23)]
    cases = sweep(
        transfers=transfers,
        clients=(1, 2, 4),
        patterns=("segmented", "strided"),
        sharing=["shared", "per-rank"],
    )
    text = rendered(run_of(tmp_path, cases, repetitions=1), width)
    lines = text.splitlines()
    assert len(lines) < 80
    assert max(map(len, lines)) <= width
    assert "highest" in text
    assert "@ 4 MiB" in text


def test_a_condensed_table_names_each_pattern_once(tmp_path: Path) -> None:
    transfers = [1 << power for power in range(12, 23)]
    cases = sweep(transfers=transfers, clients=(1, 2, 4), patterns=("segmented", "strided"))
    lines = rendered(run_of(tmp_path, cases, repetitions=1), 100).splitlines()
    for pattern in ("segmented", "strided"):
        assert sum(line.strip().startswith(pattern) for line in lines) == 1


def test_a_verified_run_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(), CaseSpec(interface={"name": "mpiio"})])
    text = rendered(run, 200)
    assert "Data verified: 768 MiB read, 0 bytes wrong." in text
    assert "through posix, mpiio compared by digest: all agree." in text
    reads = [row for row in rows_of(run) if row["operation"] == "read"]
    assert [(row["verify_checked_bytes"], row["verify_wrong_bytes"]) for row in reads] == [
        (384 * MIB, 0),
        (384 * MIB, 0),
    ]


def test_void_samples_and_errors_are_loud(tmp_path: Path) -> None:
    text = rendered(run_of(tmp_path, [CaseSpec(wrong_data=True), CaseSpec(interface={"name": "mpiio"})]), 200)
    assert "3 void; 1.5 KiB wrong" in text
    assert "WRONG DATA: 1.5 KiB of the read data differs from the written data." in text
    assert "3 samples void because a check failed" in text
    assert "The same read returned different data through posix (case 1), mpiio (case 2)" in text


def test_a_killed_run_shows_what_it_has(tmp_path: Path) -> None:
    text = rendered(run_of(tmp_path, [CaseSpec()], status=None))
    assert "The run is incomplete: it is still active, or was killed" in text
    assert "write" in text


def test_a_run_without_samples_says_so(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / "run", status=None)
    (directory / "events.jsonl").unlink()
    assert "This run has no results" in rendered(load(directory))


def test_texts_of_the_user_are_no_markup(tmp_path: Path) -> None:
    cases = [CaseSpec(name="[red]a[/nonsense]"), CaseSpec(name="b")]
    assert "[red]a[/nonsense]" in rendered(run_of(tmp_path, cases), 200)


def test_rows_for_programs_are_plain_json_with_units(tmp_path: Path) -> None:
    rows = rows_of(run_of(tmp_path, [CaseSpec(wrong_data=True)], repetitions=1))
    write, read = json.loads(json.dumps(rows, allow_nan=False))
    assert write["rate_mean_mib_s"] == write["rate_median_mib_s"] > 0
    assert write["rate_deviation_mib_s"] is None, "one repetition has no spread"
    assert write["latency_p90_s"] > 0
    assert (read["n"], read["voided"], read["errors"], read["rate_mean_mib_s"]) == (0, 1, 1, None)


def methods(multiple: float | None, collective: float | None) -> list[CaseSpec]:
    return [
        CaseSpec(interface={"name": "posix"}, calls_per_request=multiple),
        CaseSpec(interface={"name": "mpiio", "access": "collective"}, calls_per_request=collective),
    ]


# proves measuring: calls-shown
def test_calls_stand_beside_requests_where_they_differ(tmp_path: Path) -> None:
    lines = rendered(run_of(tmp_path, methods(2048, 0.25)), 120).splitlines()
    assert lines[0].split()[-2:] == ["read", "write"]
    assert lines[1].split()[-4:] == ["requests", "calls", "calls", "trust"]
    counts = [
        tuple(line.split()[-4:-1]) for line in lines if line.startswith(("posix", "mpiio")) and "%" in line
    ]
    write_first = [("128", "0", "262144"), ("128", "0", "32")]
    assert counts == [*write_first, ("128", "262144", "0"), ("128", "32", "0")]


@pytest.mark.parametrize("per_request", [1, 1.005, None])
# proves measuring: calls-shown
def test_calls_that_are_the_requests_are_not_reported(tmp_path: Path, per_request: float | None) -> None:
    operations = ("write", "read", "read-modify-write")
    cases = [
        CaseSpec(operations=operations, calls_per_request=per_request),
        CaseSpec(operations=operations, interface={"name": "null"}, calls_per_request=0),
    ]
    assert "calls" not in rendered(run_of(tmp_path, cases), 140)


@pytest.mark.parametrize("width", [80, 100])
def test_a_narrow_terminal_keeps_the_calls(tmp_path: Path, width: int) -> None:
    text = rendered(run_of(tmp_path, methods(2048, 0.25)), width)
    assert max(map(len, text.splitlines())) <= width
    assert "262144" in text


def test_rows_for_programs_have_the_calls(tmp_path: Path) -> None:
    write, read = rows_of(run_of(tmp_path, [CaseSpec(calls_per_request=2)]))
    assert (write["requests"], write["read_calls"], write["write_calls"]) == (128, 0, 256)
    assert (read["requests"], read["read_calls"], read["write_calls"]) == (128, 256, 0)


def test_one_repetition_has_one_number_and_no_interval(tmp_path: Path) -> None:
    text = rendered(run_of(tmp_path, sweep(), repetitions=1), 200)
    assert "rate" in text
    assert not {"median", "min", "max"} & set(text.split())


def test_remarks_are_counted_where_they_are_many(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep()).model_copy(update={"ceilings": [of_clients(memory_copy=1e6)]})
    analysis = Analysis.of(run)
    shown = printed(run, most_remarks=0)
    assert analysis.sentences
    assert analysis.sentences[0] not in shown
    assert "more: strider show, strider show --limits" in shown


def test_expensive_opens_are_reported_once(tmp_path: Path) -> None:
    spec = CaseSpec(operations=["write"], common={"verify": "off"})
    run = load(RunBuilder([spec]).write(tmp_path / "run"))
    slow = [
        sample.model_copy(update={"open_s": 1.2, "elapsed_s": 2.0, "rate_mib_s": 64.0})
        for sample in run.samples
    ]
    run = run.model_copy(update={"samples": slow, "ceilings": [of_clients(memory_copy=1e6)]})
    analysis = Analysis.of(run)
    assert any("opening and closing files" in sentence for sentence in analysis.sentences)
    text = printed(run, most_remarks=99)
    assert text.count("open and close take") == 1
    assert "opening and closing" not in text

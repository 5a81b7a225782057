"""Ratios are shown with published ones: of the same work, in pairs of repetitions, with an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from printed import printed
from strider.report import document_of
from strider.report.results.ratios import MeasuredRatio, measured_ratios
from strider.report.results.references import Reference
from strider.report.results.results import Results
from strider.statistics import summarize
from strider.store import Run, load

RATIO = {
    "what": "time of each ÷ time of list",
    "of": "time",
    "operations": ["write", "all"],
    "base": {"interface": "listio", "listio.calls": "list"},
    "other": {"listio.calls": "each"},
    "published": "1.6 to 5.6",
}


def reference(**ratio: object) -> Reference:
    head = {"suite": "s", "machine": "m", "year": 2003, "about": "a", "source": "b"}
    return Reference.model_validate({**head, "ratio": [{**RATIO, **ratio}]})


def case(calls: str, **keys: object) -> CaseSpec:
    return CaseSpec(interface={"name": "listio", "calls": calls, "method": "pack"}, **keys)  # type: ignore[arg-type]


def run_of(folder: Path, *cases: CaseSpec, repetitions: int = 3) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions, suite="btio-2003").write(folder / "run"))


def slowed(run: Run, factors: list[float]) -> Run:
    """The run, with each operation of case 2 so many times as long as that of case 1, by repetition."""
    times = {(s.repetition, s.operation): s.elapsed_s for s in run.samples if s.case == 1}
    samples = [
        sample
        if sample.case == 1
        else sample.model_copy(
            update={"elapsed_s": times[sample.repetition, sample.operation] * factors[sample.repetition]}
        )
        for sample in run.samples
    ]
    return run.model_copy(update={"samples": samples})


def measured(run: Run, of: Reference) -> list[MeasuredRatio]:
    return measured_ratios(summarize(run), of)


def test_a_ratio_of_times_is_paired_by_repetition(tmp_path: Path) -> None:
    run = slowed(run_of(tmp_path, case("list"), case("each")), [2.0, 4.0, 8.0])
    write, whole = measured(run, reference())
    assert (write.operation, write.base.number, write.other.number, write.n) == ("write", 1, 2, 3)
    assert write.ratio == pytest.approx(4.0)
    assert write.interval is not None
    # Student's t with 2 degrees of freedom: 4.303 standard errors of ln 2.
    assert write.interval[0] == pytest.approx(4 / 2 ** (4.303 / 3**0.5), rel=1e-3)
    assert write.interval[1] == pytest.approx(4 * 2 ** (4.303 / 3**0.5), rel=1e-3)
    assert whole.operation == "all"
    assert whole.ratio == pytest.approx(4.0)


def test_a_ratio_of_rates_is_that_of_bytes_in_the_time(tmp_path: Path) -> None:
    run = slowed(run_of(tmp_path, case("list"), case("each")), [2.0, 2.0, 2.0])
    write, _ = measured(run, reference(of="rate"))
    assert write.ratio == pytest.approx(0.5)
    assert write.interval is not None
    assert list(write.interval) == pytest.approx([0.5, 0.5])


def test_two_repetitions_have_a_ratio_and_no_interval(tmp_path: Path) -> None:
    run = slowed(run_of(tmp_path, case("list"), case("each"), repetitions=2), [2.0, 8.0])
    write, _ = measured(run, reference())
    assert (write.n, write.interval) == (2, None)
    assert write.ratio == pytest.approx(4.0)


def test_a_repetition_with_a_void_sample_is_in_no_pair(tmp_path: Path) -> None:
    run = slowed(run_of(tmp_path, case("list"), case("each")), [2.0, 4.0, 8.0])
    samples = [
        sample.model_copy(update={"valid": False})
        if (sample.case, sample.repetition, sample.operation) == (2, 2, "read")
        else sample
        for sample in run.samples
    ]
    write, whole = measured(run.model_copy(update={"samples": samples}), reference())
    assert (write.n, whole.n) == (3, 2)


@pytest.mark.parametrize("other", [case("each", name="b"), case("each", common={"order": "random"})])
def test_other_work_is_in_no_ratio(tmp_path: Path, other: CaseSpec) -> None:
    assert measured(run_of(tmp_path, case("list"), other), reference()) == []


def test_other_options_are_the_same(tmp_path: Path) -> None:
    other = CaseSpec(interface={"name": "listio", "calls": "each", "method": "gather"})
    found = measured(run_of(tmp_path, case("list"), other, case("each")), reference())
    assert {(one.base.number, one.other.number) for one in found} == {(1, 3)}


def test_an_operation_that_one_of_them_lacks_is_in_no_ratio(tmp_path: Path) -> None:
    run = run_of(tmp_path, case("list"), case("each"))
    samples = [s for s in run.samples if (s.case, s.operation) != (2, "read")]
    found = measured(run.model_copy(update={"samples": samples}), reference())
    assert [one.operation for one in found] == ["write"]


def test_the_table_has_the_published_ratio(tmp_path: Path) -> None:
    btio = {"name": "btio", "class": "A", "dumps": 40}
    cases = [case(calls, pattern=btio) for calls in ("list", "each", "sieve")]
    run = run_of(tmp_path, *cases)
    text = printed(run, width=240)
    assert "Ratios beside published ones" in text
    assert "1.6 to 5.6, all ways" in text
    (document,) = [document_of(Results(run), [""])["published_ratios"]]
    assert [(one["base"], one["other"], one["operation"]) for one in document] == [
        (1, other, operation) for other in (2, 3) for operation in ("write", "read", "all")
    ]
    assert all(one["low"] <= one["ratio"] <= one["high"] for one in document)

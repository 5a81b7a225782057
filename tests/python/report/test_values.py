"""Values: equal ones are stated as equal, a wrong one is named first."""

from __future__ import annotations

from pathlib import Path

from builders import CaseSpec, RunBuilder
from printed import printed
from strider.report import write_html
from strider.store import Run, load


def run_of(folder: Path, second: list[list[int]]) -> Run:
    cases = [
        CaseSpec(interface={"name": name}, operations=("read",), values=values, common={"verify": "off"})
        for name, values in (("posix", [[10, 20], [30, 40]]), ("mpiio", second))
    ]
    return load(RunBuilder(cases, repetitions=1).write(folder / "run"))


def test_equal_values_are_stated_with_the_number_of_requests(tmp_path: Path) -> None:
    run = run_of(tmp_path, [[10, 20], [30, 40]])
    assert "First, middle and last value of 4 requests compared between posix, mpiio: all equal." in printed(
        run
    )
    text = printed(run, option="values")
    assert "equal values" in text
    # The values of the second rank's first request through both: 30, 31 and 32.
    assert text.count("0000001e") == text.count("0000001f") == text.count("00000020") == 2
    page = write_html([run], tmp_path / "report.html").read_text()
    assert "equal values" in page
    assert "WRONG VALUES" not in page


def test_a_wrong_value_is_the_first_to_read(tmp_path: Path) -> None:
    run = run_of(tmp_path, [[10, 20], [30, 41]])
    wrong = (
        "WRONG VALUES: 1 of 4 requests of the same read have different values. The first: rank 1, request 1, "
        "offset 1048576, repetition 1: the first value is 00000028 through posix (case 1) and 00000029 "
        "through mpiio (case 2)."
    )
    text = " ".join(printed(run, width=500).split())
    assert wrong in text
    assert "compared between posix, mpiio: 1 different." in text
    assert "DIFFERENT VALUES" in printed(run, option="values")
    assert wrong in write_html([run], tmp_path / "report.html").read_text()


def test_without_values_the_option_says_so(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "run"))
    assert "no case sets values" in printed(run, option="values")

"""The result of verification below the results of another benchmark's input."""

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli.importing import verification
from strider.statistics import summarize
from strider.store import load


def lines(tmp_path: Path, verify: str, wrong_data: bool = False) -> list[str]:
    case = CaseSpec(common={"verify": verify}, wrong_data=wrong_data)
    run = load(RunBuilder([case], repetitions=2).write(tmp_path / "run"))
    return list(verification(run, summarize(run)))


@pytest.mark.parametrize(
    ("wrong_data", "result"), [(False, "0 bytes wrong."), (True, "1 KiB wrong, 2 findings.")]
)
def test_verified_data_has_a_line_with_the_bytes_and_what_was_wrong(
    tmp_path: Path, wrong_data: bool, result: str
) -> None:
    (line,) = lines(tmp_path, "full", wrong_data)
    assert line.startswith("Data verified: ")
    assert line.endswith(f" read, {result}")


def test_without_verification_there_is_no_line(tmp_path: Path) -> None:
    assert lines(tmp_path, "off") == []

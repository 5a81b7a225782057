"""`strider tag` changes the labels that the page shows."""

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli import main
from strider.store.labels import read_labels

RUN = "2026-11-20-101112-quick-abcd"


@pytest.fixture
def run(tmp_path: Path, store: Path) -> Path:
    return RunBuilder([CaseSpec()], repetitions=1).write(store / RUN)


def test_tags_are_added_and_removed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", RUN, "+before", "+nfs", "slow"]) == 0
    assert main(["tag", RUN, "-slow", "+tuned", "-unknown"]) == 0
    assert read_labels(run).tags == ["before", "nfs", "tuned"]
    assert main(["tag", "latest"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{RUN}: before, nfs, tuned"


def test_a_note_is_replaced_printed_and_removed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", RUN, "+kept", "--note", "before the firmware update"]) == 0
    assert main(["tag", RUN, "--note", "after it"]) == 0
    assert main(["tag", RUN, "-none"]) == 0
    assert main(["tag", RUN]) == 0
    shown = [f"{RUN}: kept", "after it"]
    assert capsys.readouterr().out.splitlines()[2:] == [*shown, shown[0], *shown]
    assert main(["tag", RUN, "--note", ""]) == 0
    assert (read_labels(run).note, read_labels(run).tags) == ("", ["kept"])
    assert capsys.readouterr().out == f"{RUN}: kept\n"


def test_too_many_tags_change_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["tag", RUN, "+kept"])
    assert main(["tag", RUN, *(f"+tag{number}" for number in range(30))]) == 2
    assert "at most 20 tags" in capsys.readouterr().err
    assert read_labels(run).tags == ["kept"]


def test_a_wrong_name_is_refused(run: Path) -> None:
    assert main(["tag", "2026-11-19", "+x"]) == 2
    assert main(["tag", "2026-11-19", "--note", "x"]) == 2

"""What `strider convert` writes means the same as the original."""

from collections.abc import Callable
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.errors import StriderError
from strider.importers import CaseDraft, Imported, SuiteDraft, formats
from strider.suite import Suite, load

PIOBENCH = """\
TestFile "/data/f"
<ap_module>
  ModuleName "Segmented (re-read)"
  ModuleReps 5
  ModuleSettleTime 0.5
  BufferSize 100000
</ap_module>
"""
IOR = """\
IOR START
api=MPIIO
testFile=ufs:/data/f
transferSize=64k
numTasks=3
keepFile=1
RUN
RUN
IOR STOP
"""


@pytest.mark.parametrize("text", [PIOBENCH, IOR], ids=["PIObench", "IOR"])
def test_the_suite_that_is_written_gives_the_same_plan(
    text: str, engine: Engine, suite_of: Callable[[Imported], Suite], tmp_path: Path
) -> None:
    original, suite = tmp_path / "original", tmp_path / "suite.toml"
    original.write_text(text)
    assert main(["convert", str(original), "-o", str(suite), "-n", "2"]) == 0
    imported = formats.read(text, str(original), 2)
    assert load(suite, engine.description).plan.to_json() == suite_of(imported).plan.to_json()


def test_without_a_name_the_suite_goes_to_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = tmp_path / "pio-bench.conf"
    original.write_text(PIOBENCH)
    assert main(["convert", str(original)]) == 0
    assert 'pattern = "segmented"\ntransfer = 100000\n' in capsys.readouterr().out


def test_what_differs_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = tmp_path / "script"
    original.write_text(IOR)
    assert main(["convert", str(original)]) == 0
    assert f"note: {original}:6: Strider removes its test files" in capsys.readouterr().err


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = tmp_path / "pio-bench.conf"
    original.write_text(PIOBENCH)
    assert main(["convert", str(original), "-o", str(original)]) == 2
    assert "exists: choose another name" in capsys.readouterr().err
    assert original.read_text() == PIOBENCH


def test_a_file_of_no_known_kind_is_bad_input() -> None:
    with pytest.raises(StriderError, match="x: unknown format: it has no ModuleName"):
        formats.read("[global]\nrw=read\n", "x", 1)


def test_any_text_survives_in_a_suite() -> None:
    path = '/data/"a\\b\n\x7f é'
    draft = SuiteDraft("original", {"name": "s", "target": path}, [CaseDraft({"interface": "posix"})])
    assert draft.document().data["suite"]["target"] == path

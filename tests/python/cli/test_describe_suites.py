"""`strider describe suites`, and where help points at it."""

import importlib
import json
import re
import shlex
from pathlib import Path

import pytest

from strider.cli import main
from strider.cli.reference import SMALLEST_SUITE
from strider.suite import ready_made
from strider.suite.catalogue import FIRST

pytestmark = pytest.mark.usefixtures("engine")


def test_the_suites_of_the_folder_are_listed_those_for_any_storage_first(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "suites"]) == 0
    shown = capfd.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    rows = {line.split()[0]: line for line in shown.splitlines() if line[:1].isalpha()}
    order = [name for name in rows if name in ready_made()]
    assert sorted(order) == sorted(ready_made())
    assert order[:6] == ["sequential", "random", "interfaces", "mixed", "metadata", "load"]
    assert order.index("servers") < order.index("btio")
    assert [name for name in order if re.search(r"-\d{4}$", name)] == order[-7:]
    assert "Random reads and writes at the same time" in rows["mixed"]
    assert rows["pario-2015"].split()[1] == "200"


def test_a_new_file_in_the_folder_of_suites_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    purpose = 'name = "mine"\ndescription = "What I want to know"'
    text = SMALLEST_SUITE.replace('name = "mine"', purpose)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    # The package exports a function of the module's name.
    module = importlib.import_module("strider.suite.ready_made")
    monkeypatch.setattr(module, "folder", lambda: tmp_path)
    assert main(["describe", "suites"]) == 0
    (row,) = (line for line in capfd.readouterr().out.splitlines() if line.startswith("mine"))
    assert row.split() == ["mine", "1", "What", "I", "want", "to", "know"]


def test_one_suite_has_its_file_and_the_command_that_runs_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "mixed"]) == 0
    shown = capfd.readouterr().out
    assert f"file: {ready_made()['mixed']}" in shown
    assert "strider run mixed --target DIR" in shown


def test_the_overview_lists_the_suites(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["describe"]) == 0
    shown = capfd.readouterr().out
    assert all(f"  {name} " in shown for name in ready_made())


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_the_help_of_a_suite_names_those_for_any_storage_and_where_the_others_are(
    verb: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "-h"]) == 0
    words = " ".join(capfd.readouterr().out.split())
    assert f"{', '.join(FIRST)}, … (all: strider describe suites)" in words
    assert set(FIRST) <= set(ready_made())


@pytest.mark.parametrize(
    ("word", "topic"),
    [("grade", "trust"), ("grades", "trust"), ("interface", "interfaces"), ("operation", "operations")],
)
def test_a_topic_has_the_word_that_people_type(
    word: str, topic: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", word]) == 0
    shown = capfd.readouterr().out
    assert main(["describe", topic]) == 0
    assert shown == capfd.readouterr().out


def test_one_suite_has_its_notes_with_commands_on_lines_of_their_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["describe", "suites", "random"]) == 0
    shown = capfd.readouterr().out
    lines = shown.splitlines()
    assert any(line.startswith("Random requests for 5 s a phase, past the page cache.") for line in lines)
    command = "  strider run random --target DIR --set case.operations=rewrite --set case.sync=each"
    assert command in [line.rstrip() for line in lines]
    assert "#" not in shown


def test_a_pattern_names_the_suite_of_the_same_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "random"]) == 0
    assert "of the same name: strider describe suites random\n" in capfd.readouterr().out
    assert main(["describe", "patterns", "random"]) == 0
    assert "of the same name" not in capfd.readouterr().out


def commands() -> list[list[str]]:
    """The commands in the notes of suites, with a plan in the place of the run."""
    texts = [file.read_text(encoding="utf-8") for file in ready_made().values()]
    found = re.findall(r"^#   strider run (\w+) --target DIR(.*)$", "\n".join(texts), re.MULTILINE)
    return [[name, *shlex.split(options)] for name, options in found]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_each_command_in_the_notes_of_a_suite_has_a_plan(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *words, "--target", str(tmp_path)]) == 0, capfd.readouterr().err


def test_there_are_commands_in_the_notes() -> None:
    assert len(commands()) >= 9


def test_the_command_for_io_uring_remains_past_the_page_cache(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (words,) = (one for one in commands() if one[0] == "random" and "case.interface=uring" in one)
    assert main(["plan", *words, "--target", str(tmp_path), "--json"]) == 0
    cases = json.loads(capfd.readouterr().out)["cases"]
    found = [(case["interface"]["name"], case["interface"]["direct"]) for case in cases]
    assert found == [("uring", True)] * 4

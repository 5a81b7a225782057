"""`strider quick`: rejected arguments, and its colours; tests/system/test_quick.py measures."""

import io
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from card_builders import card, line
from quick_builders import place
from strider.card.layout import CardLine
from strider.cli import main
from strider.quick import look, quick_document
from strider.quick.probe import Probe

quick = import_module("strider.cli.quick")
"""The module; the package has the verb by the same name."""


_IN_WORDS = {
    "sequential": "sequential reads and writes",
    "random": "random ones",
    "append": "appends with fsync",
    "create": "creates of files",
    "clients": "several clients against one (shared file, own files)",
    "pieces": "small pieces",
    "names": "metadata",
    "large": "and interfaces against POSIX.",
}
"""What help calls the groups of cases; the others are variants of these."""


def test_help_names_what_is_measured_in_the_order_in_which_budgets_leave_it_out(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["quick", "-h"]) == 0
    words = " ".join(capfd.readouterr().out.split())
    _, budgeted = quick_document(place(), Probe(2.9e9, 1e9), frozenset(["posix", "mpiio", "uring"]), 2, 300)
    order = [_IN_WORDS[group.name] for group in budgeted.groups if group.name in _IN_WORDS]
    assert sorted(order) == sorted(_IN_WORDS.values())
    assert f"Measures, the most important first: {', '.join(order)}" in words
    assert "A budget below two minutes leaves out the last of these" in words


@pytest.mark.parametrize("budget", ["4s", "soon", "0", "-1"])
def test_a_budget_is_a_time_of_some_seconds(
    budget: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["quick", str(tmp_path), f"--budget={budget}"]) == 2
    assert "--budget" in capfd.readouterr().err


def test_storage_without_space_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = replace(look(tmp_path), free_bytes=9 << 20)
    monkeypatch.setattr("strider.quick.look", lambda *_: full)
    assert main(["quick", str(tmp_path)]) == 2
    assert capfd.readouterr().err == (
        f"strider: {tmp_path} has 9 MiB free, so nothing can be measured: free 64 MiB, or choose another "
        "directory\n"
    )


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"), [(True, "", True), (True, "1", False), (False, "", False)]
)
def test_colours_are_for_terminals_that_may_have_them(
    terminal: bool, no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("NO_COLOR", no_color)
    lines = quick._text(card(line("read.random"), verdict="One."))
    assert any("\033[1;32m" in one for one in lines) is coloured
    assert any("\033" in one for one in lines) is coloured


@pytest.mark.parametrize(("cores", "clients"), [(1, 2), (2, 2), (3, 3), (64, 4)])
def test_there_are_two_to_four_clients(cores: int, clients: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert quick.clients_here() == clients


def test_what_measures_no_storage_is_no_interface(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["quick", str(tmp_path), "--interface", "null"]) == 2
    said = capfd.readouterr().err
    assert said.startswith("strider: --interface null: choose one of posix, ")
    assert "listio" in said


def test_a_directory_elsewhere_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()
    (allowed / "link").symlink_to(other)
    monkeypatch.setattr("strider.quick.look", lambda *_: pytest.fail("looked at the directory"))
    for directory in (other, allowed / "link"):
        assert main(["quick", str(directory), "--within", str(allowed)]) == 2
        assert "outside the permitted directories" in capfd.readouterr().err


def test_names_on_a_card_do_not_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strider.card.card_lines", lambda _: [CardLine("a\x1b[31mb", "bold")])
    monkeypatch.delenv("NO_COLOR", raising=False)
    for is_terminal, expected in ((False, "a\\u001b[31mb"), (True, "\x1b[1ma\\u001b[31mb\x1b[0m")):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr("sys.stdout", stream)
        assert quick._text(None) == [expected]

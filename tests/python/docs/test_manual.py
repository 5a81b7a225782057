"""The manual can be built, says something of everything there is, and names no command that is not there."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer

import reference_pages
from pages import ROOT
from strider.cli import app
from strider.engine import Engine
from strider.suite.vocabulary import SUITE_PARAMETERS

DOCS = ROOT / "docs"
VERBS = dict(reference_pages.commands(typer.main.get_command(app)))
PROGRAMS = ("strider", "./strider")


@pytest.fixture(scope="session")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as `make manual` makes them; a warning of Sphinx, such as a page in no list, is an error."""
    pytest.importorskip("sphinx", reason="needs Sphinx (dependency group manual)")
    folder = tmp_path_factory.mktemp("manual")
    words = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, *words, str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Resources(HTMLParser):
    """Addresses that a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.found += [said.get("src") or "", said.get("srcset") or ""]
        if tag == "link":
            self.found.append(said.get("href") or "")


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(manual: Path) -> None:
    pages = list(manual.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        reader = Resources()
        reader.feed(page.read_text(encoding="utf-8"))
        assert not [address for address in reader.found if "//" in address], page
    for sheet in manual.rglob("*.css"):
        assert not re.search(r"(@import|url\()[\"' ]*(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


@pytest.mark.slow
def test_every_page_can_be_reached(manual: Path) -> None:
    """Sphinx would warn of a page in no list; this one says which there are."""
    for source in DOCS.rglob("*.md"):
        assert (manual / source.relative_to(DOCS)).with_suffix(".html").is_file(), source


def test_everything_there_is_has_its_place(engine: Engine) -> None:
    described = engine.description

    def text(name: str) -> str:
        return (DOCS / name).read_text(encoding="utf-8")

    for folder, entries in (("patterns", described.patterns), ("interfaces", described.interfaces)):
        for entry in entries:
            assert f"](../{folder}/{entry.name}.md)" in text(f"reference/{folder}.md")
            assert text(f"{folder}/{entry.name}.md").startswith(f"# {entry.name}\n")
    for operation in described.operations:
        assert f"| `{operation.name}` |" in text("reference/operations.md")
    for tree in described.trees:
        assert f"\n## {tree.name}\n" in text("reference/trees.md")
    for key in [*SUITE_PARAMETERS, *(each.name for each in described.case + described.tree_case)]:
        assert f"| `{key}` |" in text("reference/keys.md")
    for words in VERBS:
        assert f"# strider {words}\n" in text("reference/command-line.md")


def test_of_a_verb_each_option_is_said_with_its_meaning() -> None:
    lines = "\n".join(reference_pages.command_line())
    section = lines.partition("## strider run\n")[2].partition("\n## ")[0]
    assert "strider run [OPTIONS] SUITE" in section
    assert re.search(r"\| `-n, --clients N\[,N…\]` \| Client counts", section)
    assert "| `SUITE` |" in section


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each command of Strider's in the shell blocks of a page."""
    for block in re.findall(
        r"^ *```sh\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        lines = block.replace("\\\n", " ").splitlines()
        for part in (part for line in lines for part in re.split(r"&&|\||;|\bdo\b", line.split(" #")[0])):
            words = shlex.split(part, posix=False)
            starts = [at for at, word in enumerate(words) if word in PROGRAMS]
            if starts and starts[-1] + 1 < len(words):  # not: cd strider
                yield words[starts[-1] + 1 :]


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name
)
def test_commands_that_are_named_are_there(page: Path) -> None:
    for words in commands(page):
        verb = " ".join(words[:2]) if " ".join(words[:2]) in VERBS else words[0]
        if verb == "--help":
            continue
        assert verb in VERBS, f"{page}: strider {' '.join(words)}"
        known = options_of(VERBS[verb])
        for word in words:
            if word == "--":
                break
            if word.startswith("-") and not word.removeprefix("-").isdigit():
                assert word.partition("=")[0] in known, f"{page}: strider {' '.join(words)}"


def options_of(command: Any) -> set[str]:  # noqa: ANN401 (Typer keeps the class to itself)
    names = (name for each in command.params for name in (*each.opts, *each.secondary_opts))
    return {"-h", "--help", *names}


def test_commands_are_found_in_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nsudo X=1 strider run a.toml -n 2 # why\nfor x in a; do strider list; done\n```\n")
    assert list(commands(page)) == [["run", "a.toml", "-n", "2"], ["list"]]

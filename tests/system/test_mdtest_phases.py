"""mdtest's phases apart, each in a run of its own on the tree that the first one left."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from sets import measured
from strider.datasets import find
from strider.engine import Engine
from strider.errors import StriderError
from strider.importers import Imported
from strider.importers.mdtest import Surroundings, read_command
from strider.store import load


@dataclass(frozen=True)
class Mdtest:
    """`strider mdtest` with two tasks, in this process and without a report.

    Attributes:
        directory: The directory of `-d`.
    """

    directory: Path

    def read(self, options: str) -> Imported:
        """Reads a command line."""
        return read_command([*shlex.split(options), "-d", str(self.directory)], Surroundings(tasks=2))

    def run(self, options: str) -> dict[str, float]:
        """Returns the rates of the summary that are above 0; the run must succeed."""
        imported = self.read(options)
        self.directory.mkdir(exist_ok=True)
        outcome = measured(imported.document)
        assert outcome.exit_code == 0, outcome.errors
        run = load(outcome.directory.path)
        for file in imported.files:
            assert file.write
            file.write(run)
        table = "\n".join(imported.render(run, {})).partition("SUMMARY rate")[2].partition("SUMMARY time")[0]
        rates = re.findall(r"^   ([A-Z]\w+ \w+) +([\d.]+)", table, re.M)
        return {name: float(rate) for name, rate in rates if float(rate) > 0}

    def refusal(self, options: str) -> str:
        """Returns why a command line is rejected."""
        with pytest.raises(StriderError) as refused:
            self.read(options)
        return refused.value.message

    def files(self) -> int:
        """Returns the number of files of the tree."""
        return len(list(self.directory.rglob("f?.*")))


@pytest.fixture
def mdtest(memory_folder: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Mdtest:
    """A directory in memory that does not exist yet."""
    if not engine.description.trees:
        pytest.skip("this engine has no trees")
    monkeypatch.setenv("STRIDER_STORE", str(memory_folder / "store"))
    return Mdtest(memory_folder / "items")


def test_phases_apart_work_on_one_tree(mdtest: Mdtest) -> None:
    same = "-n 12 -F -u -z 1 -b 2 -L -w 100 -e 100 -N 1"
    assert set(mdtest.run(f"{same} -C")) == {"File creation", "Tree creation"}
    assert mdtest.files() == 24
    assert set(mdtest.run(f"{same} -T")) == {"File stat"}
    assert set(mdtest.run(f"{same} -E -X")) == {"File read"}
    assert mdtest.files() == 24
    assert set(mdtest.run(f"{same} -r")) == {"File removal", "Tree removal"}
    assert list(mdtest.directory.iterdir()) == [], "mdtest leaves the directory of -d too"


def test_directories_are_renamed_between_runs(mdtest: Mdtest) -> None:
    for phase in ("-C", "-U", "-T", "-U", "-r"):
        mdtest.run(f"-n 6 -D {phase}")
    assert list(mdtest.directory.iterdir()) == []


def test_options_that_do_not_fit_are_rejected_with_both_values(mdtest: Mdtest) -> None:
    mdtest.run("-n 12 -F -w 100 -C")
    assert "-n 20: its tree has items = 12, the case items = 20" in mdtest.refusal("-n 20 -F -T")
    assert "sharing = shared, the case sharing = per-rank" in mdtest.refusal("-n 12 -F -u -T")
    assert "-e is 200, and the files of the tree have 100 bytes" in mdtest.refusal("-n 12 -F -E -e 200")
    assert "the phases need directories, and the tree has none" in mdtest.refusal("-n 12 -T")
    assert "holds the tree of an earlier creation: remove it with -r" in mdtest.refusal("-n 12 -F -C")
    assert mdtest.run("-n 12 -F -E -e 60") != {}, "a part of each file, as in mdtest"
    assert mdtest.files() == 24


def test_the_status_file_has_the_number_of_items(mdtest: Mdtest) -> None:
    status = mdtest.directory.parent / "items.stonewall"
    same = f"-n 3000 -F -L -x {status}"
    mdtest.run(f"{same} -C -W 1")
    made = int(status.read_text(encoding="ascii"))
    assert 0 < made <= 3000
    assert mdtest.files() == 2 * made
    kept = find(mdtest.directory, "mdtest")
    assert kept is not None
    assert kept.tree is not None
    assert kept.tree.population.files == made
    status.write_text(str(made + 1), encoding="ascii")
    refusal = mdtest.refusal(f"{same} -T")
    assert f"has {made + 1} items, and the tree {made} files of each task" in refusal
    status.unlink()
    notes = "".join(mdtest.read(f"{same} -T").notes)
    assert "it cannot be read, and the tree's own record is used" in notes
    assert mdtest.run(f"{same} -r").keys() == {"File removal", "Tree removal"}

"""`strider compare DIR1 DIR2`: rejected arguments, its time, and a real measurement."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders import LONG, CaseSpec, RunBuilder, sweep
from strider.cli import main
from strider.engine import Engine
from strider.errors import ExitCode
from strider.launch.rundir import RunDirectory
from strider.quick import Place, look
from strider.running import directories, turns
from strider.running.turns import Course, Side
from strider.units import MIB


@pytest.fixture
def place(store: Path, old_and_new: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two directories and a store with one run."""
    monkeypatch.chdir(old_and_new)
    RunBuilder(sweep(transfers=[65536])).write(store / "2026-11-21-040500-trial-aaaa")
    return old_and_new


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["old", "2026"], "old is a directory without a run, and 2026 is none: name two directories"),
        (["latest", "new"], "new is a directory without a run, and latest is none"),
        (["old"], "two directories are needed, not 1"),
        (["old", "new", "old"], "two directories are needed, not 3"),
        (["old", "old/"], "are the same directory: name two directories"),
        (["old", "new", "--by", "interface"], "--by compares runs"),
        (["old", "new", "--metric", "rate"], "--metric compares runs"),
        (["old", "new", "--budget", "5s"], "--budget 5s: must be at least 20 s"),
        (["latest", "2026", "--budget", "1min"], "--budget is the time to measure two directories"),
    ],
)
def test_a_mixture_of_runs_and_directories_is_refused(
    place: Path, capfd: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["compare", *words]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("names", [("/nonexistent/a", "/nonexistent/b"), (".", "./nonexistent")])
def test_a_path_that_does_not_exist_is_named(
    names: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *names, "--budget", "10s"]) == 2
    assert f"{next(name for name in names if 'none' in name)} does not exist" in capfd.readouterr().err


def test_a_run_comes_before_a_directory_of_its_name(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "2026").mkdir()
    assert main(["compare", "2026", "latest"]) == 0
    assert "A and B are the same run" in capfd.readouterr().out


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--fail-on", "slower"], 1)])
# proves comparing: memory-not-compared
def test_memory_is_not_compared_with_storage(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
) -> None:
    def looked(target: Path) -> Place:
        found = replace(look(target), free_bytes=1 << 40)
        if target.name == "new":
            return replace(found, file_system="tmpfs", kind="memory")
        return replace(found, file_system="ext4", kind="local")

    monkeypatch.setattr("strider.quick.look", looked)
    assert main(["compare", "old", "new", *options]) == code
    assert capfd.readouterr().out.startswith("new is in memory (tmpfs) and old is not: ")
    assert main(["compare", "old", "new", "--json", *options]) == code
    assert json.loads(capfd.readouterr().out)["comparison"] is None


def test_a_directory_without_space_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("strider.quick.look", lambda target: replace(look(target), free_bytes=9 * MIB))
    assert main(["compare", "old", "new"]) == 2
    said = capfd.readouterr().err
    assert f"{place / 'old'} has 9 MiB free, and a comparison needs 64 MiB: free space" in said


@pytest.mark.parametrize("pair_s", [5.0, 12.0, 19.0, 33.0, 38.0])
# proves comparing: budget, number-of-pairs
def test_the_pairs_end_within_half_a_pair_of_the_budget(
    pair_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    course = directories._course([], 6, 200.0)
    complete = 0
    while complete < course.total(complete, complete * pair_s):
        complete += 1
    assert abs(complete * pair_s - 200) <= pair_s / 2


# proves comparing: pairs-alternate
def test_each_side_is_first_in_every_other_pair() -> None:
    sides = [Side(label, None, []) for label in "AB"]  # type: ignore[arg-type]
    course = directories._course(sides, 6, 1e9)
    first = [course.order(pair)[0].label for pair in range(1, 7)]
    assert sorted(first[:2]) == ["A", "B"]
    assert first == first[:2] * 3


class Measured:
    """Stands for the engine: the second directory is slower by a tenth; a run may be interrupted."""

    def __init__(self, store: Path, interrupted: int) -> None:
        self.store, self.interrupted, self.runs = store, interrupted, 0

    def perform(self, prepared: str, *_: object) -> SimpleNamespace:
        self.runs += 1
        direct = {"name": "posix", "direct": True}
        case = CaseSpec(direct, operations=["write"], common={"verify": "off"}, name="sequential")
        builder = RunBuilder([case], repetitions=1, seed=self.runs)
        builder.client_bytes = LONG
        drawn, factor = builder.random, 0.9 if prepared == "B" else 1.0
        builder.rate = lambda *_: 1000 * factor * drawn.gauss(1, 0.005)  # type: ignore[method-assign]
        path = builder.write(self.store / f"2026-11-21-0405{self.runs:02d}-compare-aaaa")
        info = json.loads((path / "run.json").read_text())
        info["started"] = f"2026-11-21T04:05:{self.runs:02d}Z"
        (path / "run.json").write_text(json.dumps(info))
        is_over = self.runs == self.interrupted
        code = ExitCode.CHECK_FAILED if is_over else ExitCode.OK
        status = "interrupted" if is_over else "complete"
        return SimpleNamespace(directory=RunDirectory(path.name, path), exit_code=code, status=status)


def measured(place: Path, monkeypatch: pytest.MonkeyPatch, interrupted: int = 0) -> None:
    stub = Measured(place / "measured", interrupted)
    monkeypatch.setattr(turns, "display_of", lambda *_: None)
    sides = [Side(label, SimpleNamespace(store=place / "measured"), []) for label in "AB"]  # type: ignore[arg-type]
    monkeypatch.setattr(directories, "_sides", lambda *_: (sides, 6))
    monkeypatch.setattr(
        directories,
        "_course",
        lambda sides, *_: Course("pair", lambda *_: 6, lambda _: sides, lambda *_: True),
    )
    monkeypatch.setattr(turns, "perform", lambda prepared, *_: stub.perform("AB"[stub.runs % 2]))


@pytest.mark.parametrize(
    ("options", "code"),
    [([], 0), (["--fail-on", "slower"], 1), (["--fail-on", "slower", "--threshold", "20%"], 0)],
)
# proves comparing: directory-runs-stored, directory-options
def test_conditions_are_those_of_compare(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
) -> None:
    measured(place, monkeypatch)
    assert main(["compare", "old", "new", *options, "-o", "page.html"]) == code
    shown, said = capfd.readouterr()
    if "--threshold" not in options:
        assert shown.startswith("old is 1.1")
    assert (place / "page.html").exists()
    (again,) = (line for line in said.splitlines() if line.startswith("to compare them again: strider "))
    assert main(again.removeprefix("to compare them again: strider ").split()) == 0


# proves comparing: interrupted-directories
def test_an_interruption_keeps_what_was_measured(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    measured(place, monkeypatch, interrupted=8)
    assert main(["compare", "old", "new"]) == 1
    shown, said = capfd.readouterr()
    assert "3 of 6 pairs are complete and kept" in said
    assert shown.startswith("old is 1.1")


# proves comparing: interrupted-directories
def test_an_interruption_before_three_pairs_shows_each_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    measured(place, monkeypatch, interrupted=4)
    assert main(["compare", "old", "new"]) == 1
    shown, said = capfd.readouterr()
    assert "1 of 6 pairs are complete and kept" in said
    assert sum(", target " in line for line in shown.splitlines()) == 4


@pytest.mark.slow
# proves comparing: two-directories
def test_two_directories_in_memory_are_measured_in_turns(
    engine_in_use: Engine, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(directories, "LEAST_BUDGET_S", 1.0)
    monkeypatch.setattr("strider.quick.pairs.SHORTEST_PHASE_S", 0.05)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else place) as folder:
        names = [f"{folder}/{name}" for name in ("a", "b")]
        for name in names:
            Path(name).mkdir()
        assert main(["compare", *names, "--budget", "5s", "--quiet", "--json"]) == 0
        document = json.loads(capfd.readouterr().out)
        assert [list(Path(name).iterdir()) for name in names] == [[], []]
    assert [one["name"] for one in document["directories"]] == names
    assert document["pairs"] >= 3
    rows = document["comparison"]["rows"]
    assert {row["operation"] for row in rows} >= {"write", "read", "rewrite"}
    assert all(row["base"]["typical"] > 0 and row["other"]["typical"] > 0 for row in rows)
    assert names[0] in document["sentence"]

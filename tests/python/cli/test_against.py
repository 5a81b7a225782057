"""`strider run --against`: alternating runs of two sides, and their comparison."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders import LONG, RunBuilder, sweep
from strider.cli import main
from strider.engine import Engine
from strider.errors import ExitCode
from strider.launch import machine
from strider.launch.machine import Mount
from strider.launch.rundir import RunDirectory
from strider.running import against, turns
from strider.running.prepared import Prepared
from strider.suite import Plan

SUITE = """\
[suite]
name = "trial"
clients = 1
repetitions = 1
interleave = "random"
[[case]]
interface = "null"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
"""
RUN = ["--ceilings", "none", "--quiet"]


@pytest.fixture
def place(engine_in_use: Engine, store: Path, old_and_new: Path) -> Path:
    """A folder with a suite, two targets and the store."""
    (old_and_new / "trial.toml").write_text(SUITE, encoding="utf-8")
    return old_and_new


class Measured:
    """Stands for the engine: writes run directories with rates of 1000 MiB/s, slower on the target `new`."""

    def __init__(self, store: Path, factor: float, ends: dict[int, ExitCode] | None = None) -> None:
        self.store, self.factor, self.ends = store, factor, ends or {}
        self.targets: list[str] = []

    def perform(self, prepared: Prepared, *_: object) -> SimpleNamespace:
        count = len(self.targets)
        target = Path(prepared.checked.suite.plan.target)
        self.targets.append(target.name)
        builder = RunBuilder(sweep(transfers=[65536]), repetitions=1, seed=count)
        builder.client_bytes = LONG
        drawn = builder.random
        factor = self.factor if target.name == "new" else 1.0
        builder.rate = lambda *_: 1000 * factor * drawn.gauss(1, 0.005)  # type: ignore[method-assign]
        path = builder.write(self.store / f"2026-11-21-0405{count:02d}-trial-aaaa")
        info = json.loads((path / "run.json").read_text())
        info["started"] = f"2026-11-21T04:05:{count:02d}Z"
        (path / "run.json").write_text(json.dumps(info))
        code = self.ends.get(count, ExitCode.OK)
        status = "complete" if code == ExitCode.OK else "interrupted"
        return SimpleNamespace(directory=RunDirectory(path.name, path), exit_code=code, status=status)


def measure(
    place: Path, monkeypatch: pytest.MonkeyPatch, factor: float, ends: dict[int, ExitCode] | None = None
) -> Measured:
    measured = Measured(place / "store", factor, ends)
    monkeypatch.setattr(turns, "perform", measured.perform)
    monkeypatch.setattr(against, "in_child", lambda *_: True)
    return measured


def words(place: Path, *more: str) -> list[str]:
    return ["run", str(place / "trial.toml"), "--target", str(place / "new"), *RUN, *more]


# proves comparing: baseline-a, pairs-in-random-order, expected-duration
def test_both_sides_run_in_turns_in_random_order_and_are_paired(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = measure(place, monkeypatch, 0.9)
    monkeypatch.setattr(random, "SystemRandom", lambda: random.Random(4))
    assert main(words(place, "--against", str(place / "old"), "--json")) == 0
    captured = capsys.readouterr()
    assert [set(measured.targets[i : i + 2]) for i in range(0, 12, 2)] == [{"old", "new"}] * 6
    document = json.loads(captured.out)
    assert [len(side["runs"]) for side in document["sides"]] == [6, 6]
    assert {row["verdict"] for row in document["rows"]} == {"slower"}
    assert {row["change"]["method"] for row in document["rows"]} == {"paired by run"}
    assert {row["trust"]["grade"] for row in document["rows"]} == {"A"}
    assert f"A (base): suite trial on {place / 'old'}" in captured.err
    assert "12 runs in 6 pairs, about" in captured.err
    assert "at the pace of the first pair, 12 runs take" in captured.err
    assert "pair 6 of 6, " in captured.err
    assert set(measured.targets[::2]) == {"old", "new"}, "either side is first in some pairs"


@pytest.mark.parametrize(
    ("factor", "options", "code"),
    [
        (0.9, ["--fail-on", "slower"], 1),
        (0.9, ["--fail-on", "slower", "--threshold", "20%"], 0),
        (1.0, ["--fail-on", "unproven", "--threshold", "5%"], 0),
        (0.9, ["--fail-on", "unproven", "--threshold", "5%"], 1),
    ],
)
# proves comparing: expected-duration
def test_conditions_and_the_threshold_are_those_of_compare(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    factor: float,
    options: list[str],
    code: int,
) -> None:
    measure(place, monkeypatch, factor)
    assert main(words(place, "--against", str(place / "old"), *options)) == code
    assert f"--fail-on {options[1]} passes equal systems in" in capsys.readouterr().err


# proves comparing: interrupted-keeps
def test_an_interruption_keeps_the_pairs_that_are_complete(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = measure(place, monkeypatch, 1.0, {7: ExitCode.CHECK_FAILED})
    assert main(words(place, "--against", str(place / "old"))) == 1
    shown, said = capsys.readouterr()
    assert len(measured.targets) == 8
    assert "3 pairs" in shown
    assert "B" in shown
    assert "3 of 6 pairs are complete and kept" in said
    again = next(line for line in said.splitlines() if line.startswith("to compare them: "))
    assert main(again.removeprefix("to compare them: strider ").split()) == 0


def test_an_interruption_before_three_pairs_shows_the_results_of_each_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(place, monkeypatch, 1.0, {2: ExitCode.CHECK_FAILED})
    assert main(words(place, "--against", str(place / "old"))) == 1
    shown, said = capsys.readouterr()
    assert "1 of 6 pairs are complete and kept" in said
    assert [line.split(",")[0] for line in shown.splitlines() if ", target " in line] == sorted(
        path.name for path in (place / "store").iterdir()
    )
    assert shown.count("Data verified") == 3


def test_a_run_is_repeated_with_its_suite_its_settings_and_its_target(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ["run", str(place / "trial.toml"), "--target", str(place / "old"), "-n", "2", *RUN]
    assert main([*first, "--set", "case.transfer=128KiB", "--set", "case.repetitions=2"]) == 0
    capsys.readouterr()
    seen: list[Plan] = []
    measured = measure(place, monkeypatch, 1.0)

    def perform(prepared: Prepared, *rest: object) -> SimpleNamespace:
        seen.append(prepared.checked.suite.plan)
        return measured.perform(prepared, *rest)

    monkeypatch.setattr(turns, "perform", perform)
    same = ["-n", "2", "--set", "case.transfer=128KiB"]
    assert main(words(place, "--against", "latest", "--pairs", "3", *same)) == 0
    plans = {Path(plan.target).name: plan.cases[0] for plan in seen}
    assert {name: case.clients for name, case in plans.items()} == {"old": 2, "new": 2}
    assert {name: case.pattern["transfer"] for name, case in plans.items()} == {
        "old": 128 << 10,
        "new": 128 << 10,
    }
    assert {name: case.repetitions.max for name, case in plans.items()} == {"old": 2, "new": 1}


def test_another_suite_is_a_baseline(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = place / "other.toml"
    text = SUITE.replace('name = "trial"', f'name = "other"\ntarget = "{place / "old"}"')
    other.write_text(text, encoding="utf-8")
    measured = measure(place, monkeypatch, 1.0)
    assert main(words(place, "--against", str(other), "--pairs", "3")) == 0
    assert set(measured.targets) == {"old", "new"}
    assert f"A (base): suite other on {place / 'old'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pairs", "4"], "--pairs needs a baseline: add --against BASELINE"),
        (["--fail-on", "slower"], "--fail-on needs a baseline"),
        (["--against", "nothing"], "--against nothing: no suite, directory or run of that name"),
        (["--against", "OLD", "--fail-on", "unproven"], "needs a threshold above 0"),
        (["--against", "OLD", "--threshold", "x"], "--threshold: "),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    measured = measure(place, monkeypatch, 1.0)
    assert main(words(place, *(word.replace("OLD", str(place / "old")) for word in options))) == 2
    assert message in capsys.readouterr().err
    assert measured.targets == []


# proves comparing: refused-sides
def test_other_work_than_that_of_a_run_is_refused_before_anything_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ["run", str(place / "trial.toml"), "--target", str(place / "old"), *RUN]
    assert main([*first, "--set", "case.transfer=128KiB"]) == 0
    capsys.readouterr()
    measured = measure(place, monkeypatch, 1.0)
    assert main(words(place, "--against", "latest")) == 2
    said = capsys.readouterr().err
    assert measured.targets == []
    assert "2 of 2 operations cannot be compared: different work: transfer 128 KiB and 64 KiB" in said
    assert "Nothing was measured. Give the suite the settings of that run: --set case.transfer=128KiB" in said


# proves comparing: refused-sides
def test_other_work_than_that_of_a_suite_is_refused_before_anything_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SUITE.replace("64KiB", "32KiB").replace(
        'name = "trial"', f'name = "other"\ntarget = "{place / "old"}"'
    )
    (place / "other.toml").write_text(text, encoding="utf-8")
    measured = measure(place, monkeypatch, 1.0)
    assert main(words(place, "--against", str(place / "other.toml"))) == 2
    assert (
        "32 KiB and 64 KiB (2 operations). Nothing was measured. Give both sides" in capsys.readouterr().err
    )
    assert measured.targets == []


# proves comparing: refused-sides
def test_memory_and_storage_are_refused_before_anything_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mount_of(path: Path) -> Mount:
        return Mount(str(path), "tmpfs" if path.name == "old" else "ext4", "none", "rw")

    monkeypatch.setattr(machine, "mount_of", mount_of)
    (place / "trial.toml").write_text(SUITE.replace('"null"', '"posix"'), encoding="utf-8")
    measured = measure(place, monkeypatch, 1.0)
    assert main(words(place, "--against", str(place / "old"))) == 2
    said = capsys.readouterr().err
    assert "2 of 2 operations cannot be compared: A in memory, B on storage (2 operations)" in said
    assert "Choose two targets in memory or two on storage: A is on tmpfs and B is on ext4" in said
    assert measured.targets == []


@pytest.mark.parametrize(("more", "code"), [([], 0), (["--fail-on", "incomparable"], 2)])
# proves comparing: refused-some
def test_a_part_of_other_work_is_named_and_refused_where_it_would_fail_the_test(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    code: int,
) -> None:
    other = SUITE.replace('name = "trial"', f'name = "other"\ntarget = "{place / "old"}"')
    (place / "other.toml").write_text(other.replace('"64KiB"', '["64KiB", "128KiB"]'), encoding="utf-8")
    measured = measure(place, monkeypatch, 1.0)
    asked = ["--against", str(place / "other.toml"), "--pairs", "3", *more]
    assert main(words(place, *asked)) == code
    assert "2 of 4 operations cannot be compared: only in A (2 operations)" in capsys.readouterr().err
    assert bool(measured.targets) == (code == 0)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_runs")
# proves comparing: run-directories
def test_the_engine_runs_three_pairs(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(words(place, "--against", str(place / "old"), "--pairs", "3", "--json")) == 0
    document = json.loads(capfd.readouterr().out)
    assert [len(side["runs"]) for side in document["sides"]] == [3, 3]
    # Phases of some microseconds say nothing of a rate.
    assert {(row["trust"]["grade"], *row["trust"]["reasons"]) for row in document["rows"]} == {("D", "short")}
    assert len(list((place / "store").glob("*/report.html"))) == 6
    assert list((place / "old").iterdir()) == list((place / "new").iterdir()) == []

"""`strider run --find-capacity`: arrival rates around the rate of a closed loop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.running import capacity
from strider.running.capacity import SHARES, _alone
from strider.running.options import RunOptions
from strider.running.prepared import Prepared
from strider.running.probing import measured
from strider.store import Run
from strider.suite.document import Document, parse

SUITE = """\
[suite]
name = "trial"
clients = 1
repetitions = 1
deadline = "100ms"
wear_out = false
[[case]]
interface = "posix"
pattern = "random"
transfer = "4KiB"
size = "4MiB"
operations = ["read"]
arrivals = "poisson"
arrival_rate = 5
"""


@pytest.fixture
def suite(engine_in_use: Engine, store: Path, tmp_path: Path) -> str:
    (tmp_path / "target").mkdir()
    file = tmp_path / "trial.toml"
    file.write_text(SUITE, encoding="utf-8")
    return str(file)


# proves measuring: find-capacity
def test_the_rates_are_shares_of_what_the_closed_loop_completed(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "target"), "--ceilings", "none", "--quiet"]
    assert main([*words, "--find-capacity"]) == 0
    (run,) = (tmp_path / "store").iterdir()
    cases = json.loads((run / "plan.json").read_text(encoding="utf-8"))["cases"]
    rates = [case["arrival_rate"] for case in cases]
    assert len(rates) == len(SHARES)
    assert [rate / rates[-1] for rate in rates] == pytest.approx(
        [one / SHARES[-1] for one in SHARES], rel=0.1
    )
    # A file of 4 MiB is in the page cache: thousands of reads a second, not the 5 of the suite.
    assert rates[0] > 100
    assert capfd.readouterr().out.count("\nposix      random, ") == len(SHARES)
    assert list((tmp_path / "target").iterdir()) == []


SECOND = """\
[[case]]
interface = "posix"
pattern = "random"
transfer = "4KiB"
size = "4MiB"
operations = ["read"]
"""


@pytest.mark.parametrize(
    ("mistake", "message"),
    [("dept = 4", 'unknown key "dept": did you mean "depth"?'), ("depth = -4", "depth: ")],
)
def test_a_mistake_in_a_later_case_has_its_line_and_nothing_is_measured(
    suite: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    mistake: str,
    message: str,
) -> None:
    monkeypatch.setattr(capacity, "measured", lambda *_: pytest.fail("a case was measured"))
    text = f"{SUITE}{SECOND}{mistake}\n"
    Path(suite).write_text(text, encoding="utf-8")
    assert main(["run", suite, "--target", str(tmp_path / "target"), "--find-capacity"]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert f"trial.toml:{len(text.splitlines())}: {message}" in line


def test_a_closed_loop_of_a_later_case_keeps_the_lines_of_the_suite(tmp_path: Path) -> None:
    document = parse(f"{SUITE}{SECOND}depth = 4\n", "trial.toml")
    alone = _alone(document, 1)
    assert alone.key(("case", 0)).line == document.key(("case", 1)).line
    assert alone.value(("case", 0, "depth")).line == len(document.text.splitlines())
    assert alone.key(("suite", "deadline")).text == "--find-capacity"
    assert [index for index, _ in alone.cases()] == [0]


def test_a_case_with_a_runtime_is_measured_in_closed_loop(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = SUITE.replace('deadline = "100ms"\nwear_out = false\n', "")
    Path(suite).write_text(f'{plain}runtime = "100ms"\nramp = "10ms"\n', encoding="utf-8")
    words = ["run", suite, "--target", str(tmp_path / "target"), "--ceilings", "none", "--quiet"]
    assert main([*words, "--find-capacity"]) == 0, capfd.readouterr().err


@pytest.mark.parametrize("setting", ["case.runtime=100ms", "case.repetitions=2"])
def test_lengths_and_repetitions_of_the_command_line_do_not_change_the_closed_loop(
    suite: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
) -> None:
    Path(suite).write_text(SUITE.replace('deadline = "100ms"\nwear_out = false\n', ""), encoding="utf-8")
    settings: list[list[str]] = []

    def noting(
        document: Document, options: RunOptions, prepare: Callable[[Document, RunOptions], Prepared]
    ) -> tuple[Run, float]:
        settings.append(options.settings)
        return measured(document, options, prepare)

    monkeypatch.setattr(capacity, "measured", noting)
    words = ["run", suite, "--target", str(tmp_path / "target"), "--ceilings", "none", "--quiet"]
    asked = ["--set", setting, "--set", "case.posix.direct=false"]
    assert main([*words, *asked, "--find-capacity"]) == 0, capfd.readouterr().err
    assert settings == [["case.posix.direct=false"]]


def test_arrival_rates_of_the_command_line_are_refused(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "target"), "--set", "case.arrival_rate=100"]
    assert main([*words, "--find-capacity"]) == 2
    assert "--set case.arrival_rate=100: --find-capacity chooses the arrival rates" in capfd.readouterr().err


CLOSED = (
    "--find-capacity measures latency at arrival rates, which a closed loop does not have: leave arrivals"
)


@pytest.mark.parametrize(
    ("old", "new", "settings", "said"),
    [
        ("", "", ["case.arrivals=closed"], f"--set case.arrivals=closed: {CLOSED}"),
        ("", "", ["case.arrivals=fixed, closed"], f"--set case.arrivals=fixed, closed: {CLOSED}"),
        ('arrivals = "poisson"', 'arrivals = "closed"', [], f"trial.toml:13: {CLOSED}"),
        ("wear_out = false", 'arrivals = ["closed", "fixed"]', [], f"trial.toml:6: {CLOSED}"),
        (
            "arrival_rate = 5",
            "zip = { transfer = [4096, 8192], arrival_rate = [5, 6] }",
            [],
            "trial.toml:14: --find-capacity chooses the arrival rates: leave arrival_rate out of zip",
        ),
    ],
)
def test_what_contradicts_the_chosen_rates_is_refused_where_it_stands(
    suite: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    settings: list[str],
    said: str,
) -> None:
    monkeypatch.setattr(capacity, "measured", lambda *_: pytest.fail("a case was measured"))
    Path(suite).write_text(SUITE.replace(old, new), encoding="utf-8")
    words = ["run", suite, "--target", str(tmp_path / "target"), "--find-capacity"]
    assert main([*words, *(word for text in settings for word in ("--set", text))]) == 2
    printed = capfd.readouterr().err
    assert said in printed
    assert "(case 1)" not in printed


def test_a_kind_of_arrivals_in_the_suite_or_on_the_command_line_is_kept(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "target"), "--ceilings", "none", "--quiet"]
    plain = SUITE.replace('arrivals = "poisson"\n', "")
    for text, settings in (
        (plain.replace("clients = 1", 'clients = 1\narrivals = "fixed"'), []),
        (plain.replace("clients = 1", 'clients = 1\narrivals = "closed"'), ["--set", "case.arrivals=fixed"]),
    ):
        Path(suite).write_text(text, encoding="utf-8")
        assert main([*words, *settings, "--find-capacity"]) == 0, capfd.readouterr().err
    for run in (tmp_path / "store").iterdir():
        cases = json.loads((run / "plan.json").read_text(encoding="utf-8"))["cases"]
        assert {case["arrivals"] for case in cases} == {"fixed"}


def test_a_run_that_shows_no_capacity_says_why(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "target"), "--ceilings", "none", "--quiet"]
    assert main([*words, "--find-capacity"]) == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert (
        "shows no capacity: each arrival rate needs 3 repetitions and has 1; set repetitions = 3" in printed
    )


def test_it_measures_one_target(suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", suite, "--target", str(tmp_path), "--against", str(tmp_path), "--find-capacity"]) == 2
    assert "--find-capacity measures one target: leave --against" in capfd.readouterr().err


def test_a_closed_loop_that_fails_is_an_error(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "missing"), "--find-capacity", "--quiet"]
    assert main(words) in (2, 3)
    assert "missing" in capfd.readouterr().err

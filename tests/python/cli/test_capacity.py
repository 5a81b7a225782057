"""`strider run --find-capacity`: arrival rates around what a closed loop completes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strider.cli import main
from strider.cli.capacity import SHARES
from strider.engine import Engine

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
    assert capfd.readouterr().out.count("random, ") == len(SHARES)
    assert list((tmp_path / "target").iterdir()) == []


def test_it_measures_one_target(suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", suite, "--target", str(tmp_path), "--against", str(tmp_path), "--find-capacity"]) == 2
    assert "--find-capacity measures one target: leave --against" in capfd.readouterr().err


def test_a_closed_loop_that_fails_is_an_error(
    suite: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", suite, "--target", str(tmp_path / "missing"), "--find-capacity", "--quiet"]
    assert main(words) in (2, 3)
    assert "missing" in capfd.readouterr().err

"""`strider run --time-limit`."""

import json
from pathlib import Path

import pytest

from strider.cli import main
from strider.listing.names import run_directories

SUITE = """
[suite]
name = "long"
time_limit = "1h"
repetitions = 100000

[[case]]
interface = "null"
pattern = "segmented"
operations = ["write"]
block = "64MiB"
transfer = "1MiB"
"""


def arguments(tmp_path: Path, limit: str) -> list[str]:
    (tmp_path / "target").mkdir()
    (tmp_path / "long.toml").write_text(SUITE)
    target = str(tmp_path / "target")
    options = ["--target", target, "-q", "--ceilings", "none", "--time-limit", limit]
    return ["run", str(tmp_path / "long.toml"), *options]


@pytest.mark.slow
def test_the_option_overrides_the_suite_and_the_results_state_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments(tmp_path, "500ms"), "--store", str(tmp_path / "runs")]) == 0
    (path,) = run_directories(tmp_path / "runs")
    assert json.loads((path / "plan.json").read_text())["time_limit_s"] == 0.5
    assert "of 100000 repetitions: the time limit of 500 ms ended the run." in capfd.readouterr().out


def test_a_limit_that_is_no_time_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, "soon")) == 2
    assert '--time-limit soon: "soon" is not a time: write for example 30, "30s"' in capfd.readouterr().err

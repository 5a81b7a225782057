"""Strider measures, keeps and reports also if its standard streams are closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strider.engine import Engine

pytestmark = pytest.mark.slow

SUITE = """
[suite]
name = "s"
target = "{target}"
[[case]]
interface = "posix"
pattern = "segmented"
block = "64KiB"
transfer = "64KiB"
operations = ["write"]
"""


def command(engine: Engine, tmp_path: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    """Runs a suite in a shell with a redirection after the command."""
    (tmp_path / "target").mkdir()
    suite = tmp_path / "suite.toml"
    suite.write_text(SUITE.format(target=tmp_path / "target"))
    program = f'set -o pipefail; "$@" {redirection}'
    words = [sys.executable, "-I", "-m", "strider", "run", "--report"]
    words += [str(suite), "--store", str(tmp_path / "store")]
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path)}
    return subprocess.run(
        ["bash", "-c", program, "bash", *words], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.parametrize("redirection", [">&-", ">&- 2>&-", "<&- >&- 2>&-", "| head -c 1", "| true"])
def test_a_run_is_complete_with_its_report(engine: Engine, tmp_path: Path, redirection: str) -> None:
    done = command(engine, tmp_path, redirection)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    (report,) = (tmp_path / "store").glob("*/report.html")
    assert (report.parent / "samples.parquet").exists()


def test_no_file_takes_the_place_of_a_closed_stream(engine: Engine, tmp_path: Path) -> None:
    command(engine, tmp_path, "<&- >&- 2>&-")
    (run,) = (tmp_path / "store").iterdir()
    for file in ("run.json", "plan.json", "suite.toml"):
        assert "strider: " not in (run / file).read_text()

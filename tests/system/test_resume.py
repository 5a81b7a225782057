"""Runs that are cut by SIGKILL of all their processes at random moments end as if nothing had happened.

`benchmarks/resume.py 200` cuts more of them.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strider.engine import Engine

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "resume.py"


@pytest.mark.slow
def test_cut_and_resumed_runs_equal_an_uninterrupted_one(engine: Engine) -> None:
    # Not in the folder of the test: the path of the socket of a run has at most 107 characters.
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path)}
    done = subprocess.run(
        [sys.executable, PROGRAM, "3", "7"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "3 runs, 0 of them wrong" in done.stdout

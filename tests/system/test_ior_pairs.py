"""The real IOR and mdtest, where this machine has them, and Strider make the same calls."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from strider.engine import Engine

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "ior_pairs.py"


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("ior", "-w -r -C -F -b 256k"),
        ("ior", "-w -Y -b 256k"),
        ("ior", "-b 256k -t 64k -F -u : -w -k : -r -k : -r"),
        ("mdtest", "-n 10 -F -w 100 -e 100"),
    ],
)
def test_both_make_the_same_calls(engine: Engine, strace: str, program: str, arguments: str) -> None:
    real = shutil.which(program)
    if real is None:
        pytest.skip(f"machine: needs {program}, which Debian does not have")
    command = [sys.executable, str(SCRIPT), f"--{program}", real, f"--only={arguments}"]
    command += ["--mpiexec", engine.version.mpi.mpiexec]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"same: {program} {arguments}"), done.stdout + done.stderr
    assert done.returncode == 0

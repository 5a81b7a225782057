"""The real IOR, where this machine has it."""

import shlex
import shutil
import subprocess

import pytest

from strider.engine import Engine


def run_ior(engine: Engine, options: str, tasks: int) -> "subprocess.CompletedProcess[str]":
    """Runs IOR with the MPI of the engine; skips the test where there is no IOR.

    Args:
        engine: The engine.
        options: IOR's options, quoted as in a shell.
        tasks: Number of tasks.
    """
    program = shutil.which("ior")
    if program is None:
        pytest.skip("machine: needs ior, which Debian does not have")
    command = [engine.version.mpi.mpiexec, "-n", str(tasks), program, *shlex.split(options)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

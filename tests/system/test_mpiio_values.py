"""MPI-IO calls with numbers around powers of two act as a model of the file, or have an error class.

`STRIDER_VALUE_REQUESTS=N` makes N calls.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import DEADLINE_S
from strider.engine import Engine
from strider.listio import ServerOptions, check, preload_variables, serve, stop
from strider.listio.servers import processes_of
from test_mount_values import MOST_KIB, memory_kib

CALLS = int(os.environ.get("STRIDER_VALUE_REQUESTS", "8000"))
CHECKSUMS_KIB = 64 << 10
"""The memory that a server may use for them; the buffers of connections are within the other limit."""


@pytest.mark.parametrize("ranks", [1, 2])
def test_no_number_in_a_call_moves_data_elsewhere_or_takes_memory(engine: Engine, ranks: int) -> None:
    program = engine.path.parents[1] / "tests/listio/strider-mpiio-values"
    # The files of tmpfs may be as large as any.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        volume = Path(folder) / "volume"
        serve(engine, volume, ServerOptions(servers=3, strip_bytes=10_000))
        try:
            servers = [process.pid for process in processes_of(volume)]
            before = [memory_kib(pid) for pid in servers]
            done = subprocess.run(
                [engine.version.mpi.mpiexec, "-n", str(ranks), program, "listio:values", str(CALLS), "5"],
                env=os.environ | preload_variables(engine, volume, None, os.environ),
                capture_output=True,
                text=True,
                timeout=max(DEADLINE_S, CALLS / 100),
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, "")
            grown = [memory_kib(pid) - first for pid, first in zip(servers, before, strict=True)]
            print(f"{ranks} x {CALLS} calls; KiB more of a rank: {done.stdout.strip()}, of servers: {grown}")
            assert int(done.stdout) <= MOST_KIB
            assert max(grown) <= MOST_KIB + CHECKSUMS_KIB
            found = check(engine, volume)
            assert (found["problems"], found["orphans"]) == ([], [])
        finally:
            stop(volume)

"""How long a trivial run takes, beside an MPI program that does nothing, with many more ranks than cores.

    .strider/venv/bin/python benchmarks/start_up.py [RANKS] [ROUNDS]

Ranks that wait must not burn the processors that others need: with IOR it takes 5.5 times as long.
"""

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from common import print_medians, run_engine

from strider import engine as engines

EMPTY = "#include <mpi.h>\nint main(int n, char** words) { MPI_Init(&n, &words); MPI_Finalize(); }\n"


def compile_empty_program(folder: Path) -> Path:
    """Returns the path of an MPI program that does nothing."""
    source, program = folder / "empty.cpp", folder / "empty"
    source.write_text(EMPTY, encoding="utf-8")
    compiler = Path(engines.find().version.mpi.mpiexec).parent / "mpicxx"
    subprocess.run([compiler, "-o", program, source], check=True)
    return program


def seconds_of_empty_program(program: Path, ranks: int) -> float:
    """Wall time."""
    begin = time.monotonic()
    subprocess.run([engines.find().version.mpi.mpiexec, "-n", str(ranks), program], check=True)
    return time.monotonic() - begin


def seconds_of_strider(ranks: int) -> float:
    """Wall time of a case with ten requests per rank."""
    pattern = {"name": "segmented", "transfer": 4096, "block": 40960}
    begin = time.monotonic()
    run_engine([{"clients": ranks, "interface": {"name": "null"}, "pattern": pattern}], Path("/"))
    return time.monotonic() - begin


def main(ranks: int, rounds: int) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        program = compile_empty_program(Path(folder))
        for _ in range(rounds):
            times["strider"].append(seconds_of_strider(ranks))
            times["empty program"].append(seconds_of_empty_program(program, ranks))
    note = f"medians (range) of {rounds} alternating runs; wanted: a ratio of at most 1.3"
    print_medians("Start-up", "s", {f"{ranks} ranks": times}, note)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64, int(sys.argv[2]) if len(sys.argv) > 2 else 5)

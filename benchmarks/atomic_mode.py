"""Overlapping accesses of MPI ranks to a list-I/O volume: whether the result is one that MPI allows.

    .strider/venv/bin/python benchmarks/atomic_mode.py [--trials 10000] [--ranks 2 3 4] [--mpi openmpi]

Runs tests/system/mpi_programs/overlaps.c with the MPI-IO layer preloaded on a volume of three servers with
strips of 1000 bytes. A trial has one or two calls of each rank, through views of its own, in six ways
(explicit offsets, individual pointers, nonblocking, collective, collective by pointer, split) and by all
methods and hints for two-phase access. A serial model decides. Prints for each number of ranks and each kind
the trials, those with conflicting calls, and those with a result that MPI does not allow. The kind
`undefined` is the same as `atomic` without atomic mode, for which MPI promises nothing. Exit code 1: a result
of another kind is wrong.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/system"))

from rich.console import Console
from rich.table import Table

from mpi_runs import Mpi, mpich, openmpi
from strider import engine as engines
from strider.listio import ServerOptions, preload_variables, serve, stop

DEADLINE_S = 7200


def run(mpi: Mpi, program: Path, volume: Path, ranks: int, trials: int, seed: int) -> list[list[str]]:
    """Runs the program; a row for each kind of trial."""
    variables = preload_variables(engines.find(), volume, mpi.name, os.environ)
    words = [program, "listio:overlaps", str(trials), str(seed)]
    done = mpi.run(ranks, words, variables, DEADLINE_S)
    sys.stderr.write(done.stderr)
    layer, *rows = [line.split() for line in done.stdout.splitlines()]
    if layer != ["layer", "1"]:
        sys.exit("the MPI-IO layer did not serve the file")
    return rows


def main() -> int:
    """Runs all trials and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=10_000, help="trials of each kind (default: 10000)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4], help="numbers of ranks, 2 to 4")
    parser.add_argument(
        "--mpi", choices=["mpich", "openmpi"], default="mpich", help="MPI library of the ranks"
    )
    parser.add_argument("--seed", type=int, default=1, help="another one gives other trials (default: 1)")
    options = parser.parse_args()
    mpi = mpich() if options.mpi == "mpich" else openmpi()
    table = Table("ranks", "kind", "trials", "conflicting", "wrong")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        volume = Path(folder) / "volume"
        program = mpi.compile("overlaps.c", Path(folder))
        serve(engines.find(), volume, ServerOptions(servers=3, strip_bytes=1000))
        try:
            for ranks in options.ranks:
                for row in run(mpi, program, volume, ranks, options.trials, options.seed):
                    table.add_row(str(ranks), *row)
                    wrong += int(row[-1]) if row[0] != "undefined" else 0
        finally:
            stop(volume)
    Console(width=120).print(table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

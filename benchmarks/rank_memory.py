"""Memory of the engine's ranks, by number of ranks and of cases: rank 0's, and the most of the others.

    .strider/venv/bin/python benchmarks/rank_memory.py [ENGINE]

Only rank 0 keeps the plan, so the memory of the others must not follow the number of cases. Needs MPICH,
whose ranks have their number in PMI_RANK, and GNU time.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from strider import engine as engines

RANKS = (2, 16, 128)
CASES = (10, 1_000, 10_000)
HEADER = {"format": "strider-plan", "version": 1, "interleave": "none", "time_limit_s": 2}
MEASURED = 'exec /usr/bin/time -q -o "$0.$PMI_RANK" -f %M "$@"'


def plan_of(number: int, ranks: int) -> str:
    """A plan of cases that differ in their blocks and seeds."""
    cases = [
        {
            "case": case + 1,
            "name": f"seed={case} block={4 * (1 + case % 64)}KiB",
            "clients": ranks,
            "interface": {"name": "null"},
            "pattern": {"name": "segmented", "transfer": 4096, "block": 4096 * (1 + case % 64)},
            "operations": ["write", "read"],
            "seed": case + 1,
        }
        for case in range(number)
    ]
    return json.dumps({**HEADER, "ranks": ranks, "cases": cases})


def peaks_mib(engine: engines.Engine, ranks: int, cases: int) -> tuple[float, float]:
    """Peak resident memory of rank 0, and the largest of the other ranks, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        plan, record = Path(folder) / "plan.json", Path(folder) / "peak"
        plan.write_text(plan_of(cases, ranks), encoding="utf-8")
        words = [engine.version.mpi.mpiexec, "-n", ranks, "sh", "-c", MEASURED, record]
        words += [
            engine.path,
            "run",
            plan,
            "--directory",
            folder,
            "--run",
            "memory",
            "--events",
            Path(folder) / "events.jsonl",
        ]
        subprocess.run([str(word) for word in words], check=True)
        peaks = [int(Path(f"{record}.{rank}").read_text()) / 1024 for rank in range(ranks)]
    return peaks[0], max(peaks[1:])


def main(path: Path | None) -> None:
    engine = engines.Engine(path) if path else engines.find()
    table = Table(title="Peak resident memory: rank 0, most of the others (MiB)")
    for name in ("ranks", *(f"{cases} cases" for cases in CASES)):
        table.add_column(name, justify="right")
    for ranks in RANKS:
        peaks = [peaks_mib(engine, ranks, cases) for cases in CASES]
        table.add_row(str(ranks), *(f"{first:.1f}, {others:.1f}" for first, others in peaks))
    Console().print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

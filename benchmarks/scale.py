"""How Strider's own work grows with the number of ranks, on one machine with far fewer cores than ranks.

    .strider/venv/bin/python benchmarks/scale.py [--ranks 2 4 8 … 256] [--rounds 5]

For each number of ranks: a run of one small phase, alternating with an MPI program that does nothing; a
barrier, the reduction of a phase's sample and the writing of its event, as rank 0 sees them; and the bytes of
the events of a phase. The exponent of a column is the slope of its logarithm over that of the ranks. Builds
`strider-ranks` (benchmarks/engine) beside the engine.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from common import Json, build, run_events
from rich.console import Console
from rich.table import Table
from start_up import compile_empty_program, seconds_of_empty_program, seconds_of_strider

from strider import engine as engines

CASE = {
    "interface": {"name": "null"},
    "pattern": {"name": "segmented", "transfer": 4096, "block": 40960},
    "operations": ["read"],
}
COLUMNS = {
    "strider_s": ("Strider (s)", 1.0),
    "empty_s": ("empty (s)", 1.0),
    "ratio": ("ratio", 1.0),
    "barrier_s": ("barrier (ms)", 1e3),
    "reduction_s": ("reduction (ms)", 1e3),
    "events_s": ("event (ms)", 1e3),
    "sample_bytes": ("sample (KiB)", 1 / 1024),
    "phase_bytes": ("all events (KiB)", 1 / 1024),
}
"""Titles, and factors to the unit in them."""


def exchanges_of(program: Path, ranks: int, rounds: int) -> Json:
    """Medians in seconds of a barrier, a reduction and an event of a phase."""
    words = [engines.find().version.mpi.mpiexec, "-n", str(ranks), program, str(rounds)]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)


def bytes_of_events(ranks: int) -> dict[str, float]:
    """Bytes of a phase's sample, and of all its events."""
    events = run_events([{"clients": ranks, **CASE}], Path("/"))
    sizes: dict[str, int] = defaultdict(int)
    for event in events:
        sizes[event["event"]] += len(json.dumps(event, separators=(",", ":"))) + 1
    return {"sample_bytes": float(sizes["sample"]), "phase_bytes": float(sizes["sample"] + sizes["rank"])}


def measure(ranks: int, rounds: int, program: Path, empty: Path) -> dict[str, float]:
    """Returns a row."""
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        times["strider_s"].append(seconds_of_strider(ranks))
        times["empty_s"].append(seconds_of_empty_program(empty, ranks))
    row = {name: statistics.median(values) for name, values in times.items()}
    row["ratio"] = row["strider_s"] / row["empty_s"]
    return row | exchanges_of(program, ranks, 4 * rounds + 1) | bytes_of_events(ranks)


def exponent(ranks: Sequence[int], values: Sequence[float]) -> float:
    """Returns the slope of the values' logarithms over those of the ranks; `nan` for one number of ranks."""
    if len(ranks) < 2:
        return math.nan
    logarithms = [math.log(value) for value in values]
    return statistics.linear_regression([math.log(rank) for rank in ranks], logarithms).slope


def table_of(rows: Mapping[int, Mapping[str, float]], rounds: int) -> Table:
    """Returns a row for each number of ranks, and the exponents."""
    note = (
        f"medians of {rounds} alternating runs; load {os.getloadavg()[0]:.1f} at the end; "
        f"{os.cpu_count()} processors; wanted: a ratio of at most 1.3"
    )
    table = Table(title="Growth with ranks", caption=note, title_justify="left", caption_justify="left")
    for title in ("ranks", *(title for title, _ in COLUMNS.values())):
        table.add_column(title, justify="right")
    for ranks, row in rows.items():
        table.add_row(str(ranks), *(f"{row[name] * factor:.3g}" for name, (_, factor) in COLUMNS.items()))
    fits = [exponent(list(rows), [row[name] for row in rows.values()]) for name in COLUMNS]
    table.add_section()
    table.add_row("exponent", *(f"{fit:.2f}" for fit in fits))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2**power for power in range(1, 9)])
    parser.add_argument("--rounds", type=int, default=5, help="alternating runs of each number (default: 5)")
    options = parser.parse_args()
    program = build("strider-ranks") / "benchmarks/engine/strider-ranks"
    with tempfile.TemporaryDirectory() as folder:
        empty = compile_empty_program(Path(folder))
        rows = {ranks: measure(ranks, options.rounds, program, empty) for ranks in options.ranks}
    Console(width=140).print(table_of(rows, options.rounds))


if __name__ == "__main__":
    main()

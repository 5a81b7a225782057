"""What Strider does in memory alone: making data, checking it, and making the requests of every pattern.

    .strider/venv/bin/python benchmarks/in_memory.py [ROUNDS]

One core, processor time. Builds `strider-benchmarks` (benchmarks/engine) beside the engine, which needs
Google Benchmark (Debian package libbenchmark-dev).
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from common import Json, build
from rich.console import Console
from rich.table import Table

CLIENTS = 4
REQUESTS = 1 << 20
TRANSFER = 4096
DATA_BYTES = (4 << 10, 1 << 20, 64 << 20)  # those of benchmarks/engine/main.cpp
LEAST_GB_S = 12.0
MOST_NS_PER_REQUEST = 30.0
MOST_NS_PER_EXTENT = 5.0


class Wanted(NamedTuple):
    """The goal of a figure."""

    bound: Literal["at least", "at most"]
    value: float


class Work(NamedTuple):
    """A case's pattern, and the order in which a rank issues its requests."""

    pattern: Json
    order: str = "forward"


SEGMENTED = {"name": "segmented", "transfer": TRANSFER, "block": REQUESTS * TRANSFER}
RANDOM = {"name": "random", "transfer": TRANSFER, "size": CLIENTS * REQUESTS * TRANSFER}
REQUESTS_OF_ONE_EXTENT = {
    "segmented": Work(SEGMENTED),
    "segmented, backward": Work(SEGMENTED, "backward"),
    "segmented, random order": Work(SEGMENTED, "random"),
    "strided": Work({"name": "strided", "transfer": TRANSFER, "count": REQUESTS}),
    "nested-strided, 3 levels": Work({"name": "nested-strided", "levels": [64, 128, 128]}),
    "random-strided": Work({"name": "random-strided", "transfer": TRANSFER, "count": REQUESTS}),
    "random": Work(RANDOM),
    "random, replacement": Work({**RANDOM, "count": REQUESTS, "replacement": True}),
    "sequential": Work({"name": "sequential", "transfer": TRANSFER, "size": REQUESTS * TRANSFER}),
    "vector, 1 piece": Work({"name": "vector", "pieces": 1, "count": REQUESTS}),
    "subarray, 1 row": Work({"name": "subarray", "dims": [4, 1024], "grid": [4, 1], "count": REQUESTS}),
    "tiled, 1 line": Work({"name": "tiled", "tile_y": 1, "count": REQUESTS}),
    "flash, 1 cell": Work(
        {"name": "flash", "blocks": 1, "cells": 1, "guard_cells": 0, "variables": REQUESTS}
    ),
    "btio, 1 row": Work({"name": "btio", "grid": [2, 2, 2], "request": "cell", "dumps": REQUESTS}),
}
REQUESTS_OF_MANY_EXTENTS = {
    "vector": Work({"name": "vector", "count": 64}),
    "subarray": Work({"name": "subarray"}),
    "subarray, 3 dimensions, halo": Work(
        {"name": "subarray", "dims": [256, 256, 256], "memory": "in-place", "halo": 1}
    ),
    "tiled": Work({"name": "tiled"}),
    "flash": Work({"name": "flash"}),
    "unstructured-mesh": Work({"name": "unstructured-mesh"}),
    "unstructured-mesh, 1 value": Work({"name": "unstructured-mesh", "values_per_record": 1}),
    "btio, class A": Work({"name": "btio"}),
    "btio, class S, cell": Work({"name": "btio", "class": "S", "request": "cell"}),
}


def list_of(requests: int, extents: int, path: Path) -> Work:
    """Writes the file of the pattern `list`: strided pieces for each rank."""
    with path.open("w", encoding="utf-8") as out:
        out.write("rank,request,file_offset,length\n")
        out.writelines(
            f"{rank},{request},{((request * extents + i) * CLIENTS + rank) * 64},64\n"
            for rank in range(CLIENTS)
            for request in range(requests)
            for i in range(extents)
        )
    return Work({"name": "list", "file": str(path)})


def measure(program: Path, works: Mapping[str, Work], rounds: int, folder: Path) -> dict[str, list[Json]]:
    """The repetitions of every benchmark, by its name; those of different ones take turns at random."""
    common = {"clients": CLIENTS, "interface": {"name": "null"}, "operations": ["read"], "repetitions": 1}
    cases = [
        {**common, "case": number, "name": name, **work._asdict()}
        for number, (name, work) in enumerate(works.items(), 1)
    ]
    plan, results = folder / "plan.json", folder / "results.json"
    header = {"format": "strider-plan", "version": 1, "ranks": CLIENTS}
    plan.write_text(json.dumps({**header, "cases": cases}), encoding="utf-8")
    options = [
        f"--benchmark_repetitions={rounds}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_min_time=0.05",
        f"--benchmark_out={results}",
    ]
    subprocess.run([program, plan, *options], check=True, stdout=subprocess.DEVNULL)
    repetitions: dict[str, list[Json]] = defaultdict(list)
    for run in json.loads(results.read_text(encoding="utf-8"))["benchmarks"]:
        if "error_message" in run:
            sys.exit(f"{run['name']}: {run['error_message']}")
        if run["run_type"] == "iteration":
            repetitions[run["run_name"]].append(run)
    return repetitions


def print_rows(title: str, unit: str, rows: Mapping[str, list[float]], wanted: Wanted) -> None:
    """Prints the median and the range of each piece of work, and the distance to its goal."""
    table = Table(title=title, title_justify="left")
    table.add_column("work")
    for column in (f"median ({unit})", "range", f"wanted ({wanted.bound})", "÷ wanted"):
        table.add_column(column, justify="right")
    for work, values in rows.items():
        median = statistics.median(values)
        cells = (f"{median:.4g}", f"{min(values):.4g} – {max(values):.4g}", f"{wanted.value:g}")
        table.add_row(work, *cells, f"{median / wanted.value:.2f}")
    Console(width=120).print(table)


def main(rounds: int) -> None:
    program = build("strider-benchmarks") / "benchmarks/engine/strider-benchmarks"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ones = {**REQUESTS_OF_ONE_EXTENT, "list, 1 extent": list_of(1 << 16, 1, folder / "ones.csv")}
        many = {**REQUESTS_OF_MANY_EXTENTS, "list": list_of(64, 1024, folder / "many.csv")}
        runs = measure(program, ones | many, rounds, folder)
    rates = {
        f"{work}, {size} bytes at once": [run["bytes_per_second"] / 1e9 for run in runs[f"{work}/{size}"]]
        for work in ("generate", "verify")
        for size in DATA_BYTES
    }
    print_rows("Data", "GB/s", rates, Wanted("at least", LEAST_GB_S))
    for title, works, most in (
        ("Requests of one extent", ones, MOST_NS_PER_REQUEST),
        ("Extents of requests of several", many, MOST_NS_PER_EXTENT),
    ):
        times = {work: [1e9 / run["items_per_second"] for run in runs[work]] for work in works}
        print_rows(title, "ns each", times, Wanted("at most", most))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)

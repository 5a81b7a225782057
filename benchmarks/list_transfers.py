"""How lists of pieces move to and from an I/O server by each method, and whether hybrid chooses well.

    .strider/venv/bin/python benchmarks/list_transfers.py [TRANSPORT [ROUNDS [STORE [OFFSET [BUFFER]]]]]

TRANSPORT is cma (default), tcp or ofi:PROVIDER; STORE is nothing (default: the server discards
the data, so that only transport is measured) or files, where temporary files go. One server, one
client, memory at a stride of twice the length of a piece that begins OFFSET bytes into a page (default 0, as
the engine's; 16 is where malloc has large blocks), a contiguous file. Rates are those of the best of short
windows, which other work on the machine moves least; ratios are also given as medians of those within a
round. `chose` is the choice of hybrid, and whether the other way was better by more than 5 % within rounds:
where hybrid takes the better way, it is that way, and only noise distinguishes them. Builds
`strider-list-transfers` and `strider-listio-server` beside the engine.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, build, list_server
from rich.console import Console
from rich.table import Table

METHODS = ("multiple", "pack", "gather", "hybrid")
CLOSE = 0.05
"""By how much one way has to be better for the other one to be a wrong choice."""

Times = dict[str, list[float]]
"""µs of one list in each round, by method; `chose`: 1 in each round in which hybrid gathered, else 0."""


def measure(
    folder: Path, place: Path, transport: str, *, rounds: str, store: str, offset: str, buffer: str
) -> list[Json]:
    """Runs a server and the client; returns the client's output."""
    with list_server(folder, place, transport, "--store", store, "--buffer-bytes", buffer) as (volume, _):
        client = [folder / "benchmarks/listio/strider-list-transfers", volume, rounds, offset]
        done = subprocess.run([str(word) for word in client], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sort_out(lines: list[Json]) -> dict[tuple[str, int, int], Times]:
    """Times by direction, pieces and bytes of a piece."""
    times: dict[tuple[str, int, int], Times] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if "method" in line:
            of_case = times[line["direction"], line["pieces"], line["piece_bytes"]]
            of_case[line["method"]].append(line["us"])
            if line["method"] == "hybrid":
                of_case["chose"].append(float(line["gathered"]))
    return times


def median_ratio(times: Times, one: str, other: str) -> float:
    """The median over rounds of how much faster one method is than another."""
    return statistics.median(b / a for a, b in zip(times[one], times[other], strict=True))


def hybrid_share(times: Times) -> float:
    """How fast hybrid is, relative to the better of pack and gather."""
    better = "gather" if median_ratio(times, "gather", "pack") > 1 else "pack"
    return median_ratio(times, "hybrid", better)


def choice(times: Times) -> str:
    """What hybrid chose, and whether the other way is better by more than what counts as close."""
    gathers = statistics.mean(times["chose"]) > 0.5
    gain = median_ratio(times, "gather", "pack")
    wrong = gain < 1 - CLOSE if gathers else gain > 1 / (1 - CLOSE)
    return ("gather" if gathers else "pack") + (", wrong" if wrong else "")


def print_direction(direction: str, times: dict[tuple[str, int, int], Times], title: str) -> None:
    """Prints a table of rates and ratios."""
    table = Table(title=f"{direction}, {title}", title_justify="left")
    for column in ("pieces", "bytes", *(f"{method}" for method in METHODS)):
        table.add_column(column, justify="right")
    for column in ("gather ÷ pack", "median", "gather ÷ multiple", "hybrid ÷ better", "median", "chose"):
        table.add_column(column, justify="right")
    for (where, pieces, piece_bytes), of_case in times.items():
        if where != direction:
            continue
        best = {method: min(of_case[method]) for method in METHODS}
        rates = [f"{pieces * piece_bytes / best[method]:.0f}" for method in METHODS]
        ratios = [
            best["pack"] / best["gather"],
            median_ratio(of_case, "gather", "pack"),
            best["multiple"] / best["gather"],
            min(best["pack"], best["gather"]) / best["hybrid"],
            hybrid_share(of_case),
        ]
        cells = [*rates, *(f"{ratio:.2f}" for ratio in ratios), choice(of_case)]
        table.add_row(str(pieces), str(piece_bytes), *cells)
    Console(width=180).print(table)


def main(
    transport: str = "cma",
    rounds: str = "100",
    store: str = "nothing",
    offset: str = "0",
    buffer: str = "1048576",
) -> None:
    folder = build("strider-list-transfers", "strider-listio-server")
    with tempfile.TemporaryDirectory() as place:
        times = sort_out(
            measure(folder, Path(place), transport, rounds=rounds, store=store, offset=offset, buffer=buffer)
        )
    for direction in ("write", "read"):
        print_direction(
            direction,
            times,
            f"{transport}, store {store}, {offset} bytes into a page, buffers of {buffer} bytes",
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

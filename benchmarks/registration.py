"""What registering memory costs in each domain, and what grouping registrations gains.

    .strider/venv/bin/python benchmarks/registration.py [ROUNDS]

Fits T = a·p + b on this machine; then 1024 rows of a page at a stride of two are registered, written to a
file in memory and deregistered, by every strategy alternately: case 1 has no holes, case 2 ten that are not
mapped, case 3 ten that may not be touched. Figures are those of the best round, which other work on the
machine moves least. Builds `strider-registration` (benchmarks/listio) beside the engine.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from common import Json, build
from rich.console import Console
from rich.table import Table

STRATEGIES = {"none": "ideal", "individual": "individual", "single": "single", "ogr": "OGR"}
WANTED = " (wanted: 2.1 and 0.7)"

Key = tuple[str, int]
"""Domain and case."""
Rounds = Mapping[Key, Mapping[str, list[Json]]]
"""By strategy, one of each round."""


def measure(program: Path, rounds: int) -> tuple[list[Json], Rounds]:
    """The fits, and the rounds."""
    done = subprocess.run([str(program), str(rounds)], check=True, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    by_key: dict[Key, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if "fit" not in line:
            by_key[line["domain"], line["case"]][line["strategy"]].append(line)
    return [line for line in lines if "fit" in line], by_key


def print_fits(fits: list[Json]) -> None:
    """Prints a and b with their 95 % intervals, and the largest hole that is worth merging."""
    table = Table(title="T = a·p + b, µs for p pages", title_justify="left")
    table.add_column("domain")
    for column in ("a", "b", "a' (undo)", "b' (undo)", "merged holes (pages)"):
        table.add_column(column, justify="right")
    for fit in fits:
        cells = [f"{fit[name]:.4g} ± {fit[name + '_error']:.2g}" for name in ("a", "b", "a2", "b2")]
        table.add_row(fit["fit"], *cells, f"at most {fit['hole_pages']}")
    Console(width=120).print(table)


def total_us(line: Json) -> float:
    """Time of one transfer, in µs."""
    return float(line["register_us"] + line["write_us"] + line["deregister_us"])


def print_rounds(key: Key, rounds: Mapping[str, list[Json]]) -> None:
    """Prints what each strategy takes, and how the bandwidth of OGR compares."""
    domain, number = key
    writer = rounds["ogr"][0]["writer"]
    table = Table(title=f"{domain}, case {number}, written by {writer}", title_justify="left")
    table.add_column("strategy")
    for column in ("registrations", "register (µs)", "deregister (µs)", "write (µs)", "all (µs)", "MB/s"):
        table.add_column(column, justify="right")
    totals = {}
    for strategy, title in STRATEGIES.items():
        lines = rounds[strategy]
        if lines[0]["failed"]:
            table.add_row(title, "fails")
            continue
        names = ("register_us", "deregister_us", "write_us")
        best = min(lines, key=total_us)
        cells = [f"{best[name]:.1f}" for name in names]
        total = totals[strategy] = total_us(best)
        rate = lines[0]["bytes"] / total
        table.add_row(title, str(lines[0]["registrations"]), *cells, f"{total:.0f}", f"{rate:.0f}")
    gain, share = totals["individual"] / totals["ogr"], totals["none"] / totals["ogr"]
    wanted = WANTED if domain == "uring" else ""
    table.caption = f"MB/s: OGR ÷ individual {gain:.2f}, OGR ÷ ideal {share:.2f}{wanted}"
    table.caption_justify = "left"
    Console(width=120).print(table)


def main(rounds: int) -> None:
    fits, by_key = measure(build("strider-registration") / "benchmarks/listio/strider-registration", rounds)
    print_fits(fits)
    for key, of_key in by_key.items():
        print_rounds(key, of_key)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

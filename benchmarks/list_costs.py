"""What checksums and second copies cost lists of pieces, and how a build compares with an earlier one.

    .strider/venv/bin/python benchmarks/list_costs.py [TURNS [ROUNDS [BUILD]]]

The cases of `list_transfers.py`: 11 lists, written and read, by four methods. In each of TURNS turns (default
12) one client after the other measures all of them on its volume, ROUNDS times (default: 6); the order of the
volumes alternates. The ratio of rates of a case is the median over turns, of medians over rounds. Two servers
keep files in memory: with one copy or two, with checksums or without. BUILD is the build folder of an earlier
release: its server and client alternate with those of this build, without checksums and copies, on a server
that discards data and on one that keeps files. Wanted: at least 0.97 of the earlier rate.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from common import build, list_server
from rich.console import Console
from rich.table import Table

from strider import engine as engines
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop

TRANSPORTS = ("cma", "tcp")
LONG_BYTES = 64 << 10
Case = tuple[str, int, int, str]
"""Direction, pieces, bytes of a piece, method."""
Measured = Mapping[str, tuple[Path, Path]]
"""Build folder and volume file, by name; the first is compared with."""


def durations(folder: Path, volume: Path, rounds: int) -> dict[Case, float]:
    """The median of each case, in µs of a list."""
    words = [folder / "benchmarks/listio/strider-list-transfers", volume, rounds, 0]
    done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[Case, list[float]] = defaultdict(list)
    for line in map(json.loads, done.stdout.splitlines()):
        if "method" in line:
            found[line["direction"], line["pieces"], line["piece_bytes"], line["method"]].append(line["us"])
    return {case: statistics.median(values) for case, values in found.items()}


def compare(title: str, measured: Measured, turns: int, rounds: int) -> None:
    """Measures alternately, and prints ratios of rates to the first."""
    found: dict[str, list[dict[Case, float]]] = {name: [] for name in measured}
    for turn in range(turns):
        for name in list(measured)[:: -1 if turn % 2 else 1]:
            found[name].append(durations(*measured[name], rounds))
    base, *others = measured
    table = Table(title=f"{title}: rate ÷ that of {base}", title_justify="left")
    for column in ("", "cases", "median", "quarters", "write", "read", "64 KiB and more"):
        table.add_column(column)
    for name in others:
        ratios = {
            case: statistics.median(a[case] / b[case] for a, b in zip(found[base], found[name], strict=True))
            for case in found[base][0]
        }
        first, middle, third = statistics.quantiles(ratios.values(), n=4)
        parts = [
            statistics.median(ratio for case, ratio in ratios.items() if case[0] == way)
            for way in ("write", "read")
        ]
        parts.append(statistics.median(r for case, r in ratios.items() if case[1] * case[2] >= LONG_BYTES))
        cells = [f"{middle:.3f}", f"{first:.3f} – {third:.3f}", *(f"{part:.3f}" for part in parts)]
        table.add_row(name, str(len(ratios)), *cells)
    Console(width=110).print(table)


@contextmanager
def volumes(folder: Path, place: Path, transport: str) -> Iterator[Measured]:
    """Volumes of two servers, with one copy or two, with checksums or without."""
    started = {}
    try:
        for copies in (1, 2):
            for checksums in ("off", "crc32c"):
                name = f"{copies} {'copy' if copies == 1 else 'copies'}, checksums {checksums}"
                directory = place / f"{copies}-{checksums}"
                options = ServerOptions(
                    servers=2,
                    copies=copies,
                    checksums=checksums,
                    transport=transport,
                )
                serve(engines.find(), directory, options)
                started[name] = (folder, directory / VOLUME_FILE)
        yield started
    finally:
        for _, file in started.values():
            stop(file.parent)


def builds(
    stack: ExitStack, folder: Path, earlier: Path, place: Path, transport: str, store: str
) -> Measured:
    """A server of each build."""
    measured = {}
    for name, of_build, options in (("earlier", earlier, []), ("this build", folder, ["--checksums", "off"])):
        own = place / f"{store} {name}"
        own.mkdir()
        volume, _ = stack.enter_context(
            list_server(of_build, own, transport, "--store", store, *options * (store == "files"))
        )
        measured[name] = (of_build, volume)
    return measured


def main(turns: int, rounds: int, earlier: Path | None) -> None:
    folder = build("strider-list-transfers", "strider-listio-server")
    for transport in TRANSPORTS:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as temporary, ExitStack() as stack:
            place = Path(temporary)
            for store in ("nothing", "files") if earlier else ():
                measured = builds(stack, folder, earlier or folder, place, transport, store)
                compare(f"{transport}, store {store}", measured, turns, rounds)
            with volumes(folder, place, transport) as of_two:
                compare(f"{transport}, two servers", of_two, turns, rounds)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 12,
        int(given[1]) if len(given) > 1 else 6,
        Path(given[2]).resolve() if len(given) > 2 else None,
    )

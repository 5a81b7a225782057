#!/usr/bin/env python3
"""Cards of one directory: how far they scatter, and how many intervals contain the pooled mean and median.

    .strider/venv/bin/python benchmarks/cards.py STORE                               # cards of earlier runs
    .strider/venv/bin/python benchmarks/cards.py STORE --directory DIR --budget 30s  # measures ten first
    .strider/venv/bin/python benchmarks/cards.py STORE --directory DIR --fio         # and fio after each card
    .strider/venv/bin/python benchmarks/cards.py STORE --directory DIR --fio \
        --quick=--interface=gfapi --fio-option=--ioengine=gfapi --fio-option=--volume=NAME \
        --fio-option=--brick=SERVER --fio-option=--filename=PATH_IN_THE_VOLUME   # through a library, both

fio repeats the work of eight lines for two seconds each, after half a second that does not count. Its ratio
is the geometric mean of the pairs, with its 95 % interval. A card that was disturbed moves the mean, not the
median.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python")]

from strider.card import Card, read_card  # noqa: E402
from strider.card.model import Rate  # noqa: E402
from strider.card.wording import in_words  # noqa: E402
from strider.statistics import paired_ratio  # noqa: E402

FIO_FILE = "fio.json"
JOBS = {
    "write.sequential": ["--rw=write", "--bs=1M", "--direct=1", "--end_fsync=1"],
    "read.sequential": ["--rw=read", "--bs=1M", "--direct=1"],
    "read.deep": ["--rw=read", "--bs=1M", "--direct=1", "--ioengine=io_uring"],
    "read.random": ["--rw=randread", "--bs=4k", "--direct=1", "--norandommap"],
    "read.random.deep": ["--rw=randread", "--bs=4k", "--direct=1", "--norandommap", "--ioengine=io_uring"],
    "write.random": ["--rw=randwrite", "--bs=4k", "--direct=1", "--norandommap", "--end_fsync=1"],
    "write.random.deep": ["--rw=randwrite", "--bs=4k", "--direct=1", "--norandommap", "--ioengine=io_uring"],
    "append.fsync": ["--rw=write", "--bs=4k", "--fsync=1"],
}
"""Options of fio for lines of the card."""
_DEPTHS = {"read.deep": 8, "read.random.deep": 16, "write.random.deep": 16}
_BYTES = ("write.sequential", "read.sequential", "read.deep")
_NEW = {"write.sequential": "--size=16G", "append.fsync": "--size=4G"}
"""Jobs that write a new file, larger than they reach in the time: fio overwrites a file that is full."""
_SECONDS = ["--time_based", "--runtime=2", "--ramp_time=0.5"]


def measure(store: Path, directory: Path, budget: str, options: Sequence[str]) -> Path:
    """Makes a card; returns its run directory."""
    before = set(store.glob("*/card.json"))
    words = ["quick", directory, "--budget", budget, "--store", store, "--quiet", *options]
    command = [sys.executable, "-m", "strider", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (made,) = set(store.glob("*/card.json")) - before
    return made.parent


def fio_rates(directory: Path, mebibytes: int, options: Sequence[str]) -> dict[str, float]:
    """Rates of fio for the same work, in the units of the card; `options` replace ours.

    With another engine than ours, deep queues are left out: their engine is io_uring.
    """
    file, found = directory / "fio", {}
    base = [f"--filename={file}", f"--size={mebibytes}M", "--ioengine=psync", "--fallocate=none"]
    try:
        for name, own in JOBS.items():
            deep = [f"--iodepth={_DEPTHS[name]}"] if name in _DEPTHS else []
            if deep and any(option.startswith("--ioengine") for option in options):
                continue
            if name in _NEW:
                file.unlink(missing_ok=True)
                own = [*own, _NEW[name]]
            command = ["fio", "--name=x", "--output-format=json", *base, *own, *deep, *options, *_SECONDS]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
            way = job["read" if name.startswith("read") else "write"]
            found[name] = way["bw_bytes"] if name in _BYTES else way["iops"]
    finally:
        file.unlink(missing_ok=True)
    return found


def rows(cards: Sequence[Card], fio: Sequence[dict[str, float]]) -> Iterator[str]:
    """A row of each line that two cards or more have."""
    yield (
        f"{'line':<18}{'cards':>6}{'mean':>10}{'median':>10}{'std. dev.':>10}{'mean in':>9}{'median in':>10}"
        f"{'A, B: mean':>11}{'median in':>10}  card / fio"
    )
    for name in dict.fromkeys(line.id for card in cards for line in card.lines):
        pairs = [(card.line(name), beside.get(name)) for card, beside in zip(cards, fio, strict=True)]
        found = [(line, line.rate, beside) for line, beside in pairs if line and line.rate]
        if len(found) < 2:
            continue
        logs = [math.log(rate.value) for _, rate, _ in found]
        ends = [(line.is_trusted, rate) for line, rate, _ in found if rate.low is not None]
        centres = [math.exp(float(np.mean(logs))), math.exp(float(np.median(logs)))]
        held = [_held([rate for _, rate in ends], one) for one in centres]
        held += [_held([rate for is_trusted, rate in ends if is_trusted], one) for one in centres]
        mean, median = (in_words(found[0][1].model_copy(update={"value": one}), 3) for one in centres)
        beside = [(rate.value, other) for _, rate, other in found if other]
        yield (
            f"{name:<18}{len(found):>6}{mean:>10}{median:>10}{np.std(logs, ddof=1):>10.1%}{held[0]:>9}"
            f"{held[1]:>10}{held[2]:>11}{held[3]:>10}  {_ratio(beside)}"
        )


def _held(rates: Sequence[Rate], centre: float) -> str:
    """How many intervals contain a value: `9/10`."""
    found = [(rate.low or 0.0) <= centre <= (rate.high or 0.0) for rate in rates]
    return f"{sum(found)}/{len(found)}"


def _ratio(pairs: Sequence[tuple[float, float]]) -> str:
    if len(pairs) < 3:
        return "-"
    ratio = paired_ratio([fio for _, fio in pairs], [card for card, _ in pairs])
    low, high = ratio.interval()
    mean = math.exp(sum(math.log(card / fio) for card, fio in pairs) / len(pairs))
    return f"{mean:.3f} [{low:.3f}-{high:.3f}] of {len(pairs)}"


def main() -> None:
    """Measures if asked to, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, metavar="STORE")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="measure cards of this directory first")
    parser.add_argument("--cards", type=int, default=10, metavar="N", help="how many (default: 10)")
    parser.add_argument("--budget", default="30s", metavar="TIME", help="of each card (default: 30s)")
    parser.add_argument("--fio", action="store_true", help="run fio after each card")
    parser.add_argument(
        "--size", type=int, default=64, metavar="MIB", help="size of fio's file (default: 64)"
    )
    for name in ("--quick", "--fio-option"):
        whose = "strider quick" if name == "--quick" else "fio"
        parser.add_argument(
            name, action="append", default=[], metavar="OPTION", help=f"option for {whose}; may be repeated"
        )
    chosen = parser.parse_args()
    for _ in range(chosen.cards if chosen.directory else 0):
        run = measure(chosen.store, chosen.directory, chosen.budget, chosen.quick)
        if chosen.fio:
            rates = fio_rates(chosen.directory, chosen.size, chosen.fio_option)
            (run / FIO_FILE).write_text(json.dumps(rates))
    found = [file.parent for file in sorted(chosen.store.glob("*/card.json"))]
    cards = [(card, run / FIO_FILE) for run in found if (card := read_card(run))]
    fio = [json.loads(file.read_text()) if file.exists() else {} for _, file in cards]
    print("\n".join(rows([card for card, _ in cards], fio)))


if __name__ == "__main__":
    main()

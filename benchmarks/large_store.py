"""How long listing, searching and reading take in a store with many runs.

    .strider/venv/bin/python benchmarks/large_store.py [RUNS] [ROUNDS] [--store DIR]

Measures a small run, and makes a store of copies of it with other ids, times, hosts, targets and suites.
Files that do not differ are hard links, so 10 000 runs take some 200 MB. With --store the store stays, and is
used again if it has runs. Aim: with 10 000 runs, lists, searches and pages take less than 1 s, except for the
first one of a store, which reads all runs.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from strider.listing.names import run_directories
from strider.web.runs import Runs

SUITE = """
[suite]
name = "small"
clients = 1
repetitions = 2
[[case]]
interface = "null"
pattern = "segmented"
transfer = ["4KiB", "64KiB"]
block = "1MiB"
operations = ["write", "read"]
"""
SUITES = ("checkpoint", "small-files", "random", "metadata", "sequential")
CHANGED = frozenset({"run.json", "plan.json"})
FIRST = datetime(2025, 1, 1, tzinfo=UTC)
SPACING = timedelta(minutes=50)


def strider(*words: object) -> list[str]:
    """A command line."""
    return [sys.executable, "-m", "strider", *map(str, words)]


def measure_one(folder: Path) -> Path:
    """Measures the run to copy; its directory."""
    suite = folder / "small.toml"
    suite.write_text(SUITE, encoding="utf-8")
    (folder / "target").mkdir()
    words = strider("run", suite, "--target", folder / "target", "--store", folder / "one", "--quiet")
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return run_directories(folder / "one")[0]


def fill(store: Path, template: Path, runs: int) -> None:
    """Makes a store of copies of a run, `SPACING` apart."""
    info = json.loads((template / "run.json").read_text(encoding="utf-8"))
    plan = json.loads((template / "plan.json").read_text(encoding="utf-8"))
    took = datetime.fromisoformat(info["ended"]) - datetime.fromisoformat(info["started"])
    for number in range(runs):
        suite, begin = SUITES[number % len(SUITES)], FIRST + number * SPACING
        name = f"{begin:%Y-%m-%d-%H%M%S}-{suite}-{number:04d}"[:200]
        copy = store / name
        copy.mkdir(parents=True)
        for file in template.iterdir():
            if file.name not in CHANGED:
                os.link(file, copy / file.name)
        times = {"started": begin.isoformat(), "ended": (begin + took).isoformat()}
        environment = {
            **info["environment"],
            "host": f"node{number % 97:03d}",
            "target": {"path": f"/mnt/fs{number % 7}"},
        }
        changed = {**info, "run": name, **times, "environment": environment}
        (copy / "run.json").write_text(json.dumps(changed), encoding="utf-8")
        named = {**plan, "suite": {**plan["suite"], "name": suite}}
        (copy / "plan.json").write_text(json.dumps(named), encoding="utf-8")


def of_command(words: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall_s, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def without_index(store: Path, words: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command that finds no index of the store."""
    for file in store.glob(".index-*"):
        file.unlink()
    return of_command(words)


def of_call(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of a call."""
    begin, begin_cpu = time.monotonic(), time.process_time()
    call()
    return time.monotonic() - begin, time.process_time() - begin_cpu


def page_of(runs: Runs, words: str) -> None:
    """The reads of the web page for the first page of a list."""
    runs.listed(runs.found(words)[:100])


def works(store: Path) -> Iterator[tuple[str, Callable[[], tuple[float, float]]]]:
    """The measurements."""
    names = [directory.name for directory in run_directories(store)]
    at = ("--store", store)
    yield "strider list, no index", lambda: without_index(store, strider("list", *at))
    verbs = {
        "strider --version": ("--version",),
        "strider list": ("list", *at),
        "strider list --json": ("list", "--json", *at),
        "strider list node042 random": ("list", "node042", "random", *at),
        "strider list --newest 20": ("list", "--newest", "20", *at),
        "strider show latest": ("show", "latest", *at),
        "strider show RUN": ("show", names[len(names) // 2], *at),
        "strider compare RUN RUN": ("compare", names[-1], names[-6], *at),
        "strider report latest": ("report", "latest", "-o", store.parent / "large-store.html", *at),
        "strider tag latest": ("tag", "latest", *at),
    }
    for name, words in verbs.items():
        yield name, lambda words=words: of_command(strider(*words))  # type: ignore[misc]
    yield "page, list, new server", lambda: of_call(lambda: page_of(Runs(store), ""))
    yield "page, search, new server", lambda: of_call(lambda: page_of(Runs(store), "node042 random"))
    served = Runs(store)
    page_of(served, "none")
    yield "page, search", lambda: of_call(lambda: page_of(served, "node042 random"))
    yield "page, newest run", lambda: of_call(lambda: served.summary(names[-1]))


@contextmanager
def filled(kept: Path | None, runs: int) -> Iterator[Path]:
    """A store with runs; it stays if it was named."""
    with tempfile.TemporaryDirectory() as folder:
        store = kept or Path(folder) / "store"
        if not run_directories(store):
            template = measure_one(Path(folder))
            fill(store, template, runs)
            shutil.rmtree(Path(folder) / "one")
        yield store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=int, nargs="?", default=10_000)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    table = Table(title_justify="left")
    for head in ("work", "first wall (s)", "median wall (s)", "median CPU (s)"):
        table.add_column(head, justify="left" if head == "work" else "right")
    with filled(options.store, options.runs) as store:
        table.title = f"A store of {len(run_directories(store))} runs, {options.rounds} rounds"
        for name, work in works(store):
            try:
                taken = [work() for _ in range(options.rounds)]
            except subprocess.CalledProcessError as error:
                table.add_row(name, f"exit code {error.returncode}", "", "")
                continue
            walls, processors = zip(*taken, strict=True)
            table.add_row(name, f"{walls[0]:.2f}", f"{median(walls):.2f}", f"{median(processors):.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

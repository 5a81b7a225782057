"""Cost of confinement: requests of 4 KiB in memory, and operations on names, confined and bare alternately.

    .strider/venv/bin/python benchmarks/confinement.py [DIR] [ROUNDS]     # such as /dev/shm

The median latency of each operation is compared, since other work on the machine lengthens the rest of the
distribution, and the rates. Last, the processor time to start a program below strider-confine.
"""

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, print_medians, run_events

from strider import engine as engines
from strider.launch.confinement import PROGRAM

ITEMS = 400
STARTS = 200
MODES = ("confined", "bare")


def cases() -> list[Json]:
    """A case of data, and one of metadata for each operation; directories three levels deep."""
    common = {"clients": 1, "interface": {"name": "posix"}}
    data = {"name": "segmented", "transfer": 4096, "block": 64 << 20}
    tree = {"name": "balanced", "items": ITEMS, "depth": 3, "fanout": 2}
    chains = [["create"], ["open-close"], ["stat"], ["rename", "unlink"], ["mkdir"], ["rmdir"]]
    return [
        {**common, "pattern": data, "operations": ["write", "rewrite", "read"]},
        *({**common, "tree": tree, "operations": chain} for chain in chains),
    ]


def around(folder: Path, events: Path) -> list[str]:
    """The words before the launcher of a confined run."""
    program = engines.find().path.resolve().parent / PROGRAM
    return [str(program), "--write", str(folder), "--write", str(events), "--"]


def latencies(parent: Path, mode: str) -> dict[str, float]:
    """Median latency of each operation, ns."""
    with tempfile.TemporaryDirectory(prefix="strider-benchmark-", dir=parent) as folder:
        before = around(Path(folder), Path(tempfile.gettempdir())) if mode == "confined" else []
        found = run_events(cases(), Path(folder), around=before)
    samples = [event for event in found if event["event"] == "sample" and event["measured"]]
    return {sample["operation"]: sample["latency"]["p50_s"] * 1e9 for sample in samples}


def start_ms(parent: Path, mode: str) -> float:
    """Processor time to start a program and see its end, ms, all processes together: the mean of some."""
    words = [*(around(parent, Path("/dev/null")) if mode == "confined" else []), "true"]
    before = os.times()
    for _ in range(STARTS):
        subprocess.run(words, check=True)
    after = os.times()
    taken_s = after.children_user - before.children_user + after.children_system - before.children_system
    return taken_s / STARTS * 1e3


def main(parent: Path, rounds: int) -> None:
    rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    starts: dict[str, dict[str, list[float]]] = {"start of a program": defaultdict(list)}
    for number in range(rounds):
        # What comes second finds memory and caches as the first has left them: each is first in turn.
        for mode in MODES if number % 2 == 0 else reversed(MODES):
            for operation, latency_ns in latencies(parent, mode).items():
                rows[operation][mode].append(latency_ns)
            starts["start of a program"][mode].append(start_ms(parent, mode))
    print_medians("Median latency of a request", "ns", rows, "posix, one rank; data of 4 KiB; three levels")
    print_medians("Starting", "ms", starts, "`true` below strider-confine, and alone")


if __name__ == "__main__":
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir())
    main(directory, int(sys.argv[2]) if len(sys.argv) > 2 else 6)

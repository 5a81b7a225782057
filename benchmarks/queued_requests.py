"""4 KiB random reads with a queue depth, beside fio's io_uring engine, on a file system in memory.

    .strider/venv/bin/python benchmarks/queued_requests.py [DIR] [ROUNDS]

Both hand over and take back as many requests at a time as have ended; the tools alternate.
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import print_medians, run_engine, run_fio

TRANSFER = 4096
BYTES = 512 << 20
DEPTH = 32
WAITS = (1, DEPTH)
"""Requests that are waited for before the next ones go out."""


def strider_mib_s(folder: Path, wait: int) -> float:
    """MiB/s of reading each piece once, in random order."""
    case = {
        "clients": 1,
        "interface": {"name": "uring", "wait": wait},
        "depth": DEPTH,
        "pattern": {"name": "segmented", "transfer": TRANSFER, "block": BYTES},
        "order": "random",
        "operations": ["read"],
    }
    return float(run_engine([case], folder)[0]["rate_mib_s"])


def fio_mib_s(folder: Path, wait: int) -> float:
    """MiB/s of the same, over a file that a job of fio's own has laid out."""
    options: dict[str, str | int] = {"bs": TRANSFER, "size": BYTES, "ioengine": "io_uring", "iodepth": DEPTH}
    batches = {
        "iodepth_batch_submit": DEPTH,
        "iodepth_batch_complete_min": wait,
        "iodepth_batch_complete_max": DEPTH,
    }
    run_fio(folder, rw="write", bs=1 << 20, size=BYTES)
    side = run_fio(folder, rw="randread", **options, **batches)["read"]
    for path in folder.iterdir():
        path.unlink()
    return float(side["io_bytes"]) / (1 << 20) / (float(side["runtime"]) / 1e3)


def main(parent: Path, rounds: int) -> None:
    rows: dict[str, dict[str, list[float]]] = {}
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for _ in range(rounds):
            for wait in WAITS:
                row = rows.setdefault(f"random reads, depth {DEPTH}, waiting for {wait}", defaultdict(list))
                row["strider"].append(strider_mib_s(folder, wait))
                row["fio"].append(fio_mib_s(folder, wait))
    finally:
        shutil.rmtree(folder)
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: a ratio of at least 0.95"
    print_medians("4 KiB random reads through io_uring", "MiB/s", rows, note)


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "5")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

"""4 KiB requests through the operating system's calls, beside fio's psync engine, on a file system in memory.

    .strider/venv/bin/python benchmarks/small_requests.py [DIR] [ROUNDS]

A file for each process; no sync, since memory has nothing to sync to. The written file exists before, so
that neither tool pays for new pages; the tools alternate.
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import print_medians, run_engine, run_fio

TRANSFER = 4096
BYTES = 512 << 20
OPERATIONS = {"rewrite": "write", "read": "read"}


def strider_mib_s(folder: Path, clients: int) -> dict[str, float]:
    """MiB/s of each operation."""
    case = {
        "clients": clients,
        "interface": {"name": "posix"},
        "pattern": {"name": "segmented", "transfer": TRANSFER, "block": BYTES},
        "sharing": "per-rank",
        "sync": "none",
        "operations": ["write", *OPERATIONS],
    }
    samples = run_engine([case], folder)
    return {s["operation"]: s["rate_mib_s"] for s in samples if s["operation"] in OPERATIONS}


def fio_mib_s(folder: Path, clients: int) -> dict[str, float]:
    """MiB/s of the same, over files that a job of fio's own has laid out."""
    options = {"ioengine": "psync", "bs": TRANSFER, "size": BYTES, "numjobs": clients, "overwrite": 1}
    run_fio(folder, rw="write", **options)
    rates = {}
    for operation, access in OPERATIONS.items():
        side = run_fio(folder, rw=access, **options)[access]
        rates[operation] = side["io_bytes"] / (1 << 20) / (side["runtime"] / 1e3)
    for path in folder.iterdir():
        path.unlink()
    return rates


def main(parent: Path, rounds: int) -> None:
    rows: dict[str, dict[str, list[float]]] = {}
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for _ in range(rounds):
            for clients in (1, 2):
                for tool, measure in (("strider", strider_mib_s), ("fio", fio_mib_s)):
                    for operation, rate in measure(folder, clients).items():
                        row = rows.setdefault(f"{operation}, {clients} clients", defaultdict(list))
                        row[tool].append(rate)
    finally:
        shutil.rmtree(folder)
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: a ratio of at least 0.98"
    print_medians("4 KiB requests, a file for each client", "MiB/s", rows, note)


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "5")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

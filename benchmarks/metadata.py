"""Operations on small files in memory, beside mdtest where it is installed, else beside fio.

    .strider/venv/bin/python benchmarks/metadata.py [DIR] [ROUNDS]

Two processes, each with a directory and empty files of its own; the tools alternate. fio's engines
filecreate, filestat and filedelete make, ask for and remove a file as a request each.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import print_medians, run_engine, run_fio

from strider import engine as engines

CLIENTS = 2
FILES = {"create": 150_000, "stat": 600_000, "unlink": 150_000}
"""Of each process: a phase takes about a second or more."""
ENGINES = {"create": "filecreate", "stat": "filestat", "unlink": "filedelete"}
ROWS = {"create": "File creation", "stat": "File stat", "unlink": "File removal"}


def strider_rate(folder: Path, operation: str) -> float:
    """Operations per second."""
    case = {
        "clients": CLIENTS,
        "interface": {"name": "posix"},
        "tree": {"name": "balanced", "items": FILES[operation]},
        "sharing": "per-rank",
        "operations": [operation],
    }
    (sample,) = run_engine([case], folder)
    return sample["requests_s"]


def fio_rate(folder: Path, operation: str) -> float:
    """Operations per second of the same, on files that fio has made before where it needs some."""
    own = [folder / str(client) for client in range(CLIENTS)]
    for directory in own:
        directory.mkdir()
    options: dict[str, str | int] = {
        "directory": ":".join(map(str, own)),
        "numjobs": CLIENTS,
        "nrfiles": FILES[operation],
        "filesize": 4096,
        "openfiles": 1,
        "file_service_type": "sequential",
        "fallocate": "none",
        "rw": "write",
    }
    side = run_fio(folder, ioengine=ENGINES[operation], **options)["write"]
    for directory in own:
        shutil.rmtree(directory)
    return side["total_ios"] / (side["runtime"] / 1e3)


def mdtest_rate(folder: Path, operation: str) -> float:
    """Operations per second; all phases are run, one is looked at."""
    mpiexec = engines.find().version.mpi.mpiexec
    words = [mpiexec, "-n", CLIENTS, "mdtest", "-F", "-u", "-n", FILES[operation], "-d", folder]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    found = re.search(rf"^\s*{ROWS[operation]}\s*:?\s+([\d.]+)", done.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"mdtest prints no row {ROWS[operation]}:\n{done.stdout}")
    return float(found[1])


def main(parent: Path, rounds: int) -> None:
    other, other_rate = ("mdtest", mdtest_rate) if shutil.which("mdtest") else ("fio", fio_rate)
    rows: dict[str, dict[str, list[float]]] = {operation: defaultdict(list) for operation in FILES}
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for _ in range(rounds):
            for operation, rates in rows.items():
                rates["strider"].append(strider_rate(folder, operation))
                rates[other].append(other_rate(folder, operation))
    finally:
        shutil.rmtree(folder)
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: a ratio of at least 1.0"
    print_medians(f"Operations on files, {CLIENTS} processes with a directory each", "per second", rows, note)


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "5")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

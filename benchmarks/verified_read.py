"""1 MiB reads that are verified, beside fio's `verify=crc32c`, on a file system in memory.

    .strider/venv/bin/python benchmarks/verified_read.py [DIR] [ROUNDS]

One process; each tool reads the file that it has written itself, and checks every byte. The tools alternate.
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import print_medians, run_engine, run_fio

TRANSFER = 1 << 20
BYTES = 512 << 20


def strider_mib_s(folder: Path) -> float:
    """MiB/s of the verifying read."""
    case = {
        "interface": {"name": "posix"},
        "pattern": {"name": "segmented", "transfer": TRANSFER, "block": BYTES},
        "sync": "none",
        "verify": "full",
        "operations": ["write", "read"],
    }
    (read,) = (sample for sample in run_engine([case], folder) if sample["operation"] == "read")
    if not read["valid"]:
        sys.exit("the file system gave back other data than was written")
    return read["rate_mib_s"]


def fio_mib_s(folder: Path) -> float:
    """MiB/s of the same: headers in the blocks tell the second job what to expect."""
    options = {"ioengine": "psync", "bs": TRANSFER, "size": BYTES, "verify": "crc32c", "verify_state_save": 0}
    run_fio(folder, rw="write", do_verify=0, **options)
    side = run_fio(folder, rw="read", **options)["read"]
    for path in folder.iterdir():
        path.unlink()
    return side["io_bytes"] / (1 << 20) / (side["runtime"] / 1e3)


def main(parent: Path, rounds: int) -> None:
    """Measures and prints."""
    rates: dict[str, list[float]] = defaultdict(list)
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for _ in range(rounds):
            rates["strider"].append(strider_mib_s(folder))
            rates["fio"].append(fio_mib_s(folder))
    finally:
        shutil.rmtree(folder)
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: a ratio of more than 1"
    print_medians("Verified reads of 1 MiB", "MiB/s", {"read, 1 client": rates}, note)


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "15")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

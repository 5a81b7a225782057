"""What Strider itself costs per request, beside fio: both move no bytes, and both record every latency.

    .strider/venv/bin/python benchmarks/own_cost.py [ROUNDS]

Strider's `null` interface, fio's `null` engine; one process, 4 KiB requests; the tools alternate.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, print_medians, run_engine, run_fio

REQUESTS = 5_000_000
TRANSFER = 4096
WORKS = {
    "sequential": ({"name": "segmented", "transfer": TRANSFER, "block": REQUESTS * TRANSFER}, "read"),
    "random": ({"name": "random", "transfer": TRANSFER, "size": REQUESTS * TRANSFER}, "randread"),
}


def strider_ns(pattern: Json) -> float:
    """Nanoseconds per request, of the phase's whole time."""
    (sample,) = run_engine(
        [{"interface": {"name": "null"}, "pattern": pattern, "operations": ["read"]}], Path("/")
    )
    return sample["elapsed_s"] / sample["requests"] * 1e9


def fio_ns(access: str) -> float:
    """Nanoseconds per request."""
    with tempfile.TemporaryDirectory() as folder:
        job = run_fio(Path(folder), ioengine="null", rw=access, bs=TRANSFER, size=REQUESTS * TRANSFER)
    return job["read"]["runtime"] * 1e6 / job["read"]["total_ios"]


def main(rounds: int) -> None:
    rows: dict[str, dict[str, list[float]]] = {work: defaultdict(list) for work in WORKS}
    for _ in range(rounds):
        for work, (pattern, access) in WORKS.items():
            rows[work]["strider"].append(strider_ns(pattern))
            rows[work]["fio"].append(fio_ns(access))
    note = (
        f"medians (range) of {rounds} alternating runs of {REQUESTS} requests; wanted: at most 60 ns and 0.25"
    )
    print_medians("Own cost of a request", "ns", rows, note)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

"""What checksums of list-I/O servers cost: the same requests on a volume with them, and on one without.

    .strider/venv/bin/python benchmarks/checksums.py [DIR [ROUNDS]]

One client, one server, a file of 64 MiB (4 KiB requests: 16 MiB) that is written, rewritten and read, without
sync, on a file system in memory: no time of storage hides the time of checksums.
Cases with and without alternate in one run. Wanted: a median ratio of rates of at least 0.9 for 64 KiB and
more.
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, print_medians, run_engine

from strider import engine as engines
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop

KINDS = ("crc32c", "off")
TRANSPORTS = ("cma", "tcp")
TRANSFERS = {4 << 10: 16 << 20, 64 << 10: 64 << 20, 1 << 20: 64 << 20}
"""Bytes of a request, and of the file."""


def cases_of(volumes: dict[str, Path]) -> list[Json]:
    """Cases of one round, and their kinds of checksums."""
    return [
        {
            "clients": 1,
            "interface": {
                "name": "listio",
                "volume": str(volumes[kind] / VOLUME_FILE),
                "transport": transport,
                "calibrate": False,
            },
            "pattern": {"name": "segmented", "transfer": transfer, "block": size},
            "sharing": "shared",
            "sync": "none",
            "operations": ["write", "rewrite", "read"],
        }
        for transport in TRANSPORTS
        for transfer, size in TRANSFERS.items()
        for kind in KINDS
    ]


def main(parent: Path, rounds: int) -> None:
    rows: dict[str, dict[str, list[float]]] = {}
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    volumes = {kind: folder / kind for kind in KINDS}
    try:
        for kind in KINDS:
            options = ServerOptions(servers=1, checksums=kind, transport="cma")  # type: ignore[arg-type]
            serve(engines.find(), volumes[kind], options)
        for sample in run_engine([case for _ in range(rounds) for case in cases_of(volumes)], folder):
            index = (sample["case"] - 1) % (len(TRANSPORTS) * len(TRANSFERS) * len(KINDS))
            kind = KINDS[index % len(KINDS)]
            transfer = list(TRANSFERS)[index // len(KINDS) % len(TRANSFERS)]
            transport = TRANSPORTS[index // (len(KINDS) * len(TRANSFERS))]
            row = f"{transport} {sample['operation']} {transfer >> 10} KiB"
            rows.setdefault(row, defaultdict(list))[kind].append(sample["rate_mib_s"])
    finally:
        for volume in volumes.values():
            if volume.exists():
                stop(volume)
        shutil.rmtree(folder)
    print_medians("Checksums", "MiB/s", rows, f"medians (range) of {rounds} alternating rounds in {parent}")


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "9")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

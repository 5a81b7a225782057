"""1 MiB reads that are verified, beside fio's `verify=crc32c` and beside reads that are not.

    .strider/venv/bin/python benchmarks/verified_read.py [DIR] [ROUNDS] [OLDER_ENGINE]

One process on a file system in memory; each tool reads the file that it has written itself, and checks
every byte. All tools alternate; with an older `strider-engine` it is measured as well. Rates by processor
time hardly change with other load. A core's rates in memory are those that the engine measures.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, print_medians, run_events, run_fio

TRANSFER = 1 << 20
BYTES = 512 << 20
MIB = 1 << 20
IN_MEMORY = {"data_generation": "generate", "verification": "verify", "memory_copy": "memcpy"}

Rows = dict[str, dict[str, list[float]]]


def case_of(verify: str) -> Json:
    """Write and read 512 MiB in requests of 1 MiB."""
    return {
        "interface": {"name": "posix"},
        "pattern": {"name": "segmented", "transfer": TRANSFER, "block": BYTES},
        "sync": "none",
        "verify": verify,
        "operations": ["write", "read"],
    }


def measure_engine(name: str, folder: Path, engine: Path | None, reads: Rows, memory: Rows) -> None:
    """Adds one round of an engine: verified and other reads, and its ceilings in memory."""
    cases = [case_of("off"), case_of("full")]
    rates: dict[str, float] = {}
    for line in run_events(cases, folder, ["--ceilings", "all"], engine):
        if line["event"] == "sample" and line["operation"] == "read":
            if not line["valid"]:
                sys.exit("the file system gave back other data than was written")
            kind = "not verified" if line["case"] == 1 else "verified"
            rates[f"{kind}, wall time"] = line["rate_mib_s"]
            rates[f"{kind}, processor time"] = BYTES / MIB / (line["user_s"] + line["system_s"])
        if line["event"] == "ceilings" and line["moment"] == "start":
            for ceiling in line["ceilings"]:
                if ceiling["name"] in IN_MEMORY and ceiling["value"]:
                    memory[IN_MEMORY[ceiling["name"]]][name].append(ceiling["value"] * MIB / 1e9)
    for row, rate in rates.items():
        reads[row][name].append(rate)
    for clock in ("wall time", "processor time"):
        share = rates[f"verified, {clock}"] / rates[f"not verified, {clock}"]
        reads[f"verified ÷ not verified, {clock}"][name].append(share)


def fio_mib_s(folder: Path) -> tuple[float, float]:
    """MiB/s of the same, by wall and processor time; headers give the second job the expected data."""
    options = {"ioengine": "psync", "bs": TRANSFER, "size": BYTES, "verify": "crc32c", "verify_state_save": 0}
    run_fio(folder, rw="write", do_verify=0, **options)
    job = run_fio(folder, rw="read", **options)
    for path in folder.iterdir():
        path.unlink()
    moved_mib, elapsed_s = job["read"]["io_bytes"] / MIB, job["read"]["runtime"] / 1e3
    return moved_mib / elapsed_s, moved_mib / (elapsed_s * (job["usr_cpu"] + job["sys_cpu"]) / 100)


def crc32c_gb_s() -> float:
    """What fio says of its own checksum, in memory."""
    done = subprocess.run(["fio", "--crctest=crc32c"], check=True, capture_output=True, text=True)
    found = re.search(r"crc32c:\s+([\d.]+) MiB/sec", done.stdout)
    return float(found[1]) * MIB / 1e9 if found else float("nan")


def main(parent: Path, rounds: int, older: Path | None) -> None:
    reads: Rows = defaultdict(lambda: defaultdict(list))
    memory: Rows = defaultdict(lambda: defaultdict(list))
    beside_fio: Rows = defaultdict(lambda: defaultdict(list))
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for _ in range(rounds):
            measure_engine("strider", folder, None, reads, memory)
            if older:
                measure_engine("older", folder, older, reads, memory)
            for clock, rate in zip(("wall time", "processor time"), fio_mib_s(folder), strict=True):
                beside_fio[clock]["fio"].append(rate)
            memory["verify, beside crc32c of fio"]["fio"].append(crc32c_gb_s())
    finally:
        shutil.rmtree(folder)
    for clock, row in beside_fio.items():
        row["strider"] = reads[f"verified, {clock}"]["strider"]
        beside_fio[clock] = {tool: row[tool] for tool in ("strider", "fio")}
    crc = memory.pop("verify, beside crc32c of fio")["fio"]
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: "
    print_medians("Verified reads of 1 MiB", "MiB/s", beside_fio, note + "a ratio of more than 1")
    print_medians("Reads of 1 MiB", "MiB/s, or ratio", reads, note + "verified ÷ not verified at least 0.75")
    print_medians("In memory", "GB/s", memory, note + "at least 12 to generate and to verify")
    crc_row = {"verify ÷ crc32c": {"strider": memory["verify"]["strider"], "fio's crc32c": crc}}
    print_medians("Beside a checksum", "GB/s", crc_row, note + "a ratio of more than 1")


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "15")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]), Path(words[2]).absolute() if len(words) > 2 else None)

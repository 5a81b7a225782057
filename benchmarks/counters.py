"""What watching costs: 4 KiB requests in memory with all counters and timelines, and with none, alternating.

    .strider/venv/bin/python benchmarks/counters.py [DIR] [ROUNDS]

Counters are read before and after the timed part, and timelines cost two comparisons a request, so rates
must not distinguish the two: neither of a phase (MiB/s) nor of its requests (processor time, which other
programs on the machine change less). Each round compares two runs next to each other; the median of their
ratios counts.
"""

import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, print_medians, run_events

TRANSFER = 4096
BYTES = 256 << 20
OPERATIONS = ("rewrite", "read")
SCOPES = {
    "all": ["--counters", "all", "--timeline", "rank"],
    "none": ["--counters", "none", "--timeline", "none"],
}


def events_of(folder: Path, scope: str) -> list[Json]:
    """The events of one run."""
    case = {
        "clients": 2,
        "interface": {"name": "posix"},
        "pattern": {"name": "segmented", "transfer": TRANSFER, "block": BYTES},
        "sharing": "per-rank",
        "sync": "none",
        "operations": ["write", *OPERATIONS],
    }
    return run_events([case], folder, SCOPES[scope])


def main(parent: Path, rounds: int) -> None:
    rates: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sampling_ms = []
    folder = Path(tempfile.mkdtemp(prefix="strider-benchmark-", dir=parent))
    try:
        for position in range(rounds):
            # The first of two runs may find another machine than the second, so they take turns.
            for scope in SCOPES if position % 2 else reversed(list(SCOPES)):
                for event in events_of(folder, scope):
                    if event["event"] == "sample" and event["operation"] in OPERATIONS:
                        processor_s = event["user_s"] + event["system_s"]
                        rates[event["operation"]][scope].append(event["rate_mib_s"])
                        times[event["operation"]][scope].append(processor_s / event["requests"] * 1e6)
                    if event["event"] == "counters":
                        sampling_ms.append(event["sampling_s"] * 1e3)
    finally:
        shutil.rmtree(folder)
    ordered = {
        kind: {operation: {scope: values[scope] for scope in SCOPES} for operation, values in found.items()}
        for kind, found in (("rates", rates), ("times", times))
    }
    note = f"medians (range) of {rounds} alternating runs in {parent}; wanted: a ratio of at least 0.98"
    print_medians("4 KiB requests with counters and timelines, and without", "MiB/s", ordered["rates"], note)
    note = "of all ranks, per request; wanted: a ratio of at most 1.02"
    print_medians("The same in processor time", "µs", ordered["times"], note)
    for kind, what in (("rates", "rate"), ("times", "processor time")):
        for operation, values in ordered[kind].items():
            ratios = [watched / plain for watched, plain in zip(values["all"], values["none"], strict=True)]
            print(f"{operation}: {what} {statistics.median(ratios):.3f} × in the median of the rounds")
    print(
        f"Both readings of a phase together take {statistics.median(sampling_ms):.2g} ms "
        f"({min(sampling_ms):.2g} - {max(sampling_ms):.2g}), outside of the timed part."
    )


if __name__ == "__main__":
    words = [*sys.argv[1:], *("/dev/shm", "15")[len(sys.argv) - 1 :]]  # noqa: S108
    main(Path(words[0]), int(words[1]))

"""Builders of run directories with cases of metadata, with invented numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from builders import CaseSpec, Json, RunBuilder
from strider.statistics.histogram import bucket_of

#: Median latency of an operation on one item, microseconds.
LATENCY_US = {
    "create": 9.0,
    "stat": 1.6,
    "lseek": 0.2,
    "small-read": 4.0,
    "readdir": 210.0,
    "rename": 11.0,
    "unlink": 6.5,
    "mkdir": 12.0,
}
FILES = 1000


@dataclass
class TreeSpec(CaseSpec):
    """One case of metadata; with `wrong_data` what `stat` finds is wrong."""

    pattern: Json = field(default_factory=dict)
    operations: tuple[str, ...] = ("create", "stat", "unlink")
    tree: Json = field(default_factory=lambda: {"name": "balanced", "items": FILES, "depth": 0, "fanout": 1})
    mix: dict[str, float] = field(default_factory=dict)

    def plan(self, number: int, repetitions: int) -> Json:
        document = super().plan(number, repetitions)
        of_data = ("pattern", "verify", "readback")
        plan = {("tree" if key == "pattern" else key): value for key, value in document.items()}
        plan = {key: value for key, value in plan.items() if key not in of_data}
        return {**plan, "tree": self.tree, "readback": "same", "mix": self.mix, "open_files": 512}

    @property
    def transfer(self) -> int:
        return int(self.tree.get("file_size", 0))


class MetadataBuilder(RunBuilder):
    """Builds a run directory with cases of metadata, of data, or of both."""

    def __init__(self, cases: Iterable[CaseSpec], repetitions: int = 3, warmup: int = 0) -> None:
        super().__init__(cases, repetitions, warmup)

    def add_repetition(self, number: int, case: CaseSpec, repetition: int) -> None:
        if not isinstance(case, TreeSpec):
            super().add_repetition(number, case, repetition)
            return
        warmup = repetition < self.warmup
        self.emit("case", case=number, repetition=repetition, warmup=warmup)
        for operation in case.operations:
            self.emit_operation(number, case, repetition, operation)

    def emit_operation(self, number: int, case: TreeSpec, repetition: int, operation: str) -> None:
        requests = case.clients * FILES
        latency_us = LATENCY_US.get(operation, 5.0) * (1.5 if case.common.get("sharing") == "shared" else 1.0)
        rate = case.clients / (latency_us * 1e-6) * 0.9 * self.random.lognormvariate(0, 0.05)
        elapsed = requests / rate
        wrong = case.wrong_data and operation == "stat"
        start, self.clock_s = self.clock_s, self.clock_s + elapsed
        of_one = {"min": rate / 3, "min_rank": 1, "mean": rate / 2, "max": rate / 1.8, "max_rank": 0}
        seconds = float(case.common.get("deadline", 0.0))
        self.emit(
            "sample",
            case=number,
            repetition=repetition,
            warmup=repetition < self.warmup,
            operation=operation,
            measured=True,
            valid=not wrong,
            clients=case.clients,
            files=requests,
            bytes=0,
            requests=requests,
            start_s=start,
            elapsed_s=elapsed,
            rate_mib_s=0.0,
            first_done_s=elapsed * 0.9,
            rate_first_done_mib_s=0.0,
            requests_s=rate,
            rate_first_done_requests_s=rate * 1.05,
            open_s=0.0,
            transfer_s=elapsed,
            sync_s=0.0,
            close_s=0.0,
            prepare_s=0.0,
            user_s=elapsed * 0.1,
            system_s=elapsed * 0.8,
            **self.latencies_of(requests, latency_us),
            rank_rate_mib_s={"min": 0.0, "min_rank": 0, "mean": 0.0, "max": 0.0, "max_rank": 0},
            rank_rate_requests_s=of_one,
            parts=self.parts(case, requests) if operation == "mix" else [],
            deadline=self.deadline(seconds, 0.0, 0) if seconds else None,
            verify={"checked_bytes": 0, "wrong_bytes": 0, "mismatches": 2 if wrong else 0}
            if operation in ("stat", "readdir")
            else None,
            digest=None,
        )

    def parts(self, case: TreeSpec, requests: int) -> list[Json]:
        """The requests shared out by weight."""
        whole = sum(case.mix.values())
        counts = {name: round(requests * weight / whole) for name, weight in case.mix.items()}
        return [
            {
                "operation": name,
                "requests": count,
                **self.latencies_of(count, LATENCY_US.get(name, 5.0)),
            }
            for name, count in counts.items()
        ]

    def latencies_of(self, requests: int, median_us: float) -> Json:
        """The fields `latency` and `histogram` of requests with a heavy tail."""
        values = sorted(
            int(median_us * 1e3 * self.random.lognormvariate(0, 0.25) * (30 if index % 400 == 0 else 1))
            for index in range(requests)
        )
        buckets: dict[int, int] = {}
        for value in values:
            buckets[bucket_of(value)] = buckets.get(bucket_of(value), 0) + 1
        shares = (("p50_s", 0.5), ("p90_s", 0.9), ("p99_s", 0.99), ("p999_s", 0.999))
        latency = {
            "count": len(values),
            "min_s": values[0] * 1e-9,
            "mean_s": sum(values) / len(values) * 1e-9,
            **{name: values[int(share * (len(values) - 1))] * 1e-9 for name, share in shares},
            "max_s": values[-1] * 1e-9,
        }
        pairs = [list(pair) for pair in sorted(buckets.items())]
        return {"latency": latency, "histogram": {"scheme": "loglinear-7", "unit": "ns", "buckets": pairs}}


MIX = {"stat": 60.0, "small-read": 25.0, "create": 10.0, "unlink": 5.0}


def trees(
    interfaces: Iterable[str] = ("posix",),
    sharing: Iterable[str] = ("shared", "per-rank"),
    clients: Iterable[int] = (2,),
    operations: tuple[str, ...] = ("create", "stat", "unlink"),
) -> list[TreeSpec]:
    """The product of some lists as cases of metadata."""
    return [
        TreeSpec(
            interface={"name": interface},
            clients=count,
            operations=operations,
            common={"sharing": share},
            mix=MIX if "mix" in operations else {},
        )
        for interface in interfaces
        for share in sharing
        for count in clients
    ]

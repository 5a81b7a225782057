"""Builders of run directories with invented numbers, for tests and for looking at reports.

Everything is synthetic: rates follow `peak · t / (t + t_half)` with noise, and no file is read or written but
those of the run directory. The layout is that of docs/formats.md.
"""

from __future__ import annotations

import itertools
import json
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strider.statistics.histogram import bucket_of

KIB, MIB = 1 << 10, 1 << 20
Json = dict[str, Any]

PEAK_MIB_S = {"null": 40000.0, "posix": 1800.0, "mpiio": 1500.0, "uring": 2100.0}
HALF_BYTES = {"null": 4 * KIB, "posix": 64 * KIB, "mpiio": 160 * KIB, "uring": 48 * KIB}
OPERATION_FACTOR = {"write": 0.7, "rewrite": 0.8, "read": 1.0, "reread": 1.9, "read-modify-write": 0.4}


@dataclass
class CaseSpec:
    """One case of a synthetic plan; with `wrong_data` the check of its reads fails.

    Attributes:
        calls_per_request: File system calls of one kind for each request; None: the kernel did not count.
        served: Share of the read data that came from storage; None: unknown.
        prepared: Actions of a cache policy before each read (`cache` of the sample).
        counting_nodes: Nodes that count, alike.
        slow_ranks: How many times as long as the others some ranks take.
        ranks_per_node: Ranks of a node; 0: all are on one.
        clock_error_s: How wrong each phase's time may be; there is a second clock then.
        timelines: Of each rank, the requests of each tenth of a second in every phase.
        values: Of each rank, the first value of its requests; the middle and the last value follow it.
    """

    interface: Json = field(default_factory=lambda: {"name": "posix", "direct": False})
    pattern: Json = field(
        default_factory=lambda: {"name": "segmented", "transfer": MIB, "block": 64 * MIB, "segments": 1}
    )
    clients: int = 2
    operations: Sequence[str] = ("write", "read")
    common: Json = field(default_factory=dict)
    name: str = ""
    wrong_data: bool = False
    calls_per_request: float | None = 1
    served: float | None = None
    prepared: Json | None = None
    counting_nodes: int = 0
    slow_ranks: dict[int, float] = field(default_factory=dict)
    ranks_per_node: int = 0
    clock_error_s: float | None = None
    timelines: Sequence[Sequence[int]] = ()
    values: Sequence[Sequence[int]] = ()

    def plan(self, number: int, repetitions: int) -> Json:
        common = {
            "order": "forward",
            "sharing": "shared",
            "readback": "shift",
            "verify": "full",
            "deadline": 0.0,
        }
        return {
            "case": number,
            "name": self.name,
            "clients": self.clients,
            "interface": self.interface,
            "pattern": self.pattern,
            "operations": list(self.operations),
            "repetitions": {"min": repetitions, "max": repetitions, "until": 0.0},
            **common,
            **({"values": max(map(len, self.values))} if self.values else {}),
            **self.common,
        }

    @property
    def transfer(self) -> int:
        return int(self.pattern.get("transfer", MIB))


def sweep(
    interfaces: Sequence[Json | str] = ("posix", "mpiio"),
    transfers: Sequence[int] = (64 * KIB, 256 * KIB, MIB),
    clients: Sequence[int] = (2,),
    patterns: Sequence[str] = ("segmented",),
    operations: Sequence[str] = ("write", "read"),
    **common: Sequence[Any],
) -> list[CaseSpec]:
    """The product of some lists as cases; further keyword arguments are lists of case parameters."""
    keys = list(common)
    return [
        CaseSpec(
            interface={"name": interface} if isinstance(interface, str) else interface,
            pattern={"name": pattern, "transfer": transfer, "block": 64 * MIB},
            clients=count,
            operations=operations,
            common=dict(zip(keys, values, strict=True)),
        )
        for interface, pattern, transfer, count, *values in itertools.product(
            interfaces, patterns, transfers, clients, *common.values()
        )
    ]


#: Bytes of a client in a phase of a second.
LONG = 1024 * MIB


class RunBuilder:
    """Builds one run directory.

    Args:
        cases: The planned cases.
        repetitions: Counted repetitions of each case.
        warmup: Repetitions before them that do not count.
        seed: Fixes the invented numbers.
        suite: The suite's name.
    """

    #: Bytes of a client in each phase: at 1000 MiB/s, 0.06 s, which is too short for verdicts.
    client_bytes = 64 * MIB

    def __init__(
        self,
        cases: Iterable[CaseSpec],
        repetitions: int = 3,
        warmup: int = 0,
        seed: int = 1,
        suite: str = "synthetic",
    ) -> None:
        self.cases = list(cases)
        self.repetitions = repetitions
        self.warmup = warmup
        self.random = random.Random(seed)
        self.suite = suite
        self.events: list[Json] = []
        self.clock_s = 0.0

    def write(self, directory: Path, status: str | None = "complete") -> Path:
        """Writes the directory; `status` None leaves it as a killed run does: unsealed, no last event."""
        self.build_events(directory.name)
        directory.mkdir(parents=True, exist_ok=True)
        errors = sum(event["event"] == "error" for event in self.events)
        if status is not None:
            samples = sum(event["event"] == "sample" for event in self.events)
            end = {
                "event": "end",
                "time_s": self.clock_s,
                "status": status,
                "samples": samples,
                "errors": errors,
            }
            self.events.append(end)
        text = "".join(json.dumps(event) + "\n" for event in self.events)
        (directory / "plan.json").write_text(json.dumps(self.plan(), indent=2))
        (directory / "run.json").write_text(
            json.dumps(self.run_document(directory.name, status, errors), indent=2)
        )
        (directory / "events.jsonl").write_text(text)
        return directory

    def plan(self) -> Json:
        return {
            "format": "strider-plan",
            "version": 1,
            "suite": {"name": self.suite, "description": "invented numbers"},
            "target": "/mnt/synthetic",
            "ranks": max(case.clients for case in self.cases),
            "ranks_per_node": 0,
            "seed": 1,
            "interleave": "random",
            "stall_timeout_s": 600.0,
            "cases": [case.plan(number, self.repetitions) for number, case in enumerate(self.cases, start=1)],
        }

    def run_document(self, run: str, status: str | None, errors: int) -> Json:
        check = [
            {"case": number, "files": 1, "space_bytes": 64 * MIB, "request_bytes": case.transfer}
            for number, case in enumerate(self.cases, start=1)
        ]
        document: Json = {
            "format": "strider-run",
            "version": 1,
            "run": run,
            "strider": "0.1.0",
            "started": "2026-11-21T04:05:06Z",
            "command": ["strider", "run", "synthetic.toml"],
            "directory": "/mnt/synthetic/strider-x",
            "set": [],
            "check": {"format": "strider-check", "version": 1, "cases": check, "errors": []},
            "environment": {
                "host": "synthetic",
                "kernel": "6.1.0",
                "cpu": {"model": "Invented CPU", "cores": 64},
                "memory_bytes": 256 << 30,
                "mount": {"type": "ext4", "source": "/dev/synthetic"},
            },
        }
        if status is not None:
            sealed = {"ended": "2026-11-21T04:09:06Z", "status": status, "exit_code": 1 if errors else 0}
            document |= sealed
        return document

    def build_events(self, run: str) -> None:
        """The events of the run, round by round."""
        ranks = max(case.clients for case in self.cases)
        self.events = [
            {
                "event": "run",
                "version": 1,
                "time_s": 0,
                "run": run,
                "engine": "0.1.0",
                "started": "2026-11-21T04:05:06.789Z",
                "mpi": "MPICH 4.0.2 (synthetic)",
                "ranks": ranks,
                "nodes": self.nodes(),
                "timer": "tsc",
                "timer_cost_ns": 12.4,
                "data_seed": "123",
            }
        ]
        for repetition in range(self.warmup + self.repetitions):
            for number, case in enumerate(self.cases, start=1):
                self.add_repetition(number, case, repetition)

    def nodes(self) -> list[Json]:
        ranks = max(case.clients for case in self.cases)
        per_node = max(case.ranks_per_node for case in self.cases)
        if not per_node:
            return [{"name": "synthetic", "ranks": ranks}]
        return [{"name": f"n{node:03}", "ranks": per_node} for node in range(-(-ranks // per_node))]

    def add_repetition(self, number: int, case: CaseSpec, repetition: int) -> None:
        warmup = repetition < self.warmup
        self.emit("case", case=number, repetition=repetition, warmup=warmup)
        if "write" not in case.operations:
            self.emit_sample(number, case, repetition, "prefill", warmup)
        for operation in case.operations:
            self.emit_sample(number, case, repetition, operation, warmup)
            self.emit_ranks(number, case, repetition, operation)
            self.emit_clocks(number, case, repetition, operation)
            self.emit_counters(number, case, repetition, operation)
            self.emit_timelines(number, case, repetition, operation)
            if operation in ("read", "reread"):
                self.emit_values(number, case, repetition, operation, warmup)

    def emit(self, event: str, **fields: object) -> None:
        self.events.append({"event": event, "time_s": round(self.clock_s, 6), **fields})

    def emit_sample(self, number: int, case: CaseSpec, repetition: int, operation: str, warmup: bool) -> None:
        reads = operation in ("read", "reread")
        total = case.clients * self.client_bytes
        rate = self.rate(case, operation)
        elapsed = total / MIB / rate
        deadline = float(case.common.get("deadline", 0.0))
        wrong = reads and case.wrong_data
        start, self.clock_s = self.clock_s, self.clock_s + elapsed
        self.emit(
            "sample",
            case=number,
            repetition=repetition,
            warmup=warmup,
            operation=operation,
            measured=operation != "prefill",
            valid=not wrong,
            clients=case.clients,
            **self.placement(case),
            files=1,
            bytes=total,
            requests=total // case.transfer,
            start_s=start,
            elapsed_s=elapsed,
            rate_mib_s=rate,
            start_skew_s=0.0001,
            end_skew_s=elapsed * 0.1,
            clock_error_s=case.clock_error_s,
            flags=["clock"] if (case.clock_error_s or 0) > 0.01 * elapsed else [],
            first_done_s=elapsed * 0.9,
            rate_first_done_mib_s=rate * 1.05,
            requests_s=total / case.transfer / elapsed,
            open_s=0.002,
            transfer_s=elapsed * 0.8,
            sync_s=0.0 if reads else elapsed * 0.15,
            close_s=0.001,
            prepare_s=elapsed * 0.02,
            user_s=elapsed * 0.1 * case.clients,
            system_s=elapsed * 0.4 * case.clients,
            voluntary_switches=12,
            involuntary_switches=3,
            **self.calls(case, operation, total // case.transfer),
            **self.caches(case, reads, total),
            **self.latencies(case, rate, total // case.transfer),
            rank_rate_mib_s=self.rank_rates(case, rate),
            deadline=self.deadline(deadline, rate, total) if deadline else None,
            runtime=self.runtime(case) if case.common.get("runtime") else None,
            verify={"checked_bytes": total, "wrong_bytes": 512 if wrong else 0, "mismatches": int(wrong)}
            if reads
            else None,
            digest=self.digest(case, repetition, operation) if reads else None,
        )
        if wrong:
            self.emit_mismatch(number, repetition, operation)

    def placement(self, case: CaseSpec) -> Json:
        """The nodes of the ranks: those that the case asks for, or one."""
        nodes = int(case.common.get("nodes", 1))
        fewest, most = case.clients // nodes, -(-case.clients // nodes)
        return {"nodes": nodes, "ranks_per_node_min": fewest, "ranks_per_node_max": most}

    def calls(self, case: CaseSpec, operation: str, requests: int) -> Json:
        """Calls in the direction of the operation; of read-modify-write in both."""
        if case.calls_per_request is None:
            return {"read_calls": None, "write_calls": None}
        calls = round(requests * case.calls_per_request)
        return {
            "read_calls": 0 if operation in ("prefill", "write", "rewrite") else calls,
            "write_calls": 0 if operation in ("read", "reread") else calls,
        }

    def caches(self, case: CaseSpec, reads: bool, total: int) -> Json:
        """Bytes served by storage, and the preparation of caches."""
        is_served = reads and case.served is not None
        return {
            "served_by_storage": case.served if is_served else None,
            "served_bytes": round(total * (case.served or 0)) if is_served else None,
            "served_source": "process" if is_served else None,
            "cache": case.prepared if reads else None,
        }

    def emit_clocks(self, number: int, case: CaseSpec, repetition: int, operation: str) -> None:
        if case.clock_error_s is None:
            return
        self.emit(
            "clock",
            case=number,
            repetition=repetition,
            warmup=False,
            operation=operation,
            node=1,
            offset_start_s=-3.0,
            offset_end_s=-3.001,
            error_s=case.clock_error_s / 2,
            drift_ppm=100.0,
            drift_error_ppm=0.5,
        )

    def emit_timelines(self, number: int, case: CaseSpec, repetition: int, operation: str) -> None:
        for rank, requests in enumerate(case.timelines):
            self.emit(
                "timeline",
                case=number,
                repetition=repetition,
                warmup=False,
                operation=operation,
                rank=rank,
                node=0,
                start_s=self.clock_s - 0.1 * len(requests),
                interval_s=0.1,
                bytes=[count * case.transfer for count in requests],
                requests=list(requests),
                busy_s=[0.09 if count else 0.0 for count in requests],
                latency_max_s=[0.05 if count else 0.0 for count in requests],
            )

    def emit_values(self, number: int, case: CaseSpec, repetition: int, operation: str, warmup: bool) -> None:
        for rank, first in enumerate(case.values):
            self.emit(
                "values",
                case=number,
                repetition=repetition,
                warmup=warmup,
                operation=operation,
                rank=rank,
                offset=[block * case.transfer for block in range(len(first))],
                bytes=[case.transfer] * len(first),
                first=list(first),
                middle=[value + 1 for value in first],
                last=[value + 2 for value in first],
            )

    def emit_counters(self, number: int, case: CaseSpec, repetition: int, operation: str) -> None:
        """Per node and second 1000 context switches; a disk below another, which count the same bytes."""
        for node in range(case.counting_nodes):
            elapsed = 2.0 + repetition
            disk = {"read_bytes": 64 * MIB, "written_bytes": 0}
            groups: list[tuple[str, str, Json]] = [
                ("cpu", "", {"user_s": elapsed, "system_s": elapsed / 2, "idle_s": elapsed / 2, "cores": 2}),
                ("kernel", "", {"context_switches": 1000 * elapsed, "interrupts": 500 * elapsed}),
                ("memory", "", {"total_bytes": 8 << 30}),
                ("block", "sda", disk),
                ("block", "md0", disk),
                ("network", "eth0", {"received_packets": 40, "sent_packets": 20}),
                ("network", "lo", {"received_packets": 2, "sent_packets": 2}),
            ]
            self.emit(
                "counters",
                case=number,
                repetition=repetition,
                warmup=repetition < self.warmup,
                operation=operation,
                node=node,
                elapsed_s=elapsed,
                sampling_s=0.001,
                counters=[
                    {"source": source, "instance": instance, "values": values}
                    for source, instance, values in groups
                ],
            )

    def emit_mismatch(self, number: int, repetition: int, operation: str) -> None:
        self.emit(
            "error",
            case=number,
            repetition=repetition,
            operation=operation,
            kind="verify",
            rank=1,
            host="synthetic",
            file="c0001.0",
            offset=4096,
            length=512,
            call="pread",
            errno=0,
            message="read data differ",
            expected="00ff",
            found="0000",
            **{"class": "zero"},
            count=1,
            remedy="look at the file system",
        )

    def emit_ranks(self, number: int, case: CaseSpec, repetition: int, operation: str) -> None:
        for rank in range(case.clients):
            self.emit(
                "rank",
                case=number,
                repetition=repetition,
                operation=operation,
                rank=rank,
                node=rank // case.ranks_per_node if case.ranks_per_node else 0,
                bytes=64 * MIB,
                requests=64 * MIB // case.transfer,
                start_s=self.clock_s - 0.1,
                end_s=self.clock_s - 0.1 + 0.1 * case.slow_ranks.get(rank, 1.0),
                transfer_s=0.09,
                io_s=0.08,
                user_s=0.01,
                system_s=0.04,
                digest=None,
            )

    def rate(self, case: CaseSpec, operation: str) -> float:
        name = case.interface["name"]
        half = HALF_BYTES.get(name, 96 * KIB) * (4 if case.interface.get("direct") else 1)
        scale = case.clients / (case.clients + 2) * (0.5 if case.pattern["name"] == "strided" else 1.0)
        noise = self.random.lognormvariate(0, 0.06)
        return (
            PEAK_MIB_S.get(name, 1200.0)
            * case.transfer
            / (case.transfer + half)
            * scale
            * noise
            * (OPERATION_FACTOR.get(operation, 1.0))
        )

    def rank_rates(self, case: CaseSpec, rate: float) -> Json:
        """The last rank is the slowest, rank 0 the fastest."""
        mean = rate / case.clients
        return {
            "min": mean * 0.9,
            "min_rank": case.clients - 1,
            "mean": mean,
            "max": mean * 1.1,
            "max_rank": 0,
        }

    def latencies(self, case: CaseSpec, rate: float, requests: int) -> Json:
        """The fields `latency` and `histogram` of a sample."""
        mean_ns = case.transfer / MIB / (rate / case.clients) * 1e9
        values = sorted(
            int(mean_ns * self.random.lognormvariate(-0.1, 0.45)) for _ in range(min(requests, 400))
        )
        buckets: dict[int, int] = {}
        for value in values:
            buckets[bucket_of(value)] = buckets.get(bucket_of(value), 0) + 1
        at = {
            name: values[min(int(share * len(values)), len(values) - 1)] * 1e-9
            for name, share in (("p50_s", 0.5), ("p90_s", 0.9), ("p99_s", 0.99), ("p999_s", 0.999))
        }
        latency = {
            "count": len(values),
            "min_s": values[0] * 1e-9,
            "mean_s": sum(values) / len(values) * 1e-9,
            **at,
            "max_s": values[-1] * 1e-9,
        }
        pairs = [list(pair) for pair in buckets.items()]
        return {"latency": latency, "histogram": {"scheme": "loglinear-7", "unit": "ns", "buckets": pairs}}

    def deadline(self, seconds: float, rate: float, total: int) -> Json:
        return {
            "deadline_s": seconds,
            "requests": 900,
            "bytes": total * 9 // 10,
            "elapsed_s": seconds,
            "rate_mib_s": rate * 1.08,
            "wear_out_s": seconds * 0.2,
            "requests_per_rank_min": 400,
            "requests_per_rank_max": 500,
        }

    def runtime(self, case: CaseSpec) -> Json:
        return {
            "runtime_s": float(case.common["runtime"]),
            "ramp_s": 0.5,
            "ramp_requests": 64,
            "ramp_bytes": 64 << 20,
            "requests_per_rank_min": 400,
            "requests_per_rank_max": 500,
            "passes_min": 2.5,
            "passes_max": 3.125,
        }

    def digest(self, case: CaseSpec, repetition: int, operation: str) -> str:
        """The same for all interfaces, as the same bytes are read."""
        text = json.dumps([case.pattern, case.clients, case.common, repetition, operation, case.wrong_data])
        return f"{zlib.crc32(text.encode()):016x}"

"""Synthetic runs: plan, run document and events from noise, with causes planted in single cases.

`Synthetic.write` makes a run directory as the engine and `strider run` do (docs/formats.md). `Synthetic.load`
returns the reader's result, without files: a hundred times as fast.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from noise import Logs, Noise, Random, buckets_of, lognormal
from strider.store.described import older_description
from strider.store.load import described_cases
from strider.store.model import CeilingReport, End, ErrorRow, NodeCounters, Plan, Run, RunInfo, Sample, Start

Json = dict[str, Any]
MIB = 1 << 20
NODES = ("node01", "node02")
#: Share of the elapsed time, or of the time of all ranks, or of a ceiling, that a cause takes.
Shares = Mapping[str, float]


@dataclass(frozen=True)
class Cause:
    """The planted cause of a case.

    Attributes:
        slow_rank: How many times as long as the others rank 1 takes.
        slow_node: Likewise the ranks of the second half, which are the second node of two.
        late_once: How many times as long rank 1 takes in the middle repetition.
        outlier: Factor of the rate in the middle repetition.
        trend: Change of the logarithm of the rate from first to last.
        times: Shares of the elapsed time by field: `sync_s`, `open_s`, `prepare_s`, `compute_s`.
        processor: Shares of the ranks' time: `user_s`, `system_s`.
        counters: Of a node in a second, by source, instance and name; replaces the ordinary one.
        sample: Fields of the sample.
        noise: Of the rates; replaces that of the run.
    """

    slow_rank: float = 1.0
    slow_node: float = 1.0
    late_once: float = 1.0
    outlier: float = 1.0
    trend: float = 0.0
    times: Shares = field(default_factory=dict)
    processor: Shares = field(default_factory=dict)
    counters: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    sample: Mapping[str, Any] = field(default_factory=dict)
    noise: Noise | None = None


@dataclass(frozen=True)
class Planned:
    """A case: 8 ranks, repetitions of two seconds at `rate_mib_s`."""

    interface: Json = field(default_factory=lambda: {"name": "posix"})
    pattern: Json = field(default_factory=lambda: {"name": "segmented", "transfer": MIB, "block": 64 * MIB})
    operations: Sequence[str] = ("write",)
    clients: int = 8
    rate_mib_s: float = 1000.0
    cause: Cause = field(default_factory=Cause)
    common: Json = field(default_factory=dict)
    name: str = ""

    def document(self, number: int, repetitions: int) -> Json:
        """The case of a plan."""
        return {
            "case": number,
            "name": self.name,
            "clients": self.clients,
            "interface": self.interface,
            "pattern": self.pattern,
            "operations": list(self.operations),
            "repetitions": {"min": repetitions, "max": repetitions, "until": 0.0},
            "order": "forward",
            "sharing": "shared",
            "verify": "off",
            "deadline": 0.0,
            **self.common,
        }


@dataclass(frozen=True)
class Setting:
    """The surroundings of a run.

    Attributes:
        repetitions: Of each case.
        noise: Of the rates: rows are the operations of all cases.
        of_ranks: Deviation of the logarithm of each rank's time.
        of_shares: Deviation of the logarithm of every share of time and counter, from one repetition to the
            next.
        file_system: Of the target.
        nodes: Of the ranks.
        ceilings: Of a node, MiB per second.
        of_clients: Of all clients together.
        counted: Whether nodes count.
    """

    repetitions: int = 5
    noise: Noise = field(default_factory=lambda: lognormal(0.05))
    of_ranks: float = 0.03
    of_shares: float = 0.05
    file_system: str = "ext4"
    nodes: int = 1
    ceilings: Shares = field(default_factory=dict)
    of_clients: Shares = field(default_factory=dict)
    counted: bool = True


#: In a second of a node: a machine with much left to give, whose traffic is not lost.
ORDINARY: Mapping[tuple[str, str, str], float] = {
    ("cpu", "", "user_s"): 0.8,
    ("cpu", "", "system_s"): 1.2,
    ("cpu", "", "idle_s"): 13.5,
    ("cpu", "", "steal_s"): 0.02,
    ("kernel", "", "context_switches"): 20_000.0,
    ("kernel", "", "interrupts"): 12_000.0,
    ("kernel", "", "page_faults"): 4_000.0,
    ("memory", "", "total_bytes"): 64.0 * 2**30,
    ("block", "sda", "read_bytes"): 5e8,
    ("block", "sda", "written_bytes"): 5e8,
    ("block", "sda", "busy_s"): 0.5,
    ("block", "sda", "read_s"): 8.0,
    ("block", "sda", "write_s"): 8.0,
    ("network", "eth0", "received_bytes"): 1.0e7,
    ("network", "eth0", "sent_bytes"): 1.0e7,
    ("network", "eth0", "received_packets"): 9_000.0,
    ("network", "eth0", "sent_packets"): 9_000.0,
    ("tcp", "", "sent_segments"): 9_000.0,
    ("tcp", "", "retransmitted_segments"): 0.5,
}
#: Counted as events, so that their number varies by chance alone (Poisson).
_EVENTS = frozenset(["retransmitted_segments"])
_CONSTANT = frozenset(["total_bytes"])
_QUIET_TIMES: Shares = {"open_s": 0.01, "close_s": 0.01, "sync_s": 0.1, "prepare_s": 0.03, "compute_s": 0.0}
_QUIET_PROCESSOR: Shares = {"user_s": 0.05, "system_s": 0.2}


class Synthetic:
    """A run that never was.

    Args:
        cases: Those of the plan.
        setting: The surroundings.
        rng: Source of all chance.
        name: Id of the run.
        minute: When it was started, minutes after a fixed moment.
    """

    def __init__(
        self, cases: Sequence[Planned], setting: Setting, rng: Random, name: str = "run", minute: int = 0
    ) -> None:
        self.cases, self.setting, self.rng, self.name, self.minute = cases, setting, rng, name, minute
        self.clock_s = 0.0
        self.events: list[Json] = [self._start(), *self._ceilings()]
        self._measure()
        samples = sum(event["event"] == "sample" for event in self.events)
        self._emit("end", status="complete", samples=samples, errors=0)

    def plan(self) -> Json:
        return {
            "format": "strider-plan",
            "version": 1,
            "suite": {"name": "simulated", "description": "synthetic"},
            "target": "/mnt/simulated",
            "ranks": max(case.clients for case in self.cases),
            "ranks_per_node": 0,
            "seed": 1,
            "interleave": "random",
            "stall_timeout_s": 600.0,
            "cases": [case.document(k, self.setting.repetitions) for k, case in enumerate(self.cases, 1)],
        }

    def document(self) -> Json:
        check = [
            {"case": k, "files": 1, "space_bytes": 2**40, "request_bytes": case.pattern.get("transfer", MIB)}
            for k, case in enumerate(self.cases, 1)
        ]
        at = f"2026-11-{1 + self.minute // 1440:02d}T{self.minute // 60 % 24:02d}:{self.minute % 60:02d}"
        return {
            "format": "strider-run",
            "version": 1,
            "run": self.name,
            "strider": "0.1.0",
            "started": f"{at}:00Z",
            "ended": f"{at}:59Z",
            "status": "complete",
            "exit_code": 0,
            "command": ["strider", "run", "simulated.toml"],
            "directory": "/mnt/simulated/strider-x",
            "set": [],
            "check": {"format": "strider-check", "version": 1, "cases": check, "errors": []},
            "environment": {
                "host": "simulated",
                "kernel": "6.1.0",
                "cpu": {"model": "Simulated", "cores": 16},
                "memory_bytes": 64 << 30,
                "target": {"file_system": self.setting.file_system},
            },
        }

    def write(self, directory: Path) -> Path:
        directory.mkdir(parents=True)
        (directory / "plan.json").write_text(json.dumps(self.plan()), encoding="utf-8")
        (directory / "run.json").write_text(json.dumps(self.document()), encoding="utf-8")
        lines = "".join(json.dumps(event) + "\n" for event in self.events)
        (directory / "events.jsonl").write_text(lines, encoding="utf-8")
        return directory

    def load(self, directory: Path | None = None) -> Run:
        """The run as `strider.store.load` reads it."""
        plan = Plan.model_validate(self.plan())
        info = RunInfo.model_validate(self.document())
        return Run(
            directory=directory or Path(self.name),
            info=info,
            plan=plan,
            start=Start.model_validate(self.events[0]),
            starts=[Start.model_validate(one) for one in self.of("run")],
            cases=described_cases(plan, info, older_description()),
            samples=[Sample.model_validate(one) for one in self.of("sample")],
            errors=[ErrorRow.model_validate(one) for one in self.of("error")],
            ceilings=[CeilingReport.model_validate(one) for one in self.of("ceilings")],
            end=End.model_validate(self.events[-1]),
        )

    def of(self, kind: str) -> list[Json]:
        """The events of a kind."""
        return [event for event in self.events if event["event"] == kind]

    def counters(self) -> list[NodeCounters]:
        """What nodes counted, as `strider.store.load_events` reads it."""
        return [NodeCounters.model_validate(one) for one in self.of("counters")]

    def _emit(self, event: str, **fields: object) -> None:
        self.events.append({"event": event, "time_s": round(self.clock_s, 6), **fields})

    def _start(self) -> Json:
        ranks = max(case.clients for case in self.cases)
        nodes = [{"name": name, "ranks": ranks // self.setting.nodes} for name in NODES[: self.setting.nodes]]
        return {
            "event": "run",
            "version": 1,
            "time_s": 0,
            "run": self.name,
            "engine": "0.1.0",
            "started": "2026-11-21T04:05:06.789Z",
            "mpi": "MPICH 4.0.2 (simulated)",
            "ranks": ranks,
            "nodes": nodes,
            "timer": "tsc",
            "timer_cost_ns": 12.4,
            "data_seed": "123",
        }

    def _ceilings(self) -> Iterable[Json]:
        def report(node: int | None, clients: int | None, values: Shares) -> Json:
            found = [
                {
                    "name": name,
                    "unit": "requests/s" if name == "null_requests" else "MiB/s",
                    "value": value,
                    "spread": 0.02,
                    "about": "simulated",
                }
                for name, value in values.items()
            ]
            who = {"node": node, "clients": clients, "elapsed_s": 1.0}
            return {"event": "ceilings", "time_s": 0.1, "moment": "start", **who, "ceilings": found}

        if self.setting.ceilings:
            yield from (report(node, None, self.setting.ceilings) for node in range(self.setting.nodes))
        if self.setting.of_clients:
            ranks = max(case.clients for case in self.cases)
            yield report(None, ranks, self.setting.of_clients)

    def _measure(self) -> None:
        """All repetitions, round by round."""
        keys = [(k, op) for k, case in enumerate(self.cases, 1) for op in case.operations]
        n = self.setting.repetitions
        logs = np.array(self.setting.noise.draw(self.rng, (len(keys), n)))
        for row, (number, _) in enumerate(keys):
            cause = self.cases[number - 1].cause
            if cause.noise is not None:
                logs[row] = cause.noise.draw(self.rng, (1, n))[0]
            logs[row] += np.linspace(-cause.trend / 2, cause.trend / 2, n)
            logs[row, n // 2] += np.log(cause.outlier)
        drawn: dict[tuple[int, str], Logs] = {key: logs[row] for row, key in enumerate(keys)}
        for repetition in range(n):
            for number, case in enumerate(self.cases, 1):
                for operation in case.operations:
                    self._phase(number, case, repetition, operation, drawn[number, operation][repetition])

    def _phase(self, number: int, case: Planned, repetition: int, operation: str, log: float) -> None:
        total = int(2 * case.rate_mib_s) * MIB
        times = 2.0 * np.exp(-log + self.rng.normal(0, self.setting.of_ranks, case.clients))
        # The last of several is late by chance: without it the rate would be that of the case.
        typical = self.setting.of_ranks * np.sqrt(2 * np.log(max(case.clients, 2)))
        times *= np.exp(-typical) if case.clients > 1 else 1.0
        if case.clients > 1:
            times[1] *= case.cause.slow_rank
            times[case.clients // 2 :] *= case.cause.slow_node
            times[1] *= case.cause.late_once if repetition == self.setting.repetitions // 2 else 1.0
        elapsed = float(times.max())
        place = {"case": number, "repetition": repetition, "operation": operation}
        start, self.clock_s = self.clock_s, self.clock_s + elapsed
        self._emit("sample", **place, **self._sample(case, operation, total, start, times))
        requests = total // case.pattern.get("transfer", MIB)
        for rank, time in enumerate(times):
            self._emit(
                "rank",
                **place,
                rank=rank,
                node=rank * self.setting.nodes // case.clients,
                bytes=total // case.clients,
                requests=max(1, requests // case.clients),
                start_s=start,
                end_s=start + float(time),
                transfer_s=float(time) * 0.9,
                io_s=float(time) * 0.8,
                user_s=0.05 * float(time),
                system_s=0.2 * float(time),
                digest=None,
            )
        if self.setting.counted:
            self._counters(place, case, elapsed)

    def _jitter(self, share: float) -> float:
        return share * float(np.exp(self.rng.normal(0, self.setting.of_shares)))

    def _sample(self, case: Planned, operation: str, total: int, start: float, times: Logs) -> Json:
        elapsed, first = float(times.max()), float(times.min())
        rate, requests = total / MIB / elapsed, max(1, total // case.pattern.get("transfer", MIB))
        shares = {**_QUIET_TIMES, **case.cause.times}
        cpu = {**_QUIET_PROCESSOR, **case.cause.processor}
        spent = {name: min(1.0, self._jitter(share)) * elapsed for name, share in shares.items()}
        # Of what takes no share of the time the rest is transfer.
        spent["transfer_s"] = max(
            0.05 * elapsed, elapsed - sum(spent[x] for x in ("open_s", "close_s")) * 0.9
        )
        reads = operation in ("read", "reread")
        own = total / MIB / case.clients / times
        return {
            "warmup": False,
            "measured": True,
            "valid": True,
            "clients": case.clients,
            "nodes": self.setting.nodes,
            "files": 1,
            "bytes": total,
            "requests": requests,
            "start_s": start,
            "elapsed_s": elapsed,
            "rate_mib_s": rate,
            "start_skew_s": 0.0001,
            "end_skew_s": elapsed - first,
            "clock_error_s": None,
            "flags": [],
            "first_done_s": first,
            "rate_first_done_mib_s": total / MIB / first,
            "requests_s": requests / elapsed,
            **spent,
            **{name: self._jitter(share) * elapsed * case.clients for name, share in cpu.items()},
            "voluntary_switches": round(self._jitter(1000)),
            "involuntary_switches": round(self._jitter(100)),
            "read_calls": round(self._jitter(requests)) if reads else 0,
            "write_calls": 0 if reads else round(self._jitter(requests)),
            "served_by_storage": 1.0 if reads else None,
            "served_bytes": total if reads else None,
            "served_source": "process" if reads else None,
            "cache": None,
            **self._latencies(case, rate, requests),
            "rank_rate_mib_s": {
                "min": float(own.min()),
                "min_rank": int(own.argmin()),
                "mean": float(own.mean()),
                "max": float(own.max()),
                "max_rank": int(own.argmax()),
            },
            "deadline": None,
            "verify": None,
            "digest": None,
            **case.cause.sample,
        }

    def _latencies(self, case: Planned, rate: float, requests: int) -> Json:
        mean_ns = 1e9 * case.clients * case.pattern.get("transfer", MIB) / MIB / rate
        values = np.sort(mean_ns * self.rng.lognormal(-0.1, 0.45, 200))
        buckets, seen = np.unique(buckets_of(values), return_counts=True)
        counts = seen * max(1, requests // 200)
        at = {f"{name}_s": float(values[int(200 * q)]) * 1e-9 for name, q in _PERCENTILES.items()}
        latency = {
            "count": int(counts.sum()),
            "min_s": float(values[0]) * 1e-9,
            "mean_s": float(values.mean()) * 1e-9,
            **at,
            "max_s": float(values[-1]) * 1e-9,
        }
        pairs = np.stack([buckets, counts], 1).tolist()
        return {"latency": latency, "histogram": {"scheme": "loglinear-7", "unit": "ns", "buckets": pairs}}

    def _counters(self, place: Json, case: Planned, elapsed: float) -> None:
        # Ranks wait for devices a sixteenth of their time.
        waiting = {("cpu", "", "iowait_s"): case.clients / 16 / self.setting.nodes}
        rates = {**ORDINARY, **waiting, **case.cause.counters}
        for node in range(self.setting.nodes):
            groups: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
            for (source, instance, name), rate in rates.items():
                if name in _EVENTS:
                    value = float(self.rng.poisson(rate * elapsed))
                else:
                    value = rate if name in _CONSTANT else self._jitter(rate * elapsed)
                groups[source, instance][name] = min(value, elapsed) if name == "busy_s" else value
            self._emit(
                "counters",
                **place,
                warmup=False,
                node=node,
                elapsed_s=elapsed,
                sampling_s=0.001,
                counters=[
                    {"source": source, "instance": instance, "values": values}
                    for (source, instance), values in groups.items()
                ],
            )


_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}

"""Runs of one case after the other with invented times, ceilings and counters, for the rules on limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strider.limits import Analysis
from strider.limits.scene import Groups, Scene
from strider.statistics import summarize
from strider.store.case import Case
from strider.store.model import (
    Ceiling,
    CeilingReport,
    CounterGroup,
    NodeCounters,
    Plan,
    Run,
    RunInfo,
    Sample,
    SuiteInfo,
)
from strider.units import MIB

#: Of a read whose bytes storage served.
_SERVED = {"served_by_storage": 1.0, "served_source": "process"}


@dataclass
class Result:
    """One operation of a case: 1000 MiB in a second, of which nothing else is known.

    Attributes:
        times: Fields of each sample, such as `prepare_s`.
        keys: Parameters of the case.
        counters: Groups of counters of a node in each repetition.
        rates: MiB per second of each repetition; each has as many MiB and takes a second.
        each: Fields of the sample of each repetition, beside `times`.
    """

    operation: str = "write"
    interface: Mapping[str, Any] = field(default_factory=lambda: {"name": "posix"})
    clients: int = 2
    times: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    counters: Groups = ()
    rates: Sequence[float] = (1000.0, 1000.0, 1000.0)
    each: Sequence[Mapping[str, Any]] = ()

    def case(self, number: int) -> Case:
        shape = {"name": "segmented", "transfer": MIB}
        common = {"operations": [self.operation], "interface": dict(self.interface), **self.keys}
        shapes = {} if "tree" in self.keys else {"pattern": shape}
        return Case.model_validate({"case": number, "clients": self.clients, **shapes, **common})

    def samples(self, number: int) -> list[Sample]:
        return [
            Sample.model_validate(
                {
                    "case": number,
                    "repetition": repetition,
                    "warmup": False,
                    "operation": self.operation,
                    "measured": True,
                    "valid": True,
                    "clients": self.clients,
                    "bytes": round(rate * MIB),
                    "requests": round(rate),
                    "start_s": 0.0,
                    "elapsed_s": 1.0,
                    "rate_mib_s": rate,
                    "requests_s": rate,
                    **self.times,
                    **(self.each[repetition] if self.each else {}),
                }
            )
            for repetition, rate in enumerate(self.rates)
        ]

    def nodes(self, number: int) -> list[NodeCounters]:
        groups = [
            CounterGroup(source=source, instance=instance, values=dict(values))
            for source, instance, values in self.counters
        ]
        return [
            NodeCounters(
                case=number, repetition=repetition, operation=self.operation, elapsed_s=1.0, counters=groups
            )
            for repetition in range(len(self.rates))
            if groups
        ]


def of_clients(moment: str = "start", clients: int = 2, **values: float | None) -> CeilingReport:
    """Ceilings of so many clients by name."""
    ceilings = [Ceiling(name=name, value=value) for name, value in values.items()]
    return CeilingReport(moment=moment, clients=clients, ceilings=ceilings)


def of_node(node: int = 0, **values: float | None) -> CeilingReport:
    """Ceilings of a node by name."""
    ceilings = [Ceiling(name=name, value=value) for name, value in values.items()]
    return CeilingReport(moment="start", node=node, ceilings=ceilings)


def analysis_of(
    *results: Result, ceilings: Sequence[CeilingReport] = (), file_system: str = "ext4"
) -> Analysis:
    """The findings of a run with these results."""
    run = run_of(*results, ceilings=ceilings, file_system=file_system)
    counters = [node for number, one in enumerate(results, 1) for node in one.nodes(number)]
    return Analysis.of_summaries(run, summarize(run, counters), counters)


def analysis_of_scene(
    scene: Scene, number: float, noise: Sequence[float], shares: Sequence[float]
) -> Analysis:
    """The findings of a simulated run of a rule.

    Args:
        scene: The scene.
        number: The number of the rule.
        noise: Factor of the rate of each repetition.
        shares: The number in each repetition.
    """
    rates = [1000.0 * (number if scene.by_rate else 1.0) * one for one in noise]
    result = Result(rates=rates, **scene.keys)
    reports = [of_node(**scene.of_node)] * bool(scene.of_node)  # type: ignore[arg-type]
    reports += [of_clients(**scene.of_clients)] * bool(scene.of_clients)  # type: ignore[arg-type]
    run = run_of(result, ceilings=reports)
    samples = []
    for sample, share in zip(run.samples, shares, strict=True):
        fields = dict(scene.fields(share))
        moved = 2 * sample.bytes
        served = fields.pop("served_share", 1.0 if scene.is_served else None)
        if sample.operation == "read" and served is not None:
            fields |= {**_SERVED, "served_by_storage": served, "served_bytes": round(served * moved)}
        doubled = {"elapsed_s": 2.0, "bytes": moved, "requests": 2 * sample.requests}
        samples.append(sample.model_copy(update=doubled | fields))
    run = run.model_copy(update={"samples": samples})
    counters = [
        NodeCounters(
            case=1,
            repetition=repetition,
            operation=result.operation,
            elapsed_s=2.0,
            counters=[
                CounterGroup(source=source, instance=instance, values=dict(values))
                for source, instance, values in groups
            ],
        )
        for repetition, share in enumerate(shares)
        if (groups := scene.groups(share))
    ]
    return Analysis.of_summaries(run, summarize(run, counters), counters)


def run_of(*results: Result, ceilings: Sequence[CeilingReport] = (), file_system: str = "ext4") -> Run:
    """A run with these results."""
    cases = {number: one.case(number) for number, one in enumerate(results, 1)}
    environment = {"target": {"file_system": file_system}}
    return Run(
        directory=Path("run"),
        info=RunInfo(run="r", started="2026-11-21T04:05:06Z", environment=environment),
        plan=Plan(suite=SuiteInfo(name="s"), target="/mnt", ranks=2, cases=list(cases.values())),
        start=None,
        cases=cases,
        samples=[sample for number, one in enumerate(results, 1) for sample in one.samples(number)],
        errors=[],
        end=None,
        ceilings=list(ceilings),
    )

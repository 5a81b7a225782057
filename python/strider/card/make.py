"""Makes the card of a run of `strider quick`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from strider.card.cautions import SLOW_TOUCH_US, cautions
from strider.card.history import with_earlier
from strider.card.model import (
    POSIX,
    Budget,
    Card,
    Latency,
    Limit,
    Line,
    Machine,
    NotMeasured,
    PlaceFacts,
    Rate,
    Round,
    Unit,
)
from strider.card.ratios import ratios_of
from strider.card.verdict import verdict
from strider.statistics import OperationSummary, describe
from strider.statistics.ceilings import MEMORY_COPY, Ceilings
from strider.statistics.trust import HARDLY_SERVED
from strider.store.case import Case
from strider.store.model import Run, Sample
from strider.units import MIB

_PAGE = 4096
#: Of less processor time a share is not known: it is counted in ticks of 10 ms.
_LEAST_PROCESSOR_S = 1.0
#: From this share of the time on, touching new memory lowers the grade.
_TOUCHED = 0.1
#: A memory copy whose rounds differ by more is no limit to compare with.
_STEADY = 0.15


@dataclass(frozen=True)
class Wanted:
    """A line of the card: which operation of which case it shows."""

    id: str
    label: str
    case: str
    operation: str
    unit: Unit


WANTED = (
    Wanted("write.sequential", "write, 1 MiB{stable}", "sequential", "write", "B/s"),
    Wanted("read.sequential", "read, 1 MiB{cold}", "sequential", "read", "B/s"),
    Wanted("read.deep", "read, 1 MiB, {depth} at once", "sequential deep", "read", "B/s"),
    Wanted("read.random", "random read 4 KiB", "random", "read", "1/s"),
    Wanted("read.random.deep", "random read 4 KiB, {depth} ({interface})", "random deep", "read", "1/s"),
    Wanted("write.random", "random write 4 KiB{stable}", "random", "rewrite", "1/s"),
    Wanted("write.random.deep", "random write 4 KiB, {depth} ({interface})", "random deep", "rewrite", "1/s"),
    Wanted("append.fsync", "append 4 KiB + fsync", "append", "write", "1/s"),
    Wanted("create.synced", "create 4 KiB files, synced", "create", "create", "1/s"),
    Wanted("names.create", "create", "names", "create", "1/s"),
    Wanted("names.stat", "stat", "names", "stat", "1/s"),
    Wanted("names.list", "list", "names", "readdir", "1/s"),
    Wanted("names.unlink", "unlink", "names", "unlink", "1/s"),
)
CACHED = Wanted("read.cached", "read from the page cache", "cached", "read", "B/s")
_WORDS = {
    "local": {"stable": ", stable", "cold": ", cold"},
    "memory": {"stable": "", "cold": ", any order"},
    "network": {"stable": ", synced", "cold": ", client cold"},
    "fuse": {"stable": ", synced", "cold": ", client cold"},
}


_UNREACHED = {False: "the time limit came first", True: "the run ended first"}


def make_card(
    run: Run,
    summaries: Sequence[OperationSummary],
    place: PlaceFacts,
    machine: Machine,
    budget: Budget,
    *,
    missing: Sequence[NotMeasured] = (),
    earlier: Sequence[Card] = (),
) -> Card:
    """Returns the card of a run.

    Args:
        run: The run.
        summaries: Of its operations.
        place: The directory.
        machine: The machine.
        budget: Requested and used time.
        missing: Intended omissions.
        earlier: Earlier cards, latest first: they show the differences between cards of one directory.
    """
    wanted = [*WANTED, *([CACHED] if place.kind != "memory" else [])]
    cut = run.status != "complete"
    machine = machine.model_copy(update={"others_share": others_share(summaries)})
    lines = [_line(each, summaries, place, missing, cut) for each in wanted]
    lines = [touched(line, place, machine) for line in lines]
    limit = limit_of(run, place)
    if limit:
        lines = [line.model_copy(update={"limit": _share(line, limit)}) for line in lines]
    card = Card(
        target=run.info.directory or run.plan.target,
        place=place,
        machine=machine,
        budget=budget.model_copy(update={"rounds": rounds_of(summaries), "cut": cut}),
        confinement=run.start.confinement if run.start else None,
        lines=[line for line in lines if line.rate or line.why],
        limit=limit,
        ratios=list(ratios_of(summaries, place)),
        not_measured=[*missing, *(NotMeasured(id=line.id, why=line.why) for line in lines if line.why)],
        report=str(run.directory / "report.html"),
    )
    card = with_earlier(card, earlier)
    card = card.model_copy(update={"cautions": cautions(card)})
    return card.model_copy(update={"verdict": verdict(card)})


def others_share(summaries: Sequence[OperationSummary]) -> float | None:
    """Returns the share of the processors' time that was not the ranks', over all phases; None if unknown."""
    whole_s = others_s = 0.0
    for summary in summaries:
        if summary.counters is None or not summary.n:
            continue
        whole, busy = summary.counters.processor_s
        own = fmean((sample.user_s or 0.0) + (sample.system_s or 0.0) for sample in summary.samples)
        whole_s += summary.n * whole
        others_s += summary.n * max(0.0, busy - own)
    return others_s / whole_s if whole_s >= _LEAST_PROCESSOR_S else None


def limit_of(run: Run, place: PlaceFacts) -> Limit | None:
    """Returns the limit of rates of data in a place, where a run has measured one."""
    ceilings = Ceilings.of(run)
    if place.kind == "memory":
        found = ceilings.of_clients(MEMORY_COPY, 1)
        steady = [
            one.spread is not None and one.spread <= _STEADY
            for report in run.ceilings
            for one in report.ceilings
            if one.name == MEMORY_COPY
        ]
        return Limit(what="memory copy", rate=found * MIB) if found and all(steady) else None
    found = ceilings.of_nodes("link", 1) if place.kind == "network" else None
    return Limit(what="network links", rate=found * MIB) if found else None


def _share(line: Line, limit: Limit) -> float | None:
    """The share of a limit that a line of data reaches; names have none."""
    if line.bytes_s is None or not line.request or line.id.startswith("names."):
        return None
    return line.bytes_s / limit.rate


def touched(line: Line, place: PlaceFacts, machine: Machine) -> Line:
    """Returns the line, with grade C at most if touching new memory takes much of its time."""
    touch_us = machine.first_touch_us
    if not (line.grade and line.rate and line.request and touch_us and touch_us > SLOW_TOUCH_US):
        return line
    if not _is_new_memory(line, place):
        return line
    request_us = 1e6 / line.rate.value * (line.request if line.rate.unit == "B/s" else 1)
    share = touch_us * math.ceil(line.request / _PAGE) / request_us
    if share <= _TOUCHED or line.grade > "C":
        return line
    reasons = ["touch", *(line.reasons if line.grade == "C" else [])]
    return line.model_copy(update={"grade": "C", "reasons": reasons})


def _is_new_memory(line: Line, place: PlaceFacts) -> bool:
    """Whether the requests of a line fill new pages of the page cache; files in memory are such pages."""
    if place.kind == "memory":
        return line.id in ("write.sequential", "append.fsync", "create.synced")
    return place.interface == POSIX and (not place.direct or line.id in ("append.fsync", "create.synced"))


def rounds_of(summaries: Sequence[OperationSummary]) -> int:
    """Returns the number of rounds that every line has."""
    return min((summary.n for summary in summaries if summary.case.name != "cached"), default=0)


def _line(
    wanted: Wanted,
    summaries: Sequence[OperationSummary],
    place: PlaceFacts,
    missing: Sequence[NotMeasured],
    cut: bool,
) -> Line:
    summary = next(
        (
            summary
            for summary in summaries
            if summary.case.name == wanted.case and summary.operation == wanted.operation
        ),
        None,
    )
    if summary is None:
        why = next((one.why for one in missing if one.id == wanted.id), "")
        return Line(id=wanted.id, label=line_label(wanted, place.kind, 16, "uring"), why=why)
    depth, interface = depth_of(summary.case), summary.case.interface_name
    label = line_label(wanted, place.kind, depth, interface)
    if not summary.samples:
        why = summary.errors[0].message if summary.errors else _UNREACHED[cut]
        return Line(id=wanted.id, label=label, interface=interface, why=why)
    rates = _rates(wanted, summary, summaries)
    found = describe(rates)
    # A rate served by a cache has no grade: it is no rate of storage.
    trust = summary.trust if wanted is not CACHED else None
    if wanted is CACHED and (summary.served is None or summary.served.share >= HARDLY_SERVED):
        return Line(id=wanted.id, label=label)
    return Line(
        id=wanted.id,
        label=label,
        interface=interface,
        depth=depth,
        request=summary.case.transfer_bytes or 0,
        rate=Rate(
            value=found.centre,
            unit=wanted.unit,
            low=found.interval.low if found.interval else None,
            high=found.interval.high if found.interval else None,
        )
        if found
        else None,
        latency_us=_latency(summary),
        rounds=[_round(sample, rate) for sample, rate in zip(summary.samples, rates, strict=True)],
        grade=trust.grade if trust else "",
        reasons=list(trust.reasons) if trust else [],
    )


def line_label(wanted: Wanted, kind: str, depth: int, interface: str) -> str:
    """Returns the name of a line on storage of a kind."""
    return wanted.label.format(**_WORDS[kind], depth=depth, interface=interface)


def depth_of(case: Case) -> int:
    """Returns the number of requests in flight."""
    depth = case.common_parameters.get("depth", 1)
    return depth if isinstance(depth, int) else 1


def _rates(wanted: Wanted, summary: OperationSummary, summaries: Sequence[OperationSummary]) -> list[float]:
    """Bytes or requests per second of each repetition; of a listing, entries."""
    if wanted.operation == "readdir":
        entries = {
            sample.repetition: sample.requests
            for other in summaries
            if other.case.number == summary.case.number and other.operation == "create"
            for sample in other.samples
        }
        return [sample.requests_s * entries.get(sample.repetition, 0) for sample in summary.samples]
    if wanted.unit == "1/s":
        return [sample.requests_s for sample in summary.samples]
    return [sample.rate_mib_s * MIB for sample in summary.samples]


def _round(sample: Sample, rate: float) -> Round:
    served = sample.served_bytes / sample.bytes if sample.served_bytes is not None and sample.bytes else None
    return Round(
        at_s=round(sample.start_s, 3),
        seconds=round(sample.elapsed_s, 6),
        requests=sample.requests,
        rate=rate,
        served=served,
    )


def _latency(summary: OperationSummary) -> Latency:
    found = summary.latency
    if found is None or summary.operation == "readdir":
        return Latency()
    values = {"p50": found.p50_s, "p99": found.p99_s, "p999": found.p999_s}
    return Latency(**{name: value * 1e6 for name, value in values.items() if math.isfinite(value)})

"""Runs of all kinds that every section of a report has to cope with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from card_builders import place
from continued_builders import program, resumed
from limits_builders import of_clients, of_node
from metadata_builders import MetadataBuilder, trees
from strider.card import Budget, Machine, make_card, write_card
from strider.card.model import NotMeasured
from strider.statistics import summarize
from strider.store import Run, load

LONG = "a name of a case that is much longer than anybody would type, though somebody will"
MANY_RANKS = 100


def _empty(folder: Path) -> Run:
    """Killed before the engine said anything."""
    directory = RunBuilder([CaseSpec()]).write(folder, status=None)
    (directory / "events.jsonl").unlink()
    return load(directory)


def _one_case(folder: Path) -> Run:
    """With all parts of a report: ceilings, timelines, counters, a slow rank, facts."""
    case = CaseSpec(
        counting_nodes=1, slow_ranks={1: 2.0}, timelines=[[16] * 5 + [0] * 5 + [16] * 5] * 2, name=LONG
    )
    run = load(RunBuilder([case]).write(folder))
    samples = [sample.model_copy(update={"facts": {"hint.cb_nodes": "1"}}) for sample in run.samples]
    ceilings = [of_clients(memory_copy=9000.0), of_node(device_read=900.0, device_write=None)]
    return run.model_copy(update={"samples": samples, "ceilings": ceilings})


def _thousand(folder: Path) -> Run:
    cases = sweep(
        interfaces=("posix", "mpiio", "uring"),
        transfers=[1 << power for power in range(9, 23)],
        clients=(1, 2, 4),
        patterns=("segmented", "strided"),
        operations=("write",),
        sharing=["shared", "per-rank"],
        order=["forward", "random"],
    )
    return load(RunBuilder(cases, repetitions=1).write(folder))


def _errors(folder: Path) -> Run:
    cases = [CaseSpec(wrong_data=True), CaseSpec(interface={"name": "mpiio"})]
    return load(RunBuilder(cases).write(folder))


def _cached(folder: Path) -> Run:
    cold = {"policy": "cold", "action": "fsync", "cached_share": 0.5, "examined_by": "cachestat"}
    cases = [
        CaseSpec(served=share, prepared=cold, clients=clients) for share in (0.0, 0.5) for clients in (1, 2)
    ]
    return load(RunBuilder(cases, repetitions=6).write(folder))


def _metadata(folder: Path) -> Run:
    return load(MetadataBuilder([*trees(operations=("create", "stat", "mix")), CaseSpec()]).write(folder))


def _lists(folder: Path) -> Run:
    """List I/O: methods over lengths of pieces, with memory registered and without."""
    cases = [
        CaseSpec(
            interface={"name": "listio", "method": method, "registration": domain, "strategy": "ogr"},
            pattern={"name": "vector", "transfer": 128 * piece, "piece": piece, "pieces": 128},
            operations=("write",),
        )
        for method in ("pack", "gather")
        for piece in (128, KIB, MIB // 128)
        for domain in ("none", "model")
    ]
    run = load(RunBuilder(cases, repetitions=2, suite="noncontig-2003").write(folder))
    facts = {"registrations": "3", "register_us": "12 ± 1", "register_us_per_page": "0.1 ± 0.01"}
    samples = [sample.model_copy(update={"facts": facts}) for sample in run.samples]
    return run.model_copy(update={"samples": samples})


def _card(folder: Path) -> Run:
    """Measured by `strider quick`."""
    values: dict[str, object] = {"clients": 1, "interface": {"name": "posix", "direct": True}}
    cases = [
        CaseSpec(name="sequential", **values),  # type: ignore[arg-type]
        *(
            CaseSpec(name="large", interface={"name": name}, operations=("write",))
            for name in ("posix", "uring")
        ),
    ]
    run = load(RunBuilder(cases, repetitions=5, suite="quick").write(folder))
    machine, budget = Machine(cores=2, memory=24 * 10**9), Budget(asked_s=60, took_s=59.0)
    missing = [NotMeasured(id="pieces", why="no time")]
    write_card(make_card(run, summarize(run), place(), machine, budget, missing=missing), run.directory)
    return run


def _resumed(folder: Path) -> Run:
    cases = [CaseSpec(name=LONG), CaseSpec(interface={"name": "mpiio"})]
    return load(resumed(folder, (1, 4), cases, differences=["host: a then, b now"]))


def _groups(folder: Path) -> Run:
    """Two groups of ranks alone and at the same time; of one, a repetition failed."""
    turns = [
        {"number": number, "alone": alone, "earlier": []}
        for number, alone in ((0, 1), (0, 2), (1, 1), (1, 2))
    ]
    names = (f"{LONG} alone", "b alone", f"{LONG} beside b", f"b beside {LONG}")
    cases = [
        CaseSpec(name=name, common={"group": name[0], "turn": turn})
        for name, turn in zip(names, turns, strict=True)
    ]
    run = load(RunBuilder(cases).write(folder))
    kept = [sample for sample in run.samples if (sample.case, sample.repetition) != (4, 1)]
    return run.model_copy(update={"samples": kept})


def _distribution(
    quantity: str, low: float, middle: float, high: float, last: int, node: int = 0
) -> dict[str, object]:
    found: dict[str, object] = {"quantity": quantity, "ranks": MANY_RANKS, "mean": middle}
    found |= {"min": low, "min_rank": 0, "min_node": 0, "max": high, "max_rank": last, "max_node": node}
    return found | dict.fromkeys(("p05", "p25", "p50", "p75", "p95"), middle)


def of_many_ranks(
    folder: Path,
    last: Callable[[int], int],
    lateness: float = 2.0,
    end_s: float = 1.0,
    least_bytes: int = 1 << 20,
    repetitions: int = 8,
    nodes: int = 1,
) -> Run:
    """A run of writes of 100 ranks without rows, as the engine records them.

    Args:
        folder: Where to write it.
        last: The last rank of each repetition.
        lateness: When it finished ÷ when the median rank did.
        end_s: When the median rank finished.
        least_bytes: Bytes of the rank with the least.
        repetitions: How many.
        nodes: Number of nodes, with consecutive ranks.
    """
    case = CaseSpec(operations=("write",), clients=MANY_RANKS)
    directory = RunBuilder([case], repetitions=repetitions).write(folder / "run")
    kept = []
    for event in map(json.loads, (directory / "events.jsonl").read_text().splitlines()):
        if event["event"] == "sample":
            late = last(event["repetition"])
            of_node = MANY_RANKS // nodes
            event |= {"nodes": nodes, "ranks_per_node_min": of_node, "ranks_per_node_max": of_node}
            event["rank_distributions"] = [
                _distribution("end_s", end_s, end_s, end_s * lateness, late, late // of_node),
                _distribution("bytes", least_bytes, 1 << 20, 1 << 20, 0),
            ]
        if event["event"] != "rank":
            kept.append(json.dumps(event))
    (directory / "events.jsonl").write_text("\n".join(kept) + "\n")
    return load(directory)


def _nodes(folder: Path) -> Run:
    cases = [
        case
        for nodes in (1, 2, 4)
        for case in sweep(clients=(2 * nodes, 8), nodes=[nodes], operations=("write",))
    ]
    return load(RunBuilder(cases).write(folder))


def _simulated(folder: Path) -> Run:
    run = load(RunBuilder([CaseSpec()]).write(folder))
    samples = [sample.model_copy(update={"flags": ["simulated"]}) for sample in run.samples]
    return run.model_copy(update={"samples": samples})


KINDS: dict[str, Callable[[Path], Run]] = {
    "empty": _empty,
    "one case": _one_case,
    "thousand": _thousand,
    "errors": _errors,
    "cached": _cached,
    "metadata": _metadata,
    "lists": _lists,
    "card": _card,
    "resumed": _resumed,
    "groups": _groups,
    "many ranks": lambda folder: of_many_ranks(folder, lambda repetition: 42),
    "nodes": _nodes,
    "simulated": _simulated,
    "program": lambda folder: load(program(folder, cases=40, torn=True)),
}


def make(kind: str, folder: Path) -> Run:
    """A run of a kind, in a new folder."""
    return KINDS[kind](folder / kind.replace(" ", "-"))

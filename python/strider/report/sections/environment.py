"""The environment of a run as a table, needed to judge or to reproduce the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from strider.report.blocks import Block, Facts, Fold, Section
from strider.report.labels.facets import Facets
from strider.report.results.results import Results
from strider.report.words.numbers import significant
from strider.report.words.wording import plural, readable_key
from strider.store.model import Run
from strider.units import format_bytes_rounded, format_seconds

#: Rows that repeat others.
_SAID_ELSEWHERE = frozenset({"target path", "versions strider", "versions engine", "versions mpi"})


_FACTS = "Facts reported by interfaces about their files"


def _page(results: Results) -> list[Block]:
    facts = fact_rows(results.run, results.facets)
    table = Facts(_FACTS, facts, ("interface", "fact", "values"))
    folded: list[Block] = [Fold(f"{_FACTS}: table of {len(facts)} rows", [table])]
    return [Facts("Environment", environment_rows(results.run)), *(folded if facts else [])]


def environment_rows(run: Run) -> list[tuple[str, str]]:
    """Returns names and values of the environment of a run, without empty values."""
    rows = [
        ("run", run.id),
        ("command", " ".join(run.info.command)),
        ("changed with --set", ", ".join(run.info.set)),
        ("started", run.info.started),
        ("ended", run.info.ended or ""),
        ("target", run.plan.target),
        *_flatten("", run.info.environment),
        *_engine_rows(run),
        ("Strider", run.info.strider),
        ("seed of the plan", str(run.plan.seed)),
        ("interleaving of cases", run.plan.interleave),
    ]
    return [(name, value) for name, value in rows if value and name not in _SAID_ELSEWHERE]


def fact_rows(run: Run, facets: Facets) -> list[tuple[str, str, str]]:
    """Returns series, name and values of interface facts, such as active hints."""
    found: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for sample in run.samples:
        for name, text in sample.facts.items():
            found[facets.series.get(sample.case, ""), name][text] = None
    return [(series, name, " · ".join(values)) for (series, name), values in sorted(found.items())]


def _engine_rows(run: Run) -> Iterator[tuple[str, str]]:
    start = run.start
    if start is None:
        return
    yield "MPI library", " ".join(start.mpi.split())
    yield "ranks", f"{start.ranks} on {plural(len(start.nodes), 'node')}"
    yield "nodes", ", ".join(f"{node.name} ({plural(node.ranks, 'rank')})" for node in start.nodes[:16])
    yield "processors of each node", _range(node.cpus for node in start.nodes)
    yield "NUMA nodes of each node", _range(node.numa_nodes for node in start.nodes)
    bound = [number for node in start.nodes for number in (node.affinity_cpus_min, node.affinity_cpus_max)]
    yield "processors that a rank may use", _range(bound)
    offsets = [abs(node.clock_error_s) for node in start.nodes if node.clock_error_s == node.clock_error_s]
    if len(start.nodes) > 1 and offsets:
        yield "clock error between nodes", f"at most {significant(max(offsets) * 1e6)} µs"
    yield "timer", f"{start.timer}, {significant(start.timer_cost_ns)} ns per reading" if start.timer else ""
    yield "data seed", start.data_seed
    yield "confinement", start.confinement.in_words if start.confinement else "not recorded"
    yield "engine", start.engine


def _range(numbers: Iterable[int]) -> str:
    """Returns the smallest and the largest number as text; empty if one is not recorded."""
    known = sorted(set(numbers))
    if not known or not known[0]:
        return ""
    return str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"


def _flatten(prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Flattens a nested document to names and texts; units come from the name suffixes."""
    for key, value in values.items():
        name = f"{prefix} {readable_key(key)}".strip()
        if isinstance(value, Mapping):
            yield from _flatten(name, value)
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        elif isinstance(value, int | float) and key.endswith("bytes"):
            yield name, format_bytes_rounded(value)
        elif isinstance(value, int | float) and key.endswith("_s"):
            yield name, format_seconds(value)
        elif isinstance(value, list):
            yield name, ", ".join(map(str, value))
        elif value is not None:
            yield name, str(value)


SECTION = Section("environment", "Environment", _page)

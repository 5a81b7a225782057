"""How the latencies of reads and writes are distributed: which charts there are."""

from __future__ import annotations

from pathlib import Path

from builders import KIB, MIB, CaseSpec, RunBuilder
from strider.report.charts import data_latencies
from strider.report.labels.facets import Facets
from strider.statistics import summarize
from strider.store import load


def titles(directory: Path, cases: list[CaseSpec]) -> list[str]:
    run = load(RunBuilder(cases, repetitions=2).write(directory / "run"))
    charts = data_latencies.charts(summarize(run), Facets.of(list(run.cases.values())))
    return [chart.title.removeprefix("Latency: ") for chart in charts]


def case(pattern: str, transfer: int, clients: int, interface: str = "posix") -> CaseSpec:
    shape = {"name": pattern, "transfer": transfer}
    return CaseSpec(interface={"name": interface}, pattern=shape, clients=clients, operations=("write",))


def test_each_group_is_shown_at_its_own_clients_and_sizes(tmp_path: Path) -> None:
    cases = [
        case("segmented", 64 * KIB, 8),
        case("strided", 16 * KIB, 1),
        case("strided", 256 * KIB, 2),
        case("strided", MIB, 2),
    ]
    assert titles(tmp_path, cases) == [
        "segmented, write, 64 KiB, 8 clients",
        "strided, write, 256 KiB, 2 clients",
        "strided, write, 1 MiB, 2 clients",
    ]


def test_interfaces_are_lines_of_one_chart_at_the_ends_of_the_sizes(tmp_path: Path) -> None:
    sizes = (64 * KIB, 256 * KIB, MIB)
    cases = [case("segmented", size, 2, name) for name in ("posix", "mpiio") for size in sizes]
    assert titles(tmp_path, cases) == ["write, 64 KiB, 2 clients", "write, 1 MiB, 2 clients"]

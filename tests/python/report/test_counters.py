"""What nodes counted, as tables: by interface and operation, like tables 5 and 6 of the thesis."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from builders import CaseSpec, RunBuilder, sweep
from printed import printed
from strider.report import write_html
from strider.report.tables import processes
from strider.report.tables.counters import CAPTION, columns
from strider.report.words.numbers import significant
from strider.statistics import OperationSummary, summarize
from strider.store import NodeCounters, Run, load, load_events
from strider.store.model import CounterGroup


def run_of(tmp_path: Path, cases: list[CaseSpec]) -> Run:
    return load(RunBuilder(cases).write(tmp_path / "run"))


def rendered(run: Run, width: int = 200) -> str:
    return printed(run, width, "counters")


def texts(run: Run) -> list[dict[tuple[str, str], str]]:
    """The cells of each summary by heading and unit."""
    summaries: list[OperationSummary] = summarize(run, load_events(run.directory, NodeCounters))
    cells = columns(summaries)
    return [{heading: cell(summary) for heading, cell in cells.items()} for summary in summaries]


# proves measuring: counters-shown
def test_each_interface_has_its_processor_time_switches_and_packets(tmp_path: Path) -> None:
    cases = sweep(interfaces=("posix", "mpiio"), transfers=(65536,))
    for case in cases:
        case.counting_nodes = 1
    run = run_of(tmp_path, cases)
    for row in texts(run):
        assert row["CPU user", "%"] == "50"
        assert row["CPU system", "%"] == "25"
        assert row["context switches", ""] == "3000"
        assert row["context switches", "/s"] == "1000"
        # 3000 switches while two clients move 64 MiB each.
        assert row["context switches", "/MiB"] == "23.4"
        assert row["interrupts", "/s"] == "500"
        assert (row["packets in", ""], row["packets out", ""]) == ("42", "22")
        assert row["disk read", "MiB"] == "64.0"
    shown = rendered(run)
    assert shown.index("write  ") < shown.index("read  ")
    assert all(name in shown for name in ("posix", "mpiio", "CPU user", "packets in"))


def test_columns_without_anything_are_left_out(tmp_path: Path) -> None:
    (row, _) = texts(run_of(tmp_path, [CaseSpec(counting_nodes=1)]))
    names = {name for name, _ in row}
    assert {"InfiniBand in", "I/O wait", "disk written", "retransmits"}.isdisjoint(names)


def test_a_read_of_which_nothing_came_from_storage_is_reported(tmp_path: Path) -> None:
    write, read = texts(run_of(tmp_path, [CaseSpec(counting_nodes=1, served=0.0)]))
    assert (write["from storage", "%"], read["from storage", "%"]) == ("", "0.0")


def test_transfer_sizes_tell_rows_apart(tmp_path: Path) -> None:
    cases = sweep(interfaces=("posix",), transfers=(4096, 65536))
    for case in cases:
        case.counting_nodes = 1
    shown = rendered(run_of(tmp_path, cases))
    assert "transfer" in shown
    assert "case" not in shown


def test_a_run_without_counters_says_so(tmp_path: Path) -> None:
    assert "This run has no counters" in rendered(run_of(tmp_path, [CaseSpec()]))


# proves measuring: counters-shown
def test_the_page_has_the_table_where_there_are_counters(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(counting_nodes=1)])
    assert CAPTION in write_html([run], tmp_path / "report.html").read_text()
    without = load(RunBuilder([CaseSpec()]).write(tmp_path / "without"))
    assert CAPTION not in write_html([without], tmp_path / "report.html").read_text()


def test_shares_of_few_ticks_are_not_reported(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(counting_nodes=1)])
    counted = load_events(run.directory, NodeCounters)
    short = [
        node.model_copy(update={"counters": [_shortened(group) for group in node.counters]})
        for node in counted
    ]
    summaries = summarize(run, short)
    cells = columns(summaries)
    assert ("CPU user", "%") not in cells
    assert ("context switches", "") in cells
    assert "in % of all processors" in CAPTION


def _shortened(group: CounterGroup) -> CounterGroup:
    """Processor times of a thousandth, as a phase of some milliseconds has them."""
    if group.source != "cpu":
        return group
    return group.model_copy(update={"values": {name: value / 1000 for name, value in group.values.items()}})


def _with_processes(node: NodeCounters) -> NodeCounters:
    """Counters of a node with two servers, and a mount in the writing phase."""
    used = {"user_s": 0.5, "system_s": 1.5, "voluntary_switches": 70.0, "involuntary_switches": 30.0}
    passed = {"received_packets": 900.0, "sent_packets": 100.0}
    groups = [
        CounterGroup(source="process", instance=f"server {number}", values={**used, **passed})
        for number in (0, 1)
    ]
    if node.operation == "write":
        groups.append(CounterGroup(source="process", instance="mount of 4 servers", values=used))
    return node.model_copy(update={"counters": [*node.counters, *groups]})


def test_clients_mounts_and_servers_are_told_apart(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(counting_nodes=1)])
    counted = [_with_processes(node) for node in load_events(run.directory, NodeCounters)]
    write, read = summarize(run, counted)
    cells = processes.columns([write, read])
    assert {heading: cell(write) for heading, cell in cells.items() if "clients" not in heading[0]} == {
        ("mounts: CPU user", "s"): "0.500",
        ("mounts: CPU system", "s"): "1.50",
        ("mounts: context switches", ""): "100",
        ("servers: CPU user", "s"): "1.00",
        ("servers: CPU system", "s"): "3.00",
        ("servers: context switches", ""): "200",
        ("packets of all servers", ""): "2000",
        ("packets per server", ""): "1000",
    }
    assert cells["mounts: CPU user", "s"](read) == "–"
    assert write.times
    assert cells["clients: CPU user", "s"](write) == significant(write.times.user_s)
    switches = [s.voluntary_switches + s.involuntary_switches for s in write.samples]  # type: ignore[operator]
    assert cells["clients: context switches", ""](write) == f"{fmean(switches):.0f}"
    # The node's own counters are unchanged.
    assert (
        columns([write]).keys()
        == columns(summarize(run, load_events(run.directory, NodeCounters))[:1]).keys()
    )


def test_a_run_without_other_processes_has_no_table_of_them(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(counting_nodes=1)])
    assert processes.columns(summarize(run, load_events(run.directory, NodeCounters))) == {}

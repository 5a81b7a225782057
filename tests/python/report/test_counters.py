"""What nodes counted, as tables: by interface and operation, like tables 5 and 6 of the thesis."""

from __future__ import annotations

from pathlib import Path

from builders import CaseSpec, RunBuilder, sweep
from printed import printed
from strider.report import write_html
from strider.report.tables.counters import CAPTION, columns
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

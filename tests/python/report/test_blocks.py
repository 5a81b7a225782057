"""Tables show columns with values only."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from strider.report.blocks import Table
from strider.report.output.terminal import show_block

TABLE = Table(
    "t", [("operation", ""), ("p50", "s"), ("p99", "s")], [["write", "1", "–"], ["read", "2", ""]], 1
)


def shown(table: Table) -> str:
    text = StringIO()
    show_block(table, Console(file=text, width=80))
    return text.getvalue()


def test_a_column_without_values_is_left_out() -> None:
    assert [name for name, _ in TABLE.without_empty().columns] == ["operation", "p50"]
    assert "p99" not in shown(TABLE)
    assert "p50" in shown(TABLE)


def test_a_label_without_values_stays() -> None:
    table = Table("t", [("name", ""), ("p50", "s")], [["", "1"]], 1)
    assert len(table.without_empty().columns) == 2


def test_rules_separate_groups_and_not_rows() -> None:
    rows = [[name, "1"] for name in ("write", "write", "read", "read")]
    head = [("operation", ""), ("p50", "s")]
    grouped = shown(Table("t", head, rows, 1, sections=frozenset({2})))
    single = shown(Table("t", head, rows[1:3], 1, sections=frozenset({1})))
    assert len(grouped.rstrip("\n").split("\n")) == 3 + 4 + 1
    assert len(single.rstrip("\n").split("\n")) == 3 + 2

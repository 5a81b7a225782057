"""Tables of many rows are plain lines, with the layout of those by rich."""

from io import StringIO

import pytest
from rich.console import Console

from strider.cli import plan_table
from strider.suite.plan_rows import PlanTable


@pytest.mark.parametrize("size", ["4KiB", "4 KiB × 表"])
def test_many_rows_look_like_few(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    rows = [[str(number), size, "7" * number] for number in range(1, 5)]
    table = PlanTable("", [("case", "right"), ("size", "left"), ("requests", "right")], rows)

    def printed() -> list[str]:
        console = Console(width=100, file=StringIO())
        plan_table._print_rows(table, console)
        return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]

    by_rich = printed()
    monkeypatch.setattr(plan_table, "_MANY", 1)
    monkeypatch.setattr(plan_table, "_table", None)
    assert printed() == by_rich

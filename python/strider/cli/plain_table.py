"""Tables as plain lines: rich takes seconds for thousands of rows."""

from collections.abc import Iterator, Sequence


def columns_of(text: str) -> int:
    """Returns the columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def widths_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Returns the widths of the columns of a table."""
    return [max(map(columns_of, column)) for column in zip(heads, *rows, strict=True)]


def total(widths: Sequence[int]) -> int:
    """Returns the width of a table with columns of these widths."""
    return sum(widths) + 2 * (len(widths) - 1)


def lines(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: frozenset[int],
    widths: Sequence[int],
) -> Iterator[str]:
    """Yields the lines of a table.

    Args:
        heads: Headings.
        rows: Texts, one for each heading.
        numbers: Columns, from 0, whose texts are aligned to the right.
        widths: Of the columns.
    """
    yield line(heads, numbers, widths)
    yield "─" * total(widths)
    for row in rows:
        yield line(row, numbers, widths)


def line(cells: Sequence[str], numbers: frozenset[int], widths: Sequence[int]) -> str:
    """Returns a line of a table."""
    padded = []
    for index, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (wide - columns_of(cell))
        padded.append(space + cell if index in numbers else cell + space)
    return "  ".join(padded).rstrip()

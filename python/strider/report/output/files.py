"""The figures of a report as files of their own, and its tables as CSV."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.report.blocks import Block, Chart, Charts, Table, walk
from strider.report.figures.drawing import DrawingError, drawer
from strider.report.output.page import RunView
from strider.report.results.rows import as_rows
from strider.report.words.numbers import NOTHING, TIME_UNITS_S
from strider.store import export_rows
from strider.store.cells import defused

FigureFormat = Literal["svg", "png", "pdf"]
FORMATS: tuple[FigureFormat, ...] = ("svg", "png", "pdf")
_MAXIMUM_NAME = 120
#: Title of the column that distinguishes rows of several groups.
_GROUP = "group"
#: Between the ends of an interval.
_RANGE = " – "
#: A number with its thousands apart.
_GROUPED = re.compile(r"-?\d{1,3}( \d{3})+(\.\d+)?")


def write_figures(views: Sequence[RunView], folder: Path, formats: Sequence[FigureFormat]) -> list[Path]:
    """Writes each figure of a report to files.

    Args:
        views: The runs as the report shows them; of several, each gets a folder of its own.
        folder: Is made; files of the same names are replaced.
        formats: One file for each.

    Returns:
        The files, named by their content.

    Raises:
        StriderError: A file cannot be written.
    """
    files = []
    for view in views:
        own = _folder(folder, view.run, len(views))
        names: set[str] = set()
        charts = charts_of(view)
        several = len({group for group, _ in charts}) > 1
        for group, chart in charts:
            name = _unique(file_name(chart.kind, group if several else "", chart.title), names)
            files += [write_figure(chart, own / f"{name}.{one}", one) for one in formats]
    return files


def write_figure(chart: Chart, file: Path, to: FigureFormat) -> Path:
    """Writes one figure to a file.

    Raises:
        StriderError: It cannot be written.
    """
    return _write(file, _converted(chart.svg, to))


def write_tables(views: Sequence[RunView], folder: Path) -> list[Path]:
    """Writes the tables of a report to CSV files.

    `results.csv` has all numbers unrounded, a row for each operation of each case, its units in the names of
    the columns (as `strider export --rows results`). Each table of the report is a file of its own, with the
    rows of all groups; times are in seconds in every report.

    Args:
        views: The runs as the report shows them; of several, each gets a folder of its own.
        folder: Is made; files of the same names are replaced.

    Returns:
        The files.

    Raises:
        StriderError: A file cannot be written.
    """
    files = []
    for view in views:
        unrounded = as_rows(view.results)
        own = _folder(folder, view.run, len(views))
        files += [export_rows(unrounded, "csv", own / "results.csv")] if unrounded else []
        by_caption: dict[str, list[tuple[str, Table]]] = {}
        for group, block in blocks_of(view):
            if isinstance(block, Table):
                by_caption.setdefault(block.caption, []).append((group, block))
        names = {"results"}
        for caption, tables in by_caption.items():
            name = _unique(file_name(caption), names)
            files.append(_write(own / f"{name}.csv", _csv(tables).encode()))
    return files


def blocks_of(view: RunView) -> list[tuple[str, Block]]:
    """All blocks of a run in the order of the page, each with the title of its group of cases."""
    return [found for part in view.parts for found in walk(part.blocks)]


def charts_of(view: RunView) -> list[tuple[str, Chart]]:
    """The charts among them."""
    found = [(group, block) for group, block in blocks_of(view) if isinstance(block, Charts)]
    return [(group, chart) for group, block in found for chart in block.charts]


def file_name(*parts: str) -> str:
    """A name for a file from words: small ASCII letters, digits, dots and hyphens."""
    text = unicodedata.normalize("NFKD", " ".join(parts)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", text)[:_MAXIMUM_NAME].strip("-.") or "figure"


def _unique(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken; which it is then."""
    numbered = (f"{name}-{number}" if number > 1 else name for number in range(1, len(taken) + 2))
    free = next(one for one in numbered if one not in taken)
    taken.add(free)
    return free


def _folder(folder: Path, run: str, runs: int) -> Path:
    own = folder / file_name(run) if runs > 1 else folder
    try:
        own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StriderError(f"cannot make the folder {own}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return own


def _converted(svg: str, to: FigureFormat) -> bytes:
    if to != "svg":
        try:
            return drawer().convert(svg, to)
        except DrawingError as error:
            raise StriderError(f"cannot make a {to.upper()} figure: {error}", ExitCode.CANNOT_RUN) from error
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + svg + "\n").encode()


def _write(file: Path, content: bytes) -> Path:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise StriderError(f"cannot write {file}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return file


def _csv(tables: Sequence[tuple[str, Table]]) -> str:
    """The rows of tables of one caption, which may lack columns that others have."""
    heads = dict.fromkeys(_head(name, unit) for _, table in tables for name, unit in table.columns)
    groups = len({group for group, _ in tables}) > 1
    text = io.StringIO()
    writer = csv.DictWriter(text, [_GROUP] * groups + list(heads), restval="", lineterminator="\n")
    writer.writeheader()
    for group, table in tables:
        for row in table.rows:
            cells = {
                _head(name, unit): defused(_plain(cell, unit))
                for (name, unit), cell in zip(table.columns, row, strict=True)
            }
            writer.writerow({_GROUP: defused(group), **cells} if groups else cells)
    return text.getvalue()


def _head(name: str, unit: str) -> str:
    name, unit = name.replace("\n", " "), "s" if unit in TIME_UNITS_S else unit
    return f"{name} [{unit}]" if unit else name


def _plain(cell: str, unit: str) -> str:
    """A cell for a program: numbers without spaces, times in seconds, nothing where nothing is known."""
    if cell == NOTHING:
        return ""
    cell = _RANGE.join(_ungrouped(part) for part in cell.split(_RANGE))
    if unit not in TIME_UNITS_S or unit == "s":
        return cell
    try:
        return _RANGE.join(f"{float(part) * TIME_UNITS_S[unit]:.6g}" for part in cell.split(_RANGE))
    except ValueError:
        return cell


def _ungrouped(text: str) -> str:
    return text.replace(" ", "") if _GROUPED.fullmatch(text) else text

"""Every sentence that Strider can say by itself, found in its sources, and those that it says of a run.

A sentence is a rule of `strider.limits.RULES`, or a text of three words or more in the modules of `SOURCES`.
Its variable parts match anything. So a sentence that is new is found without being listed here.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import strider
from runs import Synthetic
from strider.limits import RULES
from strider.report.blocks import (
    Alert,
    Block,
    Cards,
    Charts,
    Conclusions,
    Facts,
    Fold,
    Heading,
    Points,
    Table,
    Text,
)
from strider.report.figures import svg
from strider.report.results.results import Results
from strider.report.sections import NAMES
from strider.store import tables

ROOT = Path(strider.__file__).parent
SOURCES = ("report/words", "report/sections", "report/charts", "limits", "compare", "compare/sections")
#: Sections whose blocks are looked at; the tables of the others have numbers alone.
SECTIONS = tuple(name for name in NAMES if name not in ("counters", "environment"))
#: Of these the page has charts and numbers; the other way round with the rest, whose page says most.
IN_TERMINAL = frozenset(["limits", "rates", "latency"])
_FEWEST_WORDS = 3
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Sentence:
    """A sentence of the sources.

    Attributes:
        name: `limits rule sync`, or file, function and first words.
        text: The sentence, `…` for its variable parts.
        pattern: What matches it; None for a rule, whose name is looked for.
    """

    name: str
    text: str
    pattern: re.Pattern[str] | None = None
    longest: str = ""

    def is_in(self, texts: Sequence[str]) -> bool:
        """Whether one of some texts has it."""
        if self.pattern is None:
            return False
        return any(self.longest in text and self.pattern.search(text) for text in texts)


#: Content of a page without words.
OPENED = (
    Sentence(
        "charts: the map of ranks is open",
        "the map of ranks opens by itself",
        re.compile(r"^Rate of each.*\[open\]"),
        "[open]",
    ),
)


@cache
def sentences() -> list[Sentence]:
    """All of them: rules first."""
    rules = [Sentence(f"rule: {rule.name}", rule.why) for rule in RULES]
    found: dict[str, Sentence] = {}
    for folder in SOURCES:
        for file in sorted((ROOT / folder).glob("*.py")):
            if (folder, file.name) == ("limits", "rule.py"):
                continue
            for one in _of_module(file):
                found.setdefault(one.text, one)
    return [*rules, *OPENED, *found.values()]


def _of_module(file: Path) -> Iterator[Sentence]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            skipped = _raised(function)
            for text in _texts(function, skipped):
                parts = text.split("…")
                if len(_WORD.findall(text)) >= _FEWEST_WORDS:
                    pattern = re.compile(".*?".join(map(re.escape, parts)), re.DOTALL)
                    name = f"{file.parent.name}/{file.stem}: {function.name}"
                    yield Sentence(name, text, pattern, max(parts, key=len))


def _raised(function: ast.FunctionDef) -> set[int]:
    """Nodes of docstrings and of errors: neither is reported of a run."""
    nodes = [one for one in ast.walk(function) if isinstance(one, ast.Raise)]
    first = function.body[0]
    docs = [first] if isinstance(first, ast.Expr) else []
    return {id(inner) for node in [*nodes, *docs] for inner in ast.walk(node)}


def _texts(function: ast.FunctionDef, skipped: set[int]) -> Iterator[str]:
    inside: set[int] = set(skipped)
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr) and id(node) not in skipped:
            inside |= {id(value) for value in node.values}
            yield "".join(
                str(value.value) if isinstance(value, ast.Constant) else "…" for value in node.values
            )
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def said(made: Synthetic) -> dict[str, set[int]]:
    """The sentences on a run, each with its cases as far as they are known."""
    directory = Path(made.name)
    results = Results(made.load(directory))
    with _in_memory(made):
        results.__dict__["counters"] = made.counters()
        texts = list(dict.fromkeys(_all_texts(results)))
        found: dict[str, set[int]] = {}
        for verdict in results.analysis.verdicts:
            for finding in verdict.findings:
                found.setdefault(f"rule: {finding.rule.name}", set()).add(verdict.summary.case.number)
    for sentence in sentences():
        if sentence.is_in(texts):
            found.setdefault(sentence.text, set())
    return found


def texts_of(made: Synthetic) -> list[str]:
    """All texts on a run."""
    results = Results(made.load(Path(made.name)))
    with _in_memory(made):
        results.__dict__["counters"] = made.counters()
        return list(dict.fromkeys(_all_texts(results)))


def _all_texts(results: Results) -> Iterator[str]:
    for name in SECTIONS:
        section = import_module(f"strider.report.sections.{name}").SECTION
        if section.applies(results):
            blocks = section.terminal(results) if name in IN_TERMINAL else section.page(results)
            yield from _of_blocks(blocks)


def _of_blocks(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Text | Heading):
            yield block.text
        elif isinstance(block, Conclusions):
            yield from (conclusion.text for conclusion in block.conclusions)
        elif isinstance(block, Points | Alert):
            yield from block.sentences
        elif isinstance(block, Cards):
            yield from (f"{card.name}: {card.value} {card.how}" for card in block.cards)
        elif isinstance(block, Charts):
            yield from (f"{chart.title}. {chart.caption}" for chart in block.charts)
        elif isinstance(block, Table | Facts):
            yield from (cell for row in block.rows for cell in row if len(cell) > 12)
        elif isinstance(block, Fold):
            yield block.title + (" [open]" if block.is_open else "")
            yield from _of_blocks(block.blocks)
        else:
            raise TypeError(f"a report has a {type(block).__name__}: yield its sentences here")


_CONNECTION: list[duckdb.DuckDBPyConnection] = []


def _connection() -> duckdb.DuckDBPyConnection:
    if not _CONNECTION:
        _CONNECTION.append(duckdb.connect(":memory:", config={"threads": 1}))
        _CONNECTION[0].execute("SET enable_progress_bar = false")
        _CONNECTION[0].execute("PRAGMA disable_optimizer")
    return _CONNECTION[0]


_COLUMNS = {
    "rank": "case repetition operation rank node bytes requests start_s end_s",
    "sample": "case repetition operation elapsed_s measured valid warmup",
}


@contextmanager
def _in_memory(made: Synthetic) -> Iterator[None]:
    """Answers SQL from the run itself instead of its files, and leaves out the drawing of charts."""
    database, patched = _connection(), []
    for kind, columns in _COLUMNS.items():
        rows = made.of(kind)
        data = {name: np.array([row[name] for row in rows]) for name in columns.split()}
        data["run"] = np.array([made.name] * len(rows))
        data["operation"] = data["operation"].astype(object)
        data["run"] = data["run"].astype(object)
        database.register(f"{kind}s_of_run", data)
        view = f"CREATE OR REPLACE TEMP VIEW {kind}s AS SELECT * FROM {kind}s_of_run"  # noqa: S608 - names of ours
        database.execute(view)

    @cache
    def answer(statement: str) -> list[dict[str, Any]]:
        result = database.execute(statement)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def query(_: Sequence[Path], statement: str) -> list[dict[str, Any]]:
        return [] if "FROM timelines" in statement else answer(statement)

    for module in [one for name, one in sys.modules.items() if name.startswith("strider.")]:
        if getattr(module, "query", None) is tables.query and module is not tables:
            patched.append(module)
            vars(module)["query"] = query
    draw = svg.draw
    vars(svg)["draw"] = lambda *_: ""
    try:
        yield
    finally:
        vars(svg)["draw"] = draw
        for module in patched:
            vars(module)["query"] = tables.query

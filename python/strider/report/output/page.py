"""Sections as a page: one self-contained HTML file that works offline and needs no script.

Charts are SVG, drawn here; long parts are folded, and browsers lay them out only when they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from strider.errors import ExitCode, StriderError
from strider.report.blocks import TEXT_COLUMNS, Block, Cards, Conclusions, Fold, Section, Subject, Text, walk
from strider.report.output.filters import Filter, filters_of, marks_of
from strider.report.output.room import bounded
from strider.report.results.results import Results
from strider.report.words.wording import status_text
from strider.store.model import Run
from strider.text_file import write_whole

if TYPE_CHECKING:
    from jinja2 import Environment


#: Rates in the description of a page.
_MOST_HEADLINES = 4


@dataclass(frozen=True)
class Part:
    """A section with its blocks."""

    name: str
    title: str
    link: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class RunView:
    """A run as a page shows it."""

    results: Results
    anchor: str
    suite: str
    description: str
    run: str
    status: str
    parts: Sequence[Part]
    filters: Sequence[Filter]
    marks: Mapping[tuple[str, str], str]

    @property
    def headline(self) -> str:
        """The answer in one line: the sentence of the card, or the highest trusted rates."""
        blocks = [block for part in self.parts if part.name in ("card", "findings") for block in part.blocks]
        for block in blocks:
            if isinstance(block, Text) and block.style == "bold":
                return block.text
            if isinstance(block, Cards):
                return ", ".join(f"{card.name} {card.value}" for card in block.cards[:_MOST_HEADLINES])
        best = min((str(one.trust) for one in self.results.summaries if one.trust), default="")
        found = "headline" if best[:1] in ("A", "B") else "trusted result"
        return f"no {found} (best grade: {best})" if best else "no result"


def parts_of(sections: Sequence[Section[Subject]], subject: Subject) -> list[Part]:
    """The sections that have anything for a page."""
    shown = [(section, section.page(subject)) for section in sections if section.applies(subject)]
    return [
        Part(section.name, section.title, section.link or section.title, blocks)
        for section, blocks in shown
        if blocks
    ]


def view_of(sections: Sequence[Section[Results]], run: Run, anchor: str) -> RunView:
    """The page of a run: all its texts, charts and tables."""
    results = Results(run, anchor)
    filters = filters_of(results.summaries, results.facets, anchor)
    whole = parts_of(sections, results)
    parts = [replace(part, blocks=bounded(part.blocks, run.id)) for part in whole]
    return RunView(
        results=results,
        anchor=anchor,
        suite=run.plan.suite.name,
        description=run.plan.suite.description,
        run=run.id,
        status=status_text(run),
        parts=_linked(parts, anchor),
        filters=filters,
        marks=marks_of(filters),
    )


def _linked(parts: Sequence[Part], anchor: str) -> list[Part]:
    """Parts whose conclusions link to nothing that the page lacks."""
    folds = (block for part in parts for _, block in walk(part.blocks) if isinstance(block, Fold))
    known = {f"{anchor}-{part.name}" for part in parts} | {fold.anchor for fold in folds}

    def linked(block: Block) -> Block:
        if not isinstance(block, Conclusions):
            return block
        return Conclusions([one if one.to in known else replace(one, to="") for one in block.conclusions])

    return [replace(part, blocks=[linked(block) for block in part.blocks]) for part in parts]


def write_views(views: Sequence[RunView], out: Path) -> Path:
    """Writes the report as a page."""
    return write_page(rendered("report.html.j2", views=views), out)


def rendered(template: str, package: str = "strider.report.output", **values: object) -> str:
    """The text of a page.

    Args:
        template: File name of its template.
        package: Where that is.
        values: Variables of the template.
    """
    return _templates(package).get_template(template).render(**values)


def write_page(html: str, out: Path) -> Path:
    """Writes a page as a whole, so that a reader never sees half of one.

    Raises:
        StriderError: The file cannot be written.
    """
    try:
        write_whole(out, html)
    except OSError as error:
        raise StriderError(f"cannot write {out}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return out


@cache
def _templates(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    own = [PackageLoader(one, "templates") for one in dict.fromkeys((package, "strider.report.output"))]
    environment = Environment(
        loader=ChoiceLoader(own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["text_columns"] = TEXT_COLUMNS
    environment.tests["kind"] = lambda block, name: type(block).__name__ == name
    return environment

"""Files generated from Strider itself: reference pages, heads of other pages, pictures, types of results.

`make pages` writes it into docs/reference, docs/patterns and docs/interfaces; a test compares. The rest of a
page of a pattern or an interface is written by hand, below the line that ends what comes from here.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from reference_pages import parameter_table, reference_pages
from result_schema import records_module, results_page, schema_json
from strider import engine as engines
from strider.engine import Engine, Interface, Json, Pattern
from strider.store.schema import ResultsSchema
from strider.web.picture import COLOURS, read_extents

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- from the engine, by tools/pages.py -->"
END = "<!-- from here on by hand -->"


@dataclass(frozen=True)
class Picture:
    """The content of a picture: small numbers in the place of bytes.

    Attributes:
        clients: Ranks.
        parameters: Of the pattern; `transfer` is the width of a box.
        operation: Whose extents are drawn.
        unit: Bytes that make a box of one width.
    """

    clients: int
    parameters: dict[str, Json] = field(default_factory=dict)
    operation: str = "write"
    unit: int = 1


PICTURES: dict[str, Picture] = {
    "segmented": Picture(4, {"transfer": 1, "block": 2, "segments": 2}),
    "strided": Picture(4, {"transfer": 1, "count": 4}),
    "random": Picture(4, {"transfer": 1, "size": 16}),
    "sequential": Picture(4, {"transfer": 1, "size": 16}, "read"),
    "nested-strided": Picture(2, {"transfer": 1, "levels": [[2], [4]]}),
    "random-strided": Picture(4, {"transfer": 1, "count": 4}),
    "vector": Picture(4, {"pieces": 2, "piece": 1, "count": 2}),
    "subarray": Picture(4, {"dims": [4, 6], "grid": [2, 2], "element": 1}),
    "tiled": Picture(4, {"tiles_x": 2, "tiles_y": 2, "tile_x": 3, "tile_y": 2, "element": 1}),
    "flash": Picture(2, {"blocks": 2, "cells": 1, "guard_cells": 1, "variables": 4, "element": 1}),
    "unstructured-mesh": Picture(3, {"vertices": 18, "values_per_vertex": 1, "element": 1, "run": 3}),
    "btio": Picture(4, {"grid": [2, 4, 4], "dumps": 1}, unit=40),
    "list": Picture(2, {"file": "docs/images/list.csv"}),
}
"""One for each pattern; docs/patterns/NAME.svg."""

CELL, LANE, LEFT, TOP = 36, 30, 64, 10
"""Pixels: width of a transfer, height of a rank's lane, margins."""


def picture_of(pattern: Pattern) -> Picture:
    """What to draw for a pattern."""
    if pattern.name not in PICTURES:
        raise LookupError(
            f"{pattern.name} has no picture yet: add small parameters to PICTURES in {__file__}"
        )
    return PICTURES[pattern.name]


@dataclass(frozen=True)
class Box:
    """An extent of a picture, in units of the pattern's bytes."""

    rank: int
    request: int
    offset: int
    length: int


def boxes_of(engine: Engine, pattern: str, picture: Picture) -> list[Box]:
    """Asks the engine for the extents of all ranks."""
    files = {"file": str(ROOT / picture.parameters["file"])} if "file" in picture.parameters else {}
    case = {
        "case": 1,
        "clients": picture.clients,
        "interface": {"name": "null"},
        "pattern": {"name": pattern, **picture.parameters, **files},
        "operations": [picture.operation],
    }
    plan = json.dumps({"format": "strider-plan", "version": 1, "cases": [case]})
    boxes = []
    for rank in range(picture.clients):
        _, extents = read_extents(engine.extents(plan, 1, rank))
        boxes += [
            Box(rank, one.request, one.offset // picture.unit, one.length // picture.unit) for one in extents
        ]
    return boxes


def draw(boxes: Iterable[Box], ranks: int, title: str) -> str:
    """A lane for each rank over the file's bytes; in each box the number of the request."""
    boxes = list(boxes)
    end = max(box.offset + box.length for box in boxes)
    width, height = LEFT + CELL * end + 10, TOP + LANE * ranks + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13" text-anchor="middle" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for rank in range(ranks):
        y = TOP + LANE * rank
        lines.append(f'<text x="{LEFT - 8}" y="{y + 19}" text-anchor="end">rank {rank}</text>')
        lines.append(f'<path d="M{LEFT} {y + LANE - 2}h{CELL * end}" stroke="#cccccc"/>')
    for box in boxes:
        x, y, wide = LEFT + CELL * box.offset, TOP + LANE * box.rank, CELL * box.length - 2
        colour = COLOURS[box.rank % len(COLOURS)]
        lines.append(f'<rect x="{x + 1}" y="{y}" width="{wide}" height="{LANE - 4}" rx="3" fill="{colour}"/>')
        lines.append(f'<text x="{x + CELL * box.length // 2}" y="{y + 18}">{box.request}</text>')
    y = TOP + LANE * ranks + 20
    lines.append(f'<text x="{LEFT}" y="{y}" text-anchor="start">0</text>')
    lines.append(f'<text x="{LEFT + CELL * end // 2}" y="{y}">file offset</text>')
    lines.append(f'<text x="{LEFT + CELL * end}" y="{y}" text-anchor="end">{end}</text>')
    return "\n".join([*lines, "</svg>", ""])


def coverage_of(pattern: Pattern) -> str:
    """Whether all ranks together touch each byte once."""
    if not pattern.tiles:
        return "Some bytes may be touched by several ranks, or by none."
    loose = pattern.tiles_unless
    unless = f", unless {' or '.join(f'`{name}`' for name in loose)} say otherwise" if loose else ""
    return f"All ranks together touch each byte of the file exactly once{unless}."


def pattern_head(pattern: Pattern) -> str:
    """The head of a pattern's page."""
    picture = picture_of(pattern)
    shown = ", ".join(f"`{key} = {value}`" for key, value in picture.parameters.items())
    lines = [
        f"# {pattern.name}",
        "",
        BEGIN,
        pattern.doc,
        "",
        f"![Which rank touches which bytes]({pattern.name}.svg)",
        "",
        f"`{picture.operation}` by {picture.clients} ranks with {shown}; boxes hold the requests' numbers.",
        "",
        "```",
        *(part.strip() for part in pattern.formula.split("; ")),
        "```",
        "",
        coverage_of(pattern),
        "",
        f"From: {pattern.source}.",
        "",
        *parameter_table(pattern.parameters, ""),
        END,
    ]
    return "\n".join(lines) + "\n"


def interface_head(interface: Interface) -> str:
    """The head of an interface's page."""
    lines = [f"# {interface.name}", "", BEGIN, interface.doc, ""]
    return "\n".join([*lines, *parameter_table(interface.parameters, f"{interface.name}."), END]) + "\n"


def with_head(page: str, head: str) -> str:
    """A page with its head replaced; text written by hand stays, also where there was no head yet."""
    before, end, by_hand = page.partition(END + "\n")
    if end:
        return head + by_hand
    return head + re.sub(r"\A# .*\n", "", before)


def expected_files(engine: Engine) -> dict[Path, str]:
    """Path and content of all that is written here, as it ought to be."""
    files = {}
    heads = {ROOT / f"docs/patterns/{p.name}.md": pattern_head(p) for p in engine.description.patterns}
    # Of a module that was not built nothing is known.
    built = [interface for interface in engine.description.interfaces if interface.available]
    heads |= {ROOT / f"docs/interfaces/{i.name}.md": interface_head(i) for i in built}
    for path, head in heads.items():
        files[path] = with_head(path.read_text(encoding="utf-8") if path.exists() else "", head)
    for pattern in engine.description.patterns:
        picture = picture_of(pattern)
        title = f"{pattern.name}: {pattern.doc}"
        drawn = draw(boxes_of(engine, pattern.name, picture), picture.clients, title)
        files[ROOT / f"docs/patterns/{pattern.name}.svg"] = drawn
    results = ResultsSchema.model_validate(engine.description.results)
    files[ROOT / "python/strider/store/schema.json"] = schema_json(results)
    files[ROOT / "python/strider/store/records.py"] = records_module(results)
    files[ROOT / "docs/reference/results.md"] = results_page(results)
    reference = reference_pages(engine.description)
    return files | {ROOT / "docs/reference" / name: page for name, page in reference.items()}


def main() -> None:
    """Writes changed files, and names them."""
    for path, content in expected_files(engines.find()).items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

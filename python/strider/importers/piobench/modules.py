"""The modules of PIObench: spatial patterns, temporal patterns, and the directives of each.

Details that the column of 2006 leaves open (names of most directives, their defaults) are chosen here; see
docs/importing.md.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from strider.engine import Json
from strider.importers.imported import size
from strider.suite.mistakes import suggestion, unknown
from strider.units import parse_bytes, parse_seconds

Kind = Literal["size", "count", "whole", "seconds", "level", "name"]
Entry = TypeVar("Entry")
Values = Mapping[str, Json]
"""Values of a module by the names of its directives."""

BUFFER_SIZE = 64 * 1024
"""The strip size of the file system of 2006, where its writes were fastest."""
WORK_UNITS = 64
ELEMENT_SIZE = 8


@dataclass(frozen=True)
class ModuleDirective:
    """A directive of a module.

    Attributes:
        name: Its name.
        kind: What its value is: `whole` may be 0, `count` may not.
        aliases: Other names that are understood.
        doc: Its meaning.
    """

    name: str
    kind: Kind
    doc: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spatial:
    """A spatial access pattern.

    Attributes:
        name: As in `ModuleName`.
        pattern: The suite's pattern.
        keys: The pattern's parameters, given the module's values and the number of clients.
        directives: The module's own directives.
        aliases: Other names that are understood.
        sources: For parameters of another name, the directive that gives them.
    """

    name: str
    pattern: str
    keys: Callable[[Values, int], dict[str, Json]]
    directives: tuple[ModuleDirective, ...]
    aliases: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Temporal:
    """A temporal access pattern: its name, and the operations that it needs; the last one is reported."""

    name: str
    operations: tuple[str, ...]


MODULE = (
    ModuleDirective("ModuleName", "name", 'Pattern and operation, such as "Simple Strided (re-write)".'),
    ModuleDirective("ModuleReps", "count", "Repetitions (default: 1).", ("ModuleRepetitions",)),
    ModuleDirective("ModuleSettleTime", "seconds", "Idle time before each measurement (default: 0)."),
)
BUFFER = ModuleDirective("BufferSize", "size", "Bytes of one request (default: 64 KiB).", ("BufSize",))
UNITS = ModuleDirective("WorkUnits", "count", "Requests of each process (default: 64).", ("NumWorkUnits",))
ELEMENT = ModuleDirective("ElementSize", "size", "Bytes of one value (default: 8).", ("ValueSize",))
SEED = ModuleDirective("Seed", "whole", "Fixes the random choices.", ("RandomSeed",))


def _strided(values: Values, _: int) -> dict[str, Json]:
    return {"transfer": _buffer(values), "count": values.get("WorkUnits", WORK_UNITS), **_seed(values)}


def _nested(values: Values, clients: int) -> dict[str, Json]:
    """Without levels: groups about as many as they have members, each followed by a gap of its own length."""
    buffer, units = values.get("BufferSize", BUFFER_SIZE), values.get("WorkUnits", WORK_UNITS)
    inner = next(count for count in range(math.isqrt(units), 0, -1) if units % count == 0)
    stride = clients * buffer
    groups = [[units // inner, size(2 * inner * stride)], [inner, size(stride)]]
    return {"transfer": _buffer(values), "levels": values.get("Level", groups)}


def _sequential(values: Values, _: int) -> dict[str, Json]:
    return {"transfer": _buffer(values), "size": _work(values)}


def _segmented(values: Values, _: int) -> dict[str, Json]:
    return {"transfer": _buffer(values), "block": _work(values)}


def _tiled(values: Values, _: int) -> dict[str, Json]:
    """A row of a tile is one piece of the file: a buffer; a tile has as many rows as there are work units."""
    element = values.get("ElementSize", ELEMENT_SIZE)
    row = values.get("BufferSize", BUFFER_SIZE) // element
    defaults = {
        "TileSizeX": row,
        "TileSizeY": values.get("WorkUnits", WORK_UNITS),
        "ElementSize": element,
    }
    return _named({**defaults, **values}, _TILED)


def _flash(values: Values, _: int) -> dict[str, Json]:
    return _named(values, _FLASH)


def _mesh(values: Values, _: int) -> dict[str, Json]:
    return {**_named(values, _MESH), **_seed(values)}


def _named(values: Values, directives: Mapping[str, str]) -> dict[str, Json]:
    """Returns the keys of a suite with the values of their directives, as far as these are given."""
    return _given({key: values.get(directive) for key, directive in directives.items()})


def _given(keys: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in keys.items() if value is not None}


def _buffer(values: Values) -> Json:
    return size(values.get("BufferSize", BUFFER_SIZE))


def _work(values: Values) -> Json:
    return size(values.get("BufferSize", BUFFER_SIZE) * values.get("WorkUnits", WORK_UNITS))


def _seed(values: Values) -> dict[str, Json]:
    return _given({"seed": values.get("Seed")})


_TILED = {
    "tiles_x": "TilesX",
    "tiles_y": "TilesY",
    "tile_x": "TileSizeX",
    "tile_y": "TileSizeY",
    "overlap_x": "OverlapX",
    "overlap_y": "OverlapY",
    "element": "ElementSize",
}
_FLASH = {
    "blocks": "Blocks",
    "cells": "Cells",
    "guard_cells": "GuardCells",
    "variables": "Variables",
    "element": "ElementSize",
}
_MESH = {
    "vertices": "Vertices",
    "values_per_vertex": "ValuesPerVertex",
    "values_per_record": "ValuesPerRecord",
    "run": "Run",
    "element": "ElementSize",
}
_SIMPLE = {"transfer": "BufferSize", "count": "WorkUnits", "size": "WorkUnits", "block": "WorkUnits"}

SPATIAL = (
    Spatial("Simple Strided", "strided", _strided, (BUFFER, UNITS), sources=_SIMPLE),
    Spatial(
        "Nested Strided",
        "nested-strided",
        _nested,
        (
            BUFFER,
            UNITS,
            ModuleDirective(
                "Level",
                "level",
                "Count and stride of a level of nesting, outermost first; one directive for each level. "
                "A stride that is not given leaves no gap.",
                ("NestedLevel",),
            ),
        ),
        sources={**_SIMPLE, "levels": "Level"},
    ),
    Spatial("Random Strided", "random-strided", _strided, (BUFFER, UNITS, SEED), sources=_SIMPLE),
    Spatial("Sequential", "sequential", _sequential, (BUFFER, UNITS), ("Sequential Access",), _SIMPLE),
    Spatial("Segmented", "segmented", _segmented, (BUFFER, UNITS), ("Segmented Access",), _SIMPLE),
    Spatial(
        "Tiled",
        "tiled",
        _tiled,
        (
            BUFFER,
            UNITS,
            ELEMENT,
            ModuleDirective("TilesX", "count", "Tiles beside each other."),
            ModuleDirective("TilesY", "count", "Tiles above each other."),
            ModuleDirective("TileSizeX", "count", "Elements of a tile's row (BufferSize ÷ ElementSize)."),
            ModuleDirective("TileSizeY", "count", "Rows of a tile (WorkUnits)."),
            ModuleDirective("OverlapX", "whole", "Elements by which neighbours beside each other overlap."),
            ModuleDirective("OverlapY", "whole", "Rows by which neighbours above each other overlap."),
        ),
        ("Tiled Access",),
        _TILED,
    ),
    Spatial(
        "FLASH I/O",
        "flash",
        _flash,
        (
            ModuleDirective("Blocks", "count", "Blocks of each process.", ("BlocksPerProcess",)),
            ModuleDirective("Cells", "count", "Cells on each side of a block.", ("CellsPerSide",)),
            ModuleDirective("GuardCells", "whole", "Guard cells on each side, which are not written."),
            ModuleDirective("Variables", "count", "Variables of each cell."),
            ELEMENT,
        ),
        ("FLASH I/O Kernel", "FLASH"),
        _FLASH,
    ),
    Spatial(
        "Unstructured Mesh",
        "unstructured-mesh",
        _mesh,
        (
            ModuleDirective(
                "Vertices", "count", "Vertices of the mesh.", ("NumVertices", "NumberOfVertices")
            ),
            ModuleDirective("ValuesPerVertex", "count", "Values that each vertex has."),
            ModuleDirective("ValuesPerRecord", "count", "Values of each vertex that one request moves."),
            ModuleDirective("Run", "count", "Longest run of vertices in a row that one process owns."),
            ELEMENT,
            SEED,
        ),
        sources=_MESH,
    ),
)

TEMPORAL = (
    Temporal("read", ("read",)),
    Temporal("write", ("write",)),
    # The data just read is read again: without the first read it would be a plain read.
    Temporal("re-read", ("read", "reread")),
    Temporal("re-write", ("rewrite",)),
    Temporal("read-modify-write", ("read-modify-write",)),
)


def parse_module_name(text: str) -> tuple[Spatial, Temporal]:
    """The patterns of a module's name; blanks, hyphens and capitals do not matter.

    Raises:
        ValueError: There is no such module; the message says what would be right.
    """
    match = re.fullmatch(r"(?P<spatial>[^()]*)\((?P<temporal>[^()]*)\)\s*", text)
    if match is None:
        raise ValueError(
            f'"{text}" is not a pattern with an operation in brackets: '
            'write for instance "Simple Strided (write)"'
        )
    spatial = _look_up(
        "pattern", match["spatial"], {name: s for s in SPATIAL for name in (s.name, *s.aliases)}
    )
    return spatial, _look_up("operation", match["temporal"], {t.name: t for t in TEMPORAL})


def _look_up(what: str, name: str, known: Mapping[str, Entry]) -> Entry:
    by_letters = {_letters(candidate): entry for candidate, entry in known.items()}
    if _letters(name) not in by_letters:
        raise ValueError(unknown(what, name.strip(), known))
    return by_letters[_letters(name)]


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def convert(directive: ModuleDirective, text: str) -> Json:
    """The value of a directive.

    Raises:
        ValueError: It is wrong; the message says what would be right.
    """
    match directive.kind:
        case "size":
            return _positive(parse_bytes(text), text)
        case "count":
            return _positive(_whole(text), text)
        case "whole":
            return _whole(text)
        case "seconds":
            return parse_seconds(text)
        case "level":
            return _level(text)
        case "name":
            return text


def parse_toggle(text: str) -> bool:
    """A switch of the configuration language.

    Raises:
        ValueError: It is none.
    """
    switches = {
        "on": True,
        "yes": True,
        "true": True,
        "1": True,
        "off": False,
        "no": False,
        "false": False,
        "0": False,
    }
    if text.lower() not in switches:
        raise ValueError(f'"{text}" is not a switch: {suggestion(text, ["on", "off"])}')
    return switches[text.lower()]


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f'"{text}" is not a whole number: write for instance 16')
    return int(text)


def _positive(number: int, text: str) -> int:
    if number < 1:
        raise ValueError(f'"{text}" is too small: at least 1')
    return number


def _level(text: str) -> list[int]:
    words = text.split()
    if len(words) > 2:
        raise ValueError(f'"{text}" is not a level: write a count and a stride, for instance 16 1m')
    return [
        _positive(_whole(words[0]), words[0]),
        *(_positive(parse_bytes(word), word) for word in words[1:]),
    ]

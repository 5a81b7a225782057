"""Finds the line of each key and value of a TOML file.

`tomllib` gives the values but not their places; the syntax tree of tree-sitter gives the places. This is the
only file that knows tree-sitter.
"""

from dataclasses import dataclass, field

import tree_sitter
import tree_sitter_toml

from strider.units import MOST_DIGITS

Path = tuple[str | int, ...]
"""Way to a value through tables (names) and arrays (indices): `("case", 0, "posix", "direct")`."""


@dataclass
class Positions:
    """Lines, counted from 1, of the keys and values of one text.

    Attributes:
        keys: Line of the key of each path, or of the header for tables.
        values: Line where the value of each path begins.
        duplicates: Paths that are given a second time, with the line of the second one.
        long_numbers: Lines of numbers with more digits than any number may have.
    """

    keys: dict[Path, int] = field(default_factory=dict)
    values: dict[Path, int] = field(default_factory=dict)
    duplicates: list[tuple[Path, int]] = field(default_factory=list)
    long_numbers: list[int] = field(default_factory=list)

    def key_line(self, path: Path) -> int:
        """Line of the key, or of the nearest table around it that has one; 1 where there is none."""
        return self._nearest(self.keys, path)

    def value_line(self, path: Path) -> int:
        """Line of the value, or of the nearest key around it."""
        return self.values[path] if path in self.values else self.key_line(path)

    def of_element(self, name: str, index: int) -> "Positions":
        """Returns the lines of a text whose array `name` has only the element `index`, as its first."""

        def chosen(lines: dict[Path, int]) -> dict[Path, int]:
            kept = {path: line for path, line in lines.items() if len(path) < 2 or path[0] != name}
            own = {path: line for path, line in lines.items() if path[:2] == (name, index)}
            return kept | {(name, 0, *path[2:]): line for path, line in own.items()}

        return Positions(chosen(self.keys), chosen(self.values), self.duplicates, self.long_numbers)

    @staticmethod
    def _nearest(lines: dict[Path, int], path: Path) -> int:
        return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), 1)


def positions(text: str) -> Positions:
    """Finds the places of all keys and values, also in a text with mistakes as far as it can be read."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
    found = Positions()
    elements: dict[Path, int] = {}
    for node in parser.parse(text.encode()).root_node.children:
        if node.type == "pair":
            _add_pair(found, (), node)
        elif node.type in ("table", "table_array_element"):
            _add_table(found, elements, node)
    return found


def _add_table(found: Positions, elements: dict[Path, int], node: tree_sitter.Node) -> None:
    """Adds a `[table]` or the next element of an `[[array of tables]]`; `elements` counts those so far."""
    names = [child for child in node.children if child.type in ("bare_key", "quoted_key", "dotted_key")]
    if not names:
        return
    path = _inside_elements(elements, _names(names[0]))
    if node.type == "table_array_element":
        elements[path] = elements.get(path, 0) + 1
        found.keys.setdefault(path, _line(node))
        path = (*path, elements[path] - 1)
        found.keys[path] = _line(node)
    else:
        _add_key(found, path, _line(node))
    for child in node.children:
        if child.type == "pair":
            _add_pair(found, path, child)


def _inside_elements(elements: dict[Path, int], names: list[str]) -> Path:
    """The path of a header: below the latest element of each array of tables on the way."""
    path: Path = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if position < len(names) - 1 and path in elements:
            path = (*path, elements[path] - 1)
    return path


def _add_pair(found: Positions, table: Path, node: tree_sitter.Node) -> None:
    named = node.named_children
    path: Path = (*table, *_names(named[0]))
    _add_key(found, path, _line(named[0]))
    for length in range(len(table) + 1, len(path)):
        found.keys.setdefault(path[:length], _line(named[0]))
    if len(named) > 1:
        _add_value(found, path, named[1])


def _add_value(found: Positions, path: Path, node: tree_sitter.Node) -> None:
    found.values[path] = _line(node)
    if node.type in ("integer", "float") and node.end_byte - node.start_byte > MOST_DIGITS:
        found.long_numbers.append(_line(node))
    if node.type == "inline_table":
        for child in node.named_children:
            if child.type == "pair":
                _add_pair(found, path, child)
    elif node.type == "array":
        values = [child for child in node.named_children if child.type != "comment"]
        for index, child in enumerate(values):
            _add_value(found, (*path, index), child)


def _add_key(found: Positions, path: Path, line: int) -> None:
    if path in found.keys and path in found.values:
        found.duplicates.append((path, line))
    found.keys.setdefault(path, line)


def _names(node: tree_sitter.Node) -> list[str]:
    """The parts of a key: `mpiio.hints` has two."""
    if node.type == "dotted_key":
        return [name for child in node.named_children for name in _names(child)]
    text = (node.text or b"").decode()
    return [text[1:-1] if node.type == "quoted_key" else text]


def _line(node: tree_sitter.Node) -> int:
    return int(node.start_point[0]) + 1

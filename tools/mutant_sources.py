"""Mutants: small faults described as a change of text, and how they are put into a copy of the sources.

A description names a file, a text that stands there once (`from`), and what replaces it (`to`). Line breaks
and indentation do not matter, so formatting breaks no description; a change of the words does.
C++ gets all mutants at once: the smallest expression or statement around the text appears twice, and
STRIDER_MUTANT chooses at run time. Python gets one at a time.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

DESCRIPTIONS = Path("tests/mutants")
OPTIONAL = ("after", "tests", "explained", "equivalent")
"""Keys of a description that it may leave out."""
HEADER = "mutant_chosen.hpp"
CHOOSER = """#pragma once
#include <cstdlib>
#include <type_traits>

namespace strider_mutants {
inline const int chosen = [] {
  const char* const text = std::getenv("STRIDER_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
constexpr bool is(int number) {
  if (std::is_constant_evaluated()) return false;
  return chosen == number;
}
}  // namespace strider_mutants
"""

EXPRESSIONS = {
    "binary_expression",
    "unary_expression",
    "call_expression",
    "conditional_expression",
    "number_literal",
    "string_literal",
    "true",
    "false",
    "identifier",
    "qualified_identifier",
    "field_expression",
    "subscript_expression",
    "assignment_expression",
    "update_expression",
    "cast_expression",
    "char_literal",
    "pointer_expression",
}
STATEMENTS = {
    "expression_statement",
    "return_statement",
    "if_statement",
    "for_statement",
    "for_range_loop",
    "while_statement",
    "do_statement",
    "throw_statement",
    "break_statement",
    "continue_statement",
    "switch_statement",
}
CONSTANT = {
    "static_assert_declaration",
    "template_argument_list",
    "case_statement",
    "enumerator",
    "array_declarator",
    "bitfield_clause",
    "type_descriptor",
    "optional_parameter_declaration",
    "preproc_if",
    "preproc_def",
}
"""Where only constants may stand, so that no mutant can be chosen at run time."""


class MisfitError(Exception):
    """A description that does not fit its source, or cannot be planted there."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One small fault.

    Attributes:
        number: What STRIDER_MUTANT chooses it by.
        file: The source.
        before: The text to replace.
        after: What replaces it.
        anchor: A text that stands once in the file, in front of `before`, where that is there more than once.
        tests: Tests to run in front of those of its folder.
        explained: Why it may survive; empty where a test must notice it.
        equivalent: Why it changes nothing, so that it is not tried; empty for all others.
        listed: Where it is described: file and entry.
    """

    number: int
    file: str
    before: str
    after: str
    anchor: str
    tests: tuple[str, ...]
    explained: str
    equivalent: str
    listed: str

    @property
    def python(self) -> bool:
        """Whether it is planted in Python."""
        return self.file.endswith(".py")

    @property
    def key(self) -> str:
        """File and change, which stay the same when mutants are added in front of it."""
        return f"{self.file}: {self.change()}"

    def change(self) -> str:
        """The change in one line."""
        return f"`{' '.join(self.before.split())}` → `{' '.join(self.after.split())}`"


def read_mutants(root: Path) -> list[Mutant]:
    """All mutants, numbered from 1 in the order of their descriptions."""
    mutants: list[Mutant] = []
    for path in sorted((root / DESCRIPTIONS).glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for position, entry in enumerate(document.get("mutant", []), 1):
            listed = f"{DESCRIPTIONS / path.name}, entry {position}"
            unknown = set(entry) - {"file", "from", "to", *OPTIONAL}
            if unknown or not {"file", "from", "to"} <= set(entry):
                raise MisfitError(
                    f"{listed}: an entry needs file, from and to; optional: {', '.join(OPTIONAL)}"
                )
            mutants.append(
                Mutant(
                    number=len(mutants) + 1,
                    file=entry["file"],
                    before=entry["from"],
                    after=entry["to"],
                    anchor=entry.get("after", ""),
                    tests=tuple(entry.get("tests", [])),
                    explained=entry.get("explained", ""),
                    equivalent=entry.get("equivalent", ""),
                    listed=listed,
                )
            )
    return mutants


def _pattern(text: str) -> re.Pattern[str]:
    """Finds a text whatever its line breaks and indentation are; it begins and ends where words do."""
    words = re.findall(r"\w+|[^\w\s]+", text)
    parts = [re.escape(words[0])]
    rest = text[text.index(words[0]) + len(words[0]) :]
    for word in words[1:]:
        gap = rest[: rest.index(word)]
        parts.append((r"\s+" if gap else r"\s*") + re.escape(word))
        rest = rest[len(gap) + len(word) :]
    begin = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    end = r"(?!\w)" if re.match(r"\w", words[-1][-1]) else ""
    return re.compile(begin + "".join(parts) + end)


def span_of(mutant: Mutant, source: str) -> tuple[int, int]:
    """Where the text to replace stands.

    Raises:
        MisfitError: It is not there, or not once.
    """
    begin = 0
    if mutant.anchor:
        anchors = list(_pattern(mutant.anchor).finditer(source))
        if len(anchors) != 1:
            raise MisfitError(
                _misfit(
                    mutant,
                    f"the source contains the text of `after` {len(anchors)} times instead of once: "
                    f"{mutant.anchor}",
                )
            )
        begin = anchors[0].end()
    found = list(_pattern(mutant.before).finditer(source, begin))
    if not found:
        raise MisfitError(_misfit(mutant, f"the source does not contain the text of `from`: {mutant.before}"))
    if len(found) > 1 and not mutant.anchor:
        raise MisfitError(
            _misfit(
                mutant,
                f"the source contains the text of `from` {len(found)} times; add `after`: {mutant.before}",
            )
        )
    return found[0].span()


def _misfit(mutant: Mutant, what: str) -> str:
    return f"{mutant.listed}: {mutant.file}: {what}"


def line_of(mutant: Mutant, source: str) -> int:
    """The line where it begins."""
    return source.count("\n", 0, span_of(mutant, source)[0]) + 1


def plant_python(mutant: Mutant, source: str) -> str:
    """The source with the mutant in it.

    Raises:
        MisfitError: It does not fit, or what comes out is no Python.
    """
    begin, end = span_of(mutant, source)
    planted = source[:begin] + mutant.after + source[end:]
    try:
        compile(planted, mutant.file, "exec")
    except SyntaxError as error:
        raise MisfitError(_misfit(mutant, f"the result is not valid Python: {error}")) from error
    return planted


@dataclass(frozen=True)
class _Place:
    """Duplicates in a source: the span, whether it is a statement, and its replacement."""

    begin: int
    end: int
    statement: bool
    number: int
    mutated: str


def plant_cpp(mutants: Iterable[Mutant], source: str) -> str:
    """The source with all of its mutants in it, each chosen by its number; lines keep their numbers.

    Raises:
        MisfitError: One does not fit, or stands where only constants may.
    """
    root = parse_cpp(source)
    places = [_place_of(mutant, source, root) for mutant in mutants]
    return f'#include "{HEADER}"\n#line 1\n{_render(source, 0, len(source), places)}'


def parse_cpp(source: str) -> Node:
    """The root of its syntax tree, with positions in characters."""
    ascii_only = "".join(each if each.isascii() else "?" for each in source)
    return Parser(Language(tree_sitter_cpp.language())).parse(ascii_only.encode()).root_node


def _place_of(mutant: Mutant, source: str, root: Node) -> _Place:
    begin, end = span_of(mutant, source)
    after = mutant.after or (";" if mutant.before.endswith(";") else "")
    node = root.descendant_for_byte_range(begin, end)
    while node is not None and not (_is_whole(node, begin, end) and _may_appear_twice(node, after)):
        node = node.parent
    if node is None or is_constant(node):
        raise MisfitError(
            _misfit(
                mutant, f"no run-time expression or statement contains the text of `from`: {mutant.before}"
            )
        )
    inner = source[node.start_byte : begin] + after + source[end : node.end_byte]
    return _Place(node.start_byte, node.end_byte, node.type in STATEMENTS, mutant.number, inner)


def _is_whole(node: Node, begin: int, end: int) -> bool:
    return node.start_byte <= begin and end <= node.end_byte


def _may_appear_twice(node: Node, after: str) -> bool:
    if node.type in STATEMENTS:
        return node.parent is not None and node.parent.type != "attributed_statement"
    if node.type not in EXPRESSIONS or not after.strip() or after.rstrip().endswith(";"):
        return False
    parent = node.parent
    if parent is None or parent.type in {"pointer_expression", "update_expression", "qualified_identifier"}:
        return False
    if parent.type in {
        "expression_statement",
        "subscript_argument_list",
        "field_expression",
        "template_function",
    }:
        return False
    fields = [
        parent.child_by_field_name(name) for name in ("function", "left", "declarator", "designator", "name")
    ]
    is_left_of_operator = parent.type == "binary_expression"
    return is_left_of_operator or all(each is None or each.id != node.id for each in fields)


def is_constant(node: Node) -> bool:
    """Whether only constants may stand there."""
    above: Node | None = node
    while above is not None and above.type not in {"function_definition", "lambda_expression"}:
        if above.type in CONSTANT:
            return True
        if above.type in {"declaration", "field_declaration"} and _begins_constant(above):
            return True
        above = above.parent
    return above is None


def _begins_constant(declaration: Node) -> bool:
    words = {child.text for child in declaration.children}
    if words & {b"constexpr", b"constinit", b"static"}:
        return True
    # The compiler evaluates what consists of constants only before STRIDER_MUTANT is known.
    return b"const" in words and not re.search(
        rb"=.*[A-Za-z_]|[({].*[A-Za-z_]", declaration.text or b"", re.DOTALL
    )


def _render(source: str, begin: int, end: int, places: list[_Place]) -> str:
    """A part of the source with all places in it; those of one span nest, as those within others do."""
    parts: list[str] = []
    rest = sorted(
        (each for each in places if begin <= each.begin and each.end <= end), key=lambda p: (p.begin, -p.end)
    )
    at = begin
    while rest:
        first = rest[0]
        same = [each for each in rest if (each.begin, each.end) == (first.begin, first.end)]
        within = [each for each in rest if each.end <= first.end and each not in same]
        original = _render(source, first.begin, first.end, within)
        for each in same:
            mutated = " ".join(re.sub(r"//.*", "", line) for line in each.mutated.split("\n"))
            original = (
                f"{{ if (strider_mutants::is({each.number})) {{ {mutated} }} else {{ {original} }} }}"
                if each.statement
                else f"(strider_mutants::is({each.number}) ? ({mutated}) : ({original}))"
            )
        parts += [source[at : first.begin], original]
        at = first.end
        rest = [each for each in rest if each.begin >= first.end]
    return "".join([*parts, source[at:end]])

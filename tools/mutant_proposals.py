"""Proposes mutants: systematic small changes at places of the sources chosen by a seed."""

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node

from mutant_sources import EXPRESSIONS, STATEMENTS, is_constant, parse_cpp

SWAPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "/",
    "&&": "||",
    "||": "&&",
    "+=": "-=",
    "-=": "+=",
    "and": "or",
    "or": "and",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
    "//": "*",
    "min": "max",
    "max": "min",
    "std::min": "std::max",
    "std::max": "std::min",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
    "any": "all",
    "all": "any",
}
TEXT = re.compile(r'["\']|to_string|string\(|<<|std::string')
LONGEST = 110
"""Characters of a text that is still easy to read in a list."""

Change = tuple[str, str]


def propose(root: Path, folder: str, count: int, seed: int) -> list[tuple[str, str, str]]:
    """Changes at places chosen by the seed: file, text, what replaces it.

    At most one for each function, so that the places lie all over the folder.
    """
    chosen: list[tuple[str, str, str]] = []
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    base = root / folder
    files = (
        [base]
        if base.is_file()
        else sorted(each for each in base.rglob("*") if each.suffix in {".py", ".cpp"})
    )
    for path in files:
        source = path.read_text(encoding="utf-8")
        name = str(path.relative_to(root))
        changes = _of_python(source) if path.suffix == ".py" else _of_cpp(source)
        for function, before, after in changes:
            if len(before) <= LONGEST and source.count(before) == 1:
                found.setdefault((name, function), []).append((name, before, after))
    generator = random.Random(seed)  # noqa: S311
    functions = sorted(found)
    generator.shuffle(functions)
    for key in functions[:count]:
        chosen.append(generator.choice(found[key]))
    return sorted(chosen)


def _of_cpp(source: str) -> Iterator[tuple[str, str, str]]:
    yield from _walk_cpp(parse_cpp(source), source, "")


def _walk_cpp(node: Node, source: str, function: str) -> Iterator[tuple[str, str, str]]:
    if node.type == "function_definition":
        declarator = node.child_by_field_name("declarator")
        function = source[declarator.start_byte : declarator.end_byte] if declarator else ""
    if function and not is_constant(node):
        holder = _holder(node, source)
        for begin, end, text in _changes_of(node, source):
            if holder is not None and not TEXT.search(source[holder.start_byte : holder.end_byte]):
                before = source[holder.start_byte : holder.end_byte]
                yield (
                    function,
                    before,
                    source[holder.start_byte : begin] + text + source[end : holder.end_byte],
                )
    for child in node.named_children:
        yield from _walk_cpp(child, source, function)


def _holder(node: Node, source: str) -> Node | None:
    """The smallest expression or statement around a node that stands once in the file."""
    at: Node | None = node
    while at is not None:
        text = source[at.start_byte : at.end_byte]
        if at.type in EXPRESSIONS | STATEMENTS and len(text) > 6 and source.count(text) == 1:
            return at
        at = at.parent
    return None


def _changes_of(node: Node, source: str) -> Iterator[tuple[int, int, str]]:
    text = source[node.start_byte : node.end_byte]
    operator = node.child_by_field_name("operator")
    if node.type in {"binary_expression", "assignment_expression"} and operator is not None:
        sign = source[operator.start_byte : operator.end_byte]
        if sign in SWAPPED:
            yield operator.start_byte, operator.end_byte, SWAPPED[sign]
    elif node.type == "unary_expression" and text.startswith("!"):
        yield node.start_byte, node.start_byte + 1, ""
    elif node.type == "number_literal" and re.fullmatch(r"\d+", text):
        yield node.start_byte, node.end_byte, str(int(text) + 1)
    elif node.type in {"true", "false"} or (node.type == "qualified_identifier" and text in SWAPPED):
        yield node.start_byte, node.end_byte, SWAPPED[text]
    elif (
        node.type == "expression_statement"
        and text.endswith(");")
        and not text.startswith(("return", "throw"))
    ):
        yield node.start_byte, node.end_byte, ""
    elif node.type == "argument_list" and len(node.named_children) == 2:
        first, second = node.named_children
        if first.type == second.type and first.type in {"identifier", "field_expression"}:
            swapped = [source[each.start_byte : each.end_byte] for each in (second, first)]
            yield first.start_byte, second.end_byte, ", ".join(swapped)


def _of_python(source: str) -> Iterator[tuple[str, str, str]]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw = source.encode()

    def position(line: int, column: int) -> int:
        return len(raw[: starts[line - 1] + column].decode())

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, str, str]]:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if function and isinstance(node, ast.stmt | ast.expr):
            begin = position(node.lineno, node.col_offset)
            end = position(node.end_lineno or 0, node.end_col_offset or 0)
            text = source[begin:end]
            for after in _changes_of_python(node, text):
                yield function, text, after
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.Constant | ast.arguments | ast.JoinedStr):
                yield from walk(child, function)

    yield from walk(ast.parse(source), "")


def _changes_of_python(node: ast.AST, text: str) -> Iterator[str]:
    if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp) and not re.search(r"[\"']", text):
        for sign, other in SWAPPED.items():
            if sign == "in" and " for " in text:
                continue  # the word of a loop
            if text.count(f" {sign} ") == 1 and f" not {sign}" not in text and f"{sign} not " not in text:
                yield text.replace(f" {sign} ", f" {other} ")
    if isinstance(node, ast.UnaryOp) and text.startswith("not "):
        yield text.removeprefix("not ")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
        yield SWAPPED[node.func.id] + text.removeprefix(node.func.id)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "pass"
    if isinstance(node, ast.Compare | ast.BinOp | ast.Subscript | ast.Return):
        for found in re.finditer(r"(?<![\w.\"'])\d+(?![\w.\"'])", text):
            yield text[: found.start()] + str(int(found.group()) + 1) + text[found.end() :]
    if isinstance(node, ast.If) and "\n" not in (condition := ast.unparse(node.test)):
        first = text.split("\n", 1)[0]
        if first == f"if {condition}:":
            yield text.replace(first, f"if not ({condition}):", 1)


def entry(file: str, before: str, after: str) -> str:
    """A description as it stands in a list."""
    return f"[[mutant]]\nfile = {_quoted(file)}\nfrom = {_quoted(before)}\nto = {_quoted(after)}\n"


def _quoted(text: str) -> str:
    text = " ".join(text.split()) if '"""' not in text else text
    if "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

"""The tree's own rules: sizes, includes, forbidden words, required pages.

Prints one line for each breach (`file:line: breach`) and fails if there is one; recommendations are advice.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lizard

import private_words
import promises
import wrap
from dependencies import INCLUDE, PYTHON, circles, imported, tracked_files, uses_of

FILE_LINES_WANTED, FILE_LINES_LIMIT = 400, 600
GENERATED = "Do not edit."
"""End of the first line of a generated source."""
FUNCTION_LINES_WANTED, FUNCTION_LINES_LIMIT = 50, 70
POSITIONS = 6
"""Most parameters by position of a function; those of tests in Python are fixtures, by name, and those of
functions in C follow a library."""

MAY_INCLUDE: dict[str, set[str]] = {
    "foundation": set(),
    "patterns": set(),
    "trees": set(),
    "interfaces": set(),
    "measure": set(),
    "verify": set(),
    "confinement": set(),
    "plan": {"patterns", "trees", "interfaces", "verify"},
    "events": {"interfaces", "measure", "verify", "plan"},
    "operations": {"patterns", "trees", "interfaces", "measure", "verify", "plan"},
    "ranks": {"confinement", "events"},
    "reports": {"measure", "verify", "plan", "events", "operations", "ranks"},
    "ceilings": {"measure", "verify", "plan", "events", "operations", "ranks", "reports"},
    "phases": {
        "patterns",
        "trees",
        "interfaces",
        "measure",
        "verify",
        "plan",
        "operations",
        "ranks",
        "reports",
    },
    "repetitions": {
        "confinement",
        "patterns",
        "trees",
        "interfaces",
        "measure",
        "plan",
        "operations",
        "ranks",
        "reports",
        "phases",
    },
    "runner": {"measure", "plan", "events", "ranks", "reports", "ceilings", "repetitions"},
    "listio/layout": set(),
    "listio/ofi": set(),
    "listio/registration": {"listio/ofi"},
    "listio/protocol": {"listio/layout"},
    "listio/transfer": {"listio/layout", "listio/ofi", "listio/registration", "listio/protocol"},
    "listio/server": {"listio/layout", "listio/registration", "listio/protocol", "listio/transfer"},
    "listio/client": {"listio/layout", "listio/registration", "listio/protocol", "listio/transfer"},
    "listio/mount": {"listio/client", "listio/protocol"},
    "listio/mpi": {"listio/client", "listio/layout", "listio/protocol"},
}
"""The one-way street: the folders that a folder may include besides itself and foundation/. Those of engine/
are known by their own name, as in `#include`."""

MPI_FOLDERS = {"ranks", "reports", "ceilings", "phases", "repetitions", "runner", "listio/mpi"}
MPI_FILES = ("main.cpp", "interfaces/mpi", "interfaces/hdf5", "interfaces/pnetcdf")
"""Files that may include mpi.h, by folder and by the beginning of a name."""

LISTIO_FILES = ("interfaces/listio",)
"""What of engine/ may include listio/client/, by the beginning of a name."""

FORBIDDEN: dict[str, str] = {
    r"\b(TODO|FIXME|XXX|HACK)\b": "a mark of unfinished work",
    r"\bbreakpoint\(\)|\bpdb\.set_trace|\"DEBUG": "left over from debugging",
    r"(?<![\w.])/(work|root|home/\w+)/": "a path of one machine",
    r"\b(pypi\.org|pythonhosted\.org|deb\.debian\.org|registry\.npmjs|crates\.io)\b": "a registry's host",
}
"""Words by pattern, and their problem."""
ALLOWED_WORDS = {"tools/tidy.py", "tests/tree/test_tidy.py"}
"""Files that have to name the forbidden words."""
PLAIN_PAGES = re.compile(r"(README|CONTRIBUTING|docs/([\w-]+|(howto|interfaces|patterns)/[\w-]+))\.md")
"""The manual except generated pages and the decisions."""
NOT_PROSE = re.compile(
    rf"^ *(`{{3,}}|~~~).*?^ *\1 *$|{wrap.GENERATED[0]}.*?{wrap.GENERATED[1]}|`[^`\n]+`|\]\([^)]*\)",
    re.MULTILINE | re.DOTALL,
)
"""Code, links' targets, and what tools/pages.py writes."""
CODE = {".cpp", ".hpp", ".h", ".c", ".py", ".sh"}
ENTRY = re.compile(r'\bconst (?:Interface|Pattern)Entry \w+_entry\s*\{\s*"([^"]+)"')
"""Where a source declares an interface or a pattern, and its name."""
TEMPLATE = "template"
"""The source to copy, whose interface has no page."""

MAY_IMPORT: dict[str, set[str]] = {
    "suite": set(),
    "listing": set(),
    "store": {"listing"},
    "lab": set(),
    "listio": {"suite"},
    "datasets": {"suite"},
    "kept": {"datasets", "suite"},
    "launch": {"datasets", "kept", "listing", "listio", "store", "suite"},
    "doctor": {"launch", "listio"},
    "jobs": {"launch", "store", "suite"},
    "importers": {"datasets", "kept", "store", "suite"},
    "statistics": {"store"},
    "limits": {"statistics", "store"},
    "card": {"listing", "statistics", "store"},
    "quick": {"launch", "statistics", "store", "suite"},
    "report": {"card", "datasets", "limits", "listing", "statistics", "store", "suite"},
    "compare": {"card", "listing", "report", "statistics", "store"},
    "web": {"card", "datasets", "jobs", "launch", "listing", "store", "suite"},
    "running": {
        "card",
        "compare",
        "datasets",
        "importers",
        "jobs",
        "kept",
        "launch",
        "listing",
        "listio",
        "quick",
        "report",
        "statistics",
        "store",
        "suite",
    },
    "cli": {
        "card",
        "compare",
        "datasets",
        "doctor",
        "importers",
        "jobs",
        "kept",
        "lab",
        "launch",
        "limits",
        "listing",
        "listio",
        "quick",
        "report",
        "running",
        "statistics",
        "store",
        "suite",
        "web",
    },
    "report/labels": set(),
    "report/blocks": set(),
    "report/words": {"report/blocks", "report/labels"},
    "report/results": {"report/labels"},
    "report/figures": {"report/labels", "report/words"},
    "report/tables": {"report/blocks", "report/labels", "report/words", "report/results"},
    "report/charts": {
        "report/blocks",
        "report/labels",
        "report/words",
        "report/results",
        "report/figures",
        "report/tables",
    },
    "report/output": {"report/blocks", "report/labels", "report/words", "report/results", "report/figures"},
    "report/sections": {
        "report/blocks",
        "report/labels",
        "report/words",
        "report/results",
        "report/figures",
        "report/tables",
        "report/charts",
        "report/output",
    },
}
"""The same for Python: the folders of strider/ that a folder may import from besides itself and the modules
at the top, and the rooms of report/. A package's own __init__ is its front door and may import all of it."""


@dataclass(frozen=True, order=True)
class Finding:
    """A breach of a rule, or advice, at a line of a file."""

    path: str
    line: int
    message: str
    breach: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {'' if self.breach else 'advice: '}{self.message}"


def judge_size(path: str, line: int, what: str, lines: int, wanted: int, limit: int) -> Iterator[Finding]:
    """Compares a length with the recommended and the allowed one."""
    if lines > limit:
        yield Finding(path, line, f"{what} has {lines} lines, more than {limit}")
    elif lines > wanted:
        yield Finding(
            path, line, f"{what} has {lines} lines, more than the recommended {wanted}", breach=False
        )


def check_sizes(path: str, text: str) -> Iterator[Finding]:
    """Files and functions of a length that can be read at once, with many parameters taken by name.

    Generated files are left out. Lines that name promises do not count.
    """
    if text.partition("\n")[0].endswith(GENERATED):
        return
    lines = text.count("\n") - len(promises.PROOF.findall(text))
    yield from judge_size(path, 1, "the file", lines, FILE_LINES_WANTED, FILE_LINES_LIMIT)
    try:
        found = functions(path, text)
    except SyntaxError as error:
        yield Finding(path, error.lineno or 1, f"cannot be read: {error.msg}")
        return
    is_python = path.endswith(".py")
    by_name = not path.startswith("tests/") if is_python else path.endswith((".cpp", ".hpp"))
    for name, first, last, positions in found:
        lines = last - first + 1
        yield from judge_size(path, first, name, lines, FUNCTION_LINES_WANTED, FUNCTION_LINES_LIMIT)
        if positions > POSITIONS and by_name:
            remedy = "make some keyword-only" if is_python else "group them in a structure with named fields"
            what = f"{name} has {positions} parameters by position, more than {POSITIONS}"
            yield Finding(path, first, f"{what}: {remedy}")


def functions(path: str, text: str) -> list[tuple[str, int, int, int]]:
    """Name, first and last line of every function, and its parameters by position."""
    if path.endswith(".py"):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
        return [
            (node.name, node.lineno, node.end_lineno or node.lineno, count_positions(node)) for node in nodes
        ]
    found = lizard.analyze_file.analyze_source_code(path, text).function_list
    return [(one.name, one.start_line, one.end_line, one.parameter_count) for one in found]


def count_positions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Number of a function's parameters by position, without `self`."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def check_words(path: str, text: str) -> Iterator[Finding]:
    """Nothing unfinished, nothing of one machine."""
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, meaning in FORBIDDEN.items():
            found = re.search(pattern, line)
            if found:
                yield Finding(path, number, f"{found.group()!r}: {meaning}")


def check_language(path: str, text: str) -> Iterator[Finding]:
    """Pages of the manual use the words of the field, and have one width."""
    prose = NOT_PROSE.sub(lambda found: "`" + "\n" * found.group().count("\n") + "`", text)
    for pattern, better in private_words.PRIVATE_WORDS.items():
        words = pattern.replace(" ", r"\s+")
        for found in re.finditer(rf"\b({words})\b", prose, re.IGNORECASE):
            line = prose.count("\n", 0, found.start()) + 1
            yield Finding(path, line, f"{' '.join(found.group().split())!r}: write {better}")
    wrapped = set(wrap.wrap(text).splitlines())
    for number, row in enumerate(text.splitlines(), start=1):
        if len(row) > wrap.WIDTH and row not in wrapped:
            yield Finding(path, number, f"more than {wrap.WIDTH} columns: run make format")


def check_includes(path: str, text: str) -> Iterator[Finding]:
    """The direction of includes, and the users of MPI."""
    inside = path.removeprefix("engine/")
    folder = included_folder(inside)
    for found in INCLUDE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        included = found.group(1)
        target = included_folder(included)
        if included == "mpi.h" and folder not in MPI_FOLDERS and not inside.startswith(MPI_FILES):
            yield Finding(
                path, line, "only ranks/ to runner/, the MPI-based interfaces and listio/mpi/ include mpi.h"
            )
        known = folder in MAY_INCLUDE and target in MAY_INCLUDE and "/" in included
        if inside.startswith(LISTIO_FILES) and target == "listio/client":
            continue
        if known and target not in MAY_INCLUDE[folder] | {folder, "foundation"}:
            yield Finding(path, line, f"{folder}/ must not include {included}")


def included_folder(path: str) -> str:
    """The folder of MAY_INCLUDE that a path belongs to: its first word, and the second within listio/."""
    words = path.split("/")[:-1]
    return "/".join(words[: 2 if words[:1] == ["listio"] else 1])


def check_imports(path: str, text: str) -> Iterator[Finding]:
    """The direction of imports in Python."""
    inside = path.removeprefix(PYTHON)
    if inside == path or re.fullmatch(r"\w+/__init__\.py", inside):
        return
    own = inside.removesuffix(".py").split("/")
    for line, module in imported(text):
        other = module.split(".")[1:]
        # Two rooms of one package, else two packages.
        depth = 2 if other[:1] == own[:1] else 1
        room, target = "/".join(own[:depth]), "/".join(other[:depth])
        known = room in MAY_IMPORT and target in MAY_IMPORT
        if known and target not in MAY_IMPORT[room] | {room}:
            yield Finding(path, line, f"{room}/ must not import {module}")


def check_circles(root: Path, paths: Iterable[str]) -> Iterator[Finding]:
    """No file uses itself by way of others."""
    uses = uses_of(root, paths)
    for circle in circles(uses):
        first, second, *_ = [*circle, circle[0]]
        yield Finding(first, uses[first][second], f"a circle: {' uses '.join([*circle, first])}")


def check_pages(root: Path) -> Iterator[Finding]:
    """Every interface and pattern has its page in the manual, which has its name."""
    for kind in ("interfaces", "patterns"):
        pages = root / "docs" / kind
        if not pages.is_dir():
            continue
        for source in sorted((root / "engine" / kind).glob("*.cpp")):
            for name in ENTRY.findall(source.read_text(encoding="utf-8")):
                if source.stem != TEMPLATE and not (pages / f"{name}.md").is_file():
                    yield Finding(f"engine/{kind}/{source.name}", 1, f"has no page docs/{kind}/{name}.md")


def check_file(path: str, text: str) -> Iterator[Finding]:
    """All rules that concern one file."""
    if path not in ALLOWED_WORDS:
        yield from check_words(path, text)
    if Path(path).suffix in CODE:
        yield from check_sizes(path, text)
    if PLAIN_PAGES.fullmatch(path):
        yield from check_language(path, text)
    if path.startswith(("foundation/", "engine/", "listio/")):
        yield from check_includes(path, text)
    if path.startswith(PYTHON) and path.endswith(".py"):
        yield from check_imports(path, text)


def check_numbers(root: Path, paths: Iterable[str]) -> Iterator[Finding]:
    """Comments and names have no more private words than the committed numbers, which only fall."""
    for message in private_words.check(root, paths):
        yield Finding(private_words.NUMBERS, 1, message)


BINARY = "tests/listio/fuzz/corpus/"
"""A folder of binary files, though a file may have no byte 0."""


def check_tree(root: Path) -> list[Finding]:
    """Everything there is to say about the tree at `root`."""
    paths = tracked_files(root)
    findings = [*check_pages(root), *check_circles(root, paths), *check_numbers(root, paths)]
    for path in paths:
        content = (root / path).read_bytes()
        if b"\0" not in content and not path.startswith(BINARY):
            findings += check_file(path, content.decode("utf-8"))
    return sorted(findings)


def main() -> int:
    """Prints the findings; 1 if a rule is broken."""
    findings = check_tree(Path(__file__).resolve().parents[1])
    for finding in findings:
        print(finding)
    return int(any(finding.breach for finding in findings))


if __name__ == "__main__":
    sys.exit(main())

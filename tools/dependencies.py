"""Dependencies between the files of the sources: includes in C++, imports in Python."""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

CPP = (".cpp", ".hpp", ".h")
CPP_FOLDERS = ("foundation/", "engine/", "listio/")
PYTHON = "python/strider/"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^">]+)[">]', re.MULTILINE)


def tracked_files(root: Path) -> list[str]:
    """Returns the files that git sees in the tree, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(path for path in listed.split("\0") if path and (root / path).is_file())


def imported(text: str) -> Iterator[tuple[int, str]]:
    """Yields line and name of each module of Strider that a source imports, also for its types alone."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "strider":
            yield from ((node.lineno, f"{node.module}.{one.name}") for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, one.name) for one in node.names if one.name.startswith("strider."))


def included(root: Path, path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yields line and path of each file of the tree that a C++ source includes."""
    for found in INCLUDE.finditer(text):
        for place in ("", "engine", str(Path(path).parent)):
            if (root / place / found.group(1)).is_file():
                yield text.count("\n", 0, found.start()) + 1, str(Path(place, found.group(1)))
                break


def used_files(root: Path, path: str) -> dict[str, int]:
    """Returns the files that a source includes or imports, each with the first line that does.

    An import counts wherever it is: in a function it only delays the circle, and one for types alone still
    means that neither file can be understood without the other.
    """
    text = (root / path).read_text(encoding="utf-8")
    found = included(root, path, text) if path.endswith(CPP) else imported_files(root, text)
    uses: dict[str, int] = {}
    for line, file in sorted(found):
        uses.setdefault(file, line)
    return uses


def imported_files(root: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yields line and path of each file that a Python source imports: a module, or a package."""
    for line, name in imported(text):
        # The last word may be a name within the module.
        for module in (name, name.rpartition(".")[0]):
            base = f"python/{module.replace('.', '/')}"
            files = [file for file in (f"{base}.py", f"{base}/__init__.py") if (root / file).is_file()]
            if files:
                yield line, files[0]
                break


def circles(uses: dict[str, dict[str, int]]) -> Iterator[list[str]]:
    """Yields circles of files: each uses the next, the last the first. Without them, no circle is left."""
    left: dict[str, set[str]] = {path: set(files) for path, files in sorted(uses.items())}
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle: list[str] = error.args[1][:0:-1]
            first = circle.index(min(circle))
            circle = circle[first:] + circle[:first]
            yield circle
            left[circle[-1]].remove(circle[0])
        else:
            return


def uses_of(root: Path, paths: Iterable[str]) -> dict[str, dict[str, int]]:
    """Returns what each source among the paths uses."""
    return {
        path: used_files(root, path)
        for path in paths
        if (path.startswith(CPP_FOLDERS) and path.endswith(CPP))
        or (path.startswith(PYTHON) and path.endswith(".py"))
    }

"""Draws the dependencies between the folders of the sources: includes in C++, imports in Python.

    tools/graph.py                  prints the folders, their sizes, and the folders that each uses
    tools/graph.py --write          writes docs/reference/folders.md and its pictures (`make graph`)
    tools/graph.py --tree DIR       reads another checkout, to compare

A folder is drawn above all folders that it uses. A dependency that other arrows imply is not drawn. Arrows
between two folders that use each other are red.
"""

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from dependencies import CPP, CPP_FOLDERS, INCLUDE, PYTHON, imported, tracked_files

ROOT = Path(__file__).resolve().parents[1]
BOX_W, BOX_H, GAP_X, GAP_Y, MARGIN, PER_ROW = 136, 30, 18, 52, 12, 7
"""Pixels, and folders in one row of a picture."""


@dataclass
class Graph:
    """Folders and the folders that they use.

    Attributes:
        files: Number of files, by folder.
        lines: Lines in them.
        uses: The other folders that a folder uses.
    """

    files: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    lines: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    uses: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, folder: str, text: str, used: set[str]) -> None:
        """Adds a file of a folder, with the folders that it uses."""
        self.files[folder] += 1
        self.lines[folder] += text.count("\n")
        self.uses[folder] |= used - {folder}

    def reaches(self, first: str, last: str) -> bool:
        """Whether a folder uses another, be it by way of others."""
        seen, rest = {first}, [first]
        while rest:
            new = self.uses[rest.pop()] - seen
            seen |= new
            rest += new
        return last in seen

    def backward(self) -> set[tuple[str, str]]:
        """Uses by which two folders use each other."""
        return {(one, other) for one in self.files for other in self.uses[one] if self.reaches(other, one)}

    def drawn(self) -> set[tuple[str, str]]:
        """Uses without those that others imply."""
        implied = {
            (one, other)
            for one in self.files
            for other in self.uses[one]
            if any(each != other and self.reaches(each, other) for each in self.uses[one])
        }
        uses = {(one, other) for one in self.files for other in self.uses[one]}
        return (uses - implied) | self.backward()

    def depths(self) -> dict[str, int]:
        """How many folders stand above each one at least; of those that use each other none does."""
        found: dict[str, int] = {}

        def depth(folder: str) -> int:
            if folder not in found:
                users = [each for each in self.files if folder in self.uses[each]]
                above = [each for each in users if not self.reaches(folder, each)]
                found[folder] = max((depth(each) + 1 for each in above), default=0)
            return found[folder]

        depths = {folder: depth(folder) for folder in sorted(self.files)}
        used = set().union(*self.uses.values())
        # A folder that no other one uses stands right above the folders that it uses.
        tops = {
            each: min((depths[use] for use in self.uses[each]), default=1) - 1
            for each in depths.keys() - used
        }
        return depths | tops

    def order(self) -> list[str]:
        """All folders, from the uppermost to the lowest."""
        depths = self.depths()
        return sorted(self.files, key=lambda folder: (depths[folder], folder))


def cpp_folder(path: Path) -> str:
    """The room of a C++ source: `foundation`, or the second folder of `engine` and `listio`."""
    top, *rooms = path.parts[:-1]
    if top == "foundation":
        return top
    return f"{top}/{rooms[0] if rooms else 'main'}"


def cpp_graph(root: Path) -> Graph:
    """Of foundation, engine and listio."""
    graph = Graph()
    for name in tracked_files(root):
        if not name.startswith(CPP_FOLDERS) or not name.endswith(CPP):
            continue
        text = (root / name).read_text(encoding="utf-8")
        used = set()
        for included in INCLUDE.findall(text):
            places = [place for place in ("", "engine") if (root / place / included).is_file()]
            used |= {cpp_folder(Path(place, included)) for place in places}
        graph.add(cpp_folder(Path(name)), text, used)
    return graph


def python_folder(package: Path, module: str) -> str:
    """The folder of a module such as `strider.report.table`, or the module where it is in none."""
    first = module.split(".")[1] if "." in module else ""
    return first if (package / first).is_dir() and first else f"{first or '__init__'}.py"


def python_graph(root: Path) -> Graph:
    """Of python/strider."""
    graph = Graph()
    package = root / PYTHON
    for name in tracked_files(root):
        if not name.startswith(PYTHON) or not name.endswith(".py"):
            continue
        text = (root / name).read_text(encoding="utf-8")
        inside = ["strider", *Path(name.removeprefix(PYTHON)).with_suffix("").parts]
        used = {python_folder(package, module) for _, module in imported(text)}
        graph.add(python_folder(package, ".".join(inside)), text, used)
    for used in graph.uses.values():
        used.intersection_update(graph.files)  # the rest are names of the package itself
    return graph


def places(graph: Graph) -> tuple[dict[str, tuple[float, float]], int, int]:
    """The upper left corner of each folder's box, and width and height of the picture."""
    rows: dict[int, list[str]] = defaultdict(list)
    for folder, depth in graph.depths().items():
        rows[depth].append(folder)
    lines = [
        row[first : first + PER_ROW]
        for _, row in sorted(rows.items())
        for first in range(0, len(row), PER_ROW)
    ]
    width = 2 * MARGIN + max(len(line) for line in lines) * (BOX_W + GAP_X) - GAP_X
    found = {}
    for number, line in enumerate(lines):
        left = (width - len(line) * (BOX_W + GAP_X) + GAP_X) / 2
        for column, folder in enumerate(line):
            found[folder] = (left + column * (BOX_W + GAP_X), float(MARGIN + number * (BOX_H + GAP_Y)))
    return found, width, 2 * MARGIN + len(lines) * (BOX_H + GAP_Y) - GAP_Y


def picture(graph: Graph) -> str:
    """The graph as SVG."""
    corner, width, height = places(graph)
    backward = graph.backward()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"',
        f' height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"',
        ' orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>',
        *(
            arrow(corner[one], corner[other], "#c0392b" if (one, other) in backward else "#7f8c8d")
            for one, other in sorted(graph.drawn())
        ),
        *(box(folder, *place) for folder, place in corner.items()),
    ]
    return "\n".join([*parts, "</svg>", ""])


def arrow(begin: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    """An arrow from one box to another, given their corners."""
    down = end[1] > begin[1]
    x, to_x = begin[0] + BOX_W / 2, end[0] + BOX_W / 2
    y, to_y = begin[1] + (BOX_H if down else 0), end[1] + (0 if down else BOX_H)
    middle = (y + to_y) / 2
    line = f"M{x:.0f} {y}C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y}"
    return f'<path d="{line}" fill="none" stroke="{colour}" marker-end="url(#tip)"/>'


def box(folder: str, x: float, y: float) -> str:
    """A folder's box."""
    size = f'width="{BOX_W}" height="{BOX_H}" rx="4"'
    place = f'x="{x + BOX_W / 2:.0f}" y="{y + BOX_H / 2 + 5:.0f}"'
    return (
        f'<rect x="{x:.0f}" y="{y}" {size} fill="#eaf2f8" stroke="#34495e"/>'
        f'<text {place} text-anchor="middle">{escape(folder)}</text>'
    )


def listed(names: set[str], quote: str = "") -> str:
    """Names in alphabetical order."""
    return ", ".join(f"{quote}{name}{quote}" for name in sorted(names))


def table(graph: Graph) -> list[str]:
    """Folders and the ones that they use, from the uppermost to the lowest."""
    rows = [f"| `{each}` | {listed(graph.uses[each], '`')} |" for each in graph.order()]
    return ["| folder | uses |", "|---|---|", *rows, ""]


PAGE = """# Folders

Dependencies between the folders of the sources (`#include` in C++, `import` in Python), written by
`make graph` from the sources. A folder is above all folders that it uses. The tables list all dependencies
of a folder. The pictures leave out indirect ones: if A uses B and B uses C, there is no arrow from A to C.
Red arrows connect folders that use each other. C++ has none (`tests/tree/test_graph.py`).

## C++: foundation, engine, list-I/O service

![folders of C++](folders-cpp.svg)

{cpp}
## Python

![folders of Python](folders-python.svg)

{python}"""


def summary(graph: Graph) -> str:
    """Sizes and uses as text."""
    rows = [(each, graph.files[each], graph.lines[each], listed(graph.uses[each])) for each in graph.order()]
    rows.append(("all", sum(graph.files.values()), sum(graph.lines.values()), ""))
    lines = [
        f"{name:20} {files:4} files {lines:6} lines  {uses}".rstrip() for name, files, lines, uses in rows
    ]
    return "\n".join([*lines, *(f"back: {one} to {other}" for one, other in sorted(graph.backward()))])


def main() -> int:
    """Prints or writes the graphs; 1 if one of C++ has an arrow that leads back."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, help="checkout to read")
    parser.add_argument("--write", action="store_true", help="write the page of the manual")
    options = parser.parse_args()
    cpp, python = cpp_graph(options.tree), python_graph(options.tree)
    if options.write:
        folder = options.tree / "docs/reference"
        text = PAGE.format(cpp="\n".join(table(cpp)), python="\n".join(table(python)))
        (folder / "folders.md").write_text(text, encoding="utf-8")
        (folder / "folders-cpp.svg").write_text(picture(cpp), encoding="utf-8")
        (folder / "folders-python.svg").write_text(picture(python), encoding="utf-8")
    else:
        print(f"{summary(cpp)}\n\n{summary(python)}")
    return int(bool(cpp.backward()))


if __name__ == "__main__":
    sys.exit(main())

"""Five small contributions, made as CONTRIBUTING.md says: an interface, a pattern, a section, a verb, a rule.

    tests/system/contributing.py    makes them in the current folder, a copy of the tree

Prints the files that each of them touches, as JSON.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

INTERFACE, PATTERN, SECTION, VERB, LIMIT = "newcomer", "backward", "cases", "greet", "closing"
FORBIDDEN = "un" + "speakable"
"""The words of the rule; not here."""

PAGE = """
## What it is for

To try how a contribution is made.

## What to look at

Nothing.
"""
FORMULA = """
// backward: as strided, the last rank first.
std::uint64_t backward_requests(const Settings& s, Place, Direction) { return s.number("count"); }
std::vector<Extent> backward_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t t = s.number("transfer");
  return {{t * (place.ranks * (k + 1) - 1 - place.rank), 0, t}};
}
"""
VERB_SOURCE = '''"""`strider greet`: a greeting."""


def greet() -> None:
    """Print a greeting."""
    print("Hello, storage.")
'''

VERB_TEST = '''"""What `strider greet` prints."""

import pytest

from strider.cli import main


def test_it_greets(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["greet"]) == 0
    assert capfd.readouterr().out == "Hello, storage.\\n"
'''


@dataclass
class Tree:
    """A copy of the tree, and the touched files.

    Attributes:
        root: Where it is.
        touched: Files in the order in which they were touched.
    """

    root: Path
    touched: list[str] = field(default_factory=list)

    def read(self, path: str) -> str:
        """The text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Makes a file, or replaces it."""
        (self.root / path).write_text(text, encoding="utf-8")
        self.touched.append(path)

    def copy(self, source: str, path: str, changes: dict[str, str]) -> None:
        """Makes a file of another one in which some texts are replaced."""
        text = self.read(source)
        for old, new in changes.items():
            assert old in text, f"{source} has no {old!r}"
            text = text.replace(old, new)
        self.write(path, text)

    def insert(self, path: str, after: str, text: str) -> None:
        """Adds a text after the one place where another one stands."""
        whole = self.read(path)
        assert whole.count(after) == 1, f"{path} has {after!r} {whole.count(after)} times"
        self.write(path, whole.replace(after, after + text))


def add_interface(tree: Tree) -> None:
    """A copy of the template, a line and a page."""
    tree.copy(
        "engine/interfaces/template.cpp",
        f"engine/interfaces/{INTERFACE}.cpp",
        {'template_entry{"template"': f'{INTERFACE}_entry{{"{INTERFACE}"'},
    )
    line = "strider_add_interface(posix)\n"
    tree.insert("engine/interfaces/CMakeLists.txt", line, f"strider_add_interface({INTERFACE})\n")
    tree.write(f"docs/interfaces/{INTERFACE}.md", PAGE)


def add_pattern(tree: Tree) -> None:
    """A copy of another pattern, a line, the formula a second time, a picture, a page."""
    tree.copy(
        "engine/patterns/strided.cpp",
        f"engine/patterns/{PATTERN}.cpp",
        {
            "strided_": f"{PATTERN}_",
            '"strided"': f'"{PATTERN}"',
            "Strided": "Backward",
            "start = transfer_ * place.rank;": "start = transfer_ * (place.ranks - 1 - place.rank);",
            "k * ranks * transfer + rank * transfer": "k * ranks * transfer + (ranks - 1 - rank) * transfer",
        },
    )
    line = "strider_add_pattern(strided)\n"
    tree.insert("engine/patterns/CMakeLists.txt", line, f"strider_add_pattern({PATTERN})\n")
    formulas = "tests/engine/patterns/formulas.cpp"
    tree.insert(formulas, "  return {{k * stride + place.rank * t, 0, t}};\n}\n", FORMULA)
    row = f'    {{"{PATTERN}", {{{PATTERN}_requests, {PATTERN}_extents}}}},\n'
    tree.insert(formulas, '    {"strided", {strided_requests, strided_extents}},\n', row)
    picture = f'    "{PATTERN}": Picture(4, {{"transfer": 1, "count": 4}}),\n'
    tree.insert("tools/pages.py", '    "strided": Picture(4, {"transfer": 1, "count": 4}),\n', picture)
    tree.write(f"docs/patterns/{PATTERN}.md", PAGE)


def add_section(tree: Tree) -> None:
    """The example of docs/report.md, and its name in the list."""
    (source,) = re.findall(
        r"^## Add a section\n.*?^```python\n(.*?)^```", tree.read("docs/report.md"), re.S | re.M
    )
    tree.write(f"python/strider/report/sections/{SECTION}.py", source)
    tree.insert("python/strider/report/sections/__init__.py", '    "environment",\n', f'    "{SECTION}",\n')


def add_verb(tree: Tree) -> None:
    """A file, its lines in the list, a test beside it."""
    tree.write(f"python/strider/cli/{VERB}.py", VERB_SOURCE)
    verbs = "python/strider/cli/__init__.py"
    tree.write(f"tests/python/cli/test_{VERB}.py", VERB_TEST)
    export = "from strider.cli.export import export\n"
    tree.insert(verbs, export, f"from strider.cli.{VERB} import {VERB}\n")
    tree.insert(verbs, 'app.command("doctor")(doctor)\n', f'app.command("{VERB}")({VERB})\n')


def add_rule(tree: Tree) -> None:
    """A pattern of words that must not stay behind."""
    # The pattern does not match itself.
    row = f'    r"{FORBIDDEN[:-1]}[{FORBIDDEN[-1]}]": "not said here",\n'
    tree.insert("tools/tidy.py", "FORBIDDEN: dict[str, str] = {\n", row)


def add_limit(tree: Tree) -> None:
    """A rule on limits: a copy of another one, and its name in the list."""
    folder = "python/strider/limits/rules"
    changes = {
        "Opening and closing files takes": "Closing files takes",
        '"opening"': f'"{LIMIT}"',
        '"open_s", "close_s"': '"close_s"',
        'spend("open_s")': 'spend("close_s")',
        "opening and closing files take {share}": "closing files takes {share}",
        "Without opening and closing": "Without closing",
        "(`open_s` + `close_s`)": "`close_s`",
    }
    tree.copy(f"{folder}/opening.py", f"{folder}/{LIMIT}.py", changes)
    tree.insert(f"{folder}/__init__.py", '    "opening",\n', f'    "{LIMIT}",\n')


ALL = {
    "interface": add_interface,
    "pattern": add_pattern,
    "section": add_section,
    "verb": add_verb,
    "rule": add_rule,
    "limit": add_limit,
}


def main() -> None:
    """Makes all of them."""
    touched = {}
    for name, add in ALL.items():
        tree = Tree(Path.cwd())
        add(tree)
        touched[name] = list(dict.fromkeys(tree.touched))
    print(json.dumps(touched))


if __name__ == "__main__":
    main()

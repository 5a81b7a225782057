"""Keeps tests/promises/*.toml in step with the sentences of the manual's pages that promise something.

Each sentence of a page stands in the file of that name, with the tests that prove it, with the reason why
it promises nothing, or as a promise that no test proves yet. `make promises` adds new sentences without any
of these, drops those that are gone, and prints what is to be classified; the tests in tests/promises/ fail
until that is done.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "promises"
PAGES = ("comparing", "limits", "listio", "measuring")
KINDS = ("advice", "definition", "example", "heading", "measurement", "open", "pointer", "reason")
"""Why a sentence promises nothing that Strider could break: what to do, what a word means, an example, the
head of a table, a figure of one machine that a benchmark gives, a link, why something is as it is. Only
`open` is none of these: a promise that no test proves yet."""

_END = re.compile(r"(?<=[.?!])(?:\)|\*\*)?\s+(?=[A-Z`*\[(“\"0-9])")
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|vs|cf|approx|etc|Fig|No)\.$")


@dataclass(frozen=True)
class Statement:
    """A sentence of a page.

    Attributes:
        text: The sentence, white space as one blank.
        tests: What proves it: `tests/…/file.py::name`, or `Suite.Name` of a C++ test.
        kind: Why it promises nothing, or `open`; empty where tests prove it.
    """

    text: str
    tests: tuple[str, ...] = ()
    kind: str = ""


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of a page: of paragraphs, items and rows of tables; not code blocks and headings."""
    for block in _blocks(markdown):
        if block.startswith("|"):
            yield block
            continue
        rest = ""
        for part in _END.split(block):
            rest = f"{rest} {part}".strip()
            if not _ABBREVIATED.search(rest):
                yield rest
                rest = ""
        if rest:
            yield rest


def _blocks(markdown: str) -> Iterator[str]:
    """Paragraphs, items and rows, each on one line."""
    text = re.sub(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    block: list[str] = []
    for raw in [*text.splitlines(), ""]:
        line = raw.strip()
        starts = line.startswith(("- ", "* ", "|", "#")) or re.match(r"\d+\. ", line)
        if (not line or starts) and block:
            yield " ".join(block)
            block = []
        if line.startswith("#") or re.fullmatch(r"[|: -]+", line) or not line:
            continue
        block.append(re.sub(r"^([-*]|\d+\.) +", "", line))


def read(page: str) -> dict[str, Statement]:
    """The classified sentences of a page, by their text."""
    file = FOLDER / f"{page}.toml"
    if not file.exists():
        return {}
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("sentence", [])
    return {
        row["text"]: Statement(row["text"], tuple(row.get("tests", ())), row.get("kind", "")) for row in rows
    }


def on_page(page: str) -> list[str]:
    """The sentences of a page, each once, in their order."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return list(dict.fromkeys(sentences(text)))


def _row(statement: Statement) -> str:
    quoted = statement.text.replace("\\", "\\\\").replace('"', '\\"')
    lines = ["[[sentence]]", f'text = "{quoted}"']
    if statement.kind:
        lines.append(f'kind = "{statement.kind}"')
    if len(statement.tests) == 1:
        lines.append(f'tests = ["{statement.tests[0]}"]')
    elif statement.tests:
        lines += ["tests = [", *(f'  "{test}",' for test in statement.tests), "]"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Brings the files in step; 1 where sentences are to be classified."""
    open_ones = 0
    for page in PAGES:
        known = read(page)
        statements = [known.get(text, Statement(text)) for text in on_page(page)]
        head = f"# The sentences of docs/{page}.md; written by `make promises`, classified by hand.\n\n"
        (FOLDER / f"{page}.toml").write_text(head + "\n".join(map(_row, statements)), encoding="utf-8")
        for statement in statements:
            if not statement.tests and not statement.kind:
                open_ones += 1
                print(f"docs/{page}.md: {statement.text}")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())

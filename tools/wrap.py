"""Wraps the paragraphs and items of Markdown pages at one width; tables, code and headings stay as they are.

Anchors of promises (tools/promises.py) count for nothing: a page is wrapped as it is read.
`tools/wrap.py FILE...` rewrites the files; `make format` does this for the manual.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100
GENERATED = ("<!-- from the engine", "<!-- from here on by hand")
"""The comments before and after the part of a page that tools/pages.py writes."""

_FENCE = re.compile(r"^ *(`{3,}|~{3,})")
_ITEM = re.compile(r"^( *)([-*+]|\d+[.)]) +(?=\S)")
_FIXED = re.compile(r"^ *(\||#|<!--|!\[[^\]]*\]\([^)]*\)$|[-=*_]{3,}$)")
_STARTS_BLOCK = re.compile(r"^([-+*#>|=]|\d+[.)]$|```|~~~)")
_ANCHOR = re.compile(r"<!--[^\s>]+-->")
_WORD = re.compile(r"(?:`+[^`]*`+|[^\s`])+|`+")


def wrap(page: str) -> str:
    """Returns the page with each paragraph and item broken at WIDTH columns."""
    return "\n".join(_lines(page.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    at, base = 0, 0  # base: where the text of the list item that we are in begins
    while at < len(lines):
        line = lines[at]
        stop = _end_of_fixed(lines, at)
        if not stop and line.strip():
            indent = len(line) - len(line.lstrip())
            item = _ITEM.match(line)
            if not indent and not item:
                base = 0
            if not item and indent >= base + 4:
                stop = at + 1
            elif item:
                base = item.end()
        if stop or not line.strip():
            yield from lines[at : stop or at + 1]
            at = stop or at + 1
            continue
        stop = at + 1
        while stop < len(lines) and _continues(lines, stop):
            stop += 1
        yield from _paragraph(lines[at:stop])
        at = stop


def _end_of_fixed(lines: list[str], at: int) -> int:
    """The line after a part that stays as it is; 0 where none begins at this line."""
    if lines[at].startswith(GENERATED[0]):
        ends = (n for n in range(at, len(lines)) if lines[n].startswith(GENERATED[1]))
        return next(ends, len(lines) - 1) + 1
    fence = _FENCE.match(lines[at])
    if fence:
        ends = (n for n in range(at + 1, len(lines)) if lines[n].strip() == fence.group(1))
        return next(ends, len(lines) - 1) + 1
    return at + 1 if _FIXED.match(lines[at]) else 0


def _continues(lines: list[str], at: int) -> bool:
    return bool(lines[at].strip()) and not _end_of_fixed(lines, at) and not _ITEM.match(lines[at])


def _paragraph(lines: list[str]) -> Iterator[str]:
    item = _ITEM.match(lines[0])
    indent = " " * (item.end() if item else len(lines[0]) - len(lines[0].lstrip()))
    line = item.group() if item else indent
    text = " ".join([lines[0][len(line) :].strip(), *(each.strip() for each in lines[1:])])
    began = False
    for word in _WORD.findall(text):
        fits = len(_ANCHOR.sub("", f"{line} {word}")) <= WIDTH
        if began and not fits and not _STARTS_BLOCK.match(word):
            yield line
            line, began = indent, False
        line += f" {word}" if began else word
        began = True
    yield line


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(wrap(path.read_text(encoding="utf-8")), encoding="utf-8")

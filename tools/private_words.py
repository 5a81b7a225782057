#!/usr/bin/env python3
"""Counts the private words in the comments and identifiers of the sources: numbers that may only fall.

`tools/private_words.py FOLDER…` prints each occurrence below some folders; `--lower` writes smaller numbers.
"""

import io
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dependencies import tracked_files

PRIVATE_WORDS: dict[str, str] = {
    r"(no|some|any|every)body|who(m)?ever": "name the actor: a rank, a user, a program",
    r"what (has |have )?(became|become) of": "outcome, result",
    r"keeps? (\w+ )?company": "takes part",
    r"at hand": "available, local",
    r"(and|its|their|or) the like|its like": "name the rest, or leave it out",
    r"bad news": "error",
    r"tells?|told|telling": "print, report, show; distinguish",
    r"in vain": "without effect, falsely",
    r"thereof|therein": "of it, in it",
    r"none of storage('s)?": "not served by storage",
    r"anew": "again",
    r"strewn": "spread",
    r"dearer": "more expensive",
    r"for want of": "without, because there is no",
    r"(go|goes|went|going) on": "continue, be active",
    r"(is|are|was) said": "is reported",
    r"in turns": "alternating",
    r"in secret": "silently",
    r"(come|comes|came) about": "happen",
    r"one likes|pleases": "any",
    r"(stand|stands|stood) (at|beside|below|with)": "is, follows, appears",
    r"beware": "caveat",
}
"""Words that a reader of the field has to read twice, and what to write instead."""
RIDDLES = (
    r"what(ever)?\s+(it|they|is|are|was|were|has|have|had|a|an|the|this|that)",
    r"who|whom",
)
"""Clauses in place of a noun: `what it takes` for `its cost`, `who waits` for `the waiting rank`."""
IDENTIFIER_WORDS = (
    "nobody|somebody|anybody|everybody|whoever|whatever|tells?|told|telling|untold|anew|strewn|thereof|vain|"
    "seats?|seated|seating|wish|wishes|visits?|visited|heed|heeded|heeds|glance|shelf|still|standin"
)
"""The same as parts of names."""
COMMENTS, CLAUSES, NAMES = "private words in comments", "riddles in comments", "private words in identifiers"
NUMBERS = "tools/private_words.json"
"""The committed numbers, by kind."""
OWN_FILES = {"tools/private_words.py", "tests/tree/test_private_words.py", "tests/tree/test_tidy.py"}
"""Files that have to name the words."""

_PROGRAM = "tools/private_words.py"
_C_LIKE = (".cpp", ".hpp", ".h", ".c")
_C_PARTS = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"'
    r"|(?P<include>^[ \t]*#[ \t]*include[^\n]*)"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.MULTILINE | re.DOTALL,
)
_HASH = re.compile(r"(?<![^\s;])#(?!!)[^\n]*")
_TESTS = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\([^)]*\)|\bstd::visit\b|\btest_\w+")
"""Names of tests, which pages and promises name, and a name of the library."""
_MARKS = re.compile(
    r"(?://|#) proves [\w-]+:.*|///<?|//|/\*+|\*/|^[ \t]*\*(?!\w)|#+:?|`[^`\n]*`", re.MULTILINE
)
_PATTERNS = {
    kind: re.compile(rf"\b({'|'.join(words)})\b".replace(" ", r"\s+"), re.IGNORECASE)
    for kind, words in ((COMMENTS, PRIVATE_WORDS), (CLAUSES, RIDDLES))
}
_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IN_NAME = re.compile(rf"(?:{IDENTIFIER_WORDS})")


def occurrences(path: str, text: str) -> Iterator[tuple[str, int, str]]:
    """Yields kind, line and text of each private word of a source; a name counts once in its file."""
    prose, code = _split(path, text)
    for kind, pattern in _PATTERNS.items():
        for found in pattern.finditer(prose):
            yield kind, prose.count("\n", 0, found.start()) + 1, " ".join(found.group().split())
    for name in sorted(set(_NAME.findall(_TESTS.sub(" ", code)))):
        if any(_IN_NAME.fullmatch(part.lower()) for part in _PART.findall(name)):
            line = next(n for n, row in enumerate(text.splitlines(), 1) if re.search(rf"\b{name}\b", row))
            yield NAMES, line, name


def check(root: Path, paths: Iterable[str]) -> list[str]:
    """Returns what is wrong with the numbers of a tree: they are exceeded, or could be smaller."""
    file = root / NUMBERS
    if not file.is_file():
        return []
    wrong = []
    limits, counts = json.loads(file.read_text(encoding="utf-8")), count(root, paths)
    for kind, limit in limits.items():
        if counts[kind] > limit:
            wrong.append(f"{counts[kind]} {kind}, more than {limit}: {_PROGRAM} lists them; use plain words")
        elif counts[kind] < limit:
            wrong.append(f"{counts[kind]} {kind}, fewer than {limit}: run {_PROGRAM} --lower, and commit it")
    return wrong


def count(root: Path, paths: Iterable[str]) -> dict[str, int]:
    """Returns the number of occurrences of each kind in the sources among some files."""
    counts = dict.fromkeys((COMMENTS, CLAUSES, NAMES), 0)
    for path in paths:
        for kind, _, _ in occurrences(path, _read(root, path)):
            counts[kind] += 1
    return counts


def _read(root: Path, path: str) -> str:
    """Returns the text of a source; empty if it is none."""
    is_source = path.endswith((*_C_LIKE, ".py", ".sh", ".toml", ".cmake", "CMakeLists.txt"))
    return (root / path).read_text(encoding="utf-8") if is_source and path not in OWN_FILES else ""


def _split(path: str, text: str) -> tuple[str, str]:
    """Returns comments and code of a source, both as long as it; code between comments is `|`."""
    if path.endswith(_C_LIKE):
        parts = [(one.span(), one.group("comment") is not None) for one in _C_PARTS.finditer(text)]
    elif path.endswith(".py"):
        parts = list(_python_parts(text))
    else:
        parts = [(one.span(), True) for one in _HASH.finditer(text)]
    prose, code = list(re.sub(r"\S", "|", text)), list(text)
    for (begin, end), is_comment in parts:
        code[begin:end] = " " * (end - begin)
        if is_comment:
            prose[begin:end] = _MARKS.sub(lambda mark: " " * len(mark.group()), text[begin:end])
    return "".join(prose), "".join(code) if path.endswith((*_C_LIKE, ".py")) else ""


def _python_parts(text: str) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yields the span of each comment and string, and whether it is a comment or a docstring."""
    starts = [0]
    for line in io.StringIO(text):
        starts.append(starts[-1] + len(line))
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    ]
    begins = True
    for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        span = (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        if token.type == tokenize.COMMENT:
            yield span, True
            continue
        if token.type == tokenize.STRING:
            yield span, begins and following.type in (tokenize.NEWLINE, tokenize.COMMENT)
        begins = token.type == tokenize.NEWLINE


def main(words: Sequence[str]) -> int:
    """Prints the occurrences below some folders, or lowers the numbers."""
    root = Path(__file__).resolve().parents[1]
    paths = tracked_files(root)
    if list(words) == ["--lower"]:
        before = json.loads((root / NUMBERS).read_text(encoding="utf-8"))
        counts = {kind: min(before[kind], number) for kind, number in count(root, paths).items()}
        (root / NUMBERS).write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        return 0
    chosen = [path for path in paths if path.startswith(tuple(words))] if words else paths
    for path in chosen:
        for kind, line, word in occurrences(path, _read(root, path)):
            print(f"{path}:{line}: {kind}: {word}")
    for kind, number in count(root, chosen).items():
        print(f"{number} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Two directories that were measured alternately: one sentence, and a table of at most 24 lines.

A row is a line of the card (`strider.card`), with its rate in both directories. Words are given only to rows
of grade A or B: enough pairs, and rates of the same kind of storage.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from strider.card.make import WANTED, Wanted, depth_of, line_label
from strider.card.model import SAME, Rate
from strider.card.wording import cut, in_words
from strider.compare.comparing import compare
from strider.compare.model import Comparison, Measured, Overall, Row
from strider.statistics import Trust, is_trusted, summarize
from strider.statistics.trust import OF_SOURCES, WIDE
from strider.store.model import Run
from strider.units import MIB

WIDTH, HEIGHT = 80, 24
MOST_PARTS = 4
_MOST_NOTES = 3
_LABEL, _RATE, _RATIO = 30, 10, 17
_UNKNOWN = "?"
_UNKNOWN_MEANS = f"({_UNKNOWN}: neither a difference nor equality within 10 % is shown at grade A or B)"

Words = Mapping[str, str]
_KINDS: Mapping[str, Words] = {
    "local": {"stable": "stable ", "cold": "cold "},
    "memory": {"stable": "", "cold": ""},
    "network": {"stable": "synced ", "cold": "client-cold "},
}
#: Names of the lines in the sentence, in its order.
_PHRASES = {
    "write.sequential": "{stable}1 MiB writes",
    "read.sequential": "{cold}1 MiB reads",
    "read.random": "random 4 KiB reads",
    "append.fsync": "4 KiB appends with fsync",
    "write.random": "random 4 KiB writes",
    "create.synced": "synced creates of 4 KiB files",
    "read.random.deep": "random 4 KiB reads ({depth} at once)",
    "write.random.deep": "random 4 KiB writes ({depth} at once)",
    "read.deep": "{cold}1 MiB reads ({depth} at once)",
}


@dataclass(frozen=True)
class Directory:
    """One of the directories.

    Attributes:
        name: As the user typed it.
        kind: Where its data is, as on a card.
        about: File system, device and space, in words.
    """

    name: str
    kind: str
    about: str


@dataclass(frozen=True)
class DirectoryRow:
    """A line of the card on both sides.

    Attributes:
        phrase: Its name in the sentence; empty for a line that the sentence does not use.
        rates: Rates in both directories in bytes or requests per second; None if unknown.
        row: The comparison.
    """

    wanted: Wanted
    label: str
    phrase: str
    rates: tuple[float | None, float | None]
    row: Row

    @property
    def word(self) -> str:
        """How the second directory compares with the first: faster, slower, same, `?`, or `-` for nothing."""
        change = self.row.change
        if change is None:
            return "-"
        if self.row.verdict in ("faster", "slower"):
            return self.row.verdict
        is_same = is_trusted(self.row.trust) and 1 / SAME < change.low <= change.high < SAME
        return "same" if is_same else _UNKNOWN


@dataclass(frozen=True)
class Directories:
    """The comparison of two directories.

    Attributes:
        directories: The base first.
        comparison: Of their runs.
        rows: In the order of the card.
        pairs: Number of pairs of runs.
    """

    directories: tuple[Directory, Directory]
    comparison: Comparison
    rows: Sequence[DirectoryRow]
    pairs: int


def compare_directories(
    directories: tuple[Directory, Directory],
    base: Sequence[Run],
    other: Sequence[Run],
    threshold: float = 0.0,
) -> Directories:
    """Compares two directories by runs that alternate; verdicts need the same kind of storage on both sides.

    Args:
        directories: The directories, the base first.
        base: Runs in the first.
        other: Those in the second.
        threshold: As of `compare`.
    """
    found = compare(base, other, threshold=threshold)
    sources = [_sources(runs) for runs in (base, other)]
    checked = replace(found, rows=[_checked(row, sources) for row in found.rows])
    return Directories(directories, checked, list(_rows(directories, checked)), len(base))


def _sources(runs: Sequence[Run]) -> dict[tuple[str, str], Trust]:
    """How far the source of each operation can be trusted: what served its bytes, in the worst run."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for run in runs:
        for summary in summarize(run):
            own = summary.trust.findings if summary.trust else ()
            found.setdefault((summary.case.name, summary.operation), []).extend(
                finding for finding in own if finding[1] in OF_SOURCES
            )
    return {key: Trust.of(list(dict.fromkeys(findings))) for key, findings in found.items()}  # type: ignore[arg-type]


def _checked(row: Row, sources: Sequence[Mapping[tuple[str, str], Trust]]) -> Row:
    """Returns a row without a verdict if one side is not known to come from storage.

    Or if its interval is so wide that it shows neither a difference nor that there is none worth a word.
    """
    if row.trust is None or row.base is None:
        return row
    key = (row.base.case.name, row.operation)
    own = [side[key] for side in sources if key in side]
    found = [*row.trust.findings, *(finding for one in own for finding in one.findings)]
    trust = Trust.of([*found, ("C", "spread")] if _is_vague(row) else found)
    if is_trusted(trust) or not is_trusted(row.trust):
        return replace(row, trust=trust)
    return replace(row, trust=trust, verdict="no verdict", reason=", ".join(trust.reasons))


def _is_vague(row: Row) -> bool:
    change = row.change
    return (
        change is not None and change.low <= 1 <= change.high and change.high / change.low > (1 + WIDE) ** 2
    )


def _rows(directories: Sequence[Directory], found: Comparison) -> Iterator[DirectoryRow]:
    kinds = [directory.kind for directory in directories]
    kind = kinds[0] if kinds[0] == kinds[1] else "network"
    kind = "network" if kind == "fuse" else kind
    for wanted in WANTED:
        for row in found.rows:
            side = row.base or row.other
            if side and (side.case.name, row.operation) == (wanted.case, wanted.operation):
                yield _row(wanted, kind, row, side)


def _row(wanted: Wanted, kind: str, row: Row, side: Measured) -> DirectoryRow:
    case = side.case
    depth = depth_of(case)
    words = dict(_KINDS[kind])
    label = line_label(wanted, kind, depth, case.interface_name)
    phrase = _PHRASES.get(wanted.id, "")
    if wanted.unit == "B/s" and case.shape_name == "random":
        # A file that is long enough to be read in order could not be written in time.
        label = line_label(wanted, "memory", depth, case.interface_name)
        phrase = phrase.replace("{cold}1 MiB reads", "1 MiB reads in any order")
    rates = (_rate(wanted, row.base), _rate(wanted, row.other))
    return DirectoryRow(wanted, label, phrase.format(**words, depth=depth), rates, row)


def _rate(wanted: Wanted, side: Measured | None) -> float | None:
    """The typical rate of a side in the unit of the line."""
    if side is None or side.typical is None:
        return None
    if wanted.unit == "B/s":
        return side.typical * MIB
    return side.typical if side.case.is_metadata else side.typical * MIB / (side.case.transfer_bytes or 1)


def sentence(found: Directories) -> str:
    """Returns the answer: which directory is faster, for what, by how much, with the interval.

    Only rows of grade A or B, in a fixed order, and at most four of them.
    """
    order = list(_PHRASES)
    rows = sorted((row for row in found.rows if row.phrase), key=lambda row: order.index(row.wanted.id))
    named = [row for row in rows if row.word in ("faster", "slower")]
    same = [row for row in rows if row.word == "same"]
    names = [directory.name for directory in found.directories]
    if not any(is_trusted(row.row.trust) for row in rows):
        return f"{names[0]} and {names[1]} cannot be compared: {_reason(rows)}."
    if named:
        parts = list(_parts(named[:MOST_PARTS], names))
        if len(named) > MOST_PARTS:
            parts.append(f"{len(named) - MOST_PARTS} more in the table")
        elif same and len(named) < MOST_PARTS:
            parts.append(f"the same within 10 % for {_listed(same[: MOST_PARTS - len(named)])}")
        return f"{'; '.join(parts)}."
    if whole := next((one for one in found.comparison.overall if one.verdict in ("faster", "slower")), None):
        return _overall(whole, names)
    if same:
        rest = "" if len(same) == len(rows) else "; no difference is shown for the rest"
        return (
            f"{names[0]} and {names[1]} are equally fast within 10 % for {_listed(same[:MOST_PARTS])}{rest}."
        )
    return f"No difference between {names[0]} and {names[1]} is shown; all intervals reach beyond 10 %."


def _reason(rows: Sequence[DirectoryRow]) -> str:
    words = [row.row.reason or ", ".join(row.row.trust.reasons if row.row.trust else ()) for row in rows]
    found = list(dict.fromkeys(word for word in words if word))
    return "; ".join(found[:2]) or "nothing was measured in both"


def _parts(rows: Sequence[DirectoryRow], names: Sequence[str]) -> Iterator[str]:
    """`A is 1.8 times as fast as B for … [1.6–2.0]`; later parts repeat only what differs."""
    before = ""
    for row in rows:
        faster, slower = names[::-1] if row.word == "faster" else names
        size, interval = times_text(row)
        if faster == before:
            start = f"{size} times"
        else:
            start = f"{faster} is {size} times as fast{'' if before else f' as {slower}'}"
        before = faster
        yield f"{start} for {row.phrase} [{interval}]"


def times_text(row: DirectoryRow) -> tuple[str, str]:
    """Returns how many times as fast the faster one is, and the interval: `1.8` and `1.6–2.0`."""
    change = row.row.change
    if change is None:
        raise ValueError("a row without a change has no ratio")
    return _times(change.ratio, change.low, change.high)


def _times(ratio: float, low: float, high: float) -> tuple[str, str]:
    if ratio < 1:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    digits = _digits(low, high, most=3)
    return f"{ratio:.{digits}f}", f"{low:.{digits}f}–{high:.{digits}f}"


def _digits(low: float, high: float, most: int) -> int:
    """Decimals that show the half-width of an interval, and on which side of 1 it lies."""
    half = (high - low) / 2
    digits = most if half <= 0 else max(0 if low >= 10 else 1, min(most, math.ceil(-math.log10(half))))
    while digits < most and any(round(end, digits) == 1 != end for end in (low, high)):
        digits += 1
    return digits


def _overall(whole: Overall, names: Sequence[str]) -> str:
    change = whole.change
    faster, slower = names[::-1] if whole.verdict == "faster" else names
    size, interval = _times(change.ratio, change.low, change.high)
    return (
        f"Over all {whole.rows} lines {faster} is {size} times as fast as {slower} [{interval}]; no single "
        "line shows a difference."
    )


def _listed(rows: Sequence[DirectoryRow]) -> str:
    *first, last = [row.phrase for row in rows]
    return f"{', '.join(first)} and {last}" if first else last


def lines(found: Directories, about: str, notes: Sequence[str] = ()) -> list[str]:
    """Returns the sentence and the table: at most 24 lines of 80 columns.

    Args:
        found: The comparison.
        about: Heads the table, such as `6 pairs, 231 s`.
        notes: Cautions, the weightiest first.
    """
    sides = [
        cut(f"{label}: {one.name}: {one.about}", WIDTH)
        for label, one in zip("AB", found.directories, strict=True)
    ]
    text = [*textwrap.wrap(sentence(found), WIDTH), *sides, *_head(about), *map(_table_line, found.rows)]
    room = max(0, min(_MOST_NOTES, HEIGHT - len(text)))
    noted = [cut(f"! {note}", WIDTH) for note in notes[:room]]
    has_sign = any(row.word == _UNKNOWN for row in found.rows)
    meaning = [_UNKNOWN_MEANS] if has_sign and len(text) + len(noted) < HEIGHT else []
    return [*text, *meaning, *noted]


def _head(about: str) -> list[str]:
    """The headings of the columns, on two lines: `verdict on B` and `grade` are wider than their columns."""
    second = _line("", "in A", "in B", "[95 % interval]", "on B", "")
    return [_line(about, "rate", "rate", "ratio B / A", "verdict", ""), f"{second:<{WIDTH - 5}}grade"]


def _table_line(row: DirectoryRow) -> str:
    first, second = (
        "-" if value is None else in_words(Rate(value=value, unit=row.wanted.unit), 3) for value in row.rates
    )
    change = row.row.change
    ratio = cut(row.row.reason, _RATIO) if change is None else _ratio(change.ratio, change.low, change.high)
    grade = row.row.trust.grade if row.row.trust else "-"
    return _line(row.label, first, second, ratio, row.word, grade)


def _ratio(ratio: float, low: float, high: float) -> str:
    digits = _digits(low, high, most=2)
    return f"x{ratio:.{digits}f} [{low:.{digits}f}-{high:.{digits}f}]"


def _line(label: str, first: str, second: str, ratio: str, word: str, grade: str) -> str:
    rates = f"{cut(label, _LABEL):<{_LABEL}}{first:>{_RATE}}{second:>{_RATE}}"
    return f"{rates}  {ratio:<{_RATIO}} {word:<6} {grade}"[:WIDTH].rstrip()

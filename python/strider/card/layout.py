"""A card as text: at most 24 lines of 80 columns, readable without colours."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.card.model import IMAGE_FILE, POSIX, Card, Line, Rate, RatioLine, by_reason
from strider.card.wording import cut, factor, in_words, size, time, wrapped

WIDTH, HEIGHT = 80, 24
MOST_CAUTIONS = 3
_LABEL = 31
_RATIO_LABEL = 16
#: Lines for missing measurements.
_LEFT_OUT = 2

Style = Literal["", "bold", "A", "C", "dim", "caution"]


@dataclass(frozen=True)
class CardLine:
    """A line of text and what its colour doubles."""

    text: str
    style: Style = ""


_ROWS = {
    "clients": "{clients} clients / 1",
    "shared": "shared / own",
    "pieces": "pieces / POSIX",
    "large": "1 MiB / POSIX",
    "native": "{native} / POSIX",
}
_NAMES = "names."
_UNKNOWN = "?"
_UNKNOWN_MEANS = f"({_UNKNOWN}: neither a difference of 10 % nor equality within 10 % is shown)"
_ALONE_MEANS = "(±: of these rounds; the next card can differ by more)"


def card_lines(card: Card) -> list[CardLine]:
    """Returns the lines of a card."""
    head = [CardLine(_place(card)), *_sentence(card), CardLine(_head(card), "dim")]
    rates = [*_rates(card), *_names(card)]
    below = [*_cached(card), *_left_out(card), *_limit(card)]
    rows = _ratio_rows(card)
    room = HEIGHT - len(head) - len(rates) - len(rows) - len(below) - 1
    ratios = [CardLine(line) for row in rows for line in _folded(row, room)]
    room -= len(ratios) - len(rows)
    warned = _warned(card, room)
    room -= len(warned)
    meaning = [*_meaning(ratios), *_alone(card)][: max(0, room)]
    return [*head, *rates, *ratios, *meaning, *below, *warned, *_written(card, room - len(meaning))]


def _folded(row: tuple[str, Sequence[str]], room: int) -> list[str]:
    """A row of ratios, on two lines if it is too long and there is room."""
    label, cells = row
    whole = f"{label:<{_RATIO_LABEL}}{'  '.join(cells)}"
    if len(whole) <= WIDTH or room <= 0:
        return [cut(whole, WIDTH)]
    return [f"{label:<{_RATIO_LABEL}}{cells[0]}", cut(f"{'':<{_RATIO_LABEL}}{'  '.join(cells[1:])}", WIDTH)]


def _meaning(ratios: Sequence[CardLine]) -> list[CardLine]:
    """The meaning of the sign after ratios without a word."""
    has_sign = any(_UNKNOWN in line.text.split() for line in ratios)
    return [CardLine(_UNKNOWN_MEANS, "dim")] if has_sign else []


def _alone(card: Card) -> list[CardLine]:
    """Returns the limits of the intervals of a card without earlier cards."""
    has_interval = any(line.rate and line.rate.low is not None for line in card.lines)
    return [CardLine(_ALONE_MEANS, "dim")] if has_interval and card.cards == 1 else []


def _warned(card: Card, room: int) -> list[CardLine]:
    """The weightiest cautions that fit, each whole."""
    lines: list[CardLine] = []
    for one in card.cautions[:MOST_CAUTIONS]:
        found = textwrap.wrap(one.text, WIDTH, initial_indent="! ", subsequent_indent="  ")
        if len(lines) + len(found) <= room:
            lines += [CardLine(line, "caution") for line in found]
    return lines


def _place(card: Card) -> str:
    cores = f"{card.machine.cores} core{'s' if card.machine.cores != 1 else ''}"
    right = f"{cores}, {size(card.machine.memory)} memory"
    about = _about(card)
    room = WIDTH - len(about) - len(right) - 2
    path = card.target
    if len(path) > room:
        path = f"...{path[-max(1, room - 3) :]}"
    left = cut(f"{path}{about}", WIDTH - len(right) - 2)
    return f"{left}{right.rjust(WIDTH - len(left))}"


def place_line(card: Card) -> str:
    """Returns the directory and its storage: `/scratch: ext4 on vda, 252 GB, 72 GB free`."""
    return f"{card.target}{_about(card)}"


def _about(card: Card) -> str:
    facts = card.place
    device = f" on {facts.device}" if facts.device else ""
    virtual = " (virtual)" if facts.virtual else ""
    fs = facts.fs or "unknown file system"
    name = fs if facts.interface == POSIX else f"through {facts.interface} ({fs})"
    return f": {name}{device}{virtual}, {size(facts.size)}, {size(facts.free)} free"


def _sentence(card: Card) -> list[CardLine]:
    return [CardLine(line, "bold") for line in wrapped(card.verdict, WIDTH)]


def _head(card: Card) -> str:
    covered = f"{card.cards} cards" if card.cards > 1 else "rounds"
    of = "" if card.budget.cut else f"; ± of {covered}"
    return _row(
        f"{taken(card)}{of}", ("rate", "±95%", "p50", "p99"), "limit" if card.limit else None, "grade"
    )


def taken(card: Card) -> str:
    """Returns the rounds and seconds: `5 rounds, 118 s`; of a cut run `2 rounds, 31 of 120 s: cut`."""
    budget = card.budget
    rounds = f"{budget.rounds} round{'s' if budget.rounds != 1 else ''}"
    if budget.cut:
        return f"{rounds}, {budget.took_s:.0f} of {budget.asked_s:.0f} s: cut"
    return f"{rounds}, {budget.took_s:.0f} s"


def _written(card: Card, room: int) -> list[CardLine]:
    """The path of the report, and that of the image where it fits."""
    report = _report(card)
    image = f"image: {Path(card.report).with_name(IMAGE_FILE)}"
    if room > 0 and len(image) <= WIDTH:
        return [CardLine(image), CardLine(report)]
    both = f"{report} (image: {IMAGE_FILE})"
    return [CardLine(both if len(both) <= WIDTH and not card.budget.cut else report)]


def _report(card: Card) -> str:
    if card.budget.cut:
        return f"to write the report: strider report {Path(card.report).parent}"
    return f"report: {card.report}"


def _row(label: str, cells: Sequence[str], limit: str | None, grade: str) -> str:
    """A row; `limit` is None where no line has one, and the column is missing."""
    rate, interval, p50, p99 = cells
    share = "" if limit is None else f"{limit:>6}"
    gap = " " if share else "  "
    text = f"{cut(label, _LABEL):<{_LABEL}}{rate:>10}{interval:>6}{p50:>8}{p99:>8}{share}{gap}{grade}"
    return cut(text.rstrip(), WIDTH)


def _rates(card: Card) -> list[CardLine]:
    shown = [line for line in card.lines if not line.id.startswith(_NAMES) and line.id != "read.cached"]
    return [_rate(line, card.limit is not None) for line in shown if line.rate or _fits(line)]


def _missing(line: Line) -> str:
    return f"{line.label:<{_LABEL}}  not measured: {line.why}"


def _fits(line: Line) -> bool:
    """Returns whether the reason of a missing line fits beside it; otherwise it is printed below."""
    return len(_missing(line)) <= WIDTH


def _rate(line: Line, has_limit: bool) -> CardLine:
    if line.rate is None:
        return CardLine(_missing(line), "dim")
    p50, p99 = (
        ("-" if value is None else time(value)) for value in (line.latency_us.p50, line.latency_us.p99)
    )
    grade = " ".join([line.grade, *map(_reason, line.reasons[:1])])
    share = "-" if line.limit is None else f"{line.limit:.0%}"
    cells = (in_words(line.rate, 3), interval(line), p50, p99)
    return CardLine(_row(line.label, cells, share if has_limit else None, grade), _style(line.grade))


def line_cells(line: Line) -> list[str]:
    """Returns the cells of a line in a table: label, rate, interval, p50, p99, share of the limit, grade."""
    percentiles = [
        "–" if value is None else time(value) for value in (line.latency_us.p50, line.latency_us.p99)
    ]
    reasons = ", ".join(map(_reason, line.reasons))
    trust = " ".join(filter(None, [line.grade, reasons])) or "cache: not storage"
    limit = "–" if line.limit is None else f"{line.limit:.0%}"
    return [
        line.label,
        in_words(line.rate, 3) if line.rate else "–",
        interval(line),
        *percentiles,
        limit,
        trust,
    ]


def _reason(word: str) -> str:
    return word.replace("repetition", "round")


def interval(line: Line) -> str:
    """Returns the half-width of an interval: `14%`, or a factor from 100 % on."""
    half = line.rate.half_width if line.rate else None
    if half is None:
        return "-"
    if half >= 1:
        return factor(1 + half)
    if half < 0.001:
        return "<0.1%"
    return f"{half:.0%}" if half >= 0.095 else f"{half * 100:.2g}%"


def _style(grade: str) -> Style:
    return "A" if grade == "A" else "" if grade == "B" else "C"


def _names(card: Card) -> list[CardLine]:
    """Operations on names in one row, with the weakest grade and its reason."""
    lines = [line for line in card.lines if line.id.startswith(_NAMES) and line.rate]
    if not lines:
        return []
    rates = ", ".join(f"{line.label} {in_words(line.rate, 2)}" for line in lines if line.rate)
    weakest = max(lines, key=lambda line: line.grade)
    grade = " ".join([weakest.grade, *map(_reason, weakest.reasons[:1])])
    return [CardLine(cut(f"not synced: {rates}  {grade}", WIDTH), _style(weakest.grade))]


def _ratio_rows(card: Card) -> list[tuple[str, Sequence[str]]]:
    """The label of each row of ratios, and its ratios."""
    rows: list[tuple[str, Sequence[str]]] = []
    for row in _ROWS:
        found = [ratio_in_words(ratio) for ratio in card.ratios if ratio.row == row]
        if found:
            rows.append((ratio_label(card, row), found))
    return rows


def ratio_label(card: Card, row: str) -> str:
    """Returns the quotient of a row of ratios: `2 clients / 1`."""
    return _ROWS[row].format(clients=card.machine.clients, native=card.place.native)


def ratio_in_words(ratio: RatioLine) -> str:
    """Returns a ratio with its interval: `MPI-IO x1.9 [1.7-2.1] faster`."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.what} {factor(ratio.value)} (too few rounds)"
    ends = f"[{factor(ratio.low)[1:]}-{factor(ratio.high)[1:]}]"
    return f"{ratio.what} {factor(ratio.value)} {ends} {ratio.word or _UNKNOWN}"


def _cached(card: Card) -> list[CardLine]:
    line = card.line("read.cached")
    if line is None or line.rate is None:
        return []
    return [CardLine(f"(from the page cache: read {in_words(line.rate)}: not storage)", "dim")]


def _left_out(card: Card) -> list[CardLine]:
    """Returns the measurements without a row, with the reason."""
    known = {line.id for line in card.lines if line.rate or _fits(line)}
    missing = [one for one in card.not_measured if one.id not in known]
    said = [f"{why}: {', '.join(dict.fromkeys(names))}" for why, names in by_reason(missing).items()]
    if not said:
        return []
    return [CardLine(line, "dim") for line in _paragraph(f"(not measured, {'; '.join(said)})")]


def _paragraph(text: str) -> list[str]:
    """A text on two lines at most."""
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=" ")
    return lines if len(lines) <= _LEFT_OUT else [*lines[: _LEFT_OUT - 1], cut(" ".join(lines[1:]), WIDTH)]


def _limit(card: Card) -> list[CardLine]:
    if card.limit is None:
        return []
    rate = in_words(Rate(value=card.limit.rate, unit="B/s"))
    return [CardLine(f"(limit: {card.limit.what}, {rate})", "dim")]

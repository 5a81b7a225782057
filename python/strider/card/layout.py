"""A card as text: at most 24 lines of 80 columns, readable without colours."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.card.model import POSIX, Card, Line, RatioLine, by_reason
from strider.card.wording import factor, in_words, size, time

WIDTH, HEIGHT = 80, 24
MOST_CAUTIONS = 3
_LABEL = 31

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


def card_lines(card: Card) -> list[CardLine]:
    """Returns the lines of a card."""
    head = [CardLine(_place(card)), *_sentence(card), CardLine(_head(card), "dim")]
    body = [*_rates(card), *_names(card), *_ratio_rows(card), *_cached(card), *_left_out(card)]
    tail = [CardLine(_report(card))]
    room = max(0, min(MOST_CAUTIONS, HEIGHT - len(head) - len(body) - len(tail)))
    warned = [CardLine(_cut(f"! {one.text}", WIDTH), "caution") for one in card.cautions[:room]]
    return [*head, *body, *warned, *tail]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _place(card: Card) -> str:
    facts = card.place
    device = f" on {facts.device}" if facts.device else ""
    virtual = " (virtual)" if facts.virtual else ""
    fs = facts.fs or "unknown file system"
    name = fs if facts.interface == POSIX else f"through {facts.interface} ({fs})"
    about = f": {name}{device}{virtual}, {size(facts.size)}, {size(facts.free)} free"
    cores = f"{card.machine.cores} core{'s' if card.machine.cores != 1 else ''}"
    right = f"{cores}, {size(card.machine.memory)} memory"
    room = WIDTH - len(about) - len(right) - 2
    path = card.target
    if len(path) > room:
        path = f"...{path[-max(1, room - 3) :]}"
    left = _cut(f"{path}{about}", WIDTH - len(right) - 2)
    return f"{left}{right.rjust(WIDTH - len(left))}"


def _sentence(card: Card) -> list[CardLine]:
    return [CardLine(line, "bold") for line in textwrap.wrap(card.verdict, WIDTH)]


def _head(card: Card) -> str:
    return _row(taken(card), "rate", "±95%", "p50", "p99", "grade")


def taken(card: Card) -> str:
    """Returns the rounds and seconds: `5 rounds, 118 s`; of a cut run `2 rounds, 31 of 120 s: cut`."""
    budget = card.budget
    rounds = f"{budget.rounds} round{'s' if budget.rounds != 1 else ''}"
    if budget.cut:
        return f"{rounds}, {budget.took_s:.0f} of {budget.asked_s:.0f} s: cut"
    return f"{rounds}, {budget.took_s:.0f} s"


def _report(card: Card) -> str:
    if card.budget.cut:
        return f"to write the report: strider report {Path(card.report).parent}"
    return f"report: {card.report}"


def _row(label: str, rate: str, interval: str, p50: str, p99: str, grade: str) -> str:
    cells = f"{_cut(label, _LABEL):<{_LABEL}}{rate:>10}{interval:>6}{p50:>8}{p99:>8}  {grade}"
    return _cut(cells.rstrip(), WIDTH)


def _rates(card: Card) -> list[CardLine]:
    shown = [line for line in card.lines if not line.id.startswith(_NAMES) and line.id != "read.cached"]
    return [_rate(line) for line in shown]


def _rate(line: Line) -> CardLine:
    if line.rate is None:
        return CardLine(_cut(f"{line.label:<{_LABEL}}  not measured: {line.why}", WIDTH), "dim")
    p50, p99 = (
        ("-" if value is None else time(value)) for value in (line.latency_us.p50, line.latency_us.p99)
    )
    grade = " ".join([line.grade, *map(_reason, line.reasons[:1])])
    return CardLine(
        _row(line.label, in_words(line.rate, 3), interval(line), p50, p99, grade), _style(line.grade)
    )


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
    return [CardLine(_cut(f"not synced: {rates}  {grade}", WIDTH), _style(weakest.grade))]


def _ratio_rows(card: Card) -> list[CardLine]:
    rows = []
    for row in _ROWS:
        found = [ratio for ratio in card.ratios if ratio.row == row]
        if found:
            rows.append(CardLine(_ratio_row(ratio_label(card, row), found)))
    return rows


def ratio_label(card: Card, row: str) -> str:
    """Returns what a row of ratios divides: `2 clients / 1`."""
    return _ROWS[row].format(clients=card.machine.clients, native=card.place.native)


def _ratio_row(label: str, found: Sequence[RatioLine]) -> str:
    cells = [ratio_in_words(ratio) for ratio in found]
    return _cut(f"{label:<16}{'  '.join(cells)}", WIDTH)


def ratio_in_words(ratio: RatioLine) -> str:
    """Returns a ratio with its interval: `MPI-IO x1.9 [1.7-2.1] faster`."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.what} {factor(ratio.value)} (too few rounds)"
    ends = f"[{factor(ratio.low)[1:]}-{factor(ratio.high)[1:]}]"
    return f"{ratio.what} {factor(ratio.value)} {ends} {ratio.word or '?'}"


def _cached(card: Card) -> list[CardLine]:
    line = card.line("read.cached")
    if line is None or line.rate is None:
        return []
    return [CardLine(f"(from the page cache: read {in_words(line.rate)}: not storage)", "dim")]


def _left_out(card: Card) -> list[CardLine]:
    """What has no row, with the reason."""
    known = {line.id for line in card.lines}
    missing = [one for one in card.not_measured if one.id not in known]
    said = [f"{why}: {', '.join(names)}" for why, names in by_reason(missing).items()]
    return [CardLine(_cut(f"(not measured, {'; '.join(said)})", WIDTH), "dim")] if said else []

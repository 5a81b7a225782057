"""The sentence of the card: only numbers of grade A or B, in a fixed order."""

from collections.abc import Iterator

from strider.card.model import POSIX, Card, Line, RatioLine
from strider.card.wording import count, factor, in_words, time
from strider.statistics.grades import plain, reason_of

MOST_CHARACTERS = 160
MOST_NUMBERS = 5


def verdict(card: Card) -> str:
    """Returns the sentence, of at most 160 characters.

    Parts that no number of grade A or B supports are left out; the last parts go first where it is too long.
    """
    data = _data(card)
    random = _random(card)
    rates = [part for part in (", ".join([*data, *random]), *_latency(card)) if part] or _other(card)
    if not rates:
        return nothing(card)
    parts = [*rates, *_sharing(card)][: MOST_NUMBERS - max(0, len(data) + len(random) - 1)]
    while len(parts) > 1 and len(_sentence(card, parts)) > MOST_CHARACTERS:
        parts.pop()
    sentence = _sentence(card, parts)
    return (
        sentence
        if len(sentence) <= MOST_CHARACTERS
        else _sentence(card, [", ".join(data or random or rates)])
    )


def nothing(card: Card) -> str:
    """Returns the sentence of a card without a trusted number, with the most frequent reasons."""
    if card.budget.cut:
        return f"The run was cut after {card.budget.took_s:.0f} s: too few rounds for a sentence."
    graded = [line for line in card.lines if line.grade or line.why]
    reasons = [word for line in graded for word in (line.reasons or ([line.why] if line.why else []))]
    words = [_in_words(word) for word in reasons]
    found = sorted(dict.fromkeys(words), key=lambda word: -words.count(word))
    start = "Nothing here could be measured well enough for a sentence: "
    said = found[:1]
    for word in found[1:]:
        if len(start) + len(", ".join([*said, word])) < MOST_CHARACTERS:
            said.append(word)
    text = ", ".join(said).replace("repetition", "round") or "no results"
    return f"{start}{text[: MOST_CHARACTERS - len(start) - 1]}."


def _in_words(word: str) -> str:
    """Returns the meaning of a reason; a word that is none, or has a number, as it is."""
    reason = reason_of(word)
    return plain(reason.meaning) if reason and reason.name == word else word


def place(card: Card) -> str:
    """Returns the kind of storage: `Local ext4 on vda`."""
    facts = card.place
    if facts.interface != POSIX:
        return f"Through {facts.interface} ({facts.fs})"
    if facts.kind == "memory":
        return f"Memory ({facts.fs})"
    name = facts.fs.removeprefix("fuse.")
    through = " through FUSE" if facts.kind == "network" and name != facts.fs else ""
    kind = {"local": "Local", "network": "Network", "fuse": "FUSE"}[facts.kind]
    device = f" on {facts.device}" if facts.device else ""
    return f"{kind} {name or 'file system'}{through}{device}"


def _sentence(card: Card, parts: list[str]) -> str:
    return f"{place(card)}: {'; '.join(parts)}."


def _trusted(card: Card, name: str) -> Line | None:
    line = card.line(name)
    return line if line and line.is_trusted else None


def _data(card: Card) -> list[str]:
    parts = []
    if (line := _trusted(card, "read.sequential")) and line.rate:
        parts.append(f"{in_words(line.rate)} reads{_servers(card)}")
    elif (line := _trusted(card, "read.deep")) and line.rate:
        parts.append(f"{in_words(line.rate)} reads ({line.depth} at once){_servers(card)}")
    if (line := _trusted(card, "write.sequential")) and line.rate:
        words = {"memory": "writes", "local": "durable writes"}.get(card.place.kind, "synced writes")
        parts.append(f"{in_words(line.rate)} {words}")
    return parts


def _servers(card: Card) -> str:
    return " (servers may cache)" if card.place.kind in ("network", "fuse") else ""


def _random(card: Card) -> list[str]:
    one, deep = _trusted(card, "read.random"), _trusted(card, "read.random.deep")
    if one and one.rate:
        more = f" ({count(deep.rate.value)} from {deep.depth} at once)" if deep and deep.rate else ""
        return [f"{count(one.rate.value)} random reads/s{more}"]
    if deep and deep.rate:
        return [f"{count(deep.rate.value)} random reads/s from {deep.depth} at once"]
    return []


def _latency(card: Card) -> Iterator[str]:
    line = _trusted(card, "append.fsync")
    if line and line.latency_us.p50 is not None:
        yield f"a 4 KiB append with fsync costs {time(line.latency_us.p50)}"


def _other(card: Card) -> list[str]:
    """The first trusted line, where none of the usual ones is."""
    lines = (line for line in card.lines if line.is_trusted)
    return next(([f"{line.label} at {in_words(line.rate)}"] for line in lines if line.rate), [])


def _sharing(card: Card) -> Iterator[str]:
    """Ratios are added to rates, and never stand alone."""
    known = {ratio.id: ratio for ratio in card.ratios if ratio.word in ("faster", "slower")}
    together = known.get("clients.read") or known.get("clients.write")
    if together:
        rate = f"{factor(together.value)} the rate of one"
        yield f"{card.machine.clients} clients {_operation(together)} at {rate}"
    elif ratio := known.get("shared.write") or known.get("shared.read"):
        yield f"{_operation(ratio)}s of one shared file reach {factor(ratio.value)} of a file each"


def _operation(ratio: RatioLine) -> str:
    return ratio.id.rpartition(".")[2]

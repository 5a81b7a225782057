"""Reservations of a card: each with the numbers that show it, the weightiest first."""

from collections.abc import Iterator

from strider.card.model import SAME, USEFUL_BUDGET_S, Card, Caution, Line, Rate
from strider.card.wording import in_words, rounded, size, time

#: A stall is a request this many times as long as half of them.
_STALL = 100.0
_FULL = 0.9
#: Writes that are faster than reads by more than this have a cache behind the sync.
_FASTER = 1.3
#: Time to touch a page of new memory; usually some 0.1 to 0.3 us, more where a host has to provide it.
SLOW_TOUCH_US = 1.0
#: Other programs that use more of the processors' time than this distort the measurement.
BUSY_SHARE = 0.3
_BY_BYTES = ("write.sequential", "read.sequential", "read.random.deep", "write.random.deep")
_TOP = (
    "write.sequential",
    "read.sequential",
    "read.random",
    "append.fsync",
    "write.random",
    "read.random.deep",
    "write.random.deep",
)


def cautions(card: Card) -> list[Caution]:
    """Returns all reservations."""
    return [
        *_confinement(card),
        *_memory(card),
        *_space(card),
        *_servers(card),
        *_busy(card),
        *_first_touch(card),
        *_levels(card),
        *_bytes(card),
        *_writes(card),
        *_stalls(card),
        *_few(card),
    ]


def _confinement(card: Card) -> Iterator[Caution]:
    """Confinement that the user did not give up by `--confine off`; first, as no number shows it."""
    found = card.confinement
    if found is None or found.state == "full" or found.missing == "--confine off":
        return
    how = "not" if found.state == "none" else found.state
    # A remedy after the colon is one for suites.
    why = found.missing.partition(": ")[0]
    yield Caution(
        id="confinement",
        text=f"ranks were {how} confined: {why}; --confine require prevents this",
        evidence={},
    )


def _memory(card: Card) -> Iterator[Caution]:
    if card.place.kind == "memory":
        yield Caution(
            id="memory",
            text="a file system in memory: nothing survives a restart, no read is cold",
            evidence={},
        )


def _space(card: Card) -> Iterator[Caution]:
    used = 1 - card.place.free / card.place.size if card.place.size else 0.0
    if used > _FULL:
        yield Caution(
            id="full",
            text=f"{used:.0%} of the space is used, {size(card.place.free)} are free: writes may be slower",
            evidence={"used": used, "free": card.place.free},
        )


def _servers(card: Card) -> Iterator[Caution]:
    if card.place.kind in ("network", "fuse"):
        yield Caution(
            id="servers",
            text="caches of servers are not visible from here: reads may come from them",
            evidence={},
        )


def _busy_share(card: Card) -> float:
    """The share of the processors that other programs took; 0 if it is too small to matter."""
    share = card.machine.others_share or 0.0
    return share if share > BUSY_SHARE else 0.0


def _busy(card: Card) -> Iterator[Caution]:
    if share := _busy_share(card):
        yield Caution(
            id="busy",
            text=f"other programs used {share:.0%} of the processors: rates may be too low",
            evidence={"others_share": share},
        )


def _first_touch(card: Card) -> Iterator[Caution]:
    touch_us = card.machine.first_touch_us
    if touch_us is not None and touch_us > SLOW_TOUCH_US:
        yield Caution(
            id="first-touch",
            text=f"new memory is slow here ({time(touch_us)} a page): rates through the page cache suffer",
            evidence={"first_touch_us": touch_us},
        )


def _bytes(card: Card) -> Iterator[Caution]:
    """The same bytes per second by large and small requests: bytes are limited, not requests."""
    lines = [line for name in _BY_BYTES if (line := card.line(name)) and line.is_trusted]
    sizes = {line.request for line in lines}
    rates = [line.bytes_s for line in lines if line.bytes_s is not None]
    if card.place.kind == "local" and len(sizes) > 1 and max(rates) < SAME * min(rates):
        yield Caution(
            id="bytes",
            text=f"{_in_bytes(min(rates))} by requests of 4 KiB and 1 MiB: bytes are limited, not requests",
            evidence={"low": min(rates), "high": max(rates)},
        )


def _in_bytes(rate: float) -> str:
    return in_words(Rate(value=rate, unit="B/s"))


def _levels(card: Card) -> Iterator[Caution]:
    for line in _top(card):
        if line.rate and {"level", "trend"} & set(line.reasons):
            rates = [one.rate for one in line.rounds]
            low, high = (
                in_words(line.rate.model_copy(update={"value": end})) for end in (min(rates), max(rates))
            )
            yield Caution(
                id="unsteady",
                text=f"{line.label}: between {low} and {high}, by round",
                evidence={"low": min(rates), "high": max(rates)},
            )


def _writes(card: Card) -> Iterator[Caution]:
    write, read = card.line("write.sequential"), card.line("read.sequential")
    if card.place.kind == "memory" or not (write and read and write.rate and read.rate):
        return
    if write.rate.low and read.rate.high and write.rate.low > _FASTER * read.rate.high:
        factor = write.rate.value / read.rate.value
        yield Caution(
            id="write-cache",
            text=f"writes are {rounded(factor, 2)} times as fast as reads: a cache may take them",
            evidence={"ratio": factor},
        )


def _stalls(card: Card) -> Iterator[Caution]:
    """The line whose slow requests are furthest from half of them."""
    found = [(tail / p50, line, p50, tail, share) for line in _top(card) for p50, tail, share in _tails(line)]
    worst = max(found, key=lambda one: one[0], default=None)
    if worst and worst[0] > _STALL:
        _, line, p50, tail, share = worst
        yield Caution(
            id="stalls",
            text=f"{line.label}: 1 in {share} takes {time(tail)}, half take {time(p50)}",
            evidence={"p50_us": p50, "tail_us": tail, "one_in": share},
        )


def _tails(line: Line) -> Iterator[tuple[float, float, int]]:
    """Percentiles that enough requests show: the median, the slow ones, and one in how many is slower."""
    found = line.latency_us
    for tail, share in ((found.p99, 100), (found.p999, 1000)):
        if found.p50 and tail:
            yield found.p50, tail, share


def _few(card: Card) -> Iterator[Caution]:
    graded = [line for line in card.lines if line.grade]
    low = [line for line in graded if not line.is_trusted]
    spread = [
        line for line in low if {"spread", "short"} & set(line.reasons) or "repetition" in str(line.reasons)
    ]
    if len(spread) > len(graded) / 2:
        yield Caution(
            id="uncertain",
            text=f"{len(low)} of {len(graded)} numbers are below grade B: {_remedy(card)}",
            evidence={"below": len(low), "graded": len(graded)},
        )


def _remedy(card: Card) -> str:
    """Returns what raises grades: first enough time for three phases of a second."""
    if card.budget.asked_s < USEFUL_BUDGET_S:
        return f"measure longer, with --budget {USEFUL_BUDGET_S:.0f}s or more"
    return "measure while the machine is quiet" if _busy_share(card) else "measure longer with --budget"


def _top(card: Card) -> list[Line]:
    return [line for name in _TOP if (line := card.line(name)) and line.rate]

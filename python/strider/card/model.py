"""A card as data: `card.json` of a run directory (docs/formats.md)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from strider.engine import Json, to_json
from strider.statistics.distribution import half_width_of
from strider.store.model import Confinement
from strider.store.records import Record
from strider.text import printable_json
from strider.text_file import MOST_DOCUMENT_BYTES, read_regular, write_whole

CARD_FILE = "card.json"
IMAGE_FILE = "card.svg"
POSIX = "posix"
#: With less time the phases of the first lines are usually shorter than a second, and no grade is above C.
USEFUL_BUDGET_S = 45.0
#: Rates whose ratio lies within 10 % of 1 are called the same, others faster or slower: bursts make short
#: phases faster than long ones by a few percent.
SAME = 1.1

Unit = Literal["B/s", "1/s"]


class PlaceFacts(Record):
    """The directory; sizes in bytes.

    Attributes:
        interface: Interface of all lines: `posix`, or a library that bypasses the mount.
        native: Interface of the file system's own library; empty without one.
    """

    fs: str
    kind: Literal["local", "memory", "network", "fuse"]
    device: str = ""
    virtual: bool = False
    size: int
    free: int
    direct: bool
    interface: str = POSIX
    native: str = ""


class Machine(Record):
    """The machine that measured, and the number of clients of cases with several.

    Attributes:
        first_touch_us: Time to touch a page of new memory; None if unknown.
        others_share: Share of the processors' time, 0 to 1, that other programs and the kernel took during
            the phases; None if unknown.
    """

    cores: int
    clients: int = 2
    memory: int
    first_touch_us: float | None = None
    others_share: float | None = None


class Budget(Record):
    """Time asked for and taken.

    Attributes:
        rounds: Number of complete rounds.
        cut: Whether the run was interrupted or failed before its time was over.
    """

    asked_s: float
    took_s: float
    rounds: int = 0
    cut: bool = False


class Rate(Record):
    """A rate with its 95 % interval; `low` and `high` are None below three rounds.

    Attributes:
        cards: Number of cards of this directory whose differences the interval counts; 1: rounds alone.
    """

    value: float
    unit: Unit
    low: float | None = None
    high: float | None = None
    cards: int = 1

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches above the centre, as a share."""
        if self.low is None or self.high is None or self.low <= 0:
            return None
        return half_width_of(self.low, self.high)


class Latency(Record):
    """Percentiles in microseconds; None where too few requests show them."""

    p50: float | None = None
    p99: float | None = None
    p999: float | None = None


class Round(Record):
    """One repetition of a line; `served` is the share of the bytes that storage served."""

    at_s: float
    seconds: float
    requests: int
    rate: float
    served: float | None = None


class Line(Record):
    """One number of the card.

    Attributes:
        interface: Interface that made the requests.
        depth: Requests in flight.
        limit: Share of the card's limit; None without one.
        grade: Grade of docs/trust.md; empty for rates of a cache.
        why: Why it was not measured; empty if it was.
    """

    id: str
    label: str
    interface: str = ""
    depth: int = 1
    request: int = 0
    rate: Rate | None = None
    latency_us: Latency = Latency()
    rounds: Sequence[Round] = ()
    limit: float | None = None
    grade: str = ""
    reasons: Sequence[str] = ()
    why: str = ""

    @property
    def is_trusted(self) -> bool:
        """Whether it may be in a sentence."""
        return self.rate is not None and self.grade in ("A", "B")

    @property
    def bytes_s(self) -> float | None:
        """The rate in bytes per second, also of a line that counts requests; None without a rate."""
        if self.rate is None:
            return None
        return self.rate.value * (self.request if self.rate.unit == "1/s" else 1)


class Limit(Record):
    """What no rate of data exceeds, as it was measured or as the system states it; in bytes per second."""

    what: Literal["memory copy", "network links"]
    rate: float


class RatioLine(Record):
    """A ratio of two rates, paired by round.

    Attributes:
        row: The row of the card that it belongs to.
        what: The measured quantity, above the ratio.
        word: `faster` or `slower` if the interval is more than 10 % from 1, `same` if it lies within 10 % of
            1, else None.
    """

    id: str
    row: str
    what: str
    value: float
    low: float | None = None
    high: float | None = None
    pairs: int
    word: str | None = None


class Caution(Record):
    """A reservation with the numbers that show it."""

    id: str
    text: str
    evidence: dict[str, float]


class NotMeasured(Record):
    """Missing measurements of the card."""

    id: str
    why: str


def by_reason(missing: Sequence[NotMeasured]) -> dict[str, list[str]]:
    """Returns the ids of missing measurements, by reason."""
    found: dict[str, list[str]] = {}
    for one in missing:
        found.setdefault(one.why, []).append(one.id)
    return found


class Card(Record):
    """The card of a directory.

    Attributes:
        confinement: Of the ranks of the run; None if they did not report it.
    """

    card: Literal[1] = 1
    target: str
    place: PlaceFacts
    machine: Machine
    budget: Budget
    confinement: Confinement | None = None
    verdict: str = ""
    cautions: Sequence[Caution] = ()
    lines: Sequence[Line] = ()
    limit: Limit | None = None
    ratios: Sequence[RatioLine] = ()
    not_measured: Sequence[NotMeasured] = ()
    report: str = ""

    def line(self, name: str) -> Line | None:
        """Returns a line by its id."""
        return next((line for line in self.lines if line.id == name), None)

    def ratio(self, name: str) -> RatioLine | None:
        """Returns a ratio by its id."""
        return next((ratio for ratio in self.ratios if ratio.id == name), None)

    @property
    def cards(self) -> int:
        """The largest number of cards whose differences an interval counts."""
        return max((line.rate.cards for line in self.lines if line.rate), default=1)

    def document(self) -> Json:
        """Returns the card as JSON values."""
        document: Json = self.model_dump(mode="json")
        return document


def write_card(card: Card, directory: Path) -> None:
    """Writes `card.json` into a run directory."""
    write_whole(directory / CARD_FILE, to_json(card.document()))


def read_card(directory: Path) -> Card | None:
    """Returns the card of a run directory; None if it has none that can be read."""
    try:
        text = read_regular(directory / CARD_FILE, MOST_DOCUMENT_BYTES).decode("utf-8")
        return Card.model_validate_json(printable_json(text))
    except (OSError, ValueError):
        return None

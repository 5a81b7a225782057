"""Random programs of MPI-IO as data: views, memory types, pointers, collective and nonblocking calls.

Ranks that write at the same time write different bytes. They synchronise before one reads data of another.
MPI leaves nothing open then: there is one right result.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd

from mpi_types import BLOCK, CYCLIC, DEFAULT, NAMED, NONE, Type, TypeMaker, darray, is_disjoint, resized

EXPLICIT, OWN, SHARED = "explicit", "own", "shared"
BLOCKING, NONBLOCKING, SPLIT = "blocking", "nonblocking", "split"
KINDS = [
    (pointer, together, how)
    for pointer in (EXPLICIT, OWN, SHARED)
    for together in (False, True)
    for how in (BLOCKING, NONBLOCKING, SPLIT)
    if (together or how != SPLIT) and (pointer, together, how) != (SHARED, True, NONBLOCKING)
]
"""The 14 ways to move data; each writes and reads."""
TILES = 40
"""Copies of a file type that a rank may touch."""


@dataclass(frozen=True)
class View:
    """A view of a file; `displacement` in bytes."""

    displacement: int
    etype: Type
    filetype: Type


BYTES = View(0, NAMED["byte"], NAMED["byte"])


@dataclass(frozen=True)
class Access:
    """One call of one rank: `count` elements of `memory`, at `offset` in etypes where the call has one."""

    offset: int
    count: int
    memory: Type
    seed: int

    @property
    def span(self) -> tuple[int, int]:
        """First and last byte of the memory, seen from its address."""
        runs = self.memory.copies(self.count)
        return min([0, *(at for at, _ in runs)]), max([0, *(at + length for at, length in runs)])


@dataclass(frozen=True)
class SetView:
    """Collective: a view for each rank."""

    views: Sequence[View]


@dataclass(frozen=True)
class Move:
    """Calls of all ranks at the same time. Independent ones by the shared pointer are rank by rank."""

    pointer: str
    together: bool
    how: str
    writes: bool
    large: bool
    calls: Sequence[Sequence[Access]]


@dataclass(frozen=True)
class Seek:
    """Each rank's own pointer: `whence` is set, cur or end."""

    offsets: Sequence[int]
    whence: str


@dataclass(frozen=True)
class Command:
    """Collective: seek_shared, set_size, preallocate, atomicity, sync or ask; with a number."""

    name: str
    number: int = 0


Step = SetView | Move | Seek | Command


@dataclass
class Scenario:
    """A program: it opens the file, does all steps and closes it."""

    number: int
    ranks: int
    filled: int
    """Bytes of the file before."""
    append: bool
    steps: list[Step] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"scenario-{self.ranks}-{self.number}"

    @property
    def contents(self) -> bytes:
        return random.Random(self.number).randbytes(self.filled)


class Writer:
    """Writes a random scenario; `large`: how many types and calls have large counts, from 0 to 1."""

    def __init__(self, number: int, ranks: int, large: float = 0.3) -> None:
        self.chance = random.Random(f"{number} of {ranks}")
        self.types = TypeMaker(self.chance, large)
        self.large = large
        filled = self.chance.choice([0, 0, self.chance.randrange(1, 3000), self.chance.randrange(1, 20_000)])
        self.scenario = Scenario(number, ranks, filled, filled > 0 and self.chance.random() < 0.2)
        self.ranks = range(ranks)
        self.views: list[View] = [BYTES] * ranks
        self.own = [0] * ranks
        """An upper limit of each rank's own pointer."""
        self.shared = 0
        self.unsynchronised = False
        self.seeds = 0

    def write(self) -> Scenario:
        if self.chance.random() < 0.2:
            self._add(Command("atomicity", 1))
        phases = self.chance.randint(1, 3)
        for phase in range(phases):
            if phase:
                self._synchronise()
            is_shared = self.chance.random() < 0.3
            if phase or not is_shared or self.chance.random() < 0.7:
                self._set_view(is_shared)
            for _ in range(self.chance.randint(1, 4)):
                self._move(is_shared)
            if self.chance.random() < 0.3:
                self._synchronise()
                name = self.chance.choice(["set_size", "preallocate"])
                self._add(Command(name, self.chance.randrange(8000)))
        self._synchronise()
        self._add(Command("ask", self.chance.randrange(20)))
        return self.scenario

    def _add(self, step: Step) -> None:
        self.scenario.steps.append(step)

    def _synchronise(self) -> None:
        self._add(Command("sync"))
        self.unsynchronised = False

    def _set_view(self, is_shared: bool) -> None:
        etype = self.types.elementary()
        base = self.chance.randrange(120)
        layout = self.chance.choice(["regions", "interleaved", "parts"])
        if is_shared:
            self.views = [View(base, etype, self.types.file(etype))] * len(self.ranks)
        elif layout == "regions":
            files = [self.types.file(etype) for _ in self.ranks]
            region = max(file.extent for file in files) * TILES
            self.views = [View(base + rank * region, etype, file) for rank, file in enumerate(files)]
        elif layout == "interleaved":
            file = self.types.file(etype)
            wide = resized(file, 0, file.extent * len(self.ranks))
            self.views = [View(base + rank * file.extent, etype, wide) for rank in self.ranks]
        else:
            self.views = [View(base, etype, part) for part in self._parts(etype)]
        self.own, self.shared = [0] * len(self.ranks), 0
        self._add(SetView(self.views))

    def _parts(self, etype: Type) -> list[Type]:
        """An array that is spread over the ranks; some may have nothing of it."""
        split, other = self.chance.choice([BLOCK, CYCLIC]), self.chance.randint(1, 5)
        dimensions = [(self.chance.randint(1, 8), split, DEFAULT, len(self.ranks)), (other, NONE, DEFAULT, 1)]
        self.chance.shuffle(dimensions)
        fortran = self.chance.random() < 0.5
        return [
            darray(etype, rank, dimensions, fortran, self.chance.random() < self.large) for rank in self.ranks
        ]

    def _move(self, is_shared: bool) -> None:
        pointer, together, how = self.chance.choice(
            [kind for kind in KINDS if (kind[0] == SHARED) == is_shared]
        )
        writes = self.chance.random() < 0.6
        if not writes and self.unsynchronised:
            self._synchronise()
        self._seek(pointer)
        same = self.chance.randint(1, 3)
        counts = [same if together else self.chance.randint(0, 3) for _ in self.ranks]
        calls = [self._calls(rank, count, how) for rank, count in zip(self.ranks, counts, strict=True)]
        self._add(Move(pointer, together, how, writes, self.chance.random() < self.large, calls))
        self.unsynchronised |= writes

    def _seek(self, pointer: str) -> None:
        """Sometimes, and where the pointer has gone far."""
        if pointer == SHARED and (self.shared > 12 * self._per_tile(0) or self.chance.random() < 0.3):
            self.shared = self.chance.randrange(6 * self._per_tile(0))
            self._add(Command("seek_shared", self.shared))
        elif pointer == OWN and (
            any(own > 12 * self._per_tile(rank) for rank, own in enumerate(self.own))
            or self.chance.random() < 0.3
        ):
            self.own = [self.chance.randrange(6 * self._per_tile(rank) + 1) for rank in self.ranks]
            self._add(Seek(self.own, "set"))
        elif pointer == OWN and self.chance.random() < 0.2:
            steps = [self.chance.randrange(self._per_tile(rank) + 1) for rank in self.ranks]
            self.own = [own + step for own, step in zip(self.own, steps, strict=True)]
            self._add(Seek(steps, "cur"))

    def _per_tile(self, rank: int) -> int:
        """Etypes in a copy of the file type."""
        return self.views[rank].filetype.size // self.views[rank].etype.size

    def _calls(self, rank: int, count: int, how: str) -> list[Access]:
        calls: list[Access] = []
        per_tile = self._per_tile(rank)
        at = self.chance.randrange(6 * per_tile + 1)
        for _ in range(count):
            access = self._access(rank, at)
            calls.append(access)
            etypes = access.count * access.memory.size // self.views[rank].etype.size
            # Calls that are active at the same time are for different bytes.
            at = at + etypes if how == NONBLOCKING else self.chance.randrange(6 * per_tile + 1)
            self.own[rank] += etypes
            self.shared += etypes
        return calls

    def _access(self, rank: int, offset: int) -> Access:
        self.seeds += 1
        view = self.views[rank]
        most = min(3000, 4 * view.filetype.size)
        for _ in range(20):
            memory = self.types.memory()
            if memory.size == 0:
                return Access(offset, self.chance.randint(0, 2), memory, self.seeds)
            step = view.etype.size // gcd(memory.size, view.etype.size)
            count = step * self.chance.randint(0, max(1, min(most // (step * memory.size), 12)))
            if count * memory.size <= most and is_disjoint(memory.copies(count)):
                return Access(offset, count, memory, self.seeds)
        count = view.etype.size * self.chance.randint(0, 4 * per) if (per := self._per_tile(rank)) else 0
        return Access(offset, count, NAMED["byte"], self.seeds)


def words_of(scenario: Scenario) -> str:
    """The scenario for a C program: words and numbers, one step in a line."""
    lines = [f"scenario {scenario.number} {scenario.name} {int(scenario.append)}"]
    for step in scenario.steps:
        match step:
            case SetView(views):
                words = [
                    f"{view.displacement} {_typed(view.etype)} {_typed(view.filetype)}" for view in views
                ]
                lines.append(" ".join(["view", *words]))
            case Move():
                flags = [int(step.together), step.how, int(step.writes), int(step.large)]
                words = ["move", step.pointer, *map(str, flags), *map(_words_of_calls, step.calls)]
                lines.append(" ".join(words))
            case Seek(offsets, whence):
                lines.append(f"seek {whence} {' '.join(map(str, offsets))}")
            case Command(name, number):
                lines.append(f"{name} {number}")
    return "\n".join([*lines, "end"])


def _words_of_calls(calls: Sequence[Access]) -> str:
    words = [str(len(calls))]
    for call in calls:
        low, high = call.span
        words.append(f"{call.offset} {call.count} {call.seed} {low} {high} {_typed(call.memory)}")
    return " ".join(words)


def _typed(made: Type) -> str:
    """A type with its expected size, lower bound and extent."""
    return f"{made.size} {made.lower} {made.extent} {made.words}"

"""What MPI promises of a scenario: a serial model, one call after the other, on an array of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mpi_scenarios import (
    BYTES,
    EXPLICIT,
    OWN,
    SHARED,
    Access,
    Command,
    Move,
    Scenario,
    Seek,
    SetView,
    View,
)
from mpi_types import Run

_PATTERN = bytes((j * 31 + (j >> 8) * 7) & 255 for j in range(1 << 17))
ASK, OFFSET = -1, -2


@dataclass
class Record:
    """A rank's report of a call: bytes moved, a value, and the memory after reading.

    Attributes:
        step: The step of the scenario.
        number: The call of the step, or ASK or OFFSET.
        moved: Bytes by the status.
        value: The position of the pointer behind the call, or the requested value.
        memory: All bytes between the first and the last of the data, gaps among them.
        open: Runs of it that MPI leaves undefined.
    """

    step: int
    number: int
    moved: int
    value: int
    memory: bytes = b""
    open: list[Run] = field(default_factory=list)

    def agrees_with(self, other: Record) -> bool:
        """Whether another one is the same, apart from undefined values."""
        own, found = bytearray(self.memory), bytearray(other.memory)
        if len(own) != len(found):
            return False
        for at, length in self.open:
            own[at : at + length] = found[at : at + length]
        return own == found and (self.step, self.number, self.moved, self.value) == (
            other.step,
            other.number,
            other.moved,
            other.value,
        )


def pattern(seed: int, length: int) -> bytes:
    """The fill byte of a C program's memory."""
    shift = seed * 17 & 255
    return _PATTERN[:length].translate(bytes((i + shift) & 255 for i in range(256)))


class Model:
    """Runs a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.data = bytearray(scenario.contents)
        self.views: list[View] = [BYTES] * scenario.ranks
        start = len(self.data) if scenario.append else 0
        self.own = [start] * scenario.ranks
        self.shared = start
        self.records: list[list[Record]] = [[] for _ in range(scenario.ranks)]
        self.step = 0

    def run(self) -> None:
        for number, step in enumerate(self.scenario.steps):
            self.step = number
            match step:
                case SetView(views):
                    self.views = list(views)
                    self.own, self.shared = [0] * self.scenario.ranks, 0
                case Move():
                    self._move(step)
                case Seek(offsets, whence):
                    for rank, offset in enumerate(offsets):
                        start = {"set": 0, "cur": self.own[rank], "end": self._end(rank)}[whence]
                        self.own[rank] = start + offset
                case Command("seek_shared", number):
                    self.shared = number
                case Command("set_size", number):
                    self._resize(number)
                case Command("preallocate", number):
                    self._resize(max(number, len(self.data)))
                case Command("ask", number):
                    self._ask(number)

    def _resize(self, size: int) -> None:
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))

    def _ask(self, number: int) -> None:
        for rank, records in enumerate(self.records):
            records.append(Record(self.step, ASK, len(self.data), self._end(rank)))
            records.append(Record(self.step, OFFSET, 0, self._offset(rank, number)))

    def _move(self, step: Move) -> None:
        order = [(rank, i) for rank, calls in enumerate(step.calls) for i in range(len(calls))]
        if step.together:
            order.sort(key=lambda pair: (pair[1], pair[0]))
        for rank, i in order:
            self._call(step, rank, i, step.calls[rank][i])
        # A program asks for the pointers when all its calls are done.
        for rank, calls in enumerate(step.calls):
            own = self.own[rank] if step.pointer != SHARED else self.shared
            for record in self.records[rank][len(self.records[rank]) - len(calls) :]:
                record.value = own

    def _call(self, step: Move, rank: int, number: int, call: Access) -> None:
        view = self.views[rank]
        bytes_asked = call.count * call.memory.size
        etypes = bytes_asked // view.etype.size
        match step.pointer:
            case "explicit":
                position = call.offset
            case "own":
                position = self.own[rank]
                self.own[rank] += etypes
            case _:
                position = self.shared
                self.shared += etypes
        assert step.pointer in (EXPLICIT, OWN, SHARED)
        low, high = call.span
        memory = bytearray(pattern(call.seed, high - low))
        pieces = [(at - low, length) for at, length in call.memory.copies(call.count)]
        runs = list(file_runs(view, position, bytes_asked))
        record = Record(self.step, number, bytes_asked, 0)
        if step.writes:
            self._write(b"".join(memory[at : at + length] for at, length in pieces), runs)
        else:
            record.moved = self._read(memory, pieces, runs, record.open)
            record.memory = bytes(memory)
        self.records[rank].append(record)

    def _write(self, source: bytes, runs: list[Run]) -> None:
        done = 0
        for at, length in runs:
            if at + length > len(self.data):
                self._resize(at + length)
            self.data[at : at + length] = source[done : done + length]
            done += length

    def _read(self, memory: bytearray, pieces: list[Run], runs: list[Run], undefined: list[Run]) -> int:
        found = b"".join(self.data[at : at + length] for at, length in runs)
        done = 0
        for at, length in pieces:
            part = found[done : done + length]
            memory[at : at + len(part)] = part
            if len(part) < length:
                undefined.append((at + len(part), length - len(part)))
            done += length
        return len(found)

    def _offset(self, rank: int, position: int) -> int:
        view = self.views[rank]
        first = next(file_runs(view, position, 1), None)
        return first[0] if first else view.displacement

    def _end(self, rank: int) -> int:
        """The first position whose data is not before the end of the file."""
        view = self.views[rank]
        if view.filetype.size == 0:
            return 0
        copies = max(0, len(self.data) - view.displacement) // view.filetype.extent + 1
        runs = view.filetype.copies(copies, view.displacement)
        inside = sum(max(0, min(length, len(self.data) - at)) for at, length in runs)
        return -(-inside // view.etype.size)


def file_runs(view: View, position: int, length: int) -> Iterator[Run]:
    """The places of `length` bytes of data from a position on, which counts etypes."""
    if view.filetype.size == 0:
        return
    copy, skipped = divmod(position * view.etype.size, view.filetype.size)
    while length > 0:
        for at, run in view.filetype.copies(1, view.displacement + copy * view.filetype.extent):
            used = min(max(0, run - skipped), length)
            if used:
                yield at + skipped, used
            skipped = max(0, skipped - run)
            length -= used
        copy += 1

"""Datatypes of MPI as data: words, from which a C program makes them, and their bytes by the rules of MPI.

The rules are applied element by element, with no attempt at speed, and know nothing of any MPI library.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

Run = tuple[int, int]
"""Offset and length of contiguous bytes."""
Block = tuple[int, int, "Type"]
"""Displacement in bytes, number of elements, their type."""
BLOCK, CYCLIC, NONE = "block", "cyclic", "none"
DEFAULT = -1
"""MPI_DISTRIBUTE_DFLT_DARG."""


@dataclass(frozen=True)
class Type:
    """A datatype.

    Attributes:
        words: The expression that a C program reads.
        runs: The bytes of data in the order of the type map.
        lower: The lower bound.
        upper: The upper bound.
    """

    words: str
    runs: tuple[Run, ...]
    lower: int
    upper: int

    @property
    def extent(self) -> int:
        return self.upper - self.lower

    @property
    def size(self) -> int:
        return sum(length for _, length in self.runs)

    def copies(self, count: int, base: int = 0) -> list[Run]:
        """The runs of `count` elements from `base` on."""
        return [(base + i * self.extent + at, length) for i in range(count) for at, length in self.runs]


NAMED = {
    "byte": Type("byte", ((0, 1),), 0, 1),
    "short": Type("short", ((0, 2),), 0, 2),
    "int": Type("int", ((0, 4),), 0, 4),
    "float": Type("float", ((0, 4),), 0, 4),
    "double": Type("double", ((0, 8),), 0, 8),
    "short_int": Type("short_int", ((0, 2), (4, 4)), 0, 8),
    "double_int": Type("double_int", ((0, 12),), 0, 16),
}


def made_of(words: str, blocks: Iterable[Block]) -> Type:
    """A type of blocks; bounds are those of the blocks that have elements."""
    runs: list[Run] = []
    bounds: list[int] = []
    for displacement, count, part in blocks:
        runs += part.copies(count, displacement)
        for i in (0, count - 1) if count else ():
            start = displacement + i * part.extent
            bounds += [start + part.lower, start + part.upper]
    return Type(words, tuple(runs), min(bounds, default=0), max(bounds, default=0))


def resized(part: Type, lower: int, extent: int, large: bool = False) -> Type:
    return Type(f"resized{_c(large)} {lower} {extent} {part.words}", part.runs, lower, lower + extent)


def duplicate(part: Type) -> Type:
    return Type(f"dup {part.words}", part.runs, part.lower, part.upper)


def contiguous(part: Type, count: int, large: bool = False) -> Type:
    return made_of(f"contiguous{_c(large)} {count} {part.words}", [(0, count, part)])


def vector(part: Type, count: int, block: int, stride: int, large: bool = False) -> Type:
    words = f"vector{_c(large)} {count} {block} {stride} {part.words}"
    return made_of(words, [(i * stride * part.extent, block, part) for i in range(count)])


def hvector(part: Type, count: int, block: int, stride: int, large: bool = False) -> Type:
    words = f"hvector{_c(large)} {count} {block} {stride} {part.words}"
    return made_of(words, [(i * stride, block, part) for i in range(count)])


def indexed(part: Type, blocks: Sequence[int], places: Sequence[int], large: bool = False) -> Type:
    words = f"indexed{_c(large)} {_list(blocks)} {_row(places)} {part.words}"
    return made_of(words, [(at * part.extent, n, part) for n, at in zip(blocks, places, strict=True)])


def hindexed(part: Type, blocks: Sequence[int], places: Sequence[int], large: bool = False) -> Type:
    words = f"hindexed{_c(large)} {_list(blocks)} {_row(places)} {part.words}"
    return made_of(words, [(at, n, part) for n, at in zip(blocks, places, strict=True)])


def indexed_block(part: Type, block: int, places: Sequence[int], large: bool = False) -> Type:
    words = f"indexed_block{_c(large)} {block} {_list(places)} {part.words}"
    return made_of(words, [(at * part.extent, block, part) for at in places])


def hindexed_block(part: Type, block: int, places: Sequence[int], large: bool = False) -> Type:
    words = f"hindexed_block{_c(large)} {block} {_list(places)} {part.words}"
    return made_of(words, [(at, block, part) for at in places])


def structure(
    parts: Sequence[Type], blocks: Sequence[int], places: Sequence[int], large: bool = False
) -> Type:
    """A struct with explicit bounds: its padding is the choice of each MPI library."""
    inner = " ".join(part.words for part in parts)
    words = f"struct{_c(large)} {_list(blocks)} {_row(places)} {inner}"
    plain = made_of(words, list(zip(places, blocks, parts, strict=True)))
    return resized(plain, plain.lower, plain.extent)


def subarray(
    part: Type,
    sizes: Sequence[int],
    lengths: Sequence[int],
    starts: Sequence[int],
    fortran: bool,
    large: bool = False,
) -> Type:
    order = "fortran" if fortran else "c"
    words = f"subarray{_c(large)} {_list(sizes)} {_row(lengths)} {_row(starts)} {order} {part.words}"

    def is_inside(index: tuple[int, ...]) -> bool:
        return all(start <= i < start + n for i, start, n in zip(index, starts, lengths, strict=True))

    return _of_array(words, part, sizes, fortran, is_inside)


def darray(
    part: Type,
    rank: int,
    dimensions: Sequence[tuple[int, str, int, int]],
    fortran: bool,
    large: bool = False,
) -> Type:
    """The part of one process of an array.

    Args:
        part: The type of an element.
        rank: The process; processes are in a grid, in C's order.
        dimensions: For each dimension its size, distribution, argument of the distribution, and processes.
        fortran: The order of the array.
        large: By the constructor with large counts.
    """
    sizes = [size for size, *_ in dimensions]
    grid = [processes for *_, processes in dimensions]
    own = list(product(*map(range, grid)))[rank]
    names = " ".join(kind for _, kind, _, _ in dimensions)
    arguments = _row([argument for _, _, argument, _ in dimensions])
    order = "fortran" if fortran else "c"
    words = (
        f"darray{_c(large)} {prod(grid)} {rank} {_list(sizes)} {names} {arguments} {_row(grid)} {order} "
        f"{part.words}"
    )

    def owner(i: int, dimension: tuple[int, str, int, int]) -> int:
        size, kind, argument, processes = dimension
        if kind == BLOCK:
            return i // (-(-size // processes) if argument == DEFAULT else argument)
        return i // (1 if argument == DEFAULT else argument) % processes if kind == CYCLIC else 0

    def is_own(index: tuple[int, ...]) -> bool:
        places = zip(index, dimensions, own, strict=True)
        return all(owner(i, dimension) == at for i, dimension, at in places)

    return _of_array(words, part, sizes, fortran, is_own)


def _of_array(
    words: str, part: Type, sizes: Sequence[int], fortran: bool, chosen: Callable[[tuple[int, ...]], bool]
) -> Type:
    """The chosen elements of an array, in the order of the array."""
    runs: list[Run] = []
    # Of the storage order, the last index is the fastest.
    for number, index in enumerate(product(*map(range, reversed(sizes) if fortran else sizes))):
        if chosen(index[::-1] if fortran else index):
            runs += part.copies(1, number * part.extent)
    return Type(words, tuple(runs), 0, prod(sizes) * part.extent)


def _c(large: bool) -> str:
    return "_c" if large else ""


def _row(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


def _list(numbers: Sequence[int]) -> str:
    return f"{len(numbers)} {_row(numbers)}"


def is_ascending(runs: Sequence[Run]) -> bool:
    """Whether no byte is at or before the one that it follows, and none is below 0."""
    return all(at + length <= after for (at, length), (after, _) in pairwise(runs)) and all(
        at >= 0 for at, _ in runs[:1]
    )


def is_disjoint(runs: Sequence[Run]) -> bool:
    """Whether no byte is there twice."""
    return is_ascending([(at - min(runs)[0], length) for at, length in sorted(runs)]) if runs else True


class TypeMaker:
    """Makes random types by all constructors; `large`: how many of them with large counts, from 0 to 1."""

    def __init__(self, chance: random.Random, large: float) -> None:
        self.chance = chance
        self.large = large
        self.constructors: list[Callable[[Type], Type]] = [
            self._contiguous,
            self._vector,
            self._hvector,
            self._indexed,
            self._hindexed,
            self._indexed_block,
            self._hindexed_block,
            self._structure,
            self._subarray,
            self._darray,
            duplicate,
            self._resized,
        ]

    def memory(self) -> Type:
        """A type for memory: in any order, with negative offsets, empty ones among them; no byte twice."""
        while True:
            made = self._tree(NAMED[self.chance.choice(list(NAMED))], self.chance.randrange(4))
            if made.size <= 600 and made.extent <= 4000 and is_disjoint(made.copies(2)):
                return made

    def elementary(self) -> Type:
        """An elementary type: often a named one, with holes among them."""
        while True:
            leaf = NAMED[self.chance.choice(["byte", "byte", "int", "double", "short"])]
            made = self._tree(leaf, self.chance.choice([0, 0, 0, 1]))
            if 0 < made.size <= 32 and self._is_for_files(made) and made.lower == 0:
                return made

    def file(self, elementary: Type) -> Type:
        """A file type over an elementary type; its elements neither overlap nor touch negative offsets."""
        while True:
            made = self._tree(elementary, self.chance.randrange(4))
            if 0 < made.size <= 400 and made.upper <= 3000 and is_ascending(made.runs):
                end = max(made.upper, made.runs[-1][0] + made.runs[-1][1])
                return resized(made, 0, end + self.chance.choice([0, 0, elementary.extent, 5]))

    def _is_for_files(self, made: Type) -> bool:
        return is_ascending(made.copies(2))

    def _tree(self, part: Type, depth: int) -> Type:
        for _ in range(depth):
            part = self.chance.choice(self.constructors)(part)
            if part.size > 2000 or abs(part.extent) > 20_000:
                break
            # Libraries may pad bounds after displacements in bytes, and differ in those of empty types.
            if part.size == 0 or part.words.startswith("h"):
                part = resized(part, part.lower, part.extent)
        return part

    def _large(self) -> bool:
        return self.chance.random() < self.large

    def _any(self, first: int, last: int) -> int:
        return self.chance.randint(first, last)

    def _blocks(self, count: int) -> list[int]:
        return [self._any(1, 3) for _ in range(count)]

    def _places(self, blocks: Sequence[int], unit: int) -> list[int]:
        """Displacements in units: ascending, and sometimes in another order or negative."""
        places, at = [], self._any(0, 2) * unit
        for block in blocks:
            places.append(at)
            at += (block + self._any(0, 2)) * unit + (self._any(0, 3) if unit > 1 else 0)
        if self.chance.random() < 0.25:
            self.chance.shuffle(places)
        if self.chance.random() < 0.15:
            places = [place - 3 * unit for place in places]
        return places

    def _contiguous(self, part: Type) -> Type:
        return contiguous(part, self._any(0, 4), self._large())

    def _vector(self, part: Type) -> Type:
        stride = self.chance.choice([1, 2, 3, 4, -2])
        return vector(part, self._any(1, 4), self._any(1, 2), stride, self._large())

    def _hvector(self, part: Type) -> Type:
        return hvector(part, self._any(1, 4), 1, part.extent + self._any(0, 9), self._large())

    def _indexed(self, part: Type) -> Type:
        blocks = self._blocks(self._any(1, 4))
        return indexed(part, blocks, self._places(blocks, 1), self._large())

    def _hindexed(self, part: Type) -> Type:
        blocks = self._blocks(self._any(1, 4))
        return hindexed(part, blocks, self._places(blocks, part.extent), self._large())

    def _indexed_block(self, part: Type) -> Type:
        block, count = self._any(1, 2), self._any(1, 4)
        return indexed_block(part, block, self._places([block] * count, 1), self._large())

    def _hindexed_block(self, part: Type) -> Type:
        count = self._any(1, 4)
        return hindexed_block(part, 1, self._places([1] * count, part.extent), self._large())

    def _structure(self, part: Type) -> Type:
        blocks = self._blocks(self._any(1, 3))
        other = duplicate(part) if self.chance.random() < 0.5 else part
        parts = [self.chance.choice([part, other]) for _ in blocks]
        return structure(parts, blocks, self._places(blocks, part.extent), self._large())

    def _subarray(self, part: Type) -> Type:
        sizes = [self._any(1, 4) for _ in range(self._any(1, 3))]
        lengths = [self._any(1, size) for size in sizes]
        starts = [self._any(0, size - length) for size, length in zip(sizes, lengths, strict=True)]
        return subarray(part, sizes, lengths, starts, self.chance.random() < 0.5, self._large())

    def _darray(self, part: Type) -> Type:
        if part.size == 0:  # of these, Open MPI makes no arrays
            return duplicate(part)
        dimensions = []
        for _ in range(self._any(1, 3)):
            kind, size = self.chance.choice([BLOCK, CYCLIC, NONE]), self._any(1, 6)
            processes = 1 if kind == NONE else self._any(1, 3)
            least = -(-size // processes) if kind == BLOCK else 1
            given = kind != NONE and self.chance.random() < 0.5
            dimensions.append((size, kind, self._any(least, least + 1) if given else DEFAULT, processes))
        rank = self.chance.randrange(prod(processes for *_, processes in dimensions))
        return darray(part, rank, dimensions, self.chance.random() < 0.5, self._large())

    def _resized(self, part: Type) -> Type:
        return resized(part, part.lower - self._any(0, 3), part.extent + self._any(0, 9), self._large())

"""Trees of data sets: items of the marker, and which names in a folder are theirs.

The names and the numbering are those of `engine/trees` (docs/metadata.md).
"""

import math
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from strider.engine import Json
from strider.metadata import LOOKUPS, MAKING
from strider.suite.vocabulary import MOST_RANKS

Count = Annotated[int, Field(ge=0, lt=1 << 64)]
Thing = Literal["tree", "files", "directories", "hard-links", "symbolic-links", "attributes", "open-files"]
LOOKING = LOOKUPS | {"chmod", "utime"}
"""Operations after which a tree holds the same items in the same state."""
BEGINNING = MAKING | {"make-tree"}
"""Operations with which a case can make a tree."""

_ITEM = re.compile(r"(?P<kind>[frlsde])(?P<owner>0|[1-9]\d{0,9})\.(?P<number>0|[1-9]\d{0,15})x*")
_MOST_LEVELS = 40
"""Binary logarithm of the most directories at the lowest level."""
_CHILD = re.compile(r"b(0|[1-9]\d{0,18})")


class Population(BaseModel):
    """What each rank has in the trees (docs/formats.md, section 6)."""

    model_config = ConfigDict(frozen=True)

    present: list[Thing] = []
    files: Count = 0
    directories: Count = 0
    hard_links: Count = 0
    symbolic_links: Count = 0
    file_bytes: Count = 0
    written_bytes: Count = 0
    generation: Count = 0
    visits: Count = 0
    renamed_files: bool = False
    renamed_directories: bool = False
    renamed_when_linked: bool = False

    def kinds(self) -> dict[str, int]:
        """Returns the items of each rank by the first letter of their names."""
        counts = {
            "r" if self.renamed_files else "f": ("files", self.files),
            "e" if self.renamed_directories else "d": ("directories", self.directories),
            "l": ("hard-links", self.hard_links),
            "s": ("symbolic-links", self.symbolic_links),
        }
        return {kind: count for kind, (thing, count) in counts.items() if thing in self.present and count}


class Shape(BaseModel):
    """A balanced tree."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: Literal["balanced"]
    items: Annotated[int, Field(ge=1, le=1 << 48)]
    depth: Annotated[int, Field(ge=0, le=63)] = 0
    fanout: Annotated[int, Field(ge=1, le=10**9)] = 1
    place: Literal["all", "leaves"] = "all"
    name_length: Annotated[int, Field(ge=0, le=255)] = 0

    def first_of(self, level: int) -> int:
        """Returns the first directory of a level."""
        return sum(self.fanout**above for above in range(level))

    @model_validator(mode="after")
    def _is_bounded(self) -> "Shape":
        if self.fanout > 1 and self.depth * math.log2(self.fanout) > _MOST_LEVELS:
            raise ValueError(f"depth, fanout: at most 2^{_MOST_LEVELS} directories")
        return self

    @property
    def directories(self) -> int:
        """Directories of a tree, the top one included."""
        return self.first_of(self.depth + 1)

    def children(self, directory: int) -> range:
        """Returns the directories in a directory."""
        has_some = directory < self.first_of(self.depth)
        first = directory * self.fanout + 1
        return range(first, first + self.fanout if has_some else first)

    def items_in(self, directory: int) -> range:
        """Returns the numbers of the items in a directory, of each rank."""
        position = directory - (self.first_of(self.depth) if self.place == "leaves" else 0)
        return range(position * self.items, (position + 1) * self.items) if position >= 0 else range(0)

    @property
    def all_items(self) -> int:
        """Items of each rank."""
        leaves = self.fanout**self.depth
        return self.items * (leaves if self.place == "leaves" else self.directories)

    def name_of(self, kind: str, owner: int, number: int) -> str:
        """Returns the name of an item."""
        return f"{kind}{owner}.{number}".ljust(self.name_length, "x")


@dataclass(frozen=True)
class Named:
    """An item by its name.

    Attributes:
        kind: The first letter of the name.
        owner: The rank of the tree whose item it is.
        number: Its number.
    """

    kind: str
    owner: int
    number: int

    def has_type(self, mode: int) -> bool:
        """Whether a status has the type of such an item."""
        match self.kind:
            case "d" | "e":
                return stat.S_ISDIR(mode)
            case "s":
                return stat.S_ISLNK(mode)
        return stat.S_ISREG(mode)


class KeptTree(BaseModel):
    """The trees of a data set.

    Attributes:
        shape: Their shape.
        clients: Ranks that have items in them.
        sharing: How the ranks share them.
        order: The order in which items were made.
        is_exact: Whether the folder holds exactly the population; not while a run changes it.
        population: Items of each rank.
    """

    model_config = ConfigDict(frozen=True)

    shape: Shape
    clients: Annotated[int, Field(ge=1, le=MOST_RANKS)]
    sharing: Literal["shared", "per-rank"] | Annotated[int, Field(ge=1)]
    order: Literal["forward", "backward", "random"] = "forward"
    is_exact: bool = False
    population: Population = Population()

    @classmethod
    def of_case(cls, tree: Mapping[str, Json], clients: int, sharing: Json, order: Json) -> "KeptTree":
        """Returns the trees that a case makes, without items."""
        return cls(shape=Shape.model_validate(dict(tree)), clients=clients, sharing=sharing, order=order)

    @property
    def trees(self) -> int:
        if isinstance(self.sharing, int):
            return min(self.sharing, self.clients)
        return self.clients if self.sharing == "per-rank" else 1

    def ranks_of(self, tree: int) -> int:
        """Returns the number of ranks that share a tree."""
        first, end = (-(-number * self.clients // self.trees) for number in (tree, tree + 1))
        return end - first

    @property
    def directory_count(self) -> int:
        """Directories of all trees, and those that are items."""
        tree = self.trees * self.shape.directories if "tree" in self.population.present else 0
        kinds = self.population.kinds()
        return tree + self.clients * (kinds.get("d", 0) + kinds.get("e", 0))

    @property
    def file_count(self) -> int:
        """Files and links of all ranks."""
        kinds = self.population.kinds()
        return self.clients * sum(count for kind, count in kinds.items() if kind in "frls")

    @property
    def total_bytes(self) -> int:
        """Bytes of all files."""
        kinds = self.population.kinds()
        return self.clients * self.population.file_bytes * (kinds.get("f", 0) or kinds.get("r", 0))

    def child(self, directory: int, name: str) -> int | None:
        """Returns the directory of the tree that a name in a directory is; None if it is none."""
        match = _CHILD.fullmatch(name)
        children = self.shape.children(directory)
        return children[int(match[1])] if match and int(match[1]) < len(children) else None

    def item(self, tree: int, directory: int, name: str) -> Named | None:
        """Returns the item that may have a name in a directory; None for names of others."""
        match = _ITEM.fullmatch(name)
        if match is None:
            return None
        named = Named(match["kind"], int(match["owner"]), int(match["number"]))
        is_own = named.owner < self.ranks_of(tree) and named.number in self.shape.items_in(directory)
        return named if is_own and self.shape.name_of(named.kind, named.owner, named.number) == name else None

    def has(self, named: Named) -> bool:
        """Whether an item is there as the marker says; with a random order, whether it may be."""
        count = self.population.kinds().get(named.kind, 0)
        if not self.is_exact:
            return True
        return bool(count) and (self.order == "random" or named.number in self._made(count))

    def expected(self, tree: int, directory: int) -> Iterator[Named]:
        """Yields the items in a directory; none of a kind that a random order leaves unknown."""
        for kind, count in self.population.kinds().items():
            numbers = self.shape.items_in(directory)
            if count < self.shape.all_items:
                made = self._made(count) if self.order != "random" else range(0)
                numbers = range(max(numbers.start, made.start), min(numbers.stop, made.stop))
            for owner in range(self.ranks_of(tree)):
                yield from (Named(kind, owner, number) for number in numbers)

    def _made(self, count: int) -> range:
        items = self.shape.all_items
        return range(items - count, items) if self.order == "backward" else range(count)

    def misfit(self, tree: Mapping[str, Json], clients: int, sharing: Json) -> str:
        """Returns the first difference of a case from the trees, with both values; empty if it fits."""
        for key, own in self.shape.model_dump().items():
            if tree.get(key, own) != own:
                return f"its tree has {key} = {own}, the case {key} = {tree[key]}"
        if clients != self.clients:
            return f"its tree has items of {self.clients} clients, the case has clients = {clients}"
        return (
            f"its tree has sharing = {self.sharing}, the case sharing = {sharing}"
            if sharing != self.sharing
            else ""
        )

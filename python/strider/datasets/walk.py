"""Walks the trees of a data set, to compare them with the marker or to remove them."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from strider.datasets.folder import SetFolder
from strider.datasets.marker import Marker
from strider.datasets.trees import KeptTree, Named

_MOST_PROBLEMS = 1000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass
class Removal:
    """The result of removing trees.

    Attributes:
        entries: Number of files, links and directories removed.
        kept: Paths of entries that stay, with reasons.
    """

    entries: int = 0
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """A directory of a tree, open.

    Attributes:
        descriptor: Its descriptor.
        path: Its path.
        tree: Number of the tree.
        number: Number of the directory in the tree.
    """

    descriptor: int
    path: Path
    tree: int
    number: int

    def names(self) -> list[str]:
        """Returns the names in it."""
        with os.scandir(self.descriptor) as entries:
            return sorted(entry.name for entry in entries)

    def status(self, name: str) -> os.stat_result | None:
        """Returns the status of an entry; None if it is gone."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None


@contextmanager
def _opened(
    above: int, name: str, path: Path, tree: int, number: int, device: int
) -> Iterator[_Place | None]:
    """Yields a directory; None if it cannot be opened as one, or is on another file system."""
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=above)
    except OSError:
        yield None
        return
    try:
        is_own = os.fstat(descriptor).st_dev == device
        yield _Place(descriptor, path, tree, number) if is_own else None
    finally:
        os.close(descriptor)


def remove_trees(folder: SetFolder, marker: Marker, kept: KeptTree) -> Removal:
    """Removes the items of the marker in the trees of a set; everything else stays, and is named."""
    removal = Removal()
    for tree in range(kept.trees):
        name = marker.file_name(tree)
        with _opened(folder.descriptor, name, folder.path / name, tree, 0, folder.device) as top:
            if top is not None:
                _Remover(kept, folder.device, removal).empty(top)
        _remove_directory(folder.descriptor, name, folder.path / name, removal)
    return removal


def _remove_directory(above: int, name: str, path: Path, removal: Removal) -> None:
    try:
        os.rmdir(name, dir_fd=above)
        removal.entries += 1
    except FileNotFoundError:
        return
    except OSError as error:
        # Foreign items in it have been named.
        if not any(line.startswith(f"{path}/") for line in removal.kept):
            removal.kept.append(f"{path}: {error.strerror}")


@dataclass(frozen=True)
class _Remover:
    """Removes the items and directories of a tree.

    Attributes:
        kept: The trees.
        device: Device of their file system.
        removal: The result so far.
    """

    kept: KeptTree
    device: int
    removal: Removal

    def empty(self, place: _Place) -> None:
        """Removes the content of a directory, the deepest first."""
        for name in place.names():
            child = self.kept.child(place.number, name)
            path = place.path / name
            if child is None:
                self._remove_item(place, name)
                continue
            with _opened(place.descriptor, name, path, place.tree, child, self.device) as below:
                if below is not None:
                    self.empty(below)
            _remove_directory(place.descriptor, name, path, self.removal)

    def _remove_item(self, place: _Place, name: str) -> None:
        named = self.kept.item(place.tree, place.number, name)
        status = place.status(name)
        path = place.path / name
        if status is None:
            return
        if named is None or not self.kept.has(named) or not named.has_type(status.st_mode):
            self.removal.kept.append(f"{path}: not an item of the data set")
        elif stat.S_ISDIR(status.st_mode):
            _remove_directory(place.descriptor, name, path, self.removal)
        else:
            self._unlink(place, name)

    def _unlink(self, place: _Place, name: str) -> None:
        try:
            os.unlink(name, dir_fd=place.descriptor)
            self.removal.entries += 1
        except FileNotFoundError:
            return
        except OSError as error:
            self.removal.kept.append(f"{place.path / name}: {error.strerror}")


def problems_of(folder: SetFolder, marker: Marker, kept: KeptTree) -> list[str]:
    """Returns how the trees of a set differ from the marker, a line each: missing, surplus, damaged."""
    found: list[str] = []
    for problem in _problems(folder, marker, kept):
        if len(found) == _MOST_PROBLEMS:
            return [
                *found,
                f"{folder.path}: more than {_MOST_PROBLEMS} differences, of which these are the first",
            ]
        found.append(problem)
    return found


def _problems(folder: SetFolder, marker: Marker, kept: KeptTree) -> Iterator[str]:
    if "tree" not in kept.population.present:
        return
    for tree in range(kept.trees):
        name = marker.file_name(tree)
        comparison = _Comparison(kept, folder.device)
        with _opened(folder.descriptor, name, folder.path / name, tree, 0, folder.device) as top:
            if top is None:
                yield f"{folder.path / name}: missing, with all items of the tree"
                continue
            yield from comparison.of(top)
            yield from comparison.counts(top)


@dataclass
class _Comparison:
    """Compares a tree with its marker.

    Attributes:
        kept: The trees.
        device: Device of their file system.
        found: Items by kind and owner.
    """

    kept: KeptTree
    device: int
    found: Counter[tuple[str, int]] = field(default_factory=Counter)

    def of(self, place: _Place) -> Iterator[str]:
        """Yields the differences in a directory and those below it."""
        names = set(place.names())
        for number, child in enumerate(self.kept.shape.children(place.number)):
            name = f"b{number}"
            names.discard(name)
            with _opened(place.descriptor, name, place.path / name, place.tree, child, self.device) as below:
                if below is None:
                    yield f"{place.path / name}: missing directory, with the items in it"
                else:
                    yield from self.of(below)
        shape = self.kept.shape
        for named in self.kept.expected(place.tree, place.number):
            name = shape.name_of(named.kind, named.owner, named.number)
            if name not in names:
                yield f"{place.path / name}: missing"
        for name in sorted(names):
            yield from self._entry(place, name)

    def _entry(self, place: _Place, name: str) -> Iterator[str]:
        named, status = self.kept.item(place.tree, place.number, name), place.status(name)
        path = place.path / name
        if status is None:
            return
        if named is None or not self.kept.has(named):
            yield f"{path}: not an item of the data set"
            return
        self.found[named.kind, named.owner] += 1
        yield from self._damage(place, name, named, status)

    def _damage(self, place: _Place, name: str, named: Named, status: os.stat_result) -> Iterator[str]:
        path, population = place.path / name, self.kept.population
        if not named.has_type(status.st_mode):
            wanted = {"d": "a directory", "e": "a directory", "s": "a symbolic link"}.get(
                named.kind, "a regular file"
            )
            yield f"{path}: not {wanted}"
        elif named.kind in "fr" and status.st_size != population.file_bytes:
            yield f"{path}: {status.st_size} bytes, {population.file_bytes} were written"
        elif named.kind == "s":
            file = "r" if population.renamed_when_linked else "f"
            wanted = self.kept.shape.name_of(file, named.owner, named.number)
            leads = os.readlink(name, dir_fd=place.descriptor)
            if leads != wanted:
                yield f"{path}: leads to {leads}, not to {wanted}"
        elif named.kind == "l" and "files" in population.present:
            file = "r" if population.renamed_files else "f"
            linked = place.status(self.kept.shape.name_of(file, named.owner, named.number))
            if linked is not None and linked.st_ino != status.st_ino:
                yield f"{path}: not a link to {self.kept.shape.name_of(file, named.owner, named.number)}"

    def counts(self, top: _Place) -> Iterator[str]:
        """Yields where ranks have too few items of which a random order leaves the numbers unknown."""
        for kind, count in self.kept.population.kinds().items():
            if self.kept.order != "random" or count == self.kept.shape.all_items:
                continue
            for owner in range(self.kept.ranks_of(top.tree)):
                there = self.found[kind, owner]
                if there != count:
                    yield f"{top.path}: {there} items {kind}{owner}.*, {count} were made"

"""The kept files of an active run: guards them, and at the end moves, marks or removes them."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from strider.datasets.marker import Owner, Use, now
from strider.engine import Json
from strider.errors import ExitCode, StriderError
from strider.kept import marker as markers
from strider.kept.guard import Existing, directory_of, examine, opened
from strider.kept.marker import KeptFile, KeptMarker
from strider.kept.moving import move
from strider.kept.use import KeptUse
from strider.suite import CheckedPlan, PlannedCase

Event = Mapping[str, Json]
_FILE_MODE = 0o664
"""Permissions of IOR's files, limited by the umask."""
_MOST_RULES = 200
"""Number of single files that the ranks may be permitted to write to; of more, their directory."""


@dataclass(kw_only=True)
class KeptSet:
    """The files of some cases, under one data set of the plan.

    Attributes:
        uses: The uses in the order of the cases, by the cases' numbers.
        path: The directory in which the engine works.
        folder: Descriptor of the user's directory.
        work: Descriptor of the directory in which the engine works.
        manifest: Manifest of the first case.
        before: What existed before the run.
        packet: Data in IOR's form that the last writing case writes; None for Strider's own.
        is_mixed: Whether a case writes files several times or in passes, so that their data has no single
            seed.
    """

    uses: dict[int, KeptUse]
    path: Path
    folder: int
    work: int
    manifest: Mapping[str, Json]
    before: Existing
    packet: dict[str, Json] | None = None
    is_mixed: bool = False

    @property
    def use(self) -> KeptUse:
        """The last use, which decides what stays."""
        return list(self.uses.values())[-1]

    @property
    def writer(self) -> KeptUse:
        """The last use that writes."""
        return [use for use in self.uses.values() if use.writes][-1]

    @property
    def is_written(self) -> bool:
        """Whether a case writes to the files."""
        return any(use.writes for use in self.uses.values())

    @property
    def is_new(self) -> bool:
        """Whether the files are made by the run."""
        return self.use.place == "own"

    def stays(self, wrong: Collection[int]) -> bool:
        """Returns whether the files stay.

        Args:
            wrong: Numbers of the cases with wrong data.
        """
        keeps = self.use.keeps
        return keeps == "always" or (keeps == "if wrong" and not set(wrong).isdisjoint(self.uses))


@dataclass
class KeptClaims:
    """All kept files of a run.

    Attributes:
        run: The run's id.
        sets: They by the names of their data sets.
        trash: Descriptor of the directory in the run's folder to which files to be removed are moved first.
        problems: What could not be done at the end, a line each.
        notes: What stays for other reasons, a line each.
    """

    run: str
    sets: dict[str, KeptSet] = field(default_factory=dict)
    trash: int = -1
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _removed: int = 0

    def words(self) -> list[str]:
        """Returns the engine's options."""
        return [word for name, one in self.sets.items() for word in ("--dataset", f"{name}={one.path}")]

    def directories(self) -> list[tuple[Path, int]]:
        """Returns path and descriptor of each directory in which the engine works."""
        return [(one.path, one.work) for one in self.sets.values()]

    def descriptors(self, stack: ExitStack) -> list[int]:
        """Returns descriptors of files outside of the run's folder that ranks may write to.

        Args:
            stack: Closes them.

        Raises:
            StriderError: A file has been replaced since it was examined.
        """
        found: list[int] = []
        for one in self.sets.values():
            if one.is_new or not one.is_written:
                continue
            if one.use.files > _MOST_RULES:
                found.append(one.folder)
            else:
                found += [_open_as_found(one, number, stack) for number in range(one.use.files)]
        return found

    def begin(self) -> None:
        """Prepares the user's directory, just before the engine starts.

        Raises:
            StriderError: Files have changed since the plan was made.
        """
        for one in self.sets.values():
            if one.is_new and any(use.removes_first for use in one.uses.values()):
                self._remove(one, one.before)
                if self.problems:
                    raise StriderError("\n".join(self.problems), ExitCode.CANNOT_RUN)
            elif not one.is_new and one.is_written and one.before.marker:
                # Until the run has ended, it is unknown which bytes are old.
                self._mark(one, [_mixed(file) for file in one.before.marker.files])

    def finish(self, events: Mapping[str, Event], wrong: Collection[int]) -> None:
        """Moves, marks or removes the files at the end of a run; notes what could not be done.

        Args:
            events: The last `data_set` event of each data set, by name.
            wrong: Numbers of the cases with wrong data.
        """
        for name, one in self.sets.items():
            try:
                if one.is_new:
                    self._finish_new(one, events.get(name), stays=one.stays(wrong))
                else:
                    self._finish_existing(one, events.get(name), stays=one.stays(wrong))
            except StriderError as error:
                self.problems.append(error.message)
            except OSError as error:
                self.problems.append(f"{one.use.names.folder}: {error.strerror}")

    def _finish_new(self, one: KeptSet, event: Event | None, *, stays: bool) -> None:
        if not stays:
            return
        names = one.use.names
        if event is None or event["state"] != "written":
            self.problems.append(f"{names.path(0)} was not kept, because the run did not complete it")
            return
        count = sum(int(some) for some, _ in event["files"])
        files = [self._left(one, number, event) for number in range(count)]
        existing = examine(names, count, one.folder)
        others = [file for file in existing.marker.files if file.number >= count] if existing.marker else []
        self._remove(one, existing)  # an earlier case of the run still used them
        self._mark(one, [*files, *others])
        for number in range(count):
            self._move(one, number)

    def _left(self, one: KeptSet, number: int, event: Event) -> KeptFile:
        """Gives a new file IOR's permissions; returns what its marker says."""
        descriptor = os.open(f"data.{number}", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=one.work)
        try:
            os.fchmod(descriptor, _FILE_MODE & ~_umask())
            status = os.fstat(descriptor)
            entry = _entry(one, number, status, event, created=True)
            # The last write may have overwritten a part of an earlier case's data.
            return entry if _sizes(event)[number] == status.st_size else _mixed(entry)
        finally:
            os.close(descriptor)

    def _move(self, one: KeptSet, number: int) -> None:
        names = one.use.names
        try:
            with directory_of(one.folder, names, number, make=True) as directory:
                move(f"data.{number}", one.work, names.parts(number)[1], directory)
        except FileExistsError:
            self.problems.append(
                f"{names.path(number)} appeared during the run and was not replaced: the new file was removed"
            )

    def _finish_existing(self, one: KeptSet, event: Event | None, *, stays: bool) -> None:
        names, use = one.use.names, one.use
        found = examine(names, use.files, one.folder)
        if one.is_written and event is not None:
            self._mark_rewritten(one, found, event)
            found = examine(names, use.files, one.folder)
        if stays:
            return
        foreign = [names.path(number) for number in found.files if found.own(number) is None]
        self._remove(one, found)
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            self.notes.append(f"{foreign[0]}{more}: not made by Strider, or changed since, so not removed")

    def _mark_rewritten(self, one: KeptSet, found: Existing, event: Event) -> None:
        before = one.before.marker.by_number() if one.before.marker else {}
        sizes, files = _sizes(event), []
        for number, status in found.files.items():
            created = number in before and before[number].created and before[number].inode == status.st_ino
            entry = _entry(one, number, status, event, created=created)
            whole = event["state"] == "written" and number < len(sizes) and sizes[number] == status.st_size
            files.append(entry if whole and not event["parts"] else _mixed(entry))
        others = [file for number, file in before.items() if number not in found.files]
        self._mark(one, [*files, *others])

    def _mark(self, one: KeptSet, files: Sequence[KeptFile]) -> None:
        made = Use(run=self.run, at=now())
        marker = KeptMarker(owner=Owner.me(), made=made, files=sorted(files, key=lambda file: file.number))
        markers.write(one.folder, one.use.names, marker)

    def _remove(self, one: KeptSet, existing: Existing) -> None:
        """Removes the files that Strider made, and their marker if it names no others."""
        names = one.use.names
        removed = {number for number in existing.files if self._remove_file(one, existing, number)}
        others = (
            [file for file in existing.marker.files if file.number not in removed] if existing.marker else []
        )
        if others:
            self._mark(one, others)
        elif existing.marker:
            with suppress(FileNotFoundError):
                os.unlink(names.marker, dir_fd=one.folder)
        for number in removed if names.unique else ():
            with suppress(OSError):  # it has other files, or is gone
                os.rmdir(names.parts(number)[0], dir_fd=one.folder)

    def _remove_file(self, one: KeptSet, existing: Existing, number: int) -> bool:
        """Removes a file if it is still the one that Strider made; returns whether it did."""
        entry, names = existing.own(number), one.use.names
        if entry is None:
            return False
        # First out of the way, then examined: between a look and a removal, another file could take its name.
        self._removed += 1
        aside, name = f"removed-{self._removed}", names.parts(number)[1]
        with suppress(FileNotFoundError), directory_of(one.folder, names, number) as directory:
            move(name, directory, aside, self.trash)
            if entry.fits(os.stat(aside, dir_fd=self.trash, follow_symlinks=False)):
                os.unlink(aside, dir_fd=self.trash)
                return True
            move(aside, self.trash, name, directory)
            self.problems.append(
                f"{names.path(number)} was replaced by another process during the run, and stays"
            )
        return False


def _entry(one: KeptSet, number: int, status: os.stat_result, event: Event, *, created: bool) -> KeptFile:
    reached = [int(requests) for requests, _ in event["parts"]]
    return KeptFile(
        number=number,
        bytes=status.st_size,
        inode=status.st_ino,
        mtime_ns=status.st_mtime_ns,
        created=created,
        seed=int(one.manifest["seed"]),
        generation=max(1, int(event["generation"])),
        requests=min(reached, default=0),
        shape=one.writer.shape if reached else "",
        packet=one.packet,
        data="mixed" if (one.is_mixed and not one.packet) or (reached and not min(reached)) else "known",
    )


def _sizes(event: Event) -> list[int]:
    """Returns the ends of the last write in the files."""
    return [int(size) for some, size in event["files"] for _ in range(int(some))]


def _mixed(file: KeptFile) -> KeptFile:
    return file.model_copy(update={"data": "mixed"})


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _open_as_found(one: KeptSet, number: int, stack: ExitStack) -> int:
    """Opens a file for the rules of the ranks."""
    names = one.use.names
    with directory_of(one.folder, names, number) as directory:
        descriptor = os.open(names.parts(number)[1], os.O_PATH | os.O_NOFOLLOW, dir_fd=directory)
    stack.callback(os.close, descriptor)
    status, found = os.fstat(descriptor), one.before.files[number]
    if (status.st_dev, status.st_ino) != (found.st_dev, found.st_ino):
        raise _changed(names.path(number))
    return descriptor


def _changed(path: Path) -> StriderError:
    return StriderError(
        f"{path} has changed since the plan was made: start the run again", ExitCode.CANNOT_RUN
    )


@contextmanager
def claimed(checked: CheckedPlan, run: str, path: Path, open_own: Callable[[], int]) -> Iterator[KeptClaims]:
    """Opens the kept files of a plan for a run.

    The caller calls `begin` before the engine starts and `finish` when it has ended.

    Args:
        checked: The plan.
        run: The run's id.
        path: The run's folder.
        open_own: Returns a descriptor of the run's folder.

    Raises:
        StriderError: Files have changed since the plan was made.
    """
    claims = KeptClaims(run)
    by_set: dict[str, list[PlannedCase]] = {}
    for case, _ in checked.cases:
        use = KeptUse.of(case)
        if use is not None:
            by_set.setdefault(use.name, []).append(case)
    with ExitStack() as stack:
        if by_set:
            own = open_own()
            stack.callback(os.close, own)
            claims.trash = _made("removed", own, stack)
            for name, cases in by_set.items():
                claims.sets[name] = _claim(name, cases, own, path, stack)
        yield claims


def _made(name: str, above: int, stack: ExitStack) -> int:
    """Makes a directory in the run's folder and opens it."""
    try:
        os.mkdir(name, mode=0o700, dir_fd=above)
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    except OSError as error:
        raise StriderError(f"cannot create {name}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    stack.callback(os.close, descriptor)
    return descriptor


def _claim(name: str, cases: Sequence[PlannedCase], own: int, path: Path, stack: ExitStack) -> KeptSet:
    uses = {case.case: use for case in cases if (use := KeptUse.of(case))}
    use = uses[cases[-1].case]
    names, manifest = use.names, cases[0].get("manifest")
    try:
        folder = stack.enter_context(opened(names))
    except OSError as error:
        raise StriderError(f"{names.folder}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    before = examine(names, max(one.files for one in uses.values()), folder)
    written = [case.get("manifest") for case in cases if uses[case.case].writes]
    packet = written[-1].get("packet") if written else None
    is_mixed = any(case.get("runtime") and uses[case.case].writes for case in cases)
    kept = partial(
        KeptSet,
        uses=uses,
        folder=folder,
        manifest=manifest,
        before=before,
        packet=packet,
        is_mixed=is_mixed,
    )
    if use.place == "own":
        directory = name.removeprefix(".")
        work = _made(directory, own, stack)
        if any(one.keeps != "never" for one in uses.values()):
            _require_none(before.objection_to_replacing())
        return kept(path=path / directory, work=work)
    _require_none(before.objection_to_using(writes=any(one.writes for one in uses.values())))
    sizes = [int(size) for some, size in manifest["files"] for _ in range(int(some))]
    if sizes != [before.files[number].st_size for number in sorted(before.files)]:
        raise _changed(names.path(0))
    return kept(path=names.folder, work=folder)


def _require_none(objection: str) -> None:
    if objection:
        raise StriderError(objection)

"""Files that stay for the next invocation: which tests keep, read or overwrite files under IOR's names.

Tests of one script follow each other, so the files of a test also depend on the tests before it.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strider.engine import Json
from strider.importers import status_file
from strider.importers.ior import packets
from strider.importers.ior.packets import Packet
from strider.importers.ior.workload import Workload
from strider.kept import Existing, FileNames, KeptUse, examine
from strider.kept.marker import KeptFile
from strider.kept.use import PREFIX, Keeps, manifest_of_existing, manifest_of_new
from strider.suite.mistakes import Mistakes

INTERFACES = ("POSIX", "MMAP", "MPIIO")
"""IOR's interfaces whose files are plain files in a directory."""
STATUS = "stoneWallingStatusFile"


@dataclass(frozen=True)
class KeptTest:
    """A test with kept files.

    Attributes:
        manifests: The manifest of each case: one case, or with several files (`-m`) one for each repetition.
        write: The operation that writes: `write` makes new files, `rewrite` overwrites those that are there.
        smallest_bytes: Size of the smallest file that exists before the run; None if there is none.
        notes: What differs from IOR.
    """

    manifests: Sequence[dict[str, Json]]
    write: str
    smallest_bytes: int | None = None
    notes: Sequence[str] = ()

    @property
    def data_sets(self) -> list[str]:
        """Names of the data sets of its cases."""
        return [manifest["kept"]["name"] for manifest in self.manifests]


@dataclass
class _Files:
    """The files of some names, as the tests so far leave them.

    Attributes:
        number: Number of these names among all.
        existing: What exists before the run.
        place: Where the next test finds them: under their names, in the run's folder, or nowhere.
        seed: Seed of the data of those in the run's folder.
        are_used_here: Whether a test before uses them under their names.
        packet: Data in IOR's form of those in the run's folder; None for Strider's own.
    """

    number: int
    existing: Existing
    place: str = "here"
    seed: int = field(default_factory=lambda: secrets.randbits(63))
    are_used_here: bool = False
    packet: Packet | None = None


def _data_of(file: KeptFile) -> str:
    return str(sorted(file.packet.items())) if file.packet else f"{file.seed} {file.generation}"


class KeptFiles:
    """Decides for one test after the other how it uses files.

    Args:
        mistakes: Where it notes what cannot be done.
    """

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._files: dict[FileNames, _Files] = {}

    def of(self, work: Workload) -> KeptTest | None:
        """Returns how a test uses kept files; None if its files are Strider's own and are removed.

        Args:
            work: The test.

        Raises:
            StriderError: Files cannot be examined, or the status file cannot be read.
        """
        if not work.surroundings.keeps_files or work.api not in INTERFACES or work.path[0] == "listio:":
            return None
        return _Planner(work, self._mistakes, self._files).plan()


@dataclass
class _Planner:
    """Plans one test; see `KeptFiles`."""

    work: Workload
    mistakes: Mistakes
    files: dict[FileNames, _Files]
    notes: list[str] = field(default_factory=list)
    write: str = "write"

    def plan(self) -> KeptTest | None:
        several = self.work.flag("multiFile")
        count = self.work.settings.number("repetitions", 1) if several else 1
        requests = self._requests()
        found = [self._repetition(f".{number}" if several else "", requests) for number in range(count)]
        manifests = [manifest for manifest, _ in found if manifest]
        sizes = [size for _, size in found if size is not None]
        if len(manifests) < len(found):
            return None
        return KeptTest(manifests, self.write, min(sizes, default=None), list(dict.fromkeys(self.notes)))

    def _repetition(self, suffix: str, requests: int) -> tuple[dict[str, Json] | None, int | None]:
        """Returns the manifest of a repetition, and the size of the smallest file that exists."""
        work = self.work
        path = work.path[1].expanduser().absolute()
        per_rank = work.flag("filePerProc")
        names = FileNames(path.parent, path.name, per_rank, per_rank and work.flag("uniqueDir"), suffix)
        if names.objection:
            self._object("testFile", names.objection)
            return None, None
        files = self.files.get(names)
        if files is None or files.existing.count < self._count:
            files = files or _Files(len(self.files), Existing(names, 0))
            files.existing = examine(names, self._count)
            self.files[names] = files
        return self._writing(files) if work.asked.writes else self._reading(files, requests)

    @property
    def _count(self) -> int:
        return self.work.tasks if self.work.flag("filePerProc") else 1

    @property
    def _keeps(self) -> Keeps:
        if self.work.flag("keepFile"):
            return "always"
        return "if wrong" if self.work.flag("keepFileWithError") else "never"

    def _object(self, option: str, message: str) -> None:
        self.mistakes.add(self.work.settings.place(option), message)

    def _note(self, option: str, message: str) -> None:
        self.notes.append(f"{self.work.place(option)}: {message}")

    def _use(self, files: _Files, place: str, *, removes_first: bool = False) -> KeptUse:
        names = files.existing.names
        return KeptUse(
            name=f"{PREFIX}{files.number}-{'new' if place == 'own' else self._count}",
            place="own" if place == "own" else "here",
            folder=str(names.folder),
            base=names.base,
            per_rank=names.per_rank,
            unique=names.unique,
            suffix=names.suffix,
            files=self._count,
            writes=self.work.asked.writes,
            keeps=self._keeps,
            removes_first=removes_first,
            shape=self._shape,
        )

    @property
    def _shape(self) -> str:
        """What decides which bytes the first requests of each task are."""
        work = self.work
        numbers = [work.tasks, work.transfer, work.block, work.segments]
        flags = [work.flag(name) for name in ("filePerProc", "randomOffset")]
        return " ".join(str(int(number)) for number in (*numbers, *flags))

    # Writing

    def _writing(self, files: _Files) -> tuple[dict[str, Json] | None, int | None]:
        existing, keeps = files.existing, self._keeps
        overwrites = self.work.flag("useExistingTestFile")
        if self.work.flag("randomPrefill") and (keeps != "never" or files.place == "own"):
            self._object(
                "randomPrefill", "randomPrefill is not supported for files that stay: remove -k and -K"
            )
            return None, None
        if overwrites and files.place == "own":
            self.write = "rewrite"
        elif overwrites and files.place == "here" and existing.files:
            return self._overwriting(files)
        elif keeps == "never" and files.place != "own" and not self._would_remove(files):
            return None, None
        return self._making(files)

    def _would_remove(self, files: _Files) -> bool:
        """Whether files are there that Strider made, so that a write without -k removes them, as in IOR."""
        existing = files.existing
        if files.place != "here" or not existing.files:
            return False
        objection = existing.objection_to_replacing()
        if objection:
            path = existing.names.path(min(existing.files))
            self._note(
                "testFile", f"{path} exists and is not Strider's, so it stays as it is; IOR would remove it"
            )
        return not objection

    def _making(self, files: _Files) -> tuple[dict[str, Json] | None, int | None]:
        if files.place == "here":
            objection = files.existing.objection_to_replacing()
            if objection:
                self._object("testFile", objection)
                return None, None
        removes = files.place == "here" and bool(files.existing.files) and not files.are_used_here
        use = self._use(files, "own", removes_first=removes)
        if use.unique:
            self._note("uniqueDir", "the files are moved to their directories after the run")
        files.packet = self._packet_to_write()
        made_before = files.place == "own"
        manifest = manifest_of_new(use, files.seed, made_before=made_before, packet=files.packet)
        files.place = "own" if self._keeps == "always" else "gone"
        return manifest, None

    def _overwriting(self, files: _Files) -> tuple[dict[str, Json] | None, int | None]:
        existing = files.existing
        for option, objection in self._objections_to_overwriting(existing):
            self._object(option, objection)
            return None, None
        self.write = "rewrite"
        self._note(
            "useExistingTestFile",
            "the file is overwritten in place, neither created nor truncated",
        )
        return self._here(files, 0, self._packet_to_write())

    def _objections_to_overwriting(self, existing: Existing) -> Iterator[tuple[str, str]]:
        work = self.work
        if existing.missing:
            path = existing.names.path(existing.missing[0])
            yield (
                "useExistingTestFile",
                f"{path} does not exist, but other files of the test do: write all of them first with "
                "-w -k, or remove them",
            )
        objection = existing.objection_to_using(writes=True)
        if objection:
            yield "testFile", objection
        size = self._bytes(0)
        sizes = {status.st_size for status in existing.files.values()}
        if work.api == "MMAP" and min(sizes) < size:
            yield (
                "useExistingTestFile",
                f"MMAP cannot extend a file, and the test writes {size} bytes: remove -E",
            )
        if (work.asked.checks_read or work.asked.checks_write) and sizes != {size}:
            yield (
                "checkRead" if work.asked.checks_read else "checkWrite",
                "the data can be checked only if the test overwrites each file as a whole, here "
                f"{size} bytes: remove -E, or choose -b and -s accordingly",
            )

    def _packet_to_write(self) -> Packet | None:
        work = self.work
        if not packets.is_given(work):
            return None
        if packets.can_hold(work):
            packet = packets.packet_of(work)
            if not packets.signature_of(work) and packet["type"] != "random":
                self._note(
                    "dataPacketType",
                    f"the signature is the time: to check the data with IOR, give -G {packet['signature']}",
                )
            return packet
        self._note(
            "randomOffset", "the file holds Strider's data, not IOR's, so -R of IOR would not accept it"
        )
        return None

    # Reading

    def _reading(self, files: _Files, requests: int) -> tuple[dict[str, Json] | None, int | None]:
        if files.place == "own":
            use = self._use(files, "own")
            if self._keeps != "always":
                files.place = "gone"
            manifest = manifest_of_new(
                use, files.seed, made_before=True, requests=requests, packet=files.packet
            )
            return manifest, None
        for option, objection in self._objections_to_reading(files, requests):
            self._object(option, objection)
            return None, None
        packet, reason = None, ""
        if self.work.asked.checks_read or self.work.asked.checks_write:
            packet, reason = self._packet_to_check(files.existing, requests)
        if reason:
            option = "checkRead" if self.work.asked.checks_read else "checkWrite"
            remedy = f"remove {self.work.place(option)}, give -G and -l of the write, or write it with -w -k"
            self._object(option, f"{reason}: {remedy}")
            return None, None
        return self._here(files, requests, packet)

    def _objections_to_reading(self, files: _Files, requests: int) -> Iterator[tuple[str, str]]:
        existing, names = files.existing, files.existing.names
        if files.place == "gone":
            yield "testFile", f"{names.path(0)} was removed by an earlier test: add -k to that test"
        for number in existing.missing:
            yield (
                "testFile",
                f"{names.path(number)} does not exist: write it first with -w -k and the same -o, -F, -u and "
                f"-m, and at least as many tasks ({self.work.tasks})",
            )
        objection = existing.objection_to_using(writes=False)
        if objection:
            yield "testFile", objection
        yield from self._too_short(existing, requests)

    def _too_short(self, existing: Existing, requests: int) -> Iterator[tuple[str, str]]:
        needed = self.work.transfer if self.work.draws else self._bytes(requests)
        for number, status in sorted(existing.files.items()):
            if status.st_size < needed:
                yield (
                    "testFile",
                    f"{existing.names.path(number)} has {status.st_size} bytes, but the test reads {needed}: "
                    "write it with -w -k and the same -t, -b, -s and number of tasks, read less, or name the "
                    f"status file of a write with a deadline with -O {STATUS}=PATH",
                )

    def _packet_to_check(self, existing: Existing, requests: int) -> tuple[Packet | None, str]:
        """Returns the data in IOR's form that files hold, None for Strider's own; or why it is not known."""
        reason = self._unknown_data(existing, requests)
        entries = existing.marker.by_number() if existing.marker else {}
        left = [entries[number].packet for number in sorted(existing.files)] if not reason else []
        is_given = bool(packets.signature_of(self.work)) and packets.can_hold(self.work)
        if not is_given:
            return (left[0], "") if left else (None, reason)
        asked = packets.packet_of(self.work)
        known = left[0] if left else asked
        # The marker also knows the tasks and sizes of the writer.
        is_same = known is None or all(known[key] == asked[key] for key in ("type", "signature"))
        return known if is_same else asked, ""

    def _unknown_data(self, existing: Existing, requests: int) -> str:
        """Returns why the marker does not distinguish the data of files; empty if it does."""
        entries = existing.marker.by_number() if existing.marker else {}
        for number, status in sorted(existing.files.items()):
            path, entry = existing.names.path(number), entries.get(number)
            if entry is None:
                return f"{path} was not written by Strider, so its data cannot be checked"
            if not entry.fits(status):
                return f"{path} has changed since Strider wrote it, so its data cannot be checked"
            if entry.data == "mixed":
                return f"{path} was written in several parts, so its data cannot be checked"
            if entry.requests and (entry.shape != self._shape or not 0 < requests <= entry.requests):
                return (
                    f"only the first {entry.requests} transfers of each task were written to {path}, so its "
                    f"data can be checked only with the options of the writer and -O {STATUS}=PATH"
                )
        if len({_data_of(entries[number]) for number in existing.files}) > 1:
            return (
                f"the files of {existing.names.path(0)} were written by different runs, so cannot be checked"
            )
        return ""

    def _here(self, files: _Files, requests: int, packet: Packet | None) -> tuple[dict[str, Json], int]:
        existing = files.existing
        use = self._use(files, "here")
        files.are_used_here = True
        is_removed = self._keeps == "never" and any(existing.own(number) for number in existing.files)
        if is_removed and not self.work.asked.writes and self.work.settings.number("repetitions", 1) > 1:
            self._note(
                "repetitions", "the file is removed after the last repetition; in IOR, after the first"
            )
        files.place = "gone" if is_removed else "here"
        return manifest_of_existing(use, existing, requests, packet), min(
            status.st_size for status in existing.files.values()
        )

    def _bytes(self, requests: int) -> int:
        """Returns the end of the first requests of each task in a file; 0 requests: of all."""
        work = self.work
        in_block = work.block // work.transfer
        last = min(requests or in_block * work.segments, in_block * work.segments) - 1
        if work.flag("randomOffset"):
            last = in_block * work.segments - 1
        segment, transfer = divmod(last, in_block)
        tasks = 1 if work.flag("filePerProc") else work.tasks
        return (segment * tasks + tasks - 1) * work.block + (transfer + 1) * work.transfer

    def _requests(self) -> int:
        """Returns the transfers of each task that the status file names; 0 if there is no limit."""
        path = self.work.settings.text(STATUS)
        if not path or self.work.asked.writes:
            return 0
        found = status_file.read(Path(path), self.work.place(STATUS))
        if found is None:
            self._note(STATUS, f"{path} does not exist, so the whole file is read, as in IOR")
        return found or 0

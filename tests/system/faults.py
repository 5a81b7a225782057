"""The matrix of faults: every way of every interface on a file system that damages data, and the findings.

A row is one run of the engine: a case for each fault, which is keyed to the name of the case's file,
and after every few a case without a fault, which has to be right. Interfaces and ways are those that the
engine describes.
"""

import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from errno import errorcode
from pathlib import Path

from forgetfs import ForgetFs
from harness import EngineJob, EngineRun, Json, case, check, plan, read_events, run_engine
from strider.engine import Engine, Interface

PIECE, PERIOD, PERIODS = 4096, 16384, 16
PATTERN: Json = {
    "pattern": "vector",
    "pattern_piece": PIECE,
    "pattern_file_gap": PERIOD - PIECE,
    "pattern_pieces": 4,
    "pattern_count": PERIODS // 4,
}
"""Each period has a piece of rank 0, one of rank 1 if the file is shared, and two or three pieces of gap."""
TARGET = 5 * PERIOD
"""A piece of rank 0, in the middle of the file."""
GAP = TARGET + 3 * PIECE + 100
KEYS: Json = {
    "clients": 2,
    "verify": "full",
    "sync": "end",
    "operations": ["write", "rewrite", "read"],
}

HANGS, KILLED = "hangs", -9
STALL_S = 60.0
"""The time that a rank may wait for the others: far more than any case takes."""
HANG_S = 15.0
"""A run that writes no event for so long hangs: each case takes less than a second."""
FAULTY_CASES = 4
"""Cases with a fault between two without."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong in a case.

    Attributes:
        name: In the table.
        op: The call of the kernel.
        kind: As forgetfs has it.
        right: The expected findings of the engine: classes of wrong data, or names of errors; nothing: all is
            right.
        span: The damaged bytes, from the beginning of the data.
        call: The k-th call.
        amount: Bytes or milliseconds.
    """

    name: str
    op: str
    kind: str
    right: frozenset[str]
    span: tuple[int, int] | None = None
    call: int | None = None
    amount: int | None = None


def _data(op: str, kind: str, *right: str, length: int = 512, **keys: Json) -> Fault:
    begin = TARGET + 1024
    return Fault(f"{op} {kind}", op, kind, frozenset(right), (begin, begin + length), **keys)


def _error(op: str, name: str, call: int | None, *right: str) -> Fault:
    return Fault(f"{op} {name}", op, name, frozenset(right or (name,)), call=call)


ABSENT = ("zero", "hole", "unread")
END = "missing end"
FAULTS = [
    _data("write", "unfilled", *ABSENT, length=PIECE - 1024),
    _data("write", "dropped", *ABSENT),
    _data("write", "zero", *ABSENT),
    _data("write", "flip", "flipped"),
    _data("write", "swap", "misplaced", "shifted", length=1024),
    _data("write", "stale", "stale", "torn", call=2),
    _data("write", "shift", "shifted", amount=8),
    _data("write", "swab", "byte order"),
    Fault("lost tail", "sync", "lost-tail", frozenset({END})),
    Fault("appended", "sync", "append", frozenset({"outside"})),
    Fault("damaged gap", "sync", "gap", frozenset({"outside"}), (GAP, GAP + 140)),
    Fault("first write EIO", "write", "EIO", frozenset({"EIO"}), call=1),
    *(
        _data("write", name, name, length=PIECE - 1024, call=1)
        for name in ("EIO", "ENOSPC", "EDQUOT", "ESTALE")
    ),
    _data("write", "EINTR", "right", "EINTR", length=PIECE - 1024, call=1),
    Fault("write short", "write", "short", frozenset({"right", "EIO", "stale", "torn"}), call=2),
    Fault("write delay", "write", "delay", frozenset({"right"}), call=2, amount=300),
    _data("read", "unfilled", *ABSENT, length=PIECE - 1024),
    _data("read", "zero", *ABSENT),
    _data("read", "flip", "flipped"),
    _data("read", "swap", "misplaced", "shifted", length=1024),
    _data("read", "stale", "stale", "torn"),
    _data("read", "shift", "shifted", amount=8),
    _data("read", "swab", "byte order"),
    _data("read", "EIO", "EIO"),
    _data("read", "ESTALE", "ESTALE"),
    _error("read", "EINTR", 1, "right", "EINTR"),
    Fault("read short", "read", "short", frozenset({"right", "EIO", "zero", END}), call=1),
    Fault("read delay", "read", "delay", frozenset({"right"}), call=1, amount=300),
    _error("open", "EIO", 1),
    _error("open", "ESTALE", None),
    _error("sync", "EIO", None),
    Fault("first flush EIO", "flush", "EIO", frozenset({"EIO"}), call=1),
    _error("flush", "EIO", 2),
]
"""A write or a read that hangs has a test of its own: it ends the run."""


def _text(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_text(inner)}" for key, inner in value.items()) + "}"
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Way:
    """A way of an interface to move data.

    Attributes:
        interface: Its name.
        settings: Parameters that differ from their defaults.
        depth: Requests in flight.
    """

    interface: str
    settings: Json = field(default_factory=dict)
    depth: int = 1

    @property
    def name(self) -> str:
        """What differs from the defaults, such as `posix method=sieve`."""
        words = [f"{key}={_text(value)}" for key, value in self.settings.items()]
        return " ".join([self.interface, *words, *([f"depth={self.depth}"] if self.depth > 1 else [])])

    @property
    def sharing(self) -> str:
        """While a rank sets a file's size, FUSE shows size 0 to the mappings of others (SIGBUS)."""
        return "per-rank" if self.interface == "mmap" else "shared"

    def keys(self) -> Json:
        """As `case` takes them."""
        named = {f"interface_{key}": value for key, value in self.settings.items()}
        head = {"interface": self.interface, "sharing": self.sharing}
        return {**head, **named, **({"depth": self.depth} if self.depth > 1 else {})}


COMBINED: dict[str, list[Json]] = {
    "mpiio": [
        {"access": "collective", "method": "view"},
        {"hints": {"romio_ds_read": "disable", "romio_ds_write": "disable"}},
    ],
}
"""Combinations of an interface's parameters, beside each alone."""


LEFT_OUT = {
    "mpiio.prefix": "Each names a driver of ROMIO; without one it is that of the file system.",
    "uring.submit_polled": "A kernel thread spins for each rank: with few processors a run takes minutes.",
}
"""Parameters that are not tried, and why."""


def ways(interface: Interface) -> Iterator[Way]:
    """The defaults, each flag and choice alone, combinations, and a queue; the engine may refuse some."""
    yield Way(interface.name)
    for parameter in interface.parameters:
        if f"{interface.name}.{parameter.name}" in LEFT_OUT:
            continue
        if parameter.kind == "flag":
            yield Way(interface.name, {parameter.name: not parameter.default})
        for choice in parameter.choices if parameter.kind == "choice" else []:
            if choice != parameter.default:
                yield Way(interface.name, {parameter.name: choice})
    for settings in COMBINED.get(interface.name, []):
        yield Way(interface.name, settings)
    yield Way(interface.name, depth=4)


@dataclass(frozen=True)
class Cell:
    """The result of a fault.

    Attributes:
        hit: Whether the kernel made the call.
        hung: Whether the run came to no end.
        found: Classes of wrong data and names of errors that were reported.
        where: The operations that reported them.
    """

    hit: bool
    found: frozenset[str]
    where: frozenset[str]
    hung: bool = False

    def text(self, fault: Fault) -> str:
        """The findings, or `right`, `missed`, `not reached`, `hangs`; a wrong name ends with `!`."""
        if self.hung:
            return HANGS
        if not self.found:
            if not self.hit:
                return "not reached"
            return "right" if "right" in fault.right else "missed"
        named = ", ".join(sorted(self.found))
        return named if self.found & fault.right else f"{named}!"


def _words(errors: Iterable[Json]) -> Iterator[str]:
    for error in errors:
        if error["class"]:
            yield error["class"]
        elif error["errno"]:
            yield errorcode[error["errno"]]
        else:
            yield END if "ends" in error["message"] else error["kind"]


@dataclass(frozen=True)
class Stage:
    """Where an interface runs, on a file system that damages.

    Attributes:
        forgetful: The file system: that of the target, or below the servers.
        directory: The target.
        settings: Parameters of the interface that say where its servers are.
        wrap: Words before the command.
        files: Part of the paths of the servers' files, where these have no names of cases; the order of their
            creation distinguishes them.
    """

    forgetful: ForgetFs
    directory: Path
    settings: Json = field(default_factory=dict)
    wrap: tuple[str, ...] = ()
    files: str = ""

    def case(self, way: Way) -> Json:
        """A case of the matrix."""
        named = {f"interface_{key}": value for key, value in self.settings.items()}
        return case(**PATTERN, **{**KEYS, **way.keys()}, **named)

    def inject(self, fault: Fault, number: int, base: int) -> None:
        """Sets a fault for the file of a case, whose data begins at `base`."""
        span = None if fault.span is None else (base + fault.span[0], base + fault.span[1])
        # On a mount, reads of data to be written again are left alone; servers open files for both.
        read_only = fault.op == "read" and not self.settings
        self.forgetful.fault(
            fault.op,
            fault.kind,
            call=fault.call,
            span=span,
            amount=fault.amount,
            name=self.files or f"/case{number}.0",
            file=number if self.files else None,
            read_only=read_only,
        )

    def base_of(self, engine: Engine, work: Path, way: Way) -> int | None:
        """Where data begins in the file, which may have a head; None where the way does not work here."""
        self.forgetful.erase()
        done = run_engine(engine, plan([self.case(way)]), work, self.wrap, self.directory)
        if done.returncode != 0:
            return None
        offset = done.sample(operation="write")["facts"].get("dataset_offset")
        if offset is not None:
            return int(offset)
        large = [
            event
            for event in self.forgetful.events("write")
            if (self.files or "/case1.0") in event.path and event.length >= PIECE
        ]
        return min(event.offset for event in large)


def offered(engine: Engine, work: Path, stage: Stage, found: Iterable[Way]) -> list[Way]:
    """Those that the engine does not refuse for the pattern of the matrix."""
    listed = list(found)
    document = plan([stage.case(way) for way in listed])
    refused = {error["case"] for error in check(engine, document, work)["errors"]}
    return [way for number, way in enumerate(listed, 1) if number not in refused]


@dataclass(frozen=True)
class Row:
    """A way on a stage, and what came of each fault.

    Attributes:
        way: The method that moved data.
        mode: The cache in use.
        asked: The faults.
        cells: By the name of the fault; none where the way does not work on this mount.
        spoilt: Messages of cases without a fault that did not end well.
    """

    way: Way
    mode: str
    asked: list[Fault]
    cells: dict[str, Cell]
    spoilt: list[str]

    def texts(self) -> dict[str, str]:
        """The cells' texts by the name of the fault."""
        return {fault.name: self.cells[fault.name].text(fault) for fault in self.asked}


def run_row(engine: Engine, work: Path, stage: Stage, way: Way, faults: list[Fault] | None = None) -> Row:
    """Runs a case for each fault, and one without after every few; the cases after a hang run again."""
    work.mkdir(parents=True, exist_ok=True)
    row = Row(way, stage.forgetful.mode, FAULTS if faults is None else faults, {}, [])
    base = stage.base_of(engine, work, way)
    if base is None:
        return row
    while rest := [fault for fault in row.asked if fault.name not in row.cells]:
        if row.cells:  # a hang leaves files
            work = work / "next"
            work.mkdir()
            stage = replace(stage, directory=Path(tempfile.mkdtemp(dir=stage.directory)))
            stage.directory.chmod(0o777)
        _run_some(engine, work, stage, base, row, rest)
        if row.spoilt:
            break
    return row


def _run_some(engine: Engine, work: Path, stage: Stage, base: int, row: Row, faults: list[Fault]) -> None:
    """Adds the cells of faults, up to the first one that hangs."""
    numbers = {fault.name: index + index // FAULTY_CASES + 1 for index, fault in enumerate(faults)}
    for fault in faults:
        stage.inject(fault, numbers[fault.name], base)
    cases = [stage.case(row.way) for _ in range(max(numbers.values()) + 1)]
    clean = set(range(1, len(cases) + 1)) - set(numbers.values())
    done, last = _run_or_hang(engine, plan(cases, stall_timeout_s=STALL_S), work, stage)
    hits = stage.forgetful.hits()
    stage.forgetful.clear()
    stage.forgetful.persist()
    for error in done.of("error"):
        if not error["case"] or error["case"] in clean:
            row.spoilt.append(f"case {error['case']} {error['operation']}: {error['message']}")
    for number in sorted(clean):
        if number < last and len(done.of("sample", case=number, measured=True)) < len(KEYS["operations"]):
            row.spoilt.append(f"case {number} was not measured")
    if last in clean or (last <= len(cases) and done.returncode != KILLED):
        row.spoilt.append(f"case {last} ends the run: {done.stderr[-500:]}")
    for fault, hit in zip(faults, hits, strict=True):
        number = numbers[fault.name]
        if number <= last:
            errors = done.of("error", case=number)
            where = frozenset(error["operation"] for error in errors)
            row.cells[fault.name] = Cell(hit > 0, frozenset(_words(errors)), where, number == last)


def _run_or_hang(engine: Engine, document: Json, work: Path, stage: Stage) -> tuple[EngineRun, int]:
    """Runs a plan to its end or to a hang; and the number of the case that hangs, or one above all."""
    with EngineJob(engine, document, work, stage.wrap, stage.directory) as job:
        size, changed_s = -1, time.monotonic()
        while job.process.poll() is None and time.monotonic() < changed_s + HANG_S:
            time.sleep(0.05)
            now = job.events_file.stat().st_size if job.events_file.exists() else 0
            if now != size:
                size, changed_s = now, time.monotonic()
        if job.process.poll() is not None:
            done = job.finish()
        else:
            done = EngineRun(KILLED, "", read_events(job.events_file), job.directory)
    if done.events and done.events[-1].get("status") == "complete":
        return done, len(document["cases"]) + 1
    return done, max((event["case"] for event in done.of("case")), default=1)


Results = dict[str, dict[str, dict[str, dict[str, str]]]]
"""Texts of cells, by interface, mount, way and fault."""
RECORD = Path(__file__).with_name("faults.json")


def read_results() -> Results:
    """The findings of the last run of the matrix."""
    found: Results = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return found


def write_results(results: Results) -> None:
    """Keeps the findings."""
    text = json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False)
    RECORD.write_text(text + "\n", encoding="utf-8")

"""The interface to `strider-engine`: its location, its description, its check of a plan.

The documents that it prints are defined in docs/formats.md and are parsed into models here. `strider.launch`
runs plans.
"""

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from strider.errors import ExitCode, StriderError
from strider.text import printable_lines

Json = Any
"""A value as JSON has it: None, bool, int, float, str, list or dict with string keys."""

PlaceKind = Literal["file", "config", "directory", "path", "host", "url", "volume", "pool", "user"]
ParameterKind = Literal[
    "bytes",
    "count",
    "seconds",
    "flag",
    "choice",
    "text",
    "map",
    "sharing",
    "operations",
    "repetitions",
    "numbers",
    "levels",
    "weights",
    "port",
    PlaceKind,
]

NAMED_PLACES: tuple[PlaceKind, ...] = get_args(PlaceKind)
"""Kinds whose values are strings that name resources outside a suite (docs/suites.md)."""

Direction = Literal["read", "write", "both", "metadata"]


Document = TypeVar("Document", bound=BaseModel)


class Parameter(BaseModel):
    """One parameter of a case, a pattern or an interface, described where the engine uses it."""

    name: str
    kind: ParameterKind
    default: Json = None
    doc: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str] = []
    required: bool = False


class Pattern(BaseModel):
    """An access pattern: the file offsets that each rank accesses."""

    name: str
    doc: str = ""
    formula: str = ""
    source: str = ""
    tiles: bool = False
    tiles_unless: list[str] = []
    parameters: list[Parameter] = []


class Tree(BaseModel):
    """A directory tree with items, on which metadata operations work."""

    name: str
    doc: str = ""
    formula: str = ""
    source: str = ""
    parameters: list[Parameter] = []


class Interface(BaseModel):
    """An I/O interface; `available` is whether this engine was built with it and can use it here."""

    name: str
    doc: str = ""
    available: bool = True
    unavailable_reason: str = ""
    capabilities: dict[str, bool | list[str]] = {}
    parameters: list[Parameter] = []

    @property
    def metadata(self) -> list[str]:
        """Returns the names of its operations on a tree."""
        offered = self.capabilities.get("metadata", [])
        return offered if isinstance(offered, list) else []


class Operation(BaseModel):
    """A data operation on a pattern, or a metadata operation on a tree.

    Attributes:
        visits: For a metadata operation, its items: `files`, `directories` or `tree`.
        mixes: Whether it can be part of a mix.
    """

    name: str
    doc: str = ""
    direction: Direction
    visits: str = ""
    mixes: bool = False


class Description(BaseModel):
    """The engine's description of all that a suite may use (docs/formats.md, section 1)."""

    format: Literal["strider-description"]
    version: Literal[1]
    engine: str
    patterns: list[Pattern]
    interfaces: list[Interface]
    operations: list[Operation]
    case: list[Parameter]
    trees: list[Tree] = []
    tree_case: list[Parameter] = []
    results: dict[str, Any] = {}


class Mpi(BaseModel):
    """The MPI library of the engine, and its launcher."""

    library: str = ""
    mpiexec: str = ""


class Version(BaseModel):
    """The versions of the engine and of its MPI library."""

    engine: str
    mpi: Mpi = Mpi()


class CheckedPhase(BaseModel):
    """The work of one phase of a case in one repetition; a metadata request is one operation on one item."""

    operation: str
    bytes: int
    requests: int
    ranks: int


class CheckedCase(BaseModel):
    """The resources and work of one repetition of a case.

    Attributes:
        files: Files; for metadata, the maximum number of items of both kinds.
        directories: Directories of the trees.
        inodes: For metadata, the maximum number of files and directories together.
        request_bytes: Bytes of a request; for metadata, bytes of a small file.
        own_client: Whether the interface is a client of its own and bypasses the kernel's file system; None
            if the engine does not report it.
    """

    case: int
    files: int = 0
    directories: int = 0
    inodes: int = 0
    space_bytes: int = 0
    largest_file_bytes: int = 0
    request_bytes: int = 0
    memory_bytes: int = 0
    own_client: bool | None = None
    phases: list[CheckedPhase] = []


class CheckError(BaseModel):
    """A case that the engine cannot run; `key` is the invalid suite key, empty if none."""

    case: int
    key: str = ""
    message: str
    remedy: str = ""


class Check(BaseModel):
    """The engine's check of a plan (docs/formats.md, section 2)."""

    format: Literal["strider-check"]
    version: Literal[1]
    cases: list[CheckedCase] = []
    errors: list[CheckError] = []


@dataclass(frozen=True)
class Engine:
    """A `strider-engine` binary.

    Attributes:
        path: The executable file.
        deadline_s: Time limit of a query in seconds; None for no limit.
    """

    path: Path
    deadline_s: float | None = None

    @cached_property
    def description(self) -> Description:
        """Returns the engine's description.

        Raises:
            StriderError: It does not start, or its format version is unknown.
        """
        return self._parse(Description, self._run("describe"))

    @cached_property
    def version(self) -> Version:
        """Returns the engine's version and its MPI library."""
        return self._parse(Version, self._run("version"))

    def check(self, plan_json: str) -> Check:
        """Checks a plan. Touches no files and does not start MPI.

        Args:
            plan_json: The plan as `strider plan --json` prints it.
        """
        with _plan_file(plan_json) as plan:
            return self._parse(Check, self._run("check", str(plan), accept=(0, 2)))

    def extents(
        self, plan_json: str, case: int, rank: int, operation: str | None = None, limit: int | None = None
    ) -> Iterator[str]:
        """Returns CSV lines: each extent of each request of one rank, in issue order.

        Args:
            plan_json: The plan as `strider plan --json` prints it.
            case: Number of the case, from 1.
            rank: Rank within the case, from 0.
            operation: One of the case's operations; None for the first.
            limit: Maximum number of requests.

        Raises:
            StriderError: There is no such case, rank or operation.
        """
        return self._requests("extents", plan_json, case, rank, operation, limit)

    def items(
        self, plan_json: str, case: int, rank: int, operation: str | None = None, limit: int | None = None
    ) -> Iterator[str]:
        """Returns CSV lines with the item path of each request of a metadata case; see `extents`."""
        return self._requests("items", plan_json, case, rank, operation, limit)

    def _requests(
        self,
        verb: Literal["extents", "items"],
        plan_json: str,
        case: int,
        rank: int,
        operation: str | None,
        limit: int | None,
    ) -> Iterator[str]:
        with _plan_file(plan_json) as plan:
            command = [str(self.path), verb, str(plan), "--case", str(case), "--rank", str(rank)]
            command += ["--operation", operation] if operation else []
            command += ["--limit", str(limit)] if limit is not None else []
            with (
                subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                ) as process,
                _ended_after(process, self.deadline_s),
            ):
                yield from process.stdout or ()
                message = process.stderr.read() if process.stderr else ""
            if process.returncode == -signal.SIGKILL:
                raise self._too_slow(verb)
            if process.returncode:
                raise StriderError(_first_lines(message), _exit_code(process.returncode))

    def _run(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> str:
        """Returns the engine's stdout; raises unless its exit code is in `accept`."""
        command = [str(self.path), *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=self.deadline_s,
            )
        except subprocess.TimeoutExpired as error:
            raise self._too_slow(arguments[0]) from error
        except OSError as error:
            raise StriderError(f"cannot start {self.path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        usable = done.returncode in accept and done.stdout.strip()
        if not usable:
            detail = _first_lines(done.stderr) or f"exit code {done.returncode}"
            raise StriderError(f"{self.path} {arguments[0]}: {detail}", _exit_code(done.returncode))
        return done.stdout

    def _too_slow(self, verb: str) -> StriderError:
        return StriderError(
            f"{self.path} {verb} timed out after {self.deadline_s:g} s: reduce the number or the size of "
            "the cases",
            ExitCode.CANNOT_RUN,
        )

    def _parse(self, model: type[Document], text: str) -> Document:
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StriderError(
                f"{self.path} and this package have incompatible versions ({place}: {first['msg']}): "
                "rebuild the engine",
                ExitCode.CANNOT_RUN,
            ) from error


def find() -> Engine:
    """Returns the engine: `$STRIDER_ENGINE`, or the installed package's, or the newest build of the checkout.

    Raises:
        StriderError: No engine is found; the message says how to build one.
    """
    chosen = os.environ.get("STRIDER_ENGINE")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise StriderError(f"STRIDER_ENGINE={chosen} is not an executable file", ExitCode.CANNOT_RUN)
        return Engine(Path(chosen))
    for candidate in candidates():
        if os.access(candidate, os.X_OK):
            return Engine(candidate)
    raise StriderError(
        "strider-engine is not built: run ./strider in the checkout, which builds it, "
        "or set STRIDER_ENGINE to the binary",
        ExitCode.CANNOT_RUN,
    )


def candidates() -> list[Path]:
    """Returns possible paths of the engine, in order of preference."""
    package = Path(__file__).resolve().parent
    build = package.parents[1] / "build"
    others = sorted(
        build.glob("*/engine/strider-engine"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    return [package / "_engine" / "strider-engine", build / "release" / "engine" / "strider-engine", *others]


@contextmanager
def _plan_file(plan_json: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile("w", prefix="strider-plan-", suffix=".json", encoding="utf-8") as file:
        file.write(plan_json)
        file.flush()
        yield Path(file.name)


@contextmanager
def _ended_after(process: subprocess.Popen[str], deadline_s: float | None) -> Iterator[None]:
    """Kills a process that still runs after some seconds."""
    timer = threading.Timer(deadline_s, process.kill) if deadline_s is not None else None
    if timer:
        timer.start()
    try:
        yield
    finally:
        if timer:
            timer.cancel()


def _first_lines(text: str, count: int = 5) -> str:
    lines = [line.removeprefix("strider-engine: ") for line in text.strip().splitlines()]
    return "\n".join(lines[:count])


def _exit_code(code: int) -> ExitCode:
    return ExitCode.BAD_INPUT if code == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN


def to_json(value: Json) -> str:
    """Formats a JSON document: keys in order, two spaces of indentation, a final newline.

    Characters that command a terminal are escaped, because the document may be printed on one.
    """
    return printable_lines(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"

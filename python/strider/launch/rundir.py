"""The run directory: paths of its files, and `run.json` (docs/formats.md, section 4)."""

import errno
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from strider import __version__
from strider.engine import Description, Json, to_json
from strider.errors import ExitCode, StriderError
from strider.own_files import make_store
from strider.text_file import sync_directory, write_whole

_ENDS = frozenset({"ended", "status", "exit_code", "leftover", "confinement", "signal"})
"""Keys of `run.json` that a run gets at its end."""
_OWN = 0o644
_OWN_FOLDER = 0o755
"""Users with write access can have the resuming user execute commands, with any umask."""
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class RunDirectory:
    """Paths of one run.

    Attributes:
        run: The run's id.
        path: Its directory.
    """

    run: str
    path: Path

    @property
    def plan(self) -> Path:
        """Path of the plan, the engine's input."""
        return self.path / "plan.json"

    @property
    def events(self) -> Path:
        """Path of the engine's events."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """Path of the output of the engine and MPI."""
        return self.path / "engine.log"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def info(self) -> Path:
        """Path of the facts about the run."""
        return self.path / "run.json"


def new_run_id(suite: str, now: datetime) -> str:
    """Returns a run id `YYYY-MM-DD-HHMMSS-SUITE-xxxx`, in UTC, with four random characters."""
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(4))
    return f"{now.astimezone(UTC):%Y-%m-%d-%H%M%S}-{suite}-{suffix}"


def create(
    runs: Path, run: str, plan_json: str, suite_text: str, description: Description, info: dict[str, Json]
) -> RunDirectory:
    """Creates a run directory with its plan, its suite and the initial `run.json`.

    Args:
        runs: The store.
        run: The run's id.
        plan_json: The plan.
        suite_text: The suite file as typed.
        description: The engine's description of the plan's parameters.
        info: Contents of `run.json` besides format, version, run and Strider's version.

    Raises:
        StriderError: It cannot be made.
    """
    directory = RunDirectory(run, (runs / run).absolute())
    try:
        make_store(runs)
        directory.path.mkdir(_OWN_FOLDER)
        # A run that a power cut ends can be resumed, so its plan must survive.
        write_whole(directory.plan, plan_json, _OWN, is_durable=True)
        write_whole(directory.path / "suite.toml", suite_text, _OWN, is_durable=True)
        described = f"{description.model_dump_json()}\n"
        write_whole(directory.path / "description.json", described, is_durable=True)
        head = {"format": "strider-run", "version": 1, "run": run, "strider": __version__}
        write_whole(directory.info, to_json({**head, **info}), _OWN, is_durable=True)
        sync_directory(directory.path)
        sync_directory(directory.path.parent)
    except OSError as error:
        raise cannot_write(directory, error) from error
    return directory


@contextmanager
def mark_of(store: Path) -> Iterator[Path]:
    """Yields a file in a store by which nodes show that they see it; it exists until the end.

    Raises:
        StriderError: The store is not writable.
    """
    store = store.absolute()
    is_new = not store.exists()
    try:
        make_store(store)
        file = NamedTemporaryFile(prefix=".asked-", dir=store)  # noqa: SIM115 - errors of its making alone
    except OSError as error:
        raise StriderError(
            f"cannot write to the store {store}: {error.strerror}", ExitCode.CANNOT_RUN
        ) from error
    try:
        with file:
            yield Path(file.name)
    finally:
        if is_new:
            with suppress(OSError):
                store.rmdir()


def reopen(directory: RunDirectory, resumed: list[Json], process: Json, time_limit_s: float) -> None:
    """Removes the end of a run from `run.json`, atomically, because the run continues.

    Args:
        directory: The run's directory.
        resumed: The `cut` events of the run so far.
        process: The process that executes the run from now on.
        time_limit_s: Time limit of this start in seconds; 0 for none.

    Raises:
        OSError: The store is not writable; `run.json` is unchanged.
    """
    info = json.loads(directory.info.read_text(encoding="utf-8"))
    kept = {key: value for key, value in info.items() if key not in _ENDS}
    reopened = {**kept, "process": process, "time_limit_s": time_limit_s, "resumed": resumed}
    write_whole(directory.info, to_json(reopened), _OWN)


def seal(
    directory: RunDirectory,
    ended: datetime,
    status: str,
    exit_code: int,
    *,
    leftover: str | None = None,
    confinement: Json = None,
    signal: str = "",
) -> None:
    """Completes `run.json` at the end of the run, atomically.

    Args:
        directory: The run's directory.
        ended: When the run ended.
        status: How it ended.
        exit_code: The exit code of the command.
        leftover: Why Strider's folder is still in the target; None if it was removed.
        confinement: The ranks' check of their confinement; None if they did not report it.
        signal: Name of the signal that interrupted the run; empty if none did.

    Raises:
        OSError: The store is not writable; `run.json` is unchanged.
    """
    info = json.loads(directory.info.read_text(encoding="utf-8"))
    ends = {"ended": iso(ended), "status": status, "exit_code": exit_code, "leftover": leftover}
    sealed = {**info, **ends, "confinement": confinement or None}
    if signal:
        sealed["signal"] = signal
    write_whole(directory.info, to_json(sealed), _OWN)


def cannot_write(directory: RunDirectory, error: OSError) -> StriderError:
    """Returns the error for a store that is full, read-only or missing."""
    remedies = {
        errno.ENOENT: "it was removed or moved, and its results are lost: leave it until the run has ended",
        errno.EROFS: "mount it so that it can be written, or choose another store with --store",
    }
    remedy = remedies.get(error.errno or 0, "free space there, or choose another store with --store")
    return StriderError(
        f"cannot write results to {directory.path}: {error.strerror}: {remedy}", ExitCode.CANNOT_RUN
    )


def iso(time: datetime) -> str:
    """Formats a time for the run's files, in UTC with milliseconds."""
    text = time.astimezone(UTC).isoformat(timespec="milliseconds")
    return re.sub(r"\+00:00$", "Z", text)

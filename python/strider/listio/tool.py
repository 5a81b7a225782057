"""The programs beside the engine: `strider-listio-server`, and `strider-listio`, which asks volumes."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from strider.engine import Engine, Json
from strider.errors import ExitCode, StriderError
from strider.listio.volume import VOLUME_FILE

SERVER = "strider-listio-server"
TOOL = "strider-listio"
DOMAINS = ("uring", "mlock", "model")
"""Where memory can be registered."""
READY = "ready "
"""How the line begins that a program prints when it serves."""
_TWICE = re.compile(r"(\((\S+)\): )\2: ")
"""An address that the tool prints with the server, and again with the reason."""
_LIMIT_S = 600.0
"""A check reads the name of every file."""


def program(
    engine: Engine,
    name: str,
    needs: str = "libcrypto (Debian: libssl-dev)",
    what: str = "the list-I/O service",
) -> Path:
    """Where a program of the service is.

    Args:
        engine: The engine, beside which it is.
        name: Of the program.
        needs: The dependencies of its build.
        what: The missing function without it.

    Raises:
        StriderError: The engine was built without it.
    """
    path = engine.path.resolve().with_name(name)
    if not path.is_file():
        raise StriderError(
            f"{path} is missing: install {needs} and rebuild to get {what}", ExitCode.CANNOT_RUN
        )
    return path


def ready_address(output: str) -> str:
    """The address that a server prints when it serves, from its output; empty if there is none."""
    for line in output.splitlines():
        if line.startswith(READY):
            return str(json.loads(line.removeprefix(READY))["address"])
    return ""


def status(engine: Engine, directory: Path) -> list[dict[str, Json]]:
    """Returns the counters of each server; `error` has the reason if one does not respond (`answers`)."""
    return ask_volume(engine, directory / VOLUME_FILE)


def ask_volume(engine: Engine, file: Path) -> list[dict[str, Json]]:
    """`status` of the volume that a file describes."""
    servers: list[dict[str, Json]] = _ask(engine, "status", str(file))["servers"]
    return servers


def check(
    engine: Engine, directory: Path, remove_orphans: bool = False, repair: bool = False
) -> dict[str, Json]:
    """Compares the names of a volume, the copies of their entries, and its data files.

    Clients may use the volume meanwhile. Data of servers that are out (`out`) are not looked at.

    Args:
        engine: The engine.
        directory: The volume's.
        remove_orphans: Whether data files of no file are removed, unless something is damaged
            (`kept_because` has the reason then).
        repair: Whether name entries are repaired first, from their copies (`repairs`).
    """
    options = [*["--repair"] * repair, *["--remove-orphans"] * remove_orphans]
    found: dict[str, Json] = _ask(engine, "check", str(directory / VOLUME_FILE), *options)
    return found


def scrub(
    engine: Engine, directory: Path, rate: int = 0, progress: Callable[[dict[str, Json]], None] | None = None
) -> dict[str, Json]:
    """Has the servers of a volume compare all data with their checksums, while the volume is in use.

    Args:
        engine: The engine.
        directory: The volume's.
        rate: Bytes per second that each server verifies at most; 0: no limit.
        progress: Called with verified and all bytes and files, twice a second.

    Returns:
        `verified` (bytes and files), `elapsed_s`, `findings`: for each damaged data file server, number, copy
        (1 or 2), path, damaged ranges of the file (offset and length), damage of the whole file, and
        whether it was repaired from the other copy; `filled`: for each server that was out, files and bytes
        copied to it, and the reason if it is still out.

    Raises:
        StriderError: A server does not answer, or the volume has no checksums.
    """
    words = [str(program(engine, TOOL)), "scrub", str(directory / VOLUME_FILE), str(rate)]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            last: dict[str, Json] = {}
            for line in process.stdout or []:
                last = json.loads(line)
                if progress and "progress" in last:
                    progress(last["progress"])
            message = process.stderr.read().strip() if process.stderr else ""
        except BaseException:
            process.terminate()
            raise
    if process.returncode not in (ExitCode.OK, ExitCode.CHECK_FAILED):
        code = ExitCode.BAD_INPUT if process.returncode == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN
        raise StriderError(message or f"{TOOL} exited with status {process.returncode}", code)
    return last


def prepare_to_replace(engine: Engine, directory: Path, server: int) -> None:
    """Has a server that does not run be out, and miss all of its data, before its folder begins empty.

    Args:
        engine: The engine.
        directory: The volume's.
        server: Number of the server.

    Raises:
        StriderError: The volume has one copy of data, it is server 0, or a server beside it is out.
    """
    _ask(engine, "replace", str(directory / VOLUME_FILE), str(server), limit_s=None)


def remove_run(engine: Engine, directory: Path, run: str) -> int:
    """Removes the files of a killed run from a volume.

    Args:
        engine: The engine.
        directory: The volume's.
        run: The run, as `runs` of a check name it.

    Returns:
        How many files and directories that were.

    Raises:
        StriderError: The volume has nothing of that run.
    """
    removed: int = _ask(engine, "remove", str(directory / VOLUME_FILE), run)["removed_names"]
    return removed


def registration(engine: Engine, domains: list[str]) -> list[dict[str, Json]]:
    """The fit of T = a·p + b for some domains on this machine."""
    fits: list[dict[str, Json]] = _ask(engine, "registration", *domains)
    return fits


def _ask(engine: Engine, *words: str, limit_s: float | None = _LIMIT_S) -> Json:
    """The output of the tool; without a limit if each of its many calls has one."""
    command = [str(program(engine, TOOL)), *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=limit_s
        )
    except subprocess.TimeoutExpired:
        raise StriderError(
            f"strider listio {words[0]}: timed out after {limit_s:.0f} s", ExitCode.CANNOT_RUN
        ) from None
    if done.returncode not in (ExitCode.OK, ExitCode.CHECK_FAILED):
        code = ExitCode.BAD_INPUT if done.returncode == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN
        said = _TWICE.sub(r"\1", done.stderr.strip())
        raise StriderError(said or f"{TOOL} exited with status {done.returncode}", code)
    return json.loads(done.stdout)

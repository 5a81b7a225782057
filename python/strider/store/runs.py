"""The store: a directory of run directories. Which runs are there, and which one a name means."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from strider.errors import StriderError
from strider.store.events import read_last_event
from strider.store.load import read_json

_RUN_ID = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}-(?P<suite>.*)-[^-]{4}")


@dataclass(frozen=True)
class RunSummary:
    """A run in a list of runs.

    Attributes:
        status: `complete`, `interrupted`, `failed`, `unfinished` (still going on, or killed) or `unreadable`.
        cases: Number of cases in the plan; None where the run's check is missing.
        samples: Number of phases executed, as the last event says; None for a run without one.
        errors: Number of errors reported, likewise.
    """

    run: str
    directory: Path
    suite: str
    status: str
    started: str = ""
    ended: str | None = None
    exit_code: int | None = None
    host: str = ""
    target: str = ""
    cases: int | None = None
    samples: int | None = None
    errors: int | None = None

    @property
    def condition(self) -> str:
        """The status, but `errors` for a run that is complete with errors, and `failed` if it has nothing else.

        It says what a list may look like: no run with errors looks like success.
        """
        if self.status != "complete" or not self.errors:
            return self.status
        return "errors" if self.samples else "failed"

    @property
    def shown_status(self) -> str:
        """The status in words, with the number of errors."""
        if not self.errors:
            return self.status
        errors = f"{self.errors} error{'s' if self.errors > 1 else ''}"
        if self.status != "complete":
            return f"{self.status}, {errors}"
        return f"ended with {errors}" if self.samples else f"nothing measured, {errors}"


def list_runs(store: Path) -> list[RunSummary]:
    """All runs of a store, oldest first.

    Reads `run.json` and the end of the event stream of each, nothing more. A damaged run is listed as
    `unreadable`.
    """
    return [summarize(directory) for directory in _run_directories(store)]


def resolve(store: Path, name: str) -> Path:
    """The run directory that a name means.

    Args:
        store: Directory of run directories.
        name: A path of a run directory, a run id, the unique beginning of one, or `latest`.

    Raises:
        StriderError: The name means no run, or several.
    """
    if _is_run(Path(name)):
        return Path(name)
    directories = _run_directories(store)
    if not directories:
        raise StriderError(
            f"no runs in the store {store}: run a suite first, or choose another store with --store"
        )
    if name == "latest":
        return directories[-1]
    matches = [directory for directory in directories if directory.name.startswith(name)] if name else []
    exact = [directory for directory in matches if directory.name == name]
    if exact or len(matches) == 1:
        return (exact or matches)[0]
    raise _ambiguous(name, matches) if matches else _unknown(store, name, directories)


def _run_directories(store: Path) -> list[Path]:
    """Run directories in the order of their names, which begin with the time of the start."""
    try:
        with os.scandir(store) as entries:
            return [store / name for name in sorted(entry.name for entry in entries) if _is_run(store / name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StriderError(f"cannot read the store {store}: {error.strerror}") from error


def _is_run(directory: Path) -> bool:
    return (directory / "run.json").is_file()


def summarize(directory: Path) -> RunSummary:
    """A run in a list of runs, from its `run.json` and the end of its events."""
    match = _RUN_ID.fullmatch(directory.name)
    suite = match["suite"] if match else ""
    try:
        info = read_json(directory / "run.json")
    except StriderError:
        return RunSummary(run=directory.name, directory=directory, suite=suite, status="unreadable")
    last = read_last_event(directory / "events.jsonl")
    end = last if last is not None and last["event"] == "end" else {}
    check, environment = info.get("check") or {}, info.get("environment") or {}
    return RunSummary(
        run=str(info.get("run", directory.name)),
        directory=directory,
        suite=suite,
        status=info.get("status") or end.get("status") or "unfinished",
        started=info.get("started", ""),
        ended=info.get("ended"),
        exit_code=info.get("exit_code"),
        host=str(environment.get("host", "")),
        target=_target(info),
        cases=len(check["cases"]) if "cases" in check else None,
        samples=end.get("samples"),
        errors=end.get("errors"),
    )


def _target(info: dict[str, Any]) -> str:
    """What the user named, else Strider's own folder in it."""
    target = (info.get("environment") or {}).get("target")
    path = target.get("path") if isinstance(target, dict) else None
    return str(path or info.get("directory", ""))


def _unknown(store: Path, name: str, directories: list[Path]) -> StriderError:
    names = [directory.name for directory in directories]
    near = get_close_matches(name, names, n=1, cutoff=0.7)
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"the latest is {names[-1]}; strider list shows all {len(names)}"
    )
    return StriderError(f'no run "{name}" in the store {store}: {hint}')


def _ambiguous(name: str, matches: list[Path]) -> StriderError:
    shown = ", ".join(directory.name for directory in matches[:5]) + (", …" if len(matches) > 5 else "")
    return StriderError(f'"{name}" means {len(matches)} runs: {shown}: type more of the name')

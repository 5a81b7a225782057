"""The store: a directory of run directories. Which runs are there, and which one a name means."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from strider.errors import StriderError
from strider.store.load import load, load_end, load_info, read_json
from strider.store.model import RunInfo
from strider.store.time_limit import TimeLimitCut, time_limit_cut
from strider.text import printable

RUN_ID = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}-(?P<suite>.*)-[^-]{4}")


@dataclass(frozen=True)
class RunSummary:
    """A run in a list of runs.

    Attributes:
        status: `complete`, `interrupted`, `failed`, `unfinished` (still going on, or killed) or `unreadable`.
        cases: Number of cases in the plan; None where the run's check is missing.
        samples: Number of phases executed, as the last event says; None for a run without one.
        errors: Number of errors reported, likewise.
        damage: Of an unreadable run, what is wrong with it.
        time_limit: Repetitions that the time limit left out; None if it left out none.
        starts: Number of starts; more than 1 for a run that was resumed.
        signal: Name of the signal that interrupted it; empty if none did.
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
    damage: str = ""
    time_limit: TimeLimitCut | None = None
    starts: int = 1
    signal: str = ""

    @property
    def condition(self) -> str:
        """The status; but `errors` for a run that is complete with errors, `failed` if it has nothing else.

        It says what a list may look like: no run with errors looks like success.
        """
        if self.status != "complete" or not self.errors:
            return self.status
        return "errors" if self.samples else "failed"

    @property
    def shown_status(self) -> str:
        """The status in words, with the number of errors and starts, and whether the time limit ended it."""
        words = status_words(self.status, self.samples or 0, self.errors or 0)
        starts = f", {self.starts} starts" if self.starts > 1 else ""
        return f"{words}{', time limit' if self.time_limit else ''}{starts}"


def status_words(status: str, samples: int, errors: int) -> str:
    """The status of a run in words; no run with errors is just complete.

    Args:
        status: The status.
        samples: Number of phases measured.
        errors: Number of errors reported.
    """
    if not errors:
        return status
    counted = f"{errors} error{'s' if errors > 1 else ''}"
    if status != "complete":
        return f"{status}, {counted}"
    return f"ended with {counted}" if samples else f"nothing measured, {counted}"


def list_runs(store: Path) -> list[RunSummary]:
    """All runs of a store, oldest first.

    Reads `run.json` and the end of the event stream of each; of a run with a time limit, all of its events.
    A damaged run is listed as `unreadable`.
    """
    return [summarize(directory) for directory in run_directories(store)]


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
    directories = run_directories(store)
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


def run_directories(store: Path) -> list[Path]:
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
    match = RUN_ID.fullmatch(directory.name)
    suite = match["suite"] if match else ""
    try:
        info, end = load_info(directory), load_end(directory)
    except StriderError as error:
        return RunSummary(
            run=printable(directory.name),
            directory=directory,
            suite=suite,
            status="unreadable",
            damage=error.message.replace(f"{directory}/", ""),
        )
    return RunSummary(
        run=info.run or directory.name,
        directory=directory,
        suite=suite,
        status=info.status or (end.status if end else "unfinished"),
        started=info.started,
        ended=info.ended,
        exit_code=info.exit_code,
        host=str(info.environment.get("host", "")),
        target=_target(info),
        cases=None if info.check.cases is None else len(info.check.cases),
        samples=end.samples if end else None,
        errors=end.errors if end else None,
        time_limit=_time_limit(directory, info) if info.status == "complete" else None,
        starts=len(info.resumed) + 1,
        signal=info.signal,
    )


def _time_limit(directory: Path, info: RunInfo) -> TimeLimitCut | None:
    """What the time limit of a run left out; None also where the plan or the events are damaged."""
    try:
        limit_s = info.time_limit_s
        if limit_s is None:
            limit_s = read_json(directory / "plan.json").get("time_limit_s", 0.0)
        return time_limit_cut(load(directory)) if limit_s else None
    except StriderError:
        return None


def _target(info: RunInfo) -> str:
    """What the user named, else Strider's own folder in it."""
    target = info.environment.get("target")
    path = target.get("path") if isinstance(target, dict) else None
    return str(path or info.directory)


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
    return StriderError(f'"{name}" matches {len(matches)} runs: {shown}: type more of the name')

"""Names of runs: those in a store, and the run that a name means."""

from __future__ import annotations

import os
import re
from pathlib import Path

from strider.errors import StriderError

STORE_VARIABLE = "STRIDER_STORE"
DEFAULT_STORE = "strider-runs"
RUN_ID = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}-(?P<suite>.*)-[^-]{4}")


def store_of(option: Path | None) -> Path:
    """Returns the store: `--store`, or `$STRIDER_STORE`, or `./strider-runs`."""
    return option or Path(os.environ.get(STORE_VARIABLE) or DEFAULT_STORE)


def run_names(store: Path) -> list[str]:
    """Names of run directories in their order: they begin with the time of the start.

    Raises:
        StriderError: The store cannot be read.
    """
    return [name for name in _folder_names(store) if _is_run(store, name)]


def run_directories(store: Path) -> list[Path]:
    """Run directories in the order of their names."""
    return [store / name for name in run_names(store)]


def resolve(store: Path, name: str) -> Path:
    """The run directory that a name means.

    Args:
        store: Directory of run directories.
        name: A path of a run directory, a run id, the unique beginning of one, or `latest`.

    Raises:
        StriderError: The name means no run, or several.
    """
    if (Path(name) / "run.json").is_file():
        return Path(name)
    candidates = _folder_names(store)
    if name == "latest":
        found = next((one for one in reversed(candidates) if _is_run(store, one)), None)
        if found is not None:
            return store / found
    matches = [one for one in candidates if name and one.startswith(name) and _is_run(store, one)]
    if name in matches or len(matches) == 1:
        return store / (name if name in matches else matches[0])
    if matches:
        raise _ambiguous(name, matches)
    raise _unknown(store, name, run_names(store))


def _folder_names(store: Path) -> list[str]:
    """Names in a store that may be those of runs, in their order."""
    try:
        with os.scandir(store) as entries:
            return sorted(entry.name for entry in entries)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StriderError(f"cannot read the store {store}: {error.strerror}") from error


def _is_run(store: Path, name: str) -> bool:
    # Not pathlib, which takes longer than the system call.
    return os.path.isfile(f"{store}/{name}/run.json")  # noqa: PTH113


def _unknown(store: Path, name: str, names: list[str]) -> StriderError:
    from difflib import get_close_matches

    if not names:
        return StriderError(
            f"no runs in the store {store}: run a suite first, or choose another store with --store"
        )
    near = get_close_matches(name, names, n=1, cutoff=0.7)
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"the latest is {names[-1]}; strider list shows all {len(names)}"
    )
    return StriderError(f'no run "{name}" in the store {store}: {hint}')


def _ambiguous(name: str, matches: list[str]) -> StriderError:
    shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
    return StriderError(f'"{name}" matches {len(matches)} runs: {shown}: type more of the name')

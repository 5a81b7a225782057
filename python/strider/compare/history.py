"""Earlier runs of the same work on the same machine: they show how much single runs differ by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strider.compare.circumstances import conditions
from strider.errors import StriderError
from strider.store import load
from strider.store.load import load_info
from strider.store.model import Run
from strider.store.runs import run_directories

#: More earlier runs tell hardly more, and are older.
_MOST_RUNS = 20
#: Of a store with many other runs only so many are read.
_MOST_READ = 60


@dataclass(frozen=True)
class History:
    """The earlier runs under the conditions of each side."""

    base: Sequence[Run] = ()
    other: Sequence[Run] = ()


def history_of(base: Run, other: Run) -> History:
    """Finds the runs before two single runs, in the stores of both.

    They have the same target, machine and MPI library as the run, are complete, and are not older than the
    latest 20 of them.
    """
    stores = list(dict.fromkeys(run.directory.resolve().parent for run in (base, other)))
    hosts = {str(run.info.environment.get("host", "")) for run in (base, other)}
    before = max(base.info.started, other.info.started)
    known = {base.id, other.id}
    found: list[Run] = []
    directories = sorted((one for store in stores for one in run_directories(store)), key=_name, reverse=True)
    read = 0
    for directory in directories:
        if read == _MOST_READ:
            break
        if _may_be_earlier(directory, hosts, before, known):
            read += 1
            try:
                found.append(load(directory))
            except StriderError:
                continue
    usable = [run for run in found if run.status == "complete"]
    return History(_like(base, usable), _like(other, usable))


def _name(directory: Path) -> str:
    return directory.name


def _like(run: Run, earlier: Sequence[Run]) -> list[Run]:
    wanted = conditions(run)
    return [one for one in earlier if conditions(one) == wanted][:_MOST_RUNS]


def _may_be_earlier(directory: Path, hosts: set[str], before: str, known: set[str]) -> bool:
    try:
        info = load_info(directory)
    except StriderError:
        return False
    host = str(info.environment.get("host", ""))
    return info.run not in known and host in hosts and info.started < before

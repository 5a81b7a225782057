"""Whether a run can be resumed: machine, target and engine are those of its first start."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strider.launch.machine import environment
from strider.units import format_bytes_rounded

MEMORY_TOLERANCE = 0.02
"""Share of the memory by which another kernel may count it differently."""


def facts(target: Path, engine: Path, versions: Mapping[str, str]) -> dict[str, Any]:
    """Returns the environment of a run, for `run.json` and for comparison at a resumption.

    Args:
        target: The directory to measure.
        engine: The engine's program.
        versions: Versions of Strider, the engine, MPI and Python.
    """
    return {
        **environment(target),
        "working_directory": os.fspath(Path.cwd()),
        "versions": {**versions, "engine_build": build_of(engine)},
    }


def build_of(program: Path) -> str:
    """Returns a digest of a program, which differs between builds."""
    with program.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Returns what differs between the environments of two starts of a run, one line each.

    Args:
        then: The environment of the first start, from `run.json`.
        now: That of this start.
    """
    return [
        f"{name}: {_shown(before)} then, {_shown(after)} now"
        for name, before, after in _compared(then, now)
        if before != after
    ]


def _compared(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    """Yields name, value then and value now of all that must be the same."""
    yield "host", then.get("host"), now.get("host")
    yield "cores", then.get("cores"), now.get("cores")
    yield "memory", *_memory(then.get("memory_bytes"), now.get("memory_bytes"))
    names = {"path": "target", "file_system": "file system", "file_system_id": "file system id"}
    for key, name in names.items():
        yield name, _inner(then, "target", key), _inner(now, "target", key)
    names = {"engine": "engine", "engine_build": "build of the engine", "mpi": "MPI library"}
    for key, name in names.items():
        yield name, _inner(then, "versions", key), _inner(now, "versions", key)


def _memory(then: object, now: object) -> tuple[object, object]:
    """Returns both sizes in words; equal if they differ by less than the tolerance."""
    if not isinstance(then, int) or not isinstance(now, int):
        return then, now
    before, after = format_bytes_rounded(then), format_bytes_rounded(now)
    if abs(then - now) <= MEMORY_TOLERANCE * then:
        return after, after
    return (before, after) if before != after else (then, now)


def _inner(facts: Mapping[str, Any], outer: str, key: str) -> object:
    inner = facts.get(outer)
    return inner.get(key) if isinstance(inner, Mapping) else None


def _shown(value: object) -> str:
    return "unknown" if value is None else str(value)

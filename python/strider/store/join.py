"""Joins runs of one suite in several targets to one run, in which the target is a key of the cases.

Each part is a run with one repetition of all cases in one target. The joined run has every case once for each
target, and the repetitions of a round are comparable as those of an ordinary run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from strider.engine import to_json
from strider.text_file import write_whole

Json = dict[str, Any]
#: Events of a whole run: of these the joined run has its own.
_OF_RUNS = frozenset({"run", "end", "progress", "ceilings"})
_TIMES = ("time_s", "start_s", "end_s")


@dataclass(frozen=True)
class Part:
    """A run that becomes a part of another.

    Attributes:
        target: The target's position, from 0.
        round: Number of its round, from 0.
    """

    directory: Path
    target: int
    round: int


@dataclass(frozen=True)
class Joined:
    """Common facts of the parts.

    Attributes:
        targets: The targets as typed.
        suite: The suite as typed.
        settings: Texts of `--set`.
        status: How the last part ended.
        exit_code: That of the command.
    """

    targets: Sequence[str]
    suite: str
    settings: Sequence[str]
    status: str
    exit_code: int


def join(directory: Path, parts: Sequence[Part], joined: Joined) -> Path:
    """Writes a run directory with the results of all parts.

    Args:
        directory: The directory to create; its name is the id of the run.
        parts: The runs, in any order.
        joined: Their common facts.

    Returns:
        The directory.
    """
    directory.mkdir(parents=True)
    parts = sorted(parts, key=lambda part: _started(part.directory))
    first = parts[0].directory
    (directory / "suite.toml").write_text(joined.suite, encoding="utf-8")
    (directory / "description.json").write_bytes((first / "description.json").read_bytes())
    write_whole(directory / "plan.json", to_json(_plan(parts, joined)))
    lines = list(_events(directory.name, parts, joined))
    write_whole(directory / "events.jsonl", "".join(f"{line}\n" for line in lines))
    write_whole(directory / "run.json", to_json(_info(directory.name, parts, joined)))
    return directory


def _number(case: int, target: int, targets: int) -> int:
    """Number of a case in the joined plan: the targets of a case follow each other."""
    return (case - 1) * targets + target + 1


def _read(file: Path) -> Json:
    found: Json = json.loads(file.read_text(encoding="utf-8"))
    return found


def _plan(parts: Sequence[Part], joined: Joined) -> Json:
    plan = _read(parts[0].directory / "plan.json")
    rounds = max(part.round for part in parts) + 1
    repetitions = {"min": rounds, "max": rounds, "until": 0.0}
    count = len(joined.targets)
    cases = [
        {**case, "case": _number(case["case"], place, count), "repetitions": repetitions, "target": target}
        for case in plan["cases"]
        for place, target in enumerate(joined.targets)
    ]
    return {**plan, "target": ", ".join(joined.targets), "cases": cases}


def _info(run: str, parts: Sequence[Part], joined: Joined) -> Json:
    infos = [_read(part.directory / "run.json") for part in parts]
    first, last, count = infos[0], infos[-1], len(joined.targets)
    places: dict[str, Json] = {}
    for part, info in zip(parts, infos, strict=True):
        places.setdefault(joined.targets[part.target], info["environment"].get("target") or {})
    systems = {str(place.get("file_system", "")) for place in places.values()}
    path = ", ".join(joined.targets)
    target = {"path": path, "file_system": systems.pop() if len(systems) == 1 else ""}
    check = first["check"]
    cases = [
        {**case, "case": _number(case["case"], place, count)}
        for case in check["cases"]
        for place in range(count)
    ]
    sizes = [
        {**size, "cases": [_number(case, place, count) for case in size["cases"] for place in range(count)]}
        for size in first.get("sizes", [])
    ]
    return {
        **first,
        "run": run,
        "directory": path,
        "set": list(joined.settings),
        "check": {**check, "cases": cases},
        "sizes": sizes,
        "environment": {**first["environment"], "target": target, "targets": places},
        "ended": last.get("ended"),
        "status": joined.status,
        "exit_code": joined.exit_code,
    }


def _events(run: str, parts: Sequence[Part], joined: Joined) -> Iterator[str]:
    started = [_started(part.directory) for part in parts]
    # A part has its warm-ups before its repetition.
    warmup = max(case.get("warmup", 0) for case in _read(parts[0].directory / "plan.json")["cases"])
    samples = errors = 0
    end_s = 0.0
    for part, begin in zip(parts, started, strict=True):
        offset_s = (begin - started[0]).total_seconds()
        text = (part.directory / "events.jsonl").read_text(encoding="utf-8")
        for event in map(json.loads, filter(None, text.split("\n"))):
            end_s = max(end_s, offset_s + float(event.get("time_s") or 0.0))
            kind = event["event"]
            if kind == "run" and part is parts[0]:
                yield json.dumps({**event, "run": run})
            if kind in _OF_RUNS:
                continue
            samples += kind == "sample"
            errors += event.get("count", 1) if kind == "error" else 0
            yield json.dumps(_moved(event, part, len(joined.targets), part.round * (warmup + 1), offset_s))
    end = {"event": "end", "time_s": end_s, "status": joined.status, "samples": samples, "errors": errors}
    yield json.dumps(end)


def _started(directory: Path) -> datetime:
    return datetime.fromisoformat(_read(directory / "run.json")["started"])


def _moved(event: Json, part: Part, targets: int, repetitions: int, offset_s: float) -> Json:
    """An event with the case, the repetition and the times that it has in the joined run."""
    moved = dict(event)
    if isinstance(event.get("case"), int):
        moved["case"] = _number(event["case"], part.target, targets)
    if isinstance(event.get("repetition"), int):
        moved["repetition"] = event["repetition"] + repetitions
    for name in _TIMES:
        if isinstance(event.get(name), int | float):
            moved[name] = event[name] + offset_s
    return moved

"""Run directories with several starts, and programs on a data set, with invented numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders import MIB, CaseSpec, RunBuilder

Json = dict[str, Any]
PAUSE_S = 3600.0
"""Between two starts."""


def resumed(
    folder: Path,
    repetitions: Sequence[int] = (1, 3),
    cases: Sequence[CaseSpec] | None = None,
    reason: str = "killed",
    differences: Sequence[str] = (),
    signal: str = "",
) -> Path:
    """Writes a run of 6 repetitions that was cut after some of them, and resumed an hour later.

    Args:
        folder: The run directory.
        repetitions: Complete repetitions, of all cases together, at each cut.
        cases: Default: one.
        reason: How the starts ended.
        differences: Conditions that differ after the first cut.
        signal: The signal that interrupted the starts.
    """
    path = RunBuilder(cases or [CaseSpec()], repetitions=6).write(folder)
    events = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    kept: list[Json] = []
    ends, later_s, left = 0, 0.0, [*repetitions]
    for event in events:
        if event["event"] == "case":
            if left and ends == left[0]:
                left.pop(0)
                cut = _cut(kept[-1], reason, ends, differences if later_s == 0 else ())
                cut["reason"] = signal
                later_s += PAUSE_S
                kept += [cut, {**events[0], "time_s": cut["time_s"] + PAUSE_S, "started": cut["resumed"]}]
            ends += 1
        shifted = {key: value + later_s for key, value in event.items() if key in ("time_s", "start_s")}
        kept.append(event | shifted)
    write_events(path, kept)
    return path


def _cut(last: Json, reason: str, ends: int, differences: Sequence[str]) -> Json:
    return {
        "event": "cut",
        "time_s": last["time_s"],
        "status": reason,
        "reason": "",
        "at": "2026-11-21T04:06:06Z",
        "repetitions": ends,
        "resumed": "2026-11-21T05:06:06.000Z",
        "time_limit_s": 0.0,
        "differences": list(differences),
    }


def program(folder: Path, cases: int = 3, name: str = "kept", found: int = 0, *, torn: bool = False) -> Path:
    """Writes a run whose cases use one data set in turn: write or rewrite, read, rewrite, read, …

    Args:
        folder: The run directory.
        cases: Number of cases.
        name: The data set.
        found: Generation of the set before the run; 0: the first case makes it.
        torn: Whether the last phase that writes did not end.
    """
    manifest = {"id": "abc", "generation": found, "files": [[4, MIB]] if found else []}
    common = {"dataset": name, "manifest": manifest}
    first = "rewrite" if found else "write"
    operations = [[first], *([["read"], ["rewrite"]] * cases)][:cases]
    specs = [CaseSpec(operations=each, common=common) for each in operations]
    path = RunBuilder(specs, repetitions=1).write(folder)
    plan = json.loads((path / "plan.json").read_text())
    (path / "plan.json").write_text(json.dumps(plan | {"interleave": "none"}))
    info = json.loads((path / "run.json").read_text())
    known = {name: {"run": "2026-11-01-000000-earlier-abcd", "at": "2026-11-01T00:00:00Z"}} if found else {}
    (path / "run.json").write_text(json.dumps(info | {"data_sets": known}))
    kept: list[Json] = []
    generation = found
    for event in (json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()):
        if event["event"] == "sample" and event["operation"] in ("write", "rewrite"):
            generation += 1
            kept += [_write(event, name, generation, "writing"), event]
            kept.append(_write(event, name, generation, "written"))
        elif event["event"] != "sample" or event["operation"] != "prefill":
            kept.append(event)
    if torn:
        kept.remove([event for event in kept if event.get("state") == "written"][-1])
    write_events(path, kept)
    return path


def _write(sample: Json, name: str, generation: int, state: str) -> Json:
    return {
        "event": "data_set",
        "time_s": sample["start_s"] if state == "writing" else sample["time_s"],
        "case": sample["case"],
        "repetition": 0,
        "operation": sample["operation"],
        "data_set": name,
        "state": state,
        "generation": generation,
        "files": [[4, MIB]],
    }


def write_events(path: Path, events: Sequence[Json]) -> None:
    """Writes the events of a run directory."""
    (path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))

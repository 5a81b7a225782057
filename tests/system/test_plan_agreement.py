"""Errors of the plan that only some ranks have are reported at once, with these ranks."""

import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness import DEADLINE_S, EngineRun, Json, case, plan, read_events, run_engine
from strider.engine import Engine

SMALL: dict[str, Json] = {"pattern_transfer": 4096, "pattern_block": 8192, "operations": ["write"]}


def run_with_others(
    engine: Engine, document: Json, work: Path, ranks: Sequence[tuple[int, Path]]
) -> EngineRun:
    """Runs a plan in which some ranks execute other programs: number of ranks and program of each."""
    (work / "plan.json").write_text(json.dumps(document), encoding="utf-8")
    (work / "target").mkdir()
    options = [
        "--directory",
        work / "target",
        "--run",
        "test",
        "--data-seed",
        "7",
        "--events",
        work / "e.jsonl",
    ]
    words: list[object] = [engine.version.mpi.mpiexec]
    for place, (number, program) in enumerate(ranks):
        words += [":"] if place else []
        words += ["-n", number, program, "run", work / "plan.json", *options]
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    events = read_events(work / "e.jsonl")
    return EngineRun(done.returncode, done.stdout + done.stderr, events, work / "target")


@pytest.fixture
def bare(engine: Engine, tmp_path: Path) -> Path:
    """The engine without modules, as on a node that lacks their libraries."""
    if "hdf5" not in [entry.name for entry in engine.description.interfaces if entry.available]:
        pytest.skip("needs the interface hdf5")
    (tmp_path / "bare").mkdir()
    return Path(shutil.copy(engine.path, tmp_path / "bare" / "strider-engine"))


def test_ranks_that_lack_a_module_are_named_within_seconds(
    engine: Engine, bare: Path, tmp_path: Path
) -> None:
    document = plan(
        [case("segmented", clients=4, **SMALL), case("segmented", "hdf5", clients=4, **SMALL)],
        stall_timeout_s=600,
    )
    begin_s = time.monotonic()
    done = run_with_others(engine, document, tmp_path, [(2, engine.path), (2, bare)])
    assert time.monotonic() - begin_s < document["stall_timeout_s"] / 2
    assert done.returncode == 2, done.stderr
    (error,) = done.of("error")
    assert (error["kind"], error["case"], error["rank"]) == ("plan", 2, 2)
    assert "hdf5" in error["message"]
    assert ": ranks 2-3)" in error["message"]
    assert error["host"] in error["message"]
    assert "leave out these nodes" in error["remedy"]
    assert f"case 2: {error['message']}: {error['remedy']}\n" in done.stderr
    assert [event["event"] for event in done.events] == ["run", "error", "end"]
    assert done.events[-1]["status"] == "failed"
    assert list(done.directory.iterdir()) == []


def test_different_errors_are_told_apart(engine: Engine, bare: Path, tmp_path: Path) -> None:
    """Rank 0 lacks a module, too; and all ranks have an error in another case."""
    wrong = {**case("segmented", clients=3, **SMALL), "operations": ["fly"]}
    document = plan([wrong, case("segmented", "hdf5", clients=3, **SMALL)])
    done = run_with_others(engine, document, tmp_path, [(1, bare), (1, engine.path), (1, bare)])
    assert done.returncode == 2
    found = [(error["case"], error["rank"], error["message"]) for error in done.of("error")]
    assert [(number, rank) for number, rank, _ in found] == [(1, 0), (2, 0), (1, 1)]
    assert all(": ranks 0, 2)" in message for _, rank, message in found if rank == 0)
    assert ": rank 1)" in found[-1][2]


def test_an_error_of_all_ranks_names_none(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(engine, plan([{**case("segmented", clients=2, **SMALL), "sync": "never"}]), tmp_path)
    assert done.returncode == 2
    (error,) = done.of("error")
    assert "(on " not in error["message"]


def test_a_plan_that_the_first_node_cannot_read_is_an_error_of_its_own(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "target").mkdir()
    words = [engine.version.mpi.mpiexec, "-n", 2, engine.path, "run", tmp_path / "no-plan.json"]
    words += ["--directory", tmp_path / "target", "--run", "r", "--events", tmp_path / "e.jsonl"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2
    assert f"the node of rank 0 cannot read the plan {tmp_path / 'no-plan.json'}" in done.stderr

"""Findings of the doctor."""

import importlib.metadata
import json
import os
from pathlib import Path

import pytest

from strider.cli import main
from strider.doctor import Diagnosis, hardware, libraries
from strider.doctor.engine import check_engine
from strider.doctor.hardware import check_hardware
from strider.doctor.libraries import check_libraries
from strider.doctor.target import _write_directly, check_target
from strider.engine import Engine
from strider.launch import folder
from strider.launch.folder import MARKER


def by_subject(diagnoses: list[Diagnosis]) -> dict[str, Diagnosis]:
    return {diagnosis.subject: diagnosis for diagnosis in diagnoses}


def test_the_engine_starts_on_several_ranks_here(engine: Engine) -> None:
    found = by_subject(list(check_engine()))
    assert found["engine"].state == "works"
    assert found["launcher mpiexec"].state == "works"
    assert found["interface posix"].state == "works"


def test_without_an_engine_that_is_all_there_is_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", "/nowhere/strider-engine")
    (diagnosis,) = check_engine()
    assert (diagnosis.subject, diagnosis.state) == ("engine", "fails")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 1", "started 0 ranks instead of 2"),
        ("echo broken >&2; exit 1", "broken"),
        ('shift 2; exec "$@"', "started 1 ranks"),
    ],
)
def test_a_launcher_that_does_not_start_two_ranks_fails(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, says: str
) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    launcher.chmod(0o755)
    original = engine.version
    broken = original.model_copy(update={"mpi": original.mpi.model_copy(update={"mpiexec": str(launcher)})})
    monkeypatch.setattr(Engine, "version", broken)
    found = by_subject(list(check_engine()))["launcher mpiexec"]
    assert found.state == "fails"
    assert says in found.finding


def test_a_slow_clock_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "current_clocksource"
    monkeypatch.setattr(hardware, "CLOCK_SOURCE", source)
    states = {}
    for clock in ("tsc", "hpet"):
        source.write_text(f"{clock}\n", encoding="utf-8")
        states[clock] = by_subject(list(check_hardware()))["timer"].state
    assert states == {"tsc": "works", "hpet": "note"}


def test_a_missing_library_comes_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_required", lambda: ["no-such-library", "rich"])
    missing, present = check_libraries()
    assert (missing.state, missing.remedy) == ("fails", "pip install no-such-library")
    assert "rich" in present.finding


def test_what_the_package_requires_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    requires = ["rich>=14", "numpy>=2; python_version > '3'", "pytest; extra == 'test'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: requires)
    assert libraries._required() == ["numpy", "rich"]


def test_a_target_is_reported_with_its_file_system_and_left_as_it_was(tmp_path: Path) -> None:
    found = by_subject(list(check_target(tmp_path)))
    assert str(tmp_path) in found["target"].finding
    assert "free" in found["space"].finding
    assert found["direct I/O"].state in ("works", "missing")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_run_that_was_killed_is_found(tmp_path: Path) -> None:
    for run, pid in (("alive", os.getpid()), ("dead", 2**22 + 1)):
        own = folder.create(tmp_path, run)
        marker = json.loads((own.path / MARKER).read_text(encoding="utf-8"))
        (own.path / MARKER).write_text(json.dumps({**marker, "pid": pid}), encoding="utf-8")
    (tmp_path / "strider-foreign").mkdir()
    found = [diagnosis for diagnosis in check_target(tmp_path) if diagnosis.subject == "leftover"]
    assert [(d.finding.partition(" ")[0], d.remedy) for d in found] == [
        (f"{tmp_path}/strider-dead", f"strider clean {tmp_path}")
    ]


def test_a_target_that_is_not_there_fails(tmp_path: Path) -> None:
    (diagnosis,) = check_target(tmp_path / "missing")
    assert diagnosis.state == "fails"
    assert "mkdir -p" in diagnosis.finding


def test_direct_writing_reports_the_systems_own_error(tmp_path: Path) -> None:
    assert _write_directly(tmp_path / "missing" / "file", 4096) == "No such file or directory"


def test_the_verb_prints_what_was_found(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(tmp_path)]) == 0
    assert "✓  engine" in capsys.readouterr().out


def test_the_verb_prints_json(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    assert {"subject", "state", "finding", "remedy"} == set(json.loads(capsys.readouterr().out)[0])


def test_the_verb_fails_where_nothing_can_be_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", "/nowhere/strider-engine")
    assert main(["doctor"]) == 3
    assert "✗  engine" in capsys.readouterr().out

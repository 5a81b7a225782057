"""`strider data`: its messages and exit codes, without an engine."""

import json
from pathlib import Path

import pytest

from datasets_builders import made
from strider.cli import main
from strider.datasets.marker import MARKER
from strider.engine import Engine


def test_list_shows_each_set_and_damaged_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path, "kept", [10, 20])
    (made(tmp_path, "lost", [1]) / MARKER).write_text("{}", encoding="utf-8")
    assert main(["data", "list", str(tmp_path)]) == 0
    kept, lost = capsys.readouterr().out.splitlines()
    assert "kept: complete, 2 files, 30" in kept
    assert "not the marker of a data set" in lost
    assert main(["data", "list", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["data_sets"]
    assert [(row["name"], row["state"]) for row in rows] == [("kept", "complete"), ("lost", "unreadable")]


def test_remove_names_what_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, "kept", [10])
    (folder / "mine").touch()
    assert main(["data", "remove", "kept", "--target", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert f"not removed: {folder}/mine" in printed.err
    assert "1 files removed, the folder stays" in printed.out


@pytest.mark.parametrize("name", ["../kept", "a b", ""])
def test_make_refuses_what_is_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["data", "make", name, "--target", str(tmp_path)]) == 2
    assert "is not a name" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["dataset", "interface", "pattern", "clients", "operations", "repetitions"])
def test_make_has_other_options_for_what_it_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    words = ["--target", str(tmp_path), "--set", f"case.{key}=2"]
    assert main(["data", "make", "kept", *words]) == 2
    assert f"--set case.{key}=2: {key} is given by" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_verify_and_remove_need_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("verify", "remove"):
        assert main(["data", verb, "kept", "--target", str(tmp_path)]) == 2
        assert "has no data set kept" in capsys.readouterr().err


def test_plan_refuses_a_name_that_run_refuses(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(
        f'[suite]\nname = "s"\ntarget = "{tmp_path}"\n[[case]]\ninterface = "posix"\npattern = "segmented"\n'
        'operations = ["write"]\ndataset = "../x"\n'
    )
    for verb in ("plan", "run"):
        assert main([verb, str(suite)]) == 2
        assert f'{suite}:8: dataset: "../x" is not a name' in capsys.readouterr().err

"""`strider lab` as a user types it; real file systems are started in tests/system/lab."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.cli import main
from strider.lab import SYSTEMS, Endpoint, System
from strider.lab.site import Site


def start_sleeper(site: Site) -> list[Endpoint]:
    site.daemon("sleeper", ["sleep", "60"])
    return [Endpoint(name="data", native={"server": "here:1"}, remark="asleep")]


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A place for labs, where a file system `fake` can be started, which needs the program `brought`."""
    monkeypatch.setattr(System, "obstacle", lambda _: "")
    monkeypatch.setattr("strider.lab.lifecycle.LONGEST_FOLDER", 1000)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    fake = System("fake", "Sleeps.", {"brought": "bringer"}, mounting=False, start=start_sleeper)
    monkeypatch.setitem(SYSTEMS, "fake", fake)
    place = tmp_path / "labs"
    yield str(place)
    main(["lab", "down", "fake", "--at", str(place)])


def add_program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_up_status_down(at: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_program(tmp_path / "bin", "brought", "")
    assert main(["lab", "up", "fake", "--at", at]) == 0
    shown = capsys.readouterr().out
    assert "fake data: asleep" in shown
    assert "native: server here:1" in shown
    assert f"strider lab down fake --at {at}" in shown

    assert main(["lab", "status", "fake", "--at", at]) == 0
    assert f"fake is up ({at}/fake)" in capsys.readouterr().out
    assert main(["lab", "status", "fake", "--at", at, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["state"], status["record"]["endpoints"][0]["name"]) == ("up", "data")

    assert main(["lab", "down", "fake", "--at", at]) == 0
    assert main(["lab", "status", "fake", "--at", at]) == 3
    assert f"fake is down ({at}/fake)" in capsys.readouterr().out


def test_install_brings_the_missing_packages(
    at: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "up", "fake", "--at", at]) == 3
    assert "apt-get install --no-install-recommends bringer" in capsys.readouterr().err
    program = tmp_path / "bin" / "brought"
    install = (
        f'echo "$@" >>{tmp_path}/asked; case "$*" in *"install --yes"*bringer) cp "$0" {program} ;; esac'
    )
    add_program(tmp_path / "bin", "apt-get", install)
    assert main(["lab", "up", "fake", "--at", at, "--install"]) == 0
    asked = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert [line.split()[2] for line in asked] == ["update", "install"]


def test_an_installation_that_fails_says_what_apt_get_said(
    at: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_program(tmp_path / "bin", "apt-get", "echo 'E: Unable to locate package bringer' >&2; exit 100")
    assert main(["lab", "up", "fake", "--at", at, "--install"]) == 3
    assert "E: Unable to locate package bringer" in capsys.readouterr().err


def test_list_says_what_each_lacks(at: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "list", "--at", at, "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {"cephfs", "fake", "ganesha", "gluster", "moosefs", "nodes", "slurm", "xrootd"}
    assert rows["fake"]["missing_packages"] == ["bringer"]
    assert rows["fake"]["state"] == "down"
    assert main(["lab", "list", "--at", at]) == 0
    assert "lacks Debian packages: bringer" in capsys.readouterr().out


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "up", "lustre"]) == 2
    assert "unknown lab system 'lustre': choose one of cephfs, gluster" in capsys.readouterr().err

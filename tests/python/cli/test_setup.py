"""`strider setup`: requests to the set-up of the checkout, and the report on its engine."""

from importlib import import_module
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine


@pytest.fixture
def script(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set-up that records its words and names the engine of the tests."""
    made = tmp_path / "setup.sh"
    made.write_text(
        f'#!/bin/sh\necho "$*" >"{tmp_path}/words"\n[ "$2" != broken ] || exit 3\necho "{engine.path}"\n'
    )
    made.chmod(0o755)
    monkeypatch.setattr(import_module("strider.cli.setup"), "SCRIPT", made)
    return made


def test_it_adds_the_libraries_and_says_what_works(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "posix", "libfabric"]) == 0
    assert (script.parent / "words").read_text() == "add posix libfabric\n"
    assert capfd.readouterr().out == "interface posix: works\n"


def test_an_interface_that_is_still_missing_fails(
    script: Path, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    missing = next(one for one in engine.description.interfaces if not one.available)
    assert main(["setup", missing.name]) == 3
    assert capfd.readouterr().out == f"interface {missing.name}: {missing.unavailable_reason}\n"


@pytest.mark.usefixtures("script")
def test_a_set_up_that_fails_has_said_why(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "broken"]) == 3
    assert capfd.readouterr().out == ""


def test_an_installed_package_has_no_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(import_module("strider.cli.setup"), "SCRIPT", tmp_path / "missing")
    assert main(["setup", "hdf5"]) == 3
    assert "works in a checkout only" in capfd.readouterr().err

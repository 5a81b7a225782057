"""Options of a system of the lab: wrong ones are refused before anything starts."""

from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.lab import find, up
from strider.lab.system import System


def test_options_have_defaults_that_can_be_changed() -> None:
    assert find("nodes").settings(["nodes=2"]) == {"nodes": "2", "rate": "1gbit", "client_rate": "10gbit"}


@pytest.mark.parametrize("option", ["nodes", "speed=1", "=2"])
def test_an_unknown_option_is_refused_with_those_there_are(option: str) -> None:
    with pytest.raises(StriderError, match=f"--set {option}: the options are nodes=4, rate=1gbit, "):
        find("nodes").settings([option])


def test_a_system_without_options_says_so() -> None:
    with pytest.raises(StriderError, match="--set rate=1: slurm has no options"):
        find("slurm").settings(["rate=1"])


@pytest.mark.parametrize(
    "option", ["nodes=0", "nodes=65", "nodes=x", "rate=0mbit", "rate=1gbit; reboot", "client_rate=fast"]
)
def test_a_value_that_no_node_can_have_is_refused(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(System, "obstacle", lambda _: "")
    monkeypatch.setattr(System, "missing_packages", lambda _: [])
    monkeypatch.setattr("strider.lab.lifecycle.LONGEST_FOLDER", 1000)
    key, _, value = option.partition("=")
    with pytest.raises(StriderError, match=f"^{key}={value}: give "):
        up(find("nodes"), tmp_path / "nodes", print, [option])
    assert not (tmp_path / "nodes").exists()

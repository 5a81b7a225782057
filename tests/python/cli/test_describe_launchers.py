"""`strider describe launchers` and `strider describe binding`."""

import json
from typing import get_args

import pytest

from strider.cli import main
from strider.launch.launchers import LAUNCHERS
from strider.launch.launchers.hosts import Binding
from strider.launch.launchers.words import BINDING_WORDS, LAUNCHER_WORDS


def test_they_are_those_of_the_options() -> None:
    assert [one.name for one in LAUNCHER_WORDS] == [*LAUNCHERS, "COMMAND"]
    assert [one.name for one in BINDING_WORDS] == [one for one in get_args(Binding) if one]


@pytest.mark.usefixtures("engine_in_use")
@pytest.mark.parametrize(
    ("words", "name"),
    [(["launchers"], "srun"), (["srun"], "srun"), (["bind"], "numa"), (["binding"], "core")],
)
def test_each_is_shown_in_80_columns(words: list[str], name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", *words]) == 0
    shown = capfd.readouterr().out
    assert name in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert main(["describe", *words, "--json"]) == 0
    assert name in str(json.loads(capfd.readouterr().out))

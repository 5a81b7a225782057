"""Fixtures that all Python tests share."""

import json
from pathlib import Path

import pytest

from strider.engine import Description

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def description() -> Description:
    """A small description, of which every value is known to the tests."""
    return Description.model_validate(json.loads((HERE / "description.json").read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is as wide as in a pipe, whatever the terminal the tests run in."""
    monkeypatch.delenv("COLUMNS", raising=False)

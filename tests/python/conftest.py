"""Fixtures that all Python tests share."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from strider.engine import Description

HERE = Path(__file__).parent

# The same examples in every run of the tests, however long the machine takes for one.
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def description() -> Description:
    """A small description, of which every value is known to the tests."""
    return Description.model_validate(json.loads((HERE / "description.json").read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is as wide as in a pipe, in any terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)

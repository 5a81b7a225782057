"""Phases that are long enough for a verdict, where runs are compared."""

import pytest

from builders import LONG, RunBuilder


@pytest.fixture(autouse=True)
def long_phases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.name == "test_comparing.py":
        monkeypatch.setattr(RunBuilder, "client_bytes", LONG)

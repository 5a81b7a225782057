"""Phases that are long enough for a verdict."""

import pytest

from builders import LONG, RunBuilder


@pytest.fixture(autouse=True)
def long_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunBuilder, "client_bytes", LONG)

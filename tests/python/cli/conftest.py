"""Stores, directories and the engine for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from strider.engine import Engine


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, in use."""
    monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def engine_in_use(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real engine, also for processes that a command starts."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    return engine


@pytest.fixture
def old_and_new(tmp_path: Path) -> Path:
    """A folder with the directories `old` and `new`."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    return tmp_path

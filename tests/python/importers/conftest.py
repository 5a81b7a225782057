"""Shared by the tests of importers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Description, Engine
from strider.importers import Imported
from strider.suite import Changes, CheckedPlan, Suite, check
from strider.suite.load import build


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty directory to measure."""
    path = tmp_path / "target"
    path.mkdir()
    return path


@pytest.fixture
def suite_of(engine: Engine) -> Callable[[Imported], Suite]:
    """The imported suite, expanded for the real engine."""
    return lambda imported: build(imported.document, engine.description, Changes())


@pytest.fixture
def plan_of(engine: Engine) -> Callable[[Imported], CheckedPlan]:
    """The imported plan, checked by the real engine."""
    return lambda imported: check(build(imported.document, engine.description, Changes()), engine)


def has_pattern(description: Description, name: str) -> bool:
    """Whether this engine has a pattern."""
    return any(pattern.name == name for pattern in description.patterns)

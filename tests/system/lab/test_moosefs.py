"""MooseFS: reads through the mount return the written data."""

from pathlib import Path

import pytest

from harness import Json
from labs import PATTERNS, check_mount
from strider.engine import Engine
from strider.lab import Record


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_data_is_right(engine: Engine, tmp_path: Path, moosefs: Record, pattern: Json) -> None:
    (endpoint,) = moosefs.endpoints
    check_mount(engine, tmp_path, endpoint, pattern)

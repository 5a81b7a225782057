"""XRootD: what is written through xrootdfs is what is read."""

from pathlib import Path

import pytest

from harness import Json
from labs import PATTERNS, check_mount
from strider.engine import Engine
from strider.lab import Record


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_data_is_right(engine: Engine, tmp_path: Path, xrootd: Record, pattern: Json) -> None:
    (endpoint,) = xrootd.endpoints
    check_mount(engine, tmp_path, endpoint, pattern)

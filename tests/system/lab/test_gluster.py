"""GlusterFS: what is written through the mount of a volume is what is read."""

from pathlib import Path

import pytest

from harness import Json
from labs import PATTERNS, check_mount
from strider.engine import Engine
from strider.lab import Record


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
@pytest.mark.parametrize("volume", ["distributed", "sharded", "dispersed"])
def test_data_is_right(engine: Engine, tmp_path: Path, gluster: Record, volume: str, pattern: Json) -> None:
    (endpoint,) = [each for each in gluster.endpoints if each.name == volume]
    check_mount(engine, tmp_path, endpoint, pattern)


def test_the_engine_runs_in_the_network_of_the_lab(engine: Engine, tmp_path: Path, gluster: Record) -> None:
    """Where native addresses are reached."""
    assert gluster.enter
    check_mount(engine, tmp_path, gluster.endpoints[0], PATTERNS[0], gluster.enter)

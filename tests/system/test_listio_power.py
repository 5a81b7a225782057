"""After each sync of a volume's servers the power may fail: promises hold, and a check repairs the rest."""

import json
import subprocess
import tempfile
from pathlib import Path

import pytest

from forgetfs import mounted
from strider.engine import Engine

SYNCS = 260
"""Of each seed. The power is cut twice after each: all that is not stable is lost, or torn."""
TIMEOUT_S = 600


def cut_power(engine: Engine, seed: int, syncs: int = SYNCS) -> dict[str, object]:
    """What a volume is after a power cut at each sync of a random workload."""
    program = Path(engine.path).resolve().parents[1] / "tests/listio/strider-listio-power-cut"
    if not program.exists():
        pytest.skip("needs `tools/setup.sh test`")
    with (
        mounted(engine, "default", "--strict") as forgetful,
        tempfile.TemporaryDirectory(dir="/dev/shm") as images,
    ):
        words: list[str | Path] = [
            program,
            forgetful.mount,
            forgetful.socket,
            images,
            str(seed),
            str(syncs),
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_promised_is_there_after_a_power_cut_at_any_sync(engine: Engine, seed: int) -> None:
    """520 flush boundaries in all."""
    found = cut_power(engine, seed)
    assert found["mistakes"] == []
    images = found["images"]
    assert isinstance(images, int)
    assert images >= 2 * SYNCS - 40, "all but those before the volume's first names"

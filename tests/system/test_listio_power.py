"""After each sync of a volume's servers the power may fail: promises hold, and a check repairs the rest."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from forgetfs import mounted
from strider.engine import Engine

SYNCS = 260
"""Of each seed. The power is cut twice after each: all that is not stable is lost, or torn."""
RUNS = int(os.environ.get("STRIDER_POWER_RUNS", "0"))
"""With two copies: runs with power cuts at each flush, some minutes each; 0: one, with some of them."""
CUTS = 0 if RUNS else 20
TIMEOUT_S = 1800 if RUNS else 600


def cut_power(engine: Engine, name: str, *numbers: int) -> dict[str, object]:
    """The state of a volume after power cuts of a random workload."""
    program = Path(engine.path).resolve().parents[1] / "tests/listio" / name
    if not program.exists():
        pytest.skip("needs `tools/setup.sh test`")
    with (
        mounted(engine, "default", "--strict") as forgetful,
        tempfile.TemporaryDirectory(dir="/dev/shm") as images,
    ):
        words: list[str | Path] = [program, forgetful.mount, forgetful.socket, images]
        done = subprocess.run(
            [*words, *map(str, numbers)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("seed", [1, 2])
# proves listio: write-durable, sync-durable, names-durable, rename-durable, unlink-durable, power-cut-tests
# proves listio: power-cut-result
def test_what_was_promised_is_there_after_a_power_cut_at_any_sync(engine: Engine, seed: int) -> None:
    """520 flush boundaries in all."""
    found = cut_power(engine, "strider-listio-power-cut", seed, SYNCS)
    assert found["mistakes"] == []
    images = found["images"]
    assert isinstance(images, int)
    assert images >= 2 * SYNCS - 40, "all but those before the volume's first names"


@pytest.mark.parametrize("servers", [2, 4])
@pytest.mark.parametrize("run", range(max(1, RUNS)))
# proves listio: copies-power-failure, power-cut-copies
def test_both_copies_have_what_was_promised_after_power_cuts(engine: Engine, run: int, servers: int) -> None:
    """Servers go, come back and are filled meanwhile; then all lose their power, or one of them."""
    found = cut_power(engine, "strider-listio-power-cut-copies", servers + 10 * run, servers, CUTS)
    print({key: value for key, value in found.items() if key != "mistakes"})
    assert found["mistakes"] == []
    images, boundaries = found["images"], found["boundaries"]
    assert isinstance(images, int)
    assert isinstance(boundaries, int)
    assert boundaries >= 100, "how many there are depends on when servers come back"
    assert images >= 2 * (CUTS or boundaries), "three for each flush after the volume's first names"

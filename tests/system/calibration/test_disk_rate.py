"""A disk that the kernel holds to a rate: what direct I/O is reported to move is that rate."""

import tempfile
from pathlib import Path

from calibrate import FIRST, agrees
from disks import disk, limited
from harness import case, plan, run_engine
from strider.engine import Engine

MIB = 1 << 20
LIMIT_MIB_S = 30
SECONDS = 7
"""The kernel's limit holds over slices of a tenth of a second, and the bytes that an idle disk moves in the
first of them are free: 1.3 % of seven seconds."""


# proves measuring: known-throttle
def test_the_rate_is_that_of_the_disk(engine: Engine, tmp_path: Path, memory_folder: Path) -> None:
    one = case(
        "segmented",
        pattern_transfer=MIB // 4,
        pattern_block=SECONDS * LIMIT_MIB_S * MIB,
        interface_direct=True,
        interface_preallocate=True,
    )
    rates: dict[str, float] = {}
    with disk(memory_folder, 64 + SECONDS * LIMIT_MIB_S) as made, limited(made, LIMIT_MIB_S * MIB) as join:

        def farthest_mib_s() -> float:
            """That of the two rates, of writing and of reading, that is further off."""
            work = Path(tempfile.mkdtemp(dir=tmp_path))
            done = run_engine(engine, plan([one]), work, [*FIRST, *join], made.point)
            assert done.returncode == 0, done.stderr
            for operation in ("write", "read"):
                rates[operation] = done.sample(operation=operation)["rate_mib_s"]
            return max(rates.values(), key=lambda rate: abs(rate - LIMIT_MIB_S))

        agrees(farthest_mib_s, LIMIT_MIB_S, 0.02)

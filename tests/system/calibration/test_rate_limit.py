"""The engine's own limit on a rate, in memory, where nothing else limits it."""

from pathlib import Path

import pytest

from calibrate import FIRST, agrees
from harness import case, plan, run_engine
from strider.engine import Engine

MIB = 1 << 20


@pytest.mark.parametrize("limit_mib_s", [20, 150])
@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("operation", ["write", "read"])
# proves measuring: rate-limit, time-of-request, issued-on-time, known-rate-limit
def test_data_moves_no_faster_than_it_may(
    engine: Engine, tmp_path: Path, memory_folder: Path, limit_mib_s: int, clients: int, operation: str
) -> None:
    """Two per cent less, at most, since opening and closing count too; and never more, but for the clock."""
    one = case(
        "segmented",
        pattern_transfer=64 << 10,
        pattern_block=3 * limit_mib_s * MIB // 2 // clients // (64 << 10) * (64 << 10),
        clients=clients,
        operations=[operation],
        rate_limit=limit_mib_s * MIB,
    )
    rates: list[float] = []

    def rate_mib_s() -> float:
        work = tmp_path / f"run-{len(rates)}"
        work.mkdir()
        done = run_engine(engine, plan([one]), work, FIRST, memory_folder)
        assert done.returncode == 0, done.stderr
        rates.append(done.sample(measured=True)["rate_mib_s"])
        return rates[-1]

    agrees(rate_mib_s, limit_mib_s, 0.02)
    assert max(rates) <= 1.001 * limit_mib_s

"""Servers that are limited to a known rate: a run reports that rate, whatever else the machine does."""

import subprocess

import pytest

from harness import DEADLINE_S, Json, read_events, strider_command
from labs import Native
from strider.engine import Engine
from strider.units import MIB

RATE_MIB_S = 16
SUITE = f"""
[suite]
name        = "limited"
operations  = ["write", "read"]
sync        = "none"
repetitions = 1

[[case]]
interface          = "listio"
pattern            = "segmented"
transfer           = "4MiB"
depth              = 4
listio.server_rate = "{RATE_MIB_S}MiB"
[case.zip]
listio.servers = [1, 4]
block          = ["48MiB", "192MiB"]
"""
"""3 s each. With requests that wait at each server, late scheduling of a process does not matter."""


@pytest.fixture(scope="module")
def samples(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Rates of a run that starts four such servers."""
    Native("listio").require(engine)
    work = tmp_path_factory.mktemp("limited")
    suite, target, store = work / "limited.toml", work / "target", work / "store"
    suite.write_text(SUITE, encoding="utf-8")
    target.mkdir()
    command = strider_command("run", suite, "--target", target, "--store", store)
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (events,) = store.glob("*/events.jsonl")
    return [event for event in read_events(events) if event["event"] == "sample"]


@pytest.mark.parametrize("operation", ["write", "read"])
@pytest.mark.parametrize(("case", "servers"), [(1, 1), (2, 4)])
# proves listio: rate
def test_a_run_reports_the_rate_that_is_set(
    samples: list[Json], case: int, servers: int, operation: str
) -> None:
    (sample,) = [each for each in samples if (each["case"], each["operation"]) == (case, operation)]
    assert sample["facts"]["servers"] == str(servers)
    assert sample["bytes"] == 48 * servers * MIB
    assert sample["rate_mib_s"] == pytest.approx(servers * RATE_MIB_S, rel=0.02)

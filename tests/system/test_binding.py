"""Ranks bound by the launcher: `--bind` as the engine finds it in the affinity of its ranks."""

import os
import subprocess
from pathlib import Path

import pytest

from harness import read_events, strider_command
from strider.engine import Engine

SUITE = """
[suite]
name = "bound"
clients = 2
[[case]]
interface = "posix"
pattern = "segmented"
operations = "write"
block = "64KiB"
transfer = "64KiB"
repetitions = 1
"""


def affinity(engine: Engine, work: Path, *options: str) -> tuple[int, int]:
    """The fewest and the most CPUs on which one of two ranks may run."""
    (work / "bound.toml").write_text(SUITE)
    (work / "target").mkdir(exist_ok=True)
    store = work / "-".join(["store", *options])
    words = ("--target", work / "target", "--store", store, "--ceilings", "none", "-q", *options)
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path)}
    done = subprocess.run(
        strider_command("run", work / "bound.toml", *words),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (events,) = store.glob("*/events.jsonl")
    (node,) = read_events(events)[0]["nodes"]
    return node["affinity_cpus_min"], node["affinity_cpus_max"]


def cpus_of_a_core() -> int:
    cpu = min(os.sched_getaffinity(0))
    siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus").read_text(encoding="ascii")
    return sum(int(part, 16).bit_count() for part in siblings.strip().split(","))


def test_each_rank_is_bound_to_a_core_or_to_none(engine: Engine, tmp_path: Path) -> None:
    everywhere = len(os.sched_getaffinity(0))
    if everywhere == cpus_of_a_core():
        pytest.skip("machine: has one core")
    assert affinity(engine, tmp_path, "--bind", "core") == (cpus_of_a_core(), cpus_of_a_core())
    assert affinity(engine, tmp_path, "--bind", "none") == (everywhere, everywhere)

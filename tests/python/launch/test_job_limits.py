"""Memory and processors of a job, from made trees of control groups and from a real group."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from strider.launch.job_limits import Memory, memory, processors

GIB, MIB = 1 << 30, 1 << 20
V2 = "30 1 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "31 1 0:27 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 1 0:28 {root} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
)
OWN_V1 = "5:memory:/job/step\n4:cpu,cpuacct:/job/step\n0::/\n"


def machine(root: Path, files: Mapping[str, object], mounts: str = V2, own: str = "0::/job/step\n") -> Path:
    """A machine of 8 GiB, 6 of them available, with files of control groups."""
    made = {
        "proc/meminfo": f"MemTotal: {8 << 20} kB\nMemAvailable: {6 << 20} kB\n",
        "proc/self/cgroup": own,
        "proc/self/mountinfo": mounts.format(root="/"),
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }
    for name, text in made.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that may run on 16 processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


@pytest.mark.parametrize(
    ("files", "total", "available"),
    [
        ({}, 8 * GIB, 6 * GIB),
        ({"job/step/memory.max": "max"}, 8 * GIB, 6 * GIB),
        ({"job/step/memory.max": 1 << 60}, 8 * GIB, 6 * GIB),
        ({"job/step/memory.max": 2 * GIB, "job/step/memory.current": GIB}, 2 * GIB, GIB),
        ({"job/memory.max": 400 * MIB, "job/memory.current": 500 * MIB}, 400 * MIB, 0),
        ({"memory.max": 2 * GIB, "job/step/memory.max": 3 * GIB}, 2 * GIB, 2 * GIB),
        (
            {
                "job/memory.max": 2 * GIB,
                "job/memory.current": 2 * GIB,
                "job/memory.stat": f"anon 5\nactive_file {GIB}\ninactive_file {MIB}\ninactive_anon 7",
            },
            2 * GIB,
            GIB + MIB,
        ),
        ({"job/step/memory.max": "no number"}, 8 * GIB, 6 * GIB),
        (
            {"job/step/memory.max": GIB, "job/step/memory.current": 2 * GIB, "job/memory.max": 4 * GIB},
            GIB,
            0,
        ),
    ],
)
def test_memory_is_the_least_of_the_machine_and_all_groups_of_version_2(
    tmp_path: Path, files: dict[str, object], total: int, available: int
) -> None:
    assert memory(machine(tmp_path, files)) == Memory(total, available)


@pytest.mark.parametrize("group", ["job/step", "job", "."])
def test_memory_is_the_least_of_the_machine_and_all_groups_of_version_1(tmp_path: Path, group: str) -> None:
    files = {
        "memory/job/step/memory.limit_in_bytes": 9_223_372_036_854_771_712,
        f"memory/{group}/memory.limit_in_bytes": 2 * GIB,
        f"memory/{group}/memory.usage_in_bytes": GIB,
        f"memory/{group}/memory.stat": f"inactive_file 1\ntotal_inactive_file {MIB}\ntotal_active_file {MIB}",
    }
    assert memory(machine(tmp_path, files, V1 + V2, OWN_V1)) == Memory(2 * GIB, GIB + 2 * MIB)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16),
        ({"job/step/cpu.max": "max 100000"}, 16),
        ({"job/step/cpu.max": "400000 100000"}, 4),
        ({"job/cpu.max": "250000 100000", "job/step/cpu.max": "max 100000"}, 2),
        ({"job/cpu.max": "5000 100000"}, 1),
        ({"job/cpu.max": "3200000 100000"}, 16),
        ({"job/cpu.max": "100000 0"}, 16),
        ({"job/cpu.max": ""}, 16),
    ],
)
def test_processors_are_the_least_of_affinity_and_all_quotas(
    tmp_path: Path, files: dict[str, object], expected: int
) -> None:
    assert processors(machine(tmp_path, files)) == expected


@pytest.mark.parametrize(("quota", "expected"), [(-1, 16), (300_000, 3)])
def test_a_quota_of_version_1_limits_the_processors(tmp_path: Path, quota: int, expected: int) -> None:
    files = {"cpu,cpuacct/job/cpu.cfs_quota_us": quota, "cpu,cpuacct/job/cpu.cfs_period_us": 100_000}
    assert processors(machine(tmp_path, files, V1 + V2, OWN_V1)) == expected


@pytest.mark.parametrize(
    ("shown", "own", "place"),
    [
        ("/docker/x", "0::/docker/x/step", "step"),  # a bind mount of the container's own part
        ("/docker/x", "0::/docker/x", "."),
        ("/docker/x", "0::/elsewhere", "."),
        ("/", "0::/../other", "."),  # a group outside of the namespace
    ],
)
def test_a_container_sees_a_part_of_the_groups(tmp_path: Path, shown: str, own: str, place: str) -> None:
    root = machine(tmp_path, {f"{place}/memory.max": GIB}, V2.format(root=shown), own)
    assert memory(root).total_bytes == GIB


def test_a_machine_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    assert memory(tmp_path) == Memory(0, 0)
    assert processors(tmp_path) == 16


@pytest.fixture
def group() -> Iterator[Path]:
    """A real group of 400 MiB below another one without a limit of its own."""
    above = Path("/sys/fs/cgroup/memory", f"strider-{os.getpid()}")
    try:
        (above / "step").mkdir(parents=True)
        (above / "memory.limit_in_bytes").write_text(str(400 * MIB))
    except OSError as error:
        pytest.skip(f"machine: no memory controller of cgroup v1 that this user may use ({error.strerror})")
    yield above / "step"
    with suppress(OSError):
        (above / "step").rmdir()
        above.rmdir()


def test_a_real_group_limits_the_memory_of_its_processes(group: Path) -> None:
    script = (
        "import json, dataclasses; from strider.launch.job_limits import memory; "
        "print(json.dumps(dataclasses.asdict(memory())))"
    )
    words = [
        "sh",
        "-c",
        'echo $$ >"$0" && exec "$@"',
        str(group / "cgroup.procs"),
        sys.executable,
        "-c",
        script,
    ]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert found["total_bytes"] == 400 * MIB
    assert 0 < found["available_bytes"] <= 400 * MIB

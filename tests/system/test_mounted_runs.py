"""Runs with cases on a mount of their list-I/O volume: the mount is there for the run, and gone after it."""

import signal
import subprocess
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, command_of, descendants, kill, read_events, strider_command, wait_for
from labs import Native
from strider.engine import Engine
from strider.listio import ServerOptions, check, mounted, remove_run, serve, stop
from strider.report.labels.facets import Facets
from strider.store import load

SUITE = """
[suite]
name = "ways"
repetitions = 1
clients = 2
verify = "full"
scale_down = 16
[[case]]
interface = ["posix", "mpiio"]
mount = "listio"
pattern = "segmented"
transfer = "64KiB"
block = "{block}"
[[case]]
interface = ["mpiio", "listio"]
mpiio.prefix = "listio:"
listio.servers = 3
listio.transport = "tcp"
pattern = "segmented"
transfer = "64KiB"
block = "{block}"
[[case]]
interface = "mpiio"
mount = "listio"
mount_servers = 2
pattern = "segmented"
transfer = "64KiB"
block = "{block}"
"""

ON_A_MOUNT = """
[suite]
name = "mount"
repetitions = 1
clients = 2
scale_down = 16
[[case]]
interface = "posix"
mount = "listio"
pattern = "segmented"
transfer = "64KiB"
block = "{block}"
"""


@pytest.fixture(autouse=True)
def machine(engine: Engine) -> None:
    """The service, and FUSE."""
    Native("listio").require(engine)
    if not Path("/dev/fuse").exists():
        pytest.skip("machine: the kernel has no FUSE (/dev/fuse)")


def words_of(tmp_path: Path, target: Path, block: str, suite_text: str = SUITE) -> list[str]:
    """The command that runs a suite in a target."""
    target.mkdir(exist_ok=True)
    suite = tmp_path / "suite.toml"
    suite.write_text(suite_text.format(block=block))
    options = ("--store", tmp_path / "store", "--quiet", "--ceilings", "none")
    return strider_command("run", suite, "--target", target, *options)


def run(tmp_path: Path, target: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Runs the suite to its end; returns the run directory, too."""
    words = words_of(tmp_path, target, "4MiB")
    done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    if "fusermount3" in done.stderr:
        pytest.skip(f"machine: FUSE file systems may not be mounted: {done.stderr}")
    assert done.returncode == 0, done.stderr
    (directory,) = (tmp_path / "store").iterdir()
    return directory, done


def mounts_below(target: Path) -> list[str]:
    """Mount points of volumes in a target."""
    return [point for point in mounted() if point.startswith(f"{target}/")]


def counted(directory: Path, case: int) -> dict[str, Json]:
    """Counters of the processes beside the ranks in the writing phase of a case, by name."""
    (counters,) = (
        event
        for event in read_events(directory / "events.jsonl")
        if event["event"] == "counters" and (event["case"], event["operation"]) == (case, "write")
    )
    return {
        group["instance"]: group["values"] for group in counters["counters"] if group["source"] == "process"
    }


# proves listio: mount-of-run
def test_each_way_moves_the_same_bytes_through_the_processes_that_belong_to_it(tmp_path: Path) -> None:
    target = tmp_path / "target"
    directory, _ = run(tmp_path, target)
    assert list(target.iterdir()) == []
    assert mounts_below(target) == []
    found = load(directory)
    assert found.plan.scale_down == 16
    ways = ["posix on mount", "mpiio on mount", "mpiio listio:", "listio", "mpiio on mount of 2 servers"]
    assert list(Facets.of(list(found.cases.values())).series.values()) == ways
    samples = [event for event in read_events(directory / "events.jsonl") if event["event"] == "sample"]
    written = [one for one in samples if one["operation"] == "write"]
    assert [one["bytes"] for one in written] == [1 << 19] * 5
    digests = {(one["case"], one["operation"]): one["digest"] for one in samples}
    assert len({digests[case, "read"] for case in (1, 2, 3, 4, 5)}) == 1
    for case, own_mount, others in (
        (1, "mount", 4),
        (3, None, 4),
        (4, None, 3),
        (5, "mount of 2 servers", 2),
    ):
        processes = counted(directory, case)
        assert [name for name in processes if name.startswith("mount")] == ([own_mount] if own_mount else [])
        received = [values["received_bytes"] for name, values in processes.items() if name[:6] == "server"]
        busy = [count for count in received if count > 1 << 16]
        assert (len(busy), sum(received) >= 1 << 19) == (others, True), processes


def test_a_volume_that_was_there_stays_and_has_nothing_of_the_run(engine: Engine, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    serve(engine, volume, ServerOptions(servers=3))
    try:
        run(tmp_path, volume)
        assert mounts_below(volume) == []
        found = check(engine, volume)
        assert (found["files"], found["directories"], found["orphans"], found["problems"]) == (0, 0, [], [])
    finally:
        stop(volume)


def test_a_killed_run_leaves_names_in_a_volume_that_check_removes(engine: Engine, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    serve(engine, volume, ServerOptions(servers=3))
    try:
        with subprocess.Popen(
            words_of(tmp_path, volume, "64GiB"), stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for(lambda: list(volume.glob("*/mount-*/*/case*")) or process.poll(), "a file on a mount")
            below = descendants(process.pid)
            process.send_signal(signal.SIGKILL)
            _, said = process.communicate(timeout=DEADLINE_S)
            if "fusermount3" in said:
                pytest.skip(f"machine: FUSE file systems may not be mounted: {said}")
        wait_for(lambda: not any(map(command_of, below)), "the end of all processes of the run")
        assert mounts_below(volume) == []
        (run,) = check(engine, volume)["runs"]
        remove_run(engine, volume, run["run"])
        found = check(engine, volume, remove_orphans=True)
        assert (found["files"], found["directories"], found["runs"]) == (0, 0, [])
    finally:
        stop(volume)


@pytest.mark.parametrize("ending", ["ctrl-c", "killed"])
# proves listio: mount-of-run
def test_the_mount_is_gone_however_the_run_ends(tmp_path: Path, ending: str) -> None:
    target = tmp_path / "target"
    words = words_of(tmp_path, target, "64GiB")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: len(mounts_below(target)) == 2 or process.poll(), "the mounts")
            wait_for(lambda: list(target.glob("*/mount-*/*/case*")) or process.poll(), "a file on a mount")
            process.send_signal(signal.SIGINT if ending == "ctrl-c" else signal.SIGKILL)
            _, said = process.communicate(timeout=DEADLINE_S)
        finally:
            for pid in descendants(process.pid):
                kill(pid, signal.SIGKILL)
    if "fusermount3" in said:
        pytest.skip(f"machine: FUSE file systems may not be mounted: {said}")
    wait_for(lambda: not mounts_below(target), "the end of the mounts")
    if ending == "killed":
        cleaned = subprocess.run(
            strider_command("clean", target), capture_output=True, text=True, check=False
        )
        assert cleaned.returncode == 0, cleaned.stderr + cleaned.stdout
    else:
        assert process.returncode in (1, 3), said
    assert list(target.iterdir()) == []


# proves listio: mount-killed
def test_a_run_whose_mount_is_killed_ends_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "target"
    words = words_of(tmp_path, target, "64GiB", ON_A_MOUNT)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_for(lambda: list(target.glob("*/mount-*/*/case*")) or process.poll() is not None, "a file")
        for pid in descendants(process.pid):
            if command_of(pid) == "strider-listio-mount":
                kill(pid, signal.SIGKILL)
        said, _ = process.communicate(timeout=DEADLINE_S)
    if "fusermount3" in said:
        pytest.skip(f"machine: FUSE file systems may not be mounted: {said}")
    assert process.returncode == 1, said
    assert "Transport endpoint is not connected" in said
    assert mounts_below(target) == []
    assert list(target.iterdir()) == []

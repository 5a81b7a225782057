"""Nodes in network namespaces: separate hosts for MPI, ssh and list-I/O servers; nothing of them stays."""

import os
import re
import shlex
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Json, kill, read_events, strider_command, wait_for
from labs import running, system_or_skip
from mpi_runs import mpich, openmpi
from strider.engine import Engine
from strider.lab import Record, down, mounts, read
from strider.lab.processes import in_networks

LIMIT_S = 100
NAMES = ["n1", "n2", "n3", "n4"]
EACH_MBIT_S, CLIENT_MBIT_S = 100, 250
"""Rates of the links that the fixture sets."""


def call(record: Record, *words: object, **environment: str) -> str:
    """The output of a command on the client."""
    done = subprocess.run(
        [*record.enter, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def target() -> Iterator[Path]:
    """A folder that all nodes see."""
    with tempfile.TemporaryDirectory(prefix="strider-") as folder:
        yield Path(folder)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory that all nodes see: a sync takes no time there."""
    with tempfile.TemporaryDirectory(prefix="strider-", dir="/dev/shm") as folder:
        yield Path(folder)


def events_of_run(record: Record, folder: Path, suite: str, *options: object) -> list[Json]:
    file, store = folder / "suite.toml", folder / "store"
    file.write_text(suite)
    call(record, *strider_command("run", file, "--store", store, "--quiet", *options))
    (events,) = store.glob("*/events.jsonl")
    return read_events(events)


def measured(events: list[Json]) -> list[Json]:
    return [event for event in events if event["event"] == "sample" and event["measured"]]


def test_each_node_is_a_host_that_the_others_reach_by_name(nodes: Record) -> None:
    script = f"for node in {' '.join(NAMES)}; do ssh n4 ssh $node hostname; done"
    assert call(nodes, "sh", "-c", script).split() == NAMES
    assert call(nodes, "hostname").split() == ["client"]


def test_a_node_has_a_disk_of_its_own_and_shares_the_other_file_systems(nodes: Record, target: Path) -> None:
    disk = Path(nodes.endpoints[0].native["disk"])
    call(nodes, "ssh", "n2", f"touch {disk}/private {target}/shared")
    assert call(nodes, "ssh", "n2", f"ls {disk}").split() == ["private"]
    assert call(nodes, "ssh", "n3", f"ls {disk}").split() == []
    assert [path.name for path in target.iterdir()] == ["shared"]
    assert list(disk.iterdir()) == []


def test_ranks_of_mpich_are_on_the_nodes(nodes: Record, target: Path, engine: Engine) -> None:
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("needs an engine with MPICH")
    data = target / "data"
    data.mkdir()
    suite = (
        f'[suite]\nname = "small"\ntarget = "{data}"\nrepetitions = 1\n[[case]]\ninterface = "posix"\n'
        'pattern = "strided"\ntransfer = "4KiB"\ncount = 8\nclients = 4\noperations = ["write", "read"]\n'
        'readback = "shift"\nverify = "full"\n'
    )
    launcher = f"mpiexec -hosts {','.join(NAMES)} -n {{ranks}}"
    events = events_of_run(nodes, target, suite, "--launcher", launcher)
    (run,) = [event for event in events if event["event"] == "run"]
    assert [(node["name"], node["ranks"]) for node in run["nodes"]] == [(name, 1) for name in NAMES]
    assert len(measured(events)) == 2
    assert list(data.iterdir()) == []


def test_processes_of_open_mpi_are_on_the_nodes(nodes: Record) -> None:
    mpi = openmpi()
    words = [mpi.launcher, "--host", ",".join(f"{name}:1" for name in NAMES), "-n", "4", "hostname"]
    as_root = {name: value for name, value in mpi.environment.items() if name.startswith("OMPI_ALLOW")}
    assert sorted(call(nodes, *words, **as_root).split()) == NAMES


def received_bytes(record: Record, node: str) -> int:
    """Bytes that a node has received through its link."""
    lines = call(record, "ssh", node, "cat /proc/net/dev").splitlines()
    (counters,) = [line.split(":")[1] for line in lines if line.strip().startswith("eth0:")]
    return int(counters.split()[0])


def test_messages_pass_the_links_if_ucx_may_use_tcp_only(nodes: Record, target: Path) -> None:
    mpi = mpich()
    program = mpi.compile("messages.c", target)
    before = [received_bytes(nodes, name) for name in NAMES]
    words = [*nodes.enter, "env", "UCX_TLS=self,tcp", "timeout", str(LIMIT_S), mpi.launcher]
    words += ["-hosts", ",".join(NAMES), "-n", str(len(NAMES)), str(program)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()  # MPI_Finalize may not return
    assert line == "received\n"
    received = [received_bytes(nodes, name) - old for name, old in zip(NAMES, before, strict=True)]
    assert sum(each > 4 << 20 for each in received) == len(NAMES) - 1, received


def test_striping_is_linear_until_the_link_of_the_client_is_full_and_the_knee_is_named(
    nodes: Record, target: Path, memory: Path
) -> None:
    volume = memory / "volume"
    serve = strider_command("listio", "serve", volume, "--hosts", ",".join(NAMES))
    suite = (
        f'[suite]\nname = "striping"\ntarget = "{volume}"\nrepetitions = 3\noperations = ["write"]\n'
        'deadline = "1.1s"\n[[case]]\ninterface = "listio"\npattern = "segmented"\n'
        'transfer = "1MiB"\nblock = "64MiB"\nclients = 1\nlistio.servers = [1, 2, 4]\n'
    )
    call(nodes, *serve)
    try:
        events = events_of_run(nodes, target, suite)
    finally:
        call(nodes, *strider_command("listio", "stop", volume))
    samples = sorted(measured(events), key=lambda event: event["case"])
    own = [
        [event["bytes"] / event["elapsed_s"] for event in samples if event["case"] == case]
        for case in (1, 2, 3)
    ]
    rates = [statistics.median(of_case) for of_case in own]
    said = " ".join(call(nodes, *strider_command("show", "--store", target / "store")).split())
    # Three repetitions on a busy machine may leave 2 servers open.
    assert re.search(r"through listio \(segmented\): the knee is between [12] and 4 servers; of linear", said)
    # TCP and Ethernet need 5 % of a link.
    assert rates[0] == pytest.approx(0.95 * EACH_MBIT_S * 1e6 / 8, rel=0.1)
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.1)
    assert rates[2] == pytest.approx(rates[0] * CLIENT_MBIT_S / EACH_MBIT_S, rel=0.1)


def assert_nothing_is_left(folder: Path, networks: set[str]) -> None:
    assert networks
    assert list(in_networks(networks)) == []
    assert mounts.below(folder) == []
    assert not folder.exists()


def test_taking_it_down_ends_all_processes_on_the_nodes(tmp_path: Path) -> None:
    """Also after the death of a server, and processes that do not show whose they are."""
    with running("nodes", options=["nodes=1"]) as own:
        folder = Path(own.endpoints[0].native["enter"]).parent
        networks = mounts.namespaces(own.namespaces)
        call(own, "ssh", "n1", "setsid env -i sleep 1000 >/dev/null 2>&1 </dev/null & sleep 0.1")
        (sleeper,) = [each for each in in_networks(networks) if each.name == "sleep"]
        assert sleeper not in own.processes
        (server,) = [each for each in own.processes if each.name == "sshd-n1"]
        kill(server.pid, signal.SIGKILL)
    assert_nothing_is_left(folder, networks)


def test_nodes_start_in_a_container_that_another_processor_has_made() -> None:
    """Linux 6.18 numbers namespaces for each processor, and pins none in a namespace that looks younger."""
    system_or_skip("nodes")
    processors = sorted(os.sched_getaffinity(0))
    made_by_the_last = [
        "taskset",
        "--cpu-list",
        str(processors[-1]),
        "unshare",
        "--mount",
        "--propagation",
        "slave",
    ]
    on_all = ["taskset", "--cpu-list", ",".join(map(str, processors)), "sh", "-ec"]
    with tempfile.TemporaryDirectory(prefix="strider-") as parent:
        Path(parent).chmod(0o755)
        lab = [shlex.join(strider_command("lab", verb, "nodes", "--at", parent)) for verb in ("up", "down")]
        done = subprocess.run(
            [*made_by_the_last, *on_all, "; ".join(lab)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_start_that_was_killed_can_be_taken_down() -> None:
    system_or_skip("nodes")
    with tempfile.TemporaryDirectory(prefix="strider-") as parent:
        Path(parent).chmod(0o755)
        folder = Path(parent, "nodes")
        words = strider_command("lab", "up", "nodes", "--at", parent)
        starting = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def networks() -> set[str]:
            record = read(folder)
            found = mounts.namespaces(record.namespaces) if record else set()
            return found if len(found) > 2 else set()

        try:
            found = wait_for(networks, "three network namespaces")
        finally:
            starting.kill()
            starting.wait()
            down(folder, print)
        assert_nothing_is_left(folder, found)

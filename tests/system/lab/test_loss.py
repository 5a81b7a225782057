"""A rank or a node that is lost in the middle of a run is named."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import kill, read_events, strider_command, wait_for
from labs import running
from strider.engine import Engine
from strider.lab import Record, mounts
from strider.lab.processes import in_networks
from strider.launch import losses
from strider.processes import Process, identify, read_each

LIMIT_S = 100
"""The default stall_timeout is longer: nothing but the named loss can end the run within it."""
PAUSE_S = losses.SILENCE_S + losses.PAUSE_S
"""A rank that stands still as long has its node asked at least once."""
SUITE = """\
[suite]
name = "long"
target = "{target}"
repetitions = 100000
[[case]]
interface = "posix"
pattern = "strided"
transfer = "4KiB"
count = 8
clients = 4
operations = ["write"]
"""


class LongRun:
    """A run of four ranks that is active until the test ends it."""

    def __init__(self, folder: Path, around: Sequence[str], *options: str, **environment: str) -> None:
        self.store = folder / "store"
        data, file = folder / "data", folder / "suite.toml"
        data.mkdir()
        file.write_text(SUITE.format(target=data))
        words = strider_command("run", file, "--store", self.store, "--quiet", "--ceilings", "none")
        self.process = subprocess.Popen(
            [*around, *words, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        )

    def samples(self) -> int:
        found = list(self.store.glob("*/events.jsonl"))
        return sum(event["event"] == "sample" for event in read_events(found[0])) if found else 0

    def wait_until_it_measures(self) -> None:
        more = self.samples() + 1
        wait_for(lambda: self.samples() >= more, "a sample", LIMIT_S)

    def output(self) -> str:
        return self.process.communicate(timeout=LIMIT_S)[0]


@contextmanager
def running_long(around: Sequence[str], *options: str, **environment: str) -> Iterator[LongRun]:
    with tempfile.TemporaryDirectory(prefix="strider-", ignore_cleanup_errors=True) as folder:
        run = LongRun(Path(folder), around, *options, **environment)
        try:
            run.wait_until_it_measures()
            yield run
        finally:
            run.process.kill()
            run.process.communicate()


class Hosts:
    """The hosts n1 to n4."""

    def __init__(self, record: Record) -> None:
        self.pins = {Path(pin).parent.name: pin for pin in record.namespaces}

    def processes(self, node: str) -> list[Process]:
        """All processes on a node, without its ssh server."""
        found = in_networks(mounts.namespaces([self.pins[node]]))
        return [each for each in found if b"-D" not in Path(f"/proc/{each.pid}/cmdline").read_bytes()]

    def set_link(self, node: str, state: str) -> None:
        words = ["nsenter", f"--net={self.pins[node]}", "ip", "link", "set", "eth0", state]
        subprocess.run(words, check=True)


@pytest.fixture
def hosts(nodes: Record) -> Hosts:
    return Hosts(nodes)


@pytest.fixture
def long_run(nodes: Record, engine: Engine) -> Iterator[LongRun]:
    """On n1 to n4, a rank on each."""
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("needs an engine with MPICH")
    with running_long(nodes.enter, "--hosts", "n1,n2,n3,n4") as run:
        yield run


@pytest.mark.parametrize(
    ("number", "says"),
    [(signal.SIGKILL, "was killed (signal 9)"), (signal.SIGSEGV, "crashed (signal 11, SIGSEGV)")],
)
def test_a_lost_rank_is_named_with_node_and_signal(
    long_run: LongRun, hosts: Hosts, number: signal.Signals, says: str
) -> None:
    (rank,) = [each for each in hosts.processes("n3") if each.name == "strider-engine"]
    kill(rank.pid, number)
    output = long_run.output()
    assert f"rank 2 on n3 (process {rank.pid}) {says} in case 1" in output
    assert ". The other 3 ranks could not continue without it; results up to this point are kept" in output


def test_a_node_whose_processes_all_end_is_named(long_run: LongRun, hosts: Hosts) -> None:
    processes = hosts.processes("n3")
    for process in sorted(processes, key=lambda each: not each.name.startswith("sshd")):
        kill(process.pid, signal.SIGKILL)
        time.sleep(0.5)  # for the message of ssh: mpiexec ends it when the daemon there has ended
    assert "node n3 (rank 2) was lost in case 1" in long_run.output()


def test_a_node_whose_link_is_cut_is_named(long_run: LongRun, hosts: Hosts) -> None:
    hosts.set_link("n3", "down")
    try:
        assert "node n3 (rank 2) was lost in case 1" in long_run.output()
    finally:
        hosts.set_link("n3", "up")


def test_the_own_link_is_named_when_all_hosts_are_lost_at_once(long_run: LongRun, hosts: Hosts) -> None:
    hosts.set_link("client", "down")
    try:
        said = long_run.output()
    finally:
        hosts.set_link("client", "up")
    assert re.search(r"this host lost its connection to (n\d \(rank \d\)(, | and )?){4} in case 1", said)
    assert "ranks may still run on n" in said
    assert not re.search(r"node n\d .*was lost", said)


# --- Slurm: its nodes are processes of this machine ---


def tasks_of(node: str, cluster: Path) -> list[int]:
    """The ranks on a node of a Slurm cluster."""
    wanted = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={cluster}".encode()}
    return [
        process.pid
        for process in _named("strider-engine")
        if wanted <= set(Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"))
    ]


def _named(name: str) -> Iterator[Process]:
    for pid, found in read_each(lambda folder: (folder / "comm").read_text(encoding="utf-8").strip()):
        if found == name and (process := identify(pid, name)):
            yield process


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def test_a_node_of_slurm_that_is_killed_is_named_and_one_that_only_pauses_is_not(engine: Engine) -> None:
    """Its daemon, the step's daemon and the rank all end; `srun` says nothing of that."""
    with running("slurm") as record:
        settings = Path(record.endpoints[0].native["SLURM_CONF"])
        around = ("salloc", "--quiet", "--nodes=4", "--ntasks-per-node=1")
        with running_long(around, "--launcher", "srun", SLURM_CONF=str(settings)) as run:
            (slow,) = tasks_of("n2", settings)
            os.kill(slow, signal.SIGSTOP)  # as in a write that takes long
            time.sleep(PAUSE_S)
            assert run.process.poll() is None
            os.kill(slow, signal.SIGCONT)
            run.wait_until_it_measures()
            (task,) = tasks_of("n3", settings)
            (daemon,) = [each.pid for each in record.processes if each.name == "n3"]
            for pid in (daemon, parent_of(task), task):
                kill(pid, signal.SIGKILL)
            output = run.output()
        others = {node: tasks_of(node, settings) for node in ("n1", "n2", "n4")}
    assert "node n3 does not answer srun in case 1" in output
    assert "and the other nodes do" in output
    assert ". The other ranks waited for it; results up to this point are kept" in output
    assert others == {"n1": [], "n2": [], "n4": []}

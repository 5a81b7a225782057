"""A rank or a node that is lost in the middle of a run is named."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import kill, read_events, strider_command, wait_for
from strider.engine import Engine
from strider.lab import Record, mounts
from strider.lab.processes import in_networks
from strider.processes import Process

LIMIT_S = 100
"""The default stall_timeout is longer: nothing but the named loss can end the run within it."""
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
    """A run on n1 to n4, one rank each, that goes on until something ends it."""

    def __init__(self, record: Record, folder: Path) -> None:
        self._pins = {Path(pin).parent.name: pin for pin in record.namespaces}
        self._store = folder / "store"
        data, file = folder / "data", folder / "suite.toml"
        data.mkdir()
        file.write_text(SUITE.format(target=data))
        launcher = "mpiexec -hosts n1,n2,n3,n4 -n {ranks}"
        words = strider_command("run", file, "--store", self._store, "--quiet", "--launcher", launcher)
        self.process = subprocess.Popen(
            [*record.enter, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_until_it_measures(self) -> None:
        def measures() -> bool:
            found = list(self._store.glob("*/events.jsonl"))
            return bool(found) and any(event["event"] == "sample" for event in read_events(found[0]))

        wait_for(measures, "a sample", LIMIT_S)

    def processes(self, node: str) -> list[Process]:
        """All processes on a node, without its ssh server."""
        found = in_networks(mounts.namespaces([self._pins[node]]))
        return [each for each in found if b"-D" not in Path(f"/proc/{each.pid}/cmdline").read_bytes()]

    def output(self) -> str:
        return self.process.communicate(timeout=LIMIT_S)[0]


@pytest.fixture
def long_run(nodes: Record, engine: Engine) -> Iterator[LongRun]:
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("needs an engine with MPICH")
    with tempfile.TemporaryDirectory(prefix="strider-", ignore_cleanup_errors=True) as folder:
        run = LongRun(nodes, Path(folder))
        try:
            run.wait_until_it_measures()
            yield run
        finally:
            run.process.kill()
            run.process.communicate()


@pytest.mark.parametrize(
    ("number", "says"),
    [(signal.SIGKILL, "was killed (signal 9)"), (signal.SIGSEGV, "crashed (signal 11, SIGSEGV)")],
)
def test_a_lost_rank_is_named_with_node_and_signal(
    long_run: LongRun, number: signal.Signals, says: str
) -> None:
    (rank,) = [each for each in long_run.processes("n3") if each.name == "strider-engine"]
    kill(rank.pid, number)
    assert f"a rank on n3 (process {rank.pid}) {says} in case 1" in long_run.output()


def test_a_node_whose_processes_all_end_is_named(long_run: LongRun) -> None:
    for process in long_run.processes("n3"):
        kill(process.pid, signal.SIGKILL)
    assert "node n3 was lost in case 1" in long_run.output()

"""`strider run --observe`: counters of other machines over ssh, with a real server on loopback."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, command_of, descendants, strider_command, wait_for
from sshd import Sshd, serve
from strider.engine import Engine
from test_observe import SUITE, lines_of


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server of this user's."""
    with serve(tmp_path_factory.mktemp("sshd")) as server:
        yield server


class Observed:
    """Runs of a small suite with an observed machine."""

    def __init__(self, engine: Engine, server: Sshd, work: Path) -> None:
        self.store, self.target, self.suite = work / "store", work / "target", work / "suite.toml"
        self.target.mkdir()
        self.suite.write_text(SUITE)
        self.environment = {
            "STRIDER_ENGINE": str(engine.path),
            "PATH": f"{server.path}:{os.environ['PATH']}",
            "COLUMNS": "180",
        }
        self.engine = engine

    def command(self, host: str, *words: object, program: str = "") -> list[str]:
        options = ["--target", self.target, "--store", self.store, "--quiet", "--ceilings", "none"]
        observe = ["--observe", host, "--observe-engine", program or self.engine.path]
        return strider_command("run", self.suite, *options, *observe, *words)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE_S, env=self.environment, check=False
        )

    def lines(self) -> list[Json]:
        """Of the one file of the one run."""
        (file,) = self.store.glob("*/observed-*.jsonl")
        return lines_of(file)


@pytest.fixture
def observed(engine: Engine, sshd: Sshd, tmp_path: Path) -> Observed:
    """A suite, and the requirements of observing."""
    return Observed(engine, sshd, tmp_path)


# proves measuring: observe, observed-files
def test_a_machine_is_observed_from_before_the_run_to_its_end(observed: Observed, sshd: Sshd) -> None:
    # More than two intervals of observing, however fast the machine is.
    done = observed.run(
        [*observed.command(sshd.host), "--set", "case.deadline=1500ms", "--set", "case.block=4GiB"]
    )
    assert done.returncode == 0, done.stderr
    assert "observing" not in done.stderr
    head, *readings = observed.lines()
    assert head["format"] == "strider-observed"
    assert len(readings) >= 2
    assert [entry.name for entry in observed.store.iterdir() if entry.name.startswith(".")] == []
    show = observed.run(strider_command("show", "latest", "--counters", "--store", observed.store))
    assert f"Counters of {head['host']} during each operation" in show.stdout


def test_it_ends_with_an_interrupted_run(observed: Observed, sshd: Sshd) -> None:
    command = [*observed.command(sshd.host), "--set", "case.deadline=60s", "--set", "case.block=4GiB"]
    with subprocess.Popen(command, env=observed.environment, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: list(observed.store.glob("*/events.jsonl")), "the run")
        wait_for(lambda: len(observed.lines()) >= 3, "readings")
        (ssh,) = [pid for pid in descendants(process.pid) if is_ssh(pid)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE_S)
    assert not command_of(ssh)
    assert len(observed.lines()) >= 3


def test_a_killed_strider_leaves_no_observer(observed: Observed, sshd: Sshd) -> None:
    command = [*observed.command(sshd.host), "--set", "case.deadline=60s", "--set", "case.block=4GiB"]
    with subprocess.Popen(command, env=observed.environment) as process:
        (ssh,) = wait_for(lambda: [pid for pid in descendants(process.pid) if is_ssh(pid)], "the observer")
        process.kill()
        process.wait(timeout=DEADLINE_S)
    wait_for(lambda: not command_of(ssh), "the end of the observer")


@pytest.mark.parametrize(
    ("host", "program", "message"),
    [
        ("127.0.0.1:1", "", "Connection refused"),
        ("", "/nonexistent/strider-engine", "/nonexistent/strider-engine"),
        ("", "/bin/true", "ssh exited with status 0"),
    ],
)
# proves measuring: observe-unreachable
def test_what_cannot_be_observed_ends_before_the_run(
    observed: Observed, sshd: Sshd, host: str, program: str, message: str
) -> None:
    done = observed.run(observed.command(host or sshd.host, program=program))
    assert done.returncode == 3
    assert "observing" not in done.stderr
    (error,) = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert error.startswith(f"strider: cannot observe {host or sshd.host}: ")
    assert message in error
    assert list(observed.target.iterdir()) == []
    assert list(observed.store.iterdir()) == []


@pytest.mark.parametrize("host", ["-oProxyCommand=touch x", "a b", "$(x)", "host:", "", "a,a", "h;ls"])
def test_what_is_no_host_is_refused(observed: Observed, host: str) -> None:
    done = observed.run(observed.command(f"{host}"))
    assert done.returncode == 2
    assert "--observe: " in done.stderr


# proves measuring: observe-unreachable
def test_one_that_is_lost_ends_no_run(observed: Observed, sshd: Sshd) -> None:
    # Long enough for a machine that stalls to see it begin and end its observer.
    long = ["case.deadline=5s", "case.block=4GiB", "case.operations=write"]
    command = [*observed.command(sshd.host), *(word for setting in long for word in ("--set", setting))]
    with subprocess.Popen(command, env=observed.environment, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: list(observed.store.glob("*/events.jsonl")), "the run")
        for pid in [pid for pid in descendants(process.pid) if is_ssh(pid)]:
            os.kill(pid, signal.SIGKILL)
        _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, said
    assert f"observer on {sshd.host} exited before the end of the run" in said


def is_ssh(pid: int) -> bool:
    """Whether a process is an ssh."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "ssh"
    except OSError:
        return False

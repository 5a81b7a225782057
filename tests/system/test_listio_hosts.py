"""Servers of a volume on other hosts, started and stopped over ssh: with a real server of it on loopback."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, case, plan, run_engine, strider_command, wait_for
from labs import Native
from sshd import Sshd
from sshd import serve as serve_ssh
from strider.engine import Engine
from strider.listio import VOLUME_FILE
from strider.listio.hosts import HOSTS_FILE
from strider.listio.tool import SERVER
from strider.processes import command_lines

PIECES: Json = {"pattern": "vector", "pattern_pieces": 64, "pattern_piece": 1000, "pattern_count": 4}


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server of this user's."""
    with serve_ssh(tmp_path_factory.mktemp("sshd")) as server:
        yield server


class Hosts:
    """This machine under two names, and a volume's directory."""

    def __init__(self, engine: Engine, server: Sshd, directory: Path) -> None:
        port = server.host.rpartition(":")[2]
        self.names = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.directory = directory
        path = f"{server.path}:{os.environ['PATH']}"
        self.environment = {**os.environ, "STRIDER_ENGINE": str(engine.path), "PATH": path}

    def strider(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            strider_command("listio", *words),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            env=self.environment,
            check=False,
        )

    def serve(self, *words: object, hosts: str = "") -> subprocess.CompletedProcess[str]:
        return self.strider("serve", self.directory, "--hosts", hosts or ",".join(self.names), *words)

    def status(self) -> list[Json]:
        servers: list[Json] = json.loads(self.strider("status", self.directory, "--json").stdout)["servers"]
        return servers

    def processes(self) -> list[list[str]]:
        """The command lines of servers of this volume, and of the ssh that leads to them."""
        return [
            words
            for _, words in command_lines()
            if any(str(self.directory) in word for word in words) and any(SERVER in word for word in words)
        ]

    def see_none(self) -> None:
        """Waits until none is left, nor the shell a host ran it in: that may outlast an ssh that ended."""
        wait_for(lambda: not self.processes(), "the end of all servers")


@pytest.fixture
def hosts(engine: Engine, sshd: Sshd, tmp_path: Path) -> Iterator[Hosts]:
    """Two hosts; at the end nothing serves on them."""
    Native("listio").require(engine)
    found = Hosts(engine, sshd, tmp_path / "volume")
    yield found
    if (found.directory / VOLUME_FILE).exists():
        found.strider("stop", found.directory)
    found.see_none()


# proves listio: listen, serve-by-ssh, host-names, background-server, free-port, ipv4-first, tcp-between-hosts
# proves listio: secret-on-stdin, stop-by-ssh, unreachable-host, hosts-until-stopped
def test_servers_on_two_hosts_serve_and_are_stopped(engine: Engine, hosts: Hosts, tmp_path: Path) -> None:
    done = hosts.serve("--servers", 3, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (len(report["servers"]), report["transport"]) == (3, "tcp")
    secret = json.loads((hosts.directory / VOLUME_FILE).read_text())["secret"]
    running = hosts.processes()
    assert len(running) == 3, "no ssh has to stay"
    assert not any(secret in word for words in running for word in words)
    assert [server["answers"] for server in hosts.status()] == [True] * 3

    native = Native("listio", {"volume": str(hosts.directory / VOLUME_FILE)}, [], tmp_path)
    measured = run_engine(engine, plan([case(**PIECES, **native.keys(), verify="full", clients=2)]), tmp_path)
    assert measured.returncode == 0, f"{measured.stderr}\n{measured.of('error')}"
    assert sum(server["written_bytes"] > 0 for server in hosts.status()) == 3
    assert hosts.strider("check", hosts.directory).returncode == 0

    again = hosts.serve()
    assert (again.returncode, "strider listio stop" in again.stderr) == (3, True)
    stopped = hosts.strider("stop", hosts.directory, "--json")
    assert json.loads(stopped.stdout)["stopped"] == 3
    assert hosts.processes() == []
    assert not (hosts.directory / HOSTS_FILE).exists()
    assert hosts.strider("status", hosts.directory).returncode == 3


# proves listio: dir-per-host, server-folder, restart-finds-files, other-hosts-rejected
def test_what_they_keep_is_found_again_and_only_there(hosts: Hosts) -> None:
    assert hosts.serve().returncode == 0
    assert hosts.strider("stop", hosts.directory).returncode == 0
    kept = hosts.directory / "server-1"
    kept.rename(hosts.directory / "elsewhere")
    moved = hosts.serve()
    assert moved.returncode == 3
    assert "server 1" in moved.stderr
    assert "no data of this server found" in moved.stderr
    hosts.see_none()
    (hosts.directory / "elsewhere").rename(kept)
    assert hosts.serve().returncode == 0


# proves listio: all-or-none
def test_one_host_that_fails_leaves_none_on_the_others(hosts: Hosts) -> None:
    hosts.directory.mkdir()
    (hosts.directory / "server-1").write_text("in the way")
    done = hosts.serve()
    assert done.returncode == 3
    assert f"cannot start server 1 of {hosts.directory} on {hosts.names[1]}: " in done.stderr
    hosts.see_none()
    assert not (hosts.directory / HOSTS_FILE).exists()
    assert not (hosts.directory / VOLUME_FILE).exists()


# proves listio: stop-by-ssh, unreachable-host, died-counts-stopped
def test_a_killed_server_is_named_and_the_rest_stopped(hosts: Hosts) -> None:
    assert hosts.serve().returncode == 0
    killed = (hosts.directory / "server-1" / "process").read_text().split()[0]
    os.kill(int(killed), signal.SIGKILL)
    wait_for(lambda: len(hosts.processes()) == 1, "the end of one")
    wait_for(lambda: not Path(f"/proc/{killed}").exists(), "its parent to see it")
    assert [server["answers"] for server in hosts.status()] == [True, False]
    stopped = hosts.strider("stop", hosts.directory, "--json")
    assert json.loads(stopped.stdout)["stopped"] == 1


def test_a_host_that_is_not_reached_is_one_error(hosts: Hosts) -> None:
    done = hosts.serve(hosts=f"{hosts.names[0]},localhost:1")
    assert done.returncode == 3
    assert "on localhost:1: " in done.stderr
    assert "Connection refused: check that ssh works without a password" in done.stderr
    hosts.see_none()


@pytest.mark.parametrize(
    ("program", "said"),
    [("/nonexistent/server", "/nonexistent/server"), ("/bin/true", "exited with status 0")],
)
# proves listio: program-path
def test_a_host_without_the_program_is_one_error(hosts: Hosts, program: str, said: str) -> None:
    done = hosts.serve("--ssh-server", program)
    assert done.returncode == 3
    assert said in done.stderr
    assert "check that --ssh-server is the path of strider-listio-server there" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    hosts.see_none()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hosts", "-oProxyCommand=touch x"], "is not a host"),
        (["--hosts", "a;b"], "is not a host"),
        (["--hosts", "a,a"], "named twice"),
        (["--hosts", "a", "--ssh-server", "-x"], "is not the path of a program"),
        (["--hosts", "a", "--listen", "b"], "remove --listen"),
        (["--ssh-server", "/bin/true"], "--ssh-server needs --hosts"),
        (["--hosts", "127.0.0.1", "--transport", "cma"], "use tcp or ofi"),
        (["--hosts", "127.0.0.1,localhost", "--servers", "1"], "name at most one host per server"),
        (["--hosts", "nowhere.invalid"], "cannot resolve nowhere.invalid"),
        (["--hosts", "127.0.0.1,192.0.2.1"], "which other hosts cannot reach"),
    ],
)
# proves listio: loopback-rejected, cma-one-host
def test_mistakes_are_named_before_anything_starts(hosts: Hosts, words: list[str], said: str) -> None:
    done = hosts.strider("serve", hosts.directory, *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (hosts.directory / HOSTS_FILE).exists()

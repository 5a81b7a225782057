"""Hosts by ssh before a run: each answers, or is named with the reason."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sshd
from strider.engine import Engine
from strider.errors import StriderError
from strider.launch import nodes
from strider.launch.launchers import choose, places_of
from strider.launch.nodes import Room, require_nodes

GOOD, FAULTY = "127.0.0.2", "127.0.0.3"
AMPLE = Room(2, 1 << 20, 1 << 20)

Ask = Callable[..., list[str]]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="machine: a mount namespace needs root")


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[sshd.Sshd]:
    """A server; all hosts of these tests are on it."""
    folder = tmp_path / "ssh"
    folder.mkdir()
    with sshd.serve(folder) as server:
        yield server


@pytest.fixture
def ask(ssh: sshd.Sshd, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks both hosts; on the faulty one, a command changes its view, in a mount namespace of its own."""
    target = tmp_path / "mount" / "target"
    (target / "strider-run").mkdir(parents=True)
    (target / "strider-run" / ".strider").touch()
    program = tmp_path / "engine" / "strider-engine"
    program.parent.mkdir()
    shutil.copy(engine.path, program)
    own = Engine(program)

    def ask(fault: str = ":", second: str = FAULTY, room: Room = AMPLE) -> list[str]:
        agent = tmp_path / "agent"
        port = ssh.host.rpartition(":")[2]
        client = ssh.path / "ssh"
        agent.write_text(
            '#!/bin/sh\n[ "$1" != -x ] || shift\nhost=$1; shift\n'
            f'fault=; [ "$host" != {FAULTY} ] || fault="{fault} &&"\n'
            f"case $host in 127.*) exec {client} -p {port} 127.0.0.1 "
            "unshare -m --propagation slave sh -c \"'$fault $*'\";; "
            f'*) exec {client} "$host" "$@";; esac\n'
        )
        agent.chmod(0o755)
        monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", str(agent))
        launcher = choose("mpiexec", engine.version.mpi, places_of(f"{GOOD},{second}"))
        messages: list[str] = []
        require_nodes(launcher, own, target, target / "strider-run", room, messages.append)
        return messages

    return ask


def test_hosts_that_have_all_are_silent(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 60.0)
    assert [line for line in ask() if "known hosts" not in line] == []


def altered(tmp_path: Path, changes: str) -> str:
    """A fault: the engine of a host gives another answer, made of `said` and some changes."""
    program, original = tmp_path / "altered", tmp_path / "engine" / "strider-engine"
    shutil.copy(original, tmp_path / "original")
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, subprocess, sys\n"
        f"said = json.loads(subprocess.check_output([{str(tmp_path / 'original')!r}, *sys.argv[1:]]))\n"
        f"print(json.dumps({{**said, {changes}}}))\n"
    )
    program.chmod(0o755)
    return f"mount --bind {program} {original}"


def test_a_clock_that_is_5_s_off_is_noted(ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No time namespace shifts the time of day."""
    monkeypatch.setattr(nodes, "DEADLINE_S", 60.0)
    messages = ask(altered(tmp_path, "'time_ns': said['time_ns'] + 5 * 10**9"))
    assert any(re.match(rf"the clock of host {FAULTY} is \+\d\.\d s off", line) for line in messages)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ("'engine': '0.0.1'", r"has another engine: 0\.0\.1 \([0-9a-f]+\) there"),
        ("'build': 'abc'", r"has another engine: \S+ \(abc\) there"),
        ("'memory_available_bytes': 1 << 19", "has 512 KiB of memory available, and its ranks need 1 MiB"),
    ],
    ids=["version", "build", "memory"],
)
def test_a_host_with_another_engine_or_too_little_memory_is_named(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: str, reason: str
) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 60.0)
    with pytest.raises(StriderError, match=f"^host {FAULTY} {reason}") as caught:
        ask(altered(tmp_path, changes))
    assert GOOD not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("mount -t tmpfs none {above}/mount/target", "target is another file system than on this host"),
        ("mount -t tmpfs none {above}/engine", "does not start .*strider-engine"),
        ("mount -t tmpfs none {above}/mount", "target is missing"),
        ("mount -t tmpfs -o size=64k none {above}/mount/target", "64 KiB free, and a case needs 1 MiB"),
    ],
)
def test_a_host_that_lacks_something_is_named_with_the_reason(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 60.0)
    monkeypatch.setattr(nodes, "ALONE_S", 30.0)
    with pytest.raises(StriderError, match=f"host {FAULTY}.*{reason}"):
        ask(fault.format(above=tmp_path))


def test_a_wrong_host_is_named_in_the_words_of_ssh(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 3.0)
    monkeypatch.setattr(nodes, "ALONE_S", 3.0)
    with pytest.raises(StriderError, match=r"host nosuch\.invalid does not answer \(mpiexec: .*resolve"):
        ask(second="nosuch.invalid")

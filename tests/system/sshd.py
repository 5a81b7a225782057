"""A server of secure shell on loopback, of the user of the tests, with keys of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import wait_for
from strider.lab.site import free_ports

_SERVER = "/usr/sbin/sshd"
_PRIVILEGE_SEPARATION = Path("/run/sshd")
"""Where root's sshd locks its children up. Empty, and left as the system's service leaves it: other servers
may use it at the same time."""


@dataclass(frozen=True)
class Sshd:
    """A server that runs.

    Attributes:
        host: How `--observe` names it.
        path: A folder with an `ssh` that knows its keys, to go before the others in PATH.
        config: Its files.
    """

    host: str
    path: Path
    config: Path


@contextmanager
def serve(folder: Path) -> Iterator[Sshd]:
    """Starts a server, and ends it."""
    if not shutil.which(_SERVER):
        pytest.skip("needs sshd (Debian package openssh-server)")
    for key in ("host_key", "user_key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(command, check=True, timeout=30)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    if os.geteuid() == 0:
        _PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    server, port = _start(folder)
    try:
        yield Sshd(f"127.0.0.1:{port}", _client(folder), folder)
    finally:
        server.kill()
        server.wait()


def _start(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A server that listens, and its port."""
    for port in free_ports(5):
        server = _start_at(folder, port)
        if server.poll() is None:
            return server, port
    raise AssertionError(f"sshd does not start: {(folder / 'log').read_text()}")


def _start_at(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """A server that listens at a port, or has ended."""
    config, log = folder / "sshd_config", folder / "log"
    config.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\n"
        "StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n"
    )
    with log.open("w") as sink:
        server = subprocess.Popen(
            [_SERVER, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=sink
        )
    try:
        wait_for(lambda: server.poll() is not None or "Server listening" in log.read_text(), "sshd")
    except BaseException:
        server.kill()
        server.wait()
        raise
    return server


def _client(folder: Path) -> Path:
    """An ssh that looks at no configuration of the user's."""
    config = folder / "ssh_config"
    config.write_text(
        f"IdentityFile {folder}/user_key\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known_hosts\n"
        "StrictHostKeyChecking accept-new\n"
    )
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n')
    program.chmod(0o755)
    return programs

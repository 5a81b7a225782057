"""Waits for others have a deadline: for ranks that do not come, and for a name service that is silent."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import EngineJob, Json, after_samples, case, kill, plan, run_with_pauses
from strider.engine import Engine

SILENT = """
import os, socket, subprocess, sys
held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
held.bind(("127.0.0.1", 53))
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
"""A name service that takes questions and never answers, as long as a command runs."""
LOOK_UP = """
from strider.listio import hosts
hosts._QUESTION_LIMIT_S = 1.0
hosts._look_up("server.example")
"""
MOUNT = 'set -e; ip link set lo up; mount --bind "$1" /etc/resolv.conf; shift; exec "$@"'


def test_a_rank_that_does_not_come_to_a_case_is_named(engine: Engine, tmp_path: Path) -> None:
    """It stops while it is idle. The four ranks of the second case make a communicator without the fifth."""
    small: Json = {"pattern_transfer": 4096, "pattern_block": 4096}
    alone = case("segmented", **small, clients=1, settle=1.5, operations=["write", "rewrite"])
    cases = [alone, case("segmented", **small, clients=4, operations=["write"])]

    def stop(job: EngineJob) -> None:
        (stopped,) = [pid for pid in job.ranks() if rank_of(pid) == 3]
        kill(stopped, signal.SIGSTOP)

    document = plan(cases, ranks=5, stall_timeout_s=3.0)
    done = run_with_pauses(engine, document, tmp_path, after_samples(1, stop))
    (error,) = done.of("error")
    assert (error["kind"], error["rank"]) == ("stall", 0)
    assert error["message"].endswith("to begin a case together, and rank 3 did not come")
    assert "stall_timeout" in error["remedy"]
    assert done.of("end")[0]["status"] == "failed"
    assert done.returncode != 0


def rank_of(pid: int) -> int:
    """The number of a rank, from its launcher."""
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    names = (b"PMI_RANK=", b"PMIX_RANK=")
    return next(int(one.split(b"=")[1]) for one in environment if one.startswith(names))


def test_a_name_service_that_is_silent_is_named(engine: Engine, tmp_path: Path) -> None:
    """Its own time limits are longer here; an address in numbers does not ask it."""
    for tool in ("unshare", "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} (Debian packages util-linux and iproute2)")
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    apart = ["unshare", "--net", "--mount", "--propagation", "slave", *rights]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("machine: makes no namespaces")
    servers, secret = tmp_path / "resolv.conf", tmp_path / "secret"
    servers.write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    secret.write_text("0" * 64)
    silent = [*apart, "sh", "-c", MOUNT, "sh", str(servers), sys.executable, "-c", SILENT]

    def listen(address: str) -> "subprocess.CompletedProcess[str]":
        server = engine.path.with_name("strider-listio-server")
        words = ["--directory", tmp_path / "data", "--number", 0, "--servers", 1, "--secret-file", secret]
        return subprocess.run(
            [*silent, str(server), *map(str, words), "--listen", address, "--until", "input-ends"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    done = listen("server.example:0")
    assert done.returncode == 3
    assert "the name service did not answer for server.example in time" in done.stderr
    assert "check /etc/resolv.conf" in done.stderr
    assert "ready" in listen("127.0.0.1:0").stdout
    words = [*silent, sys.executable, "-c", LOOK_UP]
    looked_up = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "the name service did not answer for server.example within 1 s" in looked_up.stderr

"""Runs on a cluster from the page, tried with commands that stand in for those of Slurm."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import Server, long_suite, suite
from strider.engine import Engine

SBATCH = """\
#!/usr/bin/env python3
import os, shutil, subprocess, sys
shutil.copy(sys.argv[1], os.environ["FAKE"] + "/script")
no = subprocess.DEVNULL
job = subprocess.Popen(
    ["bash", sys.argv[1]], stdout=no, stderr=no, stdin=no, env={**os.environ, "SLURM_JOB_ID": "42"}
)
open(os.environ["FAKE"] + "/pid", "w").write(str(job.pid))
print("Submitted batch job 42")
"""
SQUEUE = """\
#!/bin/sh
echo JOBID ST REASON
kill -0 "$(cat "$FAKE/pid")" 2>/dev/null && echo 42 R None
exit 0
"""
SCANCEL = """\
#!/bin/sh
echo "$@" >>"$FAKE/scancel"
"""
SRUN = """\
#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
at = next(i for i, word in enumerate(words) if word.startswith("/"))
ranks = next(word for word in " ".join(words[:at]).replace("=", " ").split() if word.isdigit())
os.execvp(os.environ["FAKE_MPIEXEC"], ["mpiexec", "-n", ranks, *words[at:]])
"""


@pytest.fixture(scope="module")
def cluster(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a machine with a Slurm of one node."""
    folder = tmp_path_factory.mktemp("slurm")
    commands = folder / "bin"
    commands.mkdir()
    for name, text in {"sbatch": SBATCH, "squeue": SQUEUE, "scancel": SCANCEL, "srun": SRUN}.items():
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    path = f"{commands}:{os.environ['PATH']}"
    mpiexec = engine.version.mpi.mpiexec or shutil.which("mpiexec") or ""
    environment = {"PATH": path, "FAKE": str(folder), "FAKE_MPIEXEC": mpiexec}
    with Server(engine, folder / "allowed", folder / "store", environment) as started:
        started.enter()
        yield started


def submit(server: Server, text: str, **options: str) -> str:
    answer = server.ask("POST", "/api/jobs", {"text": text, "where": "slurm", "slurm": options})
    assert answer.status == 201, answer.text
    return str(answer.json()["job"])


def test_a_job_is_submitted_as_words_and_followed_to_its_run(cluster: Server) -> None:
    job = submit(cluster, suite(cluster.allowed), partition="debug", time="1:00:00")
    ended = cluster.job(job, "done")
    script = (cluster.store.parent / "script").read_text()
    for line in ("--job-name=", "--ntasks=2", "--partition=", "--time=1:0:0"):
        assert f"#SBATCH {line}" in script
    (command,) = (line for line in script.splitlines() if " strider run " in line)
    allowed = cluster.allowed.resolve()
    assert f" --confine auto --within {allowed} --launcher srun --store {cluster.store} --job " in command
    run = cluster.store / ended["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "complete", ended["output"]
    assert (run / "suite.toml").read_text() == suite(cluster.allowed)


def test_a_job_that_is_cancelled_leaves_nothing_behind(cluster: Server) -> None:
    job = submit(cluster, long_suite(cluster.allowed))
    cluster.started(job)
    cluster.ask("POST", f"/api/jobs/{job}/cancel", {})
    run = cluster.store / cluster.job(job, "done")["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"
    assert not (cluster.store.parent / "scancel").exists()  # the run ends by itself
    assert not list(cluster.allowed.iterdir())


def test_a_job_is_followed_and_cancelled_by_the_next_server(cluster: Server) -> None:
    job = submit(cluster, long_suite(cluster.allowed))
    run = cluster.started(job)
    with Server(cluster.engine, cluster.allowed, cluster.store, cluster.environment) as later:
        later.enter()
        assert later.job(job, "running")["run"] == run
        assert job in later.ask("GET", "/runs").text
        later.ask("POST", f"/api/jobs/{job}/cancel", {})
        assert later.job(job, "done")["run"] == run
    assert json.loads((cluster.store / run / "run.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize(
    "options",
    [
        {"partition": "x --wrap=id"},
        {"account": "$(id)"},
        {"time": "1;id"},
        {"nodes": "-1"},
        {"partition": "x\n"},
    ],
)
def test_an_option_that_is_none_is_refused(cluster: Server, options: dict[str, str]) -> None:
    answer = cluster.ask(
        "POST", "/api/jobs", {"text": suite(cluster.allowed), "where": "slurm", "slurm": options}
    )
    assert answer.status == 400


def test_a_job_has_the_nodes_that_its_cases_need(cluster: Server) -> None:
    """As with `strider submit`; fewer are refused with the line of the case."""
    text = suite(cluster.allowed).replace("[[case]]", "[[case]]\nnodes = 2\nper_node = 1", 1)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("clients"))
    refused = cluster.ask("POST", "/api/jobs", {"text": text, "where": "slurm", "slurm": {"nodes": "1"}})
    assert refused.status == 400
    assert "needs 2 nodes" in refused.text
    job = submit(cluster, text)
    script = (cluster.store.parent / "script").read_text()
    assert "#SBATCH --nodes=2\n" in script
    assert "#SBATCH --ntasks-per-node=1\n" in script
    cluster.ask("POST", f"/api/jobs/{job}/cancel", {})


def test_without_slurm_the_page_says_why(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store", {"PATH": str(tmp_path)}) as server:
        server.enter()
        answer = server.ask("POST", "/api/jobs", {"text": suite(server.allowed), "where": "slurm"})
        assert answer.status == 503
        assert "no Slurm" in answer.json()["message"]
        assert "no Slurm" in server.ask("GET", "/configure").text

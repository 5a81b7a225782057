"""Runs on a cluster: what Slurm's commands are given, tried with commands that stand in for them."""

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
import json, os, subprocess, sys
words = sys.argv[1:]
open(os.environ["FAKE"] + "/sbatch.json", "w").write(json.dumps(words))
at = next(i for i, word in enumerate(words) if not word.startswith("--"))
output = next(word.partition("=")[2] for word in words if word.startswith("--output="))
file, no = open(output, "wb"), subprocess.DEVNULL
job = subprocess.Popen(["sh", *words[at:]], stdout=file, stderr=subprocess.STDOUT, stdin=no)
open(os.environ["FAKE"] + "/pid", "w").write(str(job.pid))
print("42;cluster")
"""
SQUEUE = """\
#!/bin/sh
kill -0 "$(cat "$FAKE/pid")" 2>/dev/null && echo RUNNING
exit 0
"""
SCANCEL = """\
#!/bin/sh
echo "$@" >>"$FAKE/scancel"
case $1 in --batch) kill -INT "$(cat "$FAKE/pid")" ;; esac
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
    words = json.loads((cluster.store.parent / "sbatch.json").read_text())
    at = next(index for index, word in enumerate(words) if not word.startswith("--"))
    assert {
        "--parsable",
        "--job-name=strider-small",
        "--ntasks=2",
        "--partition=debug",
        "--time=1:00:00",
    } <= set(words[:at])
    assert words[at + 4 : at + 6] == ["strider", "run"]
    assert words[-4:] == ["--launcher", "srun", "--store", str(cluster.store)]
    assert words[-8:-4] == ["--confine", "auto", "--within", str(cluster.allowed.resolve())]
    run = cluster.store / ended["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "complete", ended["output"]
    assert (run / "suite.toml").read_text() == suite(cluster.allowed)


def test_a_job_that_is_cancelled_leaves_nothing_behind(cluster: Server) -> None:
    job = submit(cluster, long_suite(cluster.allowed))
    cluster.started(job)
    cluster.ask("POST", f"/api/jobs/{job}/cancel", {})
    run = cluster.store / cluster.job(job, "done")["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"
    assert (cluster.store.parent / "scancel").read_text().splitlines() == [
        "--state=PENDING 42",
        "--batch --signal=INT 42",
    ]
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


def test_without_slurm_the_page_says_why(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store", {"PATH": str(tmp_path)}) as server:
        server.enter()
        answer = server.ask("POST", "/api/jobs", {"text": suite(server.allowed), "where": "slurm"})
        assert answer.status == 503
        assert "no Slurm" in answer.json()["message"]
        assert "no Slurm" in server.ask("GET", "/configure").text

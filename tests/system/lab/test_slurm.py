"""Slurm, for real: ranks on the nodes of an allocation, and suites that the web page submits."""

import json
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Json, read_events, strider_command, wait_for
from labs import running
from serving import Server, long_suite, suite
from strider.engine import Engine
from strider.lab import Record
from strider.lab.processes import working_in

LIMIT_S = 120
NODES = 4
PMI = "srun --mpi=pmi2 --ntasks={ranks} --overcommit"


def cluster_of(record: Record) -> dict[str, str]:
    """The variable by which Slurm's commands find the lab's."""
    return {"SLURM_CONF": record.endpoints[0].native["SLURM_CONF"]}


def call(slurm: Record, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, **cluster_of(slurm)},
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def suite_file(target: Path, clients: int) -> Path:
    """A suite of a moment that checks every byte, each rank reading what another one wrote."""
    more = 'readback = "shift"\nverify = "full"'
    file = target.parent / "suite.toml"
    file.write_text(suite(target, more=more).replace("clients = 2", f"clients = {clients}"))
    return file


def only_run(store: Path) -> Path:
    (run,) = [path for path in store.iterdir() if (path / "run.json").is_file()]
    return run


def of_kind(run: Path, kind: str) -> list[Json]:
    return [event for event in read_events(run / "events.jsonl") if event["event"] == kind]


@pytest.mark.parametrize("launcher", ["srun", PMI, "mpiexec"])
def test_ranks_are_where_the_allocation_has_them(slurm: Record, target: Path, launcher: str) -> None:
    store = target.parent / "store"
    allocation = ("salloc", "--quiet", f"--nodes={NODES}", "--ntasks-per-node=2")
    words = strider_command(
        "run", suite_file(target, 2 * NODES), "--store", store, "--launcher", launcher, "--quiet"
    )
    done = call(slurm, *allocation, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (started,) = of_kind(only_run(store), "run")
    assert [node["ranks"] for node in started["nodes"]] == [2] * NODES
    measured = [one for one in of_kind(only_run(store), "sample") if one["measured"]]
    assert len(measured) == 2
    assert not list(target.iterdir())


def test_processes_prove_who_they_are(slurm: Record) -> None:
    said = call(slurm, "scontrol", "show", "config").stdout
    settings = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    assert {key.strip(): value.strip() for key, value in settings.items()}["AuthType"] == "auth/munge"
    key = Path(cluster_of(slurm)["SLURM_CONF"]).with_name("munge.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o400


def test_a_batch_job(slurm: Record, target: Path) -> None:
    store, script = target.parent / "store", target.parent / "job.sh"
    script.write_text('#!/bin/sh\nexec "$@"\n')
    words = strider_command("run", suite_file(target, 4), "--store", store, "--launcher", "srun", "--quiet")
    output = target.parent / "output"
    options = ("--wait", f"--nodes={NODES}", "--ntasks=4", f"--output={output}")
    done = call(slurm, "sbatch", *options, script, *words)
    assert done.returncode == 0, output.read_text()
    (started,) = of_kind(only_run(store), "run")
    assert [node["ranks"] for node in started["nodes"]] == [1] * NODES


@pytest.fixture
def server(engine: Engine, slurm: Record, tmp_path: Path) -> Iterator[Server]:
    with Server(engine, tmp_path / "allowed", tmp_path / "store", cluster_of(slurm)) as started:
        started.enter()
        yield started
        for job in started.ask("GET", "/api/jobs").json():
            started.ask("POST", f"/api/jobs/{job['job']}/cancel", {})
            started.job(job["job"], "done", "cancelled")


def submit(server: Server, text: str, **options: str) -> str:
    answer = server.ask("POST", "/api/jobs", {"text": text, "where": "slurm", "slurm": options})
    assert answer.status == 201, answer.text
    return str(answer.json()["job"])


def ended(server: Server, job: str) -> dict[str, Any]:
    return server.job(job, "done")


def test_a_suite_from_the_page_is_the_one_of_the_command_line(server: Server) -> None:
    text = suite(server.allowed)
    job = submit(server, text, nodes="2", time="5", partition="all")
    found = ended(server, job)
    run = server.store / found["run"]
    assert found["run"], found["output"]
    assert [node["ranks"] for node in of_kind(run, "run")[0]["nodes"]] == [1, 1]
    file = server.store.parent / "same.toml"
    file.write_text(text)
    said = subprocess.run(strider_command("plan", file, "--json"), capture_output=True, check=True)
    # The job's time limits the run; all else is the plan of the command line.
    plan, same = json.loads((run / "plan.json").read_bytes()), json.loads(said.stdout)
    assert plan.pop("time_limit_s") > 0
    same.pop("time_limit_s", None)
    assert plan == same
    assert "complete" in server.ask("GET", "/runs").text


def test_a_job_that_runs_is_watched_and_cancelled(server: Server) -> None:
    job = submit(server, long_suite(server.allowed))
    run = server.store / server.started(job)
    wait_for(lambda: (run / "events.jsonl").is_file() and of_kind(run, "sample"), "a sample", LIMIT_S)
    assert server.job(job, "running")["run"] == run.name
    assert server.ask("POST", f"/api/jobs/{job}/cancel", {}).status == 200
    ended(server, job)
    assert of_kind(run, "end")[-1]["status"] == "interrupted"
    assert not list(server.allowed.iterdir())


def test_the_next_server_and_the_command_line_find_a_job_of_the_page(
    engine: Engine, slurm: Record, tmp_path: Path
) -> None:
    places = (engine, tmp_path / "allowed", tmp_path / "store", cluster_of(slurm))
    with Server(*places) as first:
        first.enter()
        job = submit(first, long_suite(first.allowed))
        run = first.store / first.started(job)
    wait_for(lambda: (run / "events.jsonl").is_file() and of_kind(run, "sample"), "a sample", LIMIT_S)
    with Server(*places) as second:
        second.enter()
        shown = second.ask("GET", f"/runs/{run.name}").text
        assert "A job of Slurm" in shown
        assert f'class="danger" data-job="{job}">Cancel this run' in shown
        store = ("--store", second.store)
        assert f"{job} (slurm " in call(slurm, *strider_command("watch", job, "--once", *store)).stdout
        done = call(slurm, *strider_command("cancel", run.name, *store))
        assert "its results are kept, its files are removed" in done.stdout, done.stderr
        assert second.job(job, "done")["run"] == run.name
        shown = second.ask("GET", f"/runs/{run.name}").text
        assert "Cancel this run" not in shown
        assert f'href="/jobs/{job}"' in shown
    assert not list(second.allowed.iterdir())


def wide_suite(folder: Path, clients: int) -> str:
    return long_suite(folder).replace("clients = 2", f"clients = {clients}")


def test_a_job_that_waits_is_cancelled(server: Server, slurm: Record) -> None:
    """More nodes than are free: it waits for those of the first one."""
    first = submit(server, wide_suite(server.allowed, NODES), nodes=str(NODES))
    server.started(first)
    # Whole nodes, so that there is no room beside the first one.
    name, waiting = "late", wide_suite(server.allowed, 4 * NODES)
    second = submit(server, waiting.replace('"long"', f'"{name}"'), nodes=str(NODES))
    assert server.job(second, "waiting")["run"] == ""
    # Slurm names the reason after its first attempt to start the job.
    busy = "Resources (its nodes are busy)"
    wait_for(lambda: busy in server.ask("GET", f"/jobs/{second}").text, "the reason", LIMIT_S)
    server.ask("POST", f"/api/jobs/{second}/cancel", {})
    assert server.job(second, "cancelled")["run"] == ""
    assert call(slurm, "squeue", "--noheader", "--format=%j").stdout.split() == ["strider-long"]


def test_what_slurm_refuses_is_reported(server: Server) -> None:
    wanted = {"text": suite(server.allowed), "where": "slurm", "slurm": {"partition": "nosuch"}}
    answer = server.ask("POST", "/api/jobs", wanted)
    assert answer.status == 503
    assert "invalid partition" in answer.json()["message"]
    assert answer.json()["message"].endswith("choose one that sinfo lists, with --partition")


def test_taking_it_down_ends_the_jobs_as_well(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nsrun sh -c 'while :; do echo >>{beat}; sleep 0.05; done'\n")
    with running("slurm") as own:
        done = call(own, "sbatch", f"--output={tmp_path / 'output'}", script)
        assert done.returncode == 0, done.stderr
        wait_for(beat.is_file, "the task", LIMIT_S)
        folder = Path(own.endpoints[0].native["SLURM_CONF"]).parent
        assert list(working_in(folder, ["slurmstepd"]))
    last = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == last
    assert list(working_in(Path(f"{folder} (deleted)"), ["slurmstepd"])) == []

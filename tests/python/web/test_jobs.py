"""Runs from the page are runs of the command line: their files, their ends, their remains."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from serving import DEADLINE_S, Server, long_suite, suite
from strider.engine import Engine
from strider.launch.confinement import support
from strider.processes import Process, stop
from strider.web.jobs import Job, State
from strider.web.pages import page
from strider.web.site import Site

pytestmark = pytest.mark.slow


def test_the_page_runs_the_very_plan_of_the_command_line(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text(suite(server.allowed, more="seed = 7", case='mpiio.access = "collective"'))
    file.write_text(file.read_text().replace('"posix"', '["posix", "mpiio"]').replace("8\n", "[8, 16]\n"))
    command = [sys.executable, "-I", "-m", "strider"]
    planned = subprocess.run([*command, "plan", "--json", str(file)], check=True, capture_output=True).stdout
    ran = [*command, "run", str(file), "--store", str(tmp_path / "store"), "--quiet"]
    subprocess.run(ran, check=True, capture_output=True)
    (by_command,) = (tmp_path / "store").glob("*/plan.json")
    ended = server.job(server.submit(file.read_text()), "done")
    by_page = server.store / ended["run"] / "plan.json"
    assert by_page.read_bytes() == by_command.read_bytes() == planned
    assert server.ask("POST", "/api/plan", {"text": file.read_text()}).body == planned


def test_runs_of_the_page_are_confined_to_what_it_may_measure(server: Server) -> None:
    """As they have to be; without the option, a server measures where that cannot be."""
    if found := support(server.engine).reason:
        pytest.skip(f"machine: {found}")
    ended = server.job(server.submit(suite(server.allowed)), "done")
    info = json.loads((server.store / ended["run"] / "run.json").read_text())
    assert info["confinement"] == {"state": "full", "missing": ""}
    command = " ".join(info["command"])
    assert f"--confine require --within {server.allowed.resolve()} " in command
    assert Site(server.engine, server.store, ()).confine == "require"


def test_a_run_that_cannot_begin_says_why(server: Server) -> None:
    text = suite(server.allowed).replace("count = 8", "count = 274877906944")
    ended = server.job(server.submit(text), "failed", "done")
    assert (ended["state"], ended["run"]) == ("failed", "")
    assert "free space, choose another directory" in ended["output"]


@pytest.mark.parametrize("state", get_args(State))
def test_the_page_of_a_job_is_there_in_each_of_its_states(state: State, tmp_path: Path) -> None:
    job = Job(id="a1", suite="s", folder=tmp_path, submitted=datetime.now(UTC), state=state)
    answer = page("job", job=job, where="this machine")
    assert answer.status_code == 200
    assert f'data-state="{state}"' in bytes(answer.body).decode()


def test_what_waits_can_be_cancelled(server: Server) -> None:
    first = server.submit(long_suite(server.allowed))
    server.started(first)
    second = server.submit(suite(server.allowed))
    server.ask("POST", f"/api/jobs/{second}/cancel", {})
    assert server.job(second, "cancelled")["run"] == ""
    server.ask("POST", f"/api/jobs/{first}/cancel", {})
    run = server.store / server.job(first, "done")["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"


def test_ctrl_c_ends_the_run_and_drops_what_waits(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as started:
        started.enter()
        job = started.submit(long_suite(started.allowed))
        run = started.store / started.started(job)
        waiting = started.submit(suite(started.allowed))
        assert started.stop(signal.SIGINT) == 0
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"
    assert waiting
    assert not list(started.allowed.iterdir())
    assert sorted(path.name for path in started.store.iterdir()) == [run.name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_server_goes_on_with_the_jobs_of_the_one_before(
    number: signal.Signals, engine: Engine, tmp_path: Path
) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as first:
        first.enter()
        job = first.submit(long_suite(first.allowed))
        run = first.started(job)
        waiting = first.submit(suite(first.allowed))
        first.stop(number)
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as second:
        second.enter()
        assert {one["job"]: one["state"] for one in second.ask("GET", "/api/jobs").json()} == {
            job: "running",
            waiting: "waiting",
        }
        assert second.started(job) == run
        assert job in second.ask("GET", f"/runs/{run}").text
        second.ask("POST", f"/api/jobs/{job}/cancel", {})
        second.job(job, "done")
        after = second.job(waiting, "done")["run"]
    assert json.loads((second.store / run / "run.json").read_text())["status"] == "interrupted"
    assert json.loads((second.store / after / "run.json").read_text())["status"] == "complete"
    assert not list(second.allowed.iterdir())


def test_a_process_that_has_the_number_of_a_run_that_is_over_is_left_alone(
    engine: Engine, tmp_path: Path
) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as first:
        first.enter()
        job = first.submit(long_suite(first.allowed))
        first.started(job)
        first.stop(signal.SIGKILL)
    (record,) = (first.store / ".jobs").glob(f"*/{job}/job.json")
    kept = json.loads(record.read_text())
    run = Process.model_validate(kept["process"])
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            kept["process"]["pid"] = other.pid
            kept["cancelled"] = True
            record.write_text(json.dumps(kept))
            with Server(engine, tmp_path / "allowed", tmp_path / "store") as second:
                second.enter()
                second.job(job, "done")
            assert other.poll() is None
        finally:
            other.kill()
            stop([run], DEADLINE_S)


def test_one_server_at_a_time_has_the_queue_of_a_store(engine: Engine, tmp_path: Path) -> None:
    with (
        Server(engine, tmp_path / "allowed", tmp_path / "store") as first,
        Server(engine, tmp_path / "allowed", tmp_path / "store") as second,
    ):
        first.enter()
        second.enter()
        text = suite(first.allowed)
        refused = second.ask("POST", "/api/jobs", {"text": text})
        assert refused.status == 503
        assert "another strider serve process owns the queue" in refused.json()["message"]
        first.stop(signal.SIGTERM)
        second.job(second.submit(text), "done")

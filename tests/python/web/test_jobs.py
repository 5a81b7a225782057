"""Runs from the page are runs of the command line: what they make, how they end, what they leave."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from serving import Server, long_suite, suite
from strider.engine import Engine


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


def test_a_run_that_cannot_begin_says_why(server: Server) -> None:
    text = suite(server.allowed).replace("count = 8", "count = 274877906944")
    ended = server.job(server.submit(text), "failed", "done")
    assert (ended["state"], ended["run"]) == ("failed", "")
    assert "make room" in ended["output"]


def test_what_waits_can_be_cancelled(server: Server) -> None:
    first = server.submit(long_suite(server.allowed))
    server.started(first)
    second = server.submit(suite(server.allowed))
    server.ask("POST", f"/api/jobs/{second}/cancel", {})
    assert server.job(second, "cancelled")["run"] == ""
    server.ask("POST", f"/api/jobs/{first}/cancel", {})
    run = server.store / server.job(first, "done")["run"]
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_ends_takes_its_run_along(
    number: signal.Signals, engine: Engine, tmp_path: Path
) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as started:
        started.enter()
        job = started.submit(long_suite(started.allowed))
        run = started.store / started.started(job)
        waiting = started.submit(suite(started.allowed))
        assert started.stop(number) == 0
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"
    assert waiting
    assert not list(started.allowed.iterdir())
    assert sorted(path.name for path in started.store.iterdir()) == [run.name]

"""Runs that are cut by SIGKILL of all their processes at random moments end as if nothing had happened.

`benchmarks/resume.py 200` cuts more of them.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness import read_events, strider_command, wait_for
from strider.cli import main
from strider.datasets import find
from strider.engine import Engine
from strider.processes import descendants
from strider.store import load

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "resume.py"


@pytest.mark.slow
def test_cut_and_resumed_runs_equal_an_uninterrupted_one(engine: Engine) -> None:
    # Not in the folder of the test: the path of the socket of a run has at most 107 characters.
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path)}
    done = subprocess.run(
        [sys.executable, PROGRAM, "3", "7"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "3 runs, 0 of them wrong" in done.stdout


READS = """
[suite]
name = "reader"
[[case]]
dataset = "held"
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "64KiB"
clients = 2
operations = ["read"]
verify = "full"
repetitions = 20
rate_limit = "1MiB"
"""
QUICKLY = ["--ceilings", "none", "--timeline", "none", "--counters", "none", "-q"]


@pytest.mark.slow
def test_a_run_that_reads_a_data_set_goes_on_while_the_set_is_the_same(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    target, store, file = tmp_path / "target", tmp_path / "store", tmp_path / "reader.toml"
    target.mkdir()
    file.write_text(READS)
    place = ["--target", str(target), "--store", str(store)]
    words = ["-n", "2", "--set", "transfer=64KiB", "--set", "block=64KiB", *place, "-q"]
    assert main(["data", "make", "held", *words]) == 0
    run = _killed(strider_command("run", file, *place, *QUICKLY), store)
    untouched = shutil.copytree(run, tmp_path / "copy" / run.name)
    assert main(["resume", str(run), "--store", str(store), "-q"]) == 0
    found = [event for event in read_events(run / "events.jsonl") if event["event"] == "sample"]
    assert [event["repetition"] for event in found] == list(range(20))
    assert all(event["verify"]["wrong_bytes"] == 0 for event in found)
    assert [cut.status for cut in load(run).cuts] == ["killed"]
    held = find(target, "held")
    assert held is not None
    assert (held.state, held.generation) == ("complete", 1)
    assert load(run).info.data_sets["held"].run == held.made.run

    rewriting = READS.replace('["read"]', '["rewrite"]').replace("repetitions = 20", "repetitions = 1")
    file.write_text(rewriting)
    assert main(["run", str(file), *place, *QUICKLY]) == 0
    assert main(["resume", str(untouched), "-q"]) == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "the data set held has changed: generation 1 then, 2 now, written by run" in said
    assert main(["data", "remove", "held", "--target", str(target)]) == 0
    assert main(["resume", str(untouched), "-q"]) == 2
    assert f"the data set held is not in {target} any more" in capfd.readouterr().err


def _killed(command: list[str], store: Path) -> Path:
    """Kills a run and all its processes once it has some repetitions; returns its directory."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        (events, *_) = wait_for(lambda: [*store.glob("*-reader-*/events.jsonl")], "a run")
        wait_for(lambda: events.read_text().count('"event":"repetition"') > 2, "repetitions")
        ended = [process.pid, *descendants(process.pid)]
    finally:
        for pid in [process.pid, *descendants(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    assert len(ended) > 2
    return events.parent

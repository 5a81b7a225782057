"""`strider resume`: measures missing repetitions, in the order of the plan, each sample once."""

import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.errors import StriderError
from strider.launch.earlier import Earlier
from strider.launch.resume import CLAIM, limit_of_resumption
from strider.launch.rundir import RunDirectory
from strider.listing.names import run_directories
from strider.processes import boot_id, start_ticks
from strider.running.resuming import require_missing
from strider.store import load

SUITE = """
[suite]
name = "cut"
clients = 2
repetitions = 3

[[case]]
interface = ["posix", "null"]
pattern = "segmented"
operations = ["write", "read"]
block = "128KiB"
transfer = "64KiB"
"""

QUICKLY = ["-q", "--ceilings", "none", "--timeline", "none", "--counters", "none"]

Event = dict[str, Any]
Info = dict[str, Any]


@pytest.fixture(scope="module")
def complete_run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run, in a store of its own, beside its suite and its target."""
    folder = tmp_path_factory.mktemp("complete")
    (folder / "cut.toml").write_text(SUITE, encoding="utf-8")
    (folder / "target").mkdir()
    (folder / "target" / "precious").write_text("keep me", encoding="utf-8")
    words = ["--target", str(folder / "target"), "--store", str(folder / "store"), *QUICKLY]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRIDER_ENGINE", str(engine.path))
        assert main(["run", str(folder / "cut.toml"), *words]) == 0
    (path,) = run_directories(folder / "store")
    return path


@pytest.fixture
def target(complete_run: Path) -> Path:
    return complete_run.parents[1] / "target"


@pytest.fixture
def run(complete_run: Path, store: Path, engine_in_use: object) -> Path:
    """A copy of it in the store."""
    return Path(shutil.copytree(complete_run, store / complete_run.name))


def events_of(path: Path) -> list[Event]:
    return [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]


def order(path: Path) -> list[tuple[int, int, str]]:
    return [
        (event["case"], event["repetition"], event["operation"])
        for event in events_of(path)
        if event["event"] == "sample"
    ]


def change(path: Path, **keys: object) -> None:
    """Changes `run.json`; a key with the value ... is removed."""
    info = json.loads((path / "run.json").read_text())
    kept = {key: value for key, value in (info | keys).items() if value is not ...}
    (path / "run.json").write_text(json.dumps(kept))


def cut(path: Path, repetitions: int, tail: str = '{"event":"sam') -> None:
    """Leaves a run as a kill in its next repetition does: an incomplete line, no end, no process."""
    kept, ends = [], 0
    for event in events_of(path):
        if event["event"] == "sample" and ends == repetitions:
            break
        ends += event["event"] == "repetition"
        kept.append(json.dumps(event))
    (path / "events.jsonl").write_text("".join(f"{line}\n" for line in kept) + tail)
    gone = {"run": path.name, "host": socket.gethostname(), "pid": os.getpid(), "boot": boot_id(), "start": 1}
    change(path, ended=..., status=..., exit_code=..., process=gone)


def info_of(path: Path) -> Info:
    return dict(json.loads((path / "run.json").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [0, 4])
@pytest.mark.usefixtures("whole_runs")
def test_the_rest_is_measured_in_the_order_of_the_plan(
    run: Path, target: Path, capfd: pytest.CaptureFixture[str], repetitions: int
) -> None:
    expected, seed = order(run), events_of(run)[0]["data_seed"]
    cut(run, repetitions)
    assert main(["resume", "-q"]) == 0
    assert order(run) == expected
    first, second = (event for event in events_of(run) if event["event"] == "run")
    assert first["data_seed"] == second["data_seed"] == seed
    (found,) = load(run).cuts
    assert (found.status, found.repetitions) == ("killed", repetitions)
    assert events_of(run)[-1]["samples"] == len(expected)
    times = [event["time_s"] for event in events_of(run)]
    assert times == sorted(times)
    assert info_of(run)["status"] == "complete"
    assert sorted(path.name for path in target.iterdir()) == ["precious"]
    output = capfd.readouterr()
    assert (
        f"{repetitions} repetitions are complete; an incomplete line of 13 bytes was set aside" in output.err
    )
    said = f"This run was killed, or cut by a power failure at {found.at[:10]}"
    assert said in " ".join(output.out.split())
    assert f"after {repetitions} repetitions, and resumed at " in (run / "report.html").read_text()


@pytest.mark.slow
def test_nothing_is_missing_in_a_complete_run(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = (run / "events.jsonl").read_bytes(), (run / "run.json").read_bytes()
    assert main(["resume", run.name]) == 0
    assert f"{run.name} is complete: nothing is missing" in capfd.readouterr().out
    assert ((run / "events.jsonl").read_bytes(), (run / "run.json").read_bytes()) == before


@pytest.mark.slow
def test_another_machine_is_refused_by_name_unless_it_is_to_be_recorded(
    run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = order(run)
    cut(run, 2)
    there = info_of(run)["environment"] | {"host": "elsewhere", "cores": 4096}
    change(run, environment=there)
    before = (run / "events.jsonl").read_bytes()
    assert main(["resume", run.name]) == 2
    printed = capfd.readouterr().err
    assert f"host: elsewhere then, {socket.gethostname()} now" in printed
    assert "cores: 4096 then," in printed
    assert "--anyway" in printed
    assert (run / "events.jsonl").read_bytes() == before
    assert main(["resume", run.name, "-q", "--anyway"]) == 0
    assert order(run) == expected
    (found,) = load(run).cuts
    assert [line.partition(":")[0] for line in found.differences] == ["host", "cores"]
    assert "Different since then: host: elsewhere then" in " ".join(capfd.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["--anyway"]])
def test_a_run_that_others_can_write_executes_nothing(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    cut(run, 2)
    program, trace = tmp_path / "launcher.sh", tmp_path / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\n")
    program.chmod(0o755)
    change(run, options=info_of(run)["options"] | {"launcher": f"{program} {{ranks}}", "confine": "off"})
    run.chmod(0o777)
    assert main(["resume", *words]) == 2
    assert f"chmod go-w {run}" in "".join(capfd.readouterr().err.split("\n"))
    with pytest.raises(StriderError, match="can be written by other users"):
        require_missing(RunDirectory(run.name, run), is_over=False)
    assert not trace.exists()


@pytest.mark.slow
def test_a_run_under_way_is_refused(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cut(run, 2)
    alive = {"run": run.name, "host": socket.gethostname(), "pid": os.getpid(), "boot": boot_id()}
    change(run, process={**alive, "start": start_ticks(os.getpid())})
    assert main(["resume", run.name]) == 3
    assert f"is under way (process {os.getpid()})" in capfd.readouterr().err
    change(run, process={**alive, "host": "elsewhere"})
    assert main(["resume", run.name]) == 3
    assert "was started on elsewhere and may be under way there" in capfd.readouterr().err


@pytest.mark.slow
def test_a_killed_resumption_is_resumed_again(run: Path) -> None:
    expected = order(run)
    cut(run, 2)
    assert main(["resume", "-q"]) == 0
    cut(run, 5, tail="")
    gone = {"run": run.name, "host": socket.gethostname(), "pid": os.getpid(), "start": 1}
    (run / CLAIM).write_text(json.dumps(gone))
    assert main(["resume", "-q"]) == 0
    assert order(run) == expected
    assert [found.repetitions for found in load(run).cuts] == [2, 5]
    assert [found["repetitions"] for found in info_of(run)["resumed"]] == [2, 5]
    assert not (run / CLAIM).exists()


@pytest.mark.slow
def test_another_resumption_is_refused(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cut(run, 2)
    other = {"run": run.name, "host": socket.gethostname(), "pid": os.getpid(), "start": 0}
    (run / CLAIM).write_text(json.dumps(other))
    assert main(["resume", run.name]) == 3
    assert f"process {os.getpid()} on {socket.gethostname()} resumes {run.name}" in capfd.readouterr().err


@pytest.mark.slow
def test_what_a_time_limit_left_out_is_measured(run: Path, target: Path, store: Path) -> None:
    words = ["--target", str(target), *QUICKLY, "--time-limit", "1us"]
    assert main(["run", str(target.parent / "cut.toml"), *words]) == 3
    limited = run_directories(store)[-1]
    assert main(["resume", limited.name, "-q", "--time-limit", "0"]) == 0
    assert order(limited) == order(run)
    (found,) = load(limited).cuts
    assert (found.status, found.repetitions) == ("time limit", 0)


@pytest.mark.parametrize(
    ("plan_s", "status", "typed_s", "expected_s"),
    [
        (0.0, "killed", None, 0.0),
        (0.0, "killed", 30.0, 30.0),
        (60.0, "killed", 0.0, 0.0),
        (60.0, "time limit", None, 60.0),
        (60.0, "interrupted", None, 45.0),
        (10.0, "killed", None, 10.0),
    ],
)
def test_the_time_limit_is_what_is_left_of_it(
    plan_s: float, status: str, typed_s: float | None, expected_s: float
) -> None:
    earlier = Earlier(runs=[{"time_s": 0.0}], last_s=15.0)
    assert limit_of_resumption(plan_s, status, earlier, typed_s) == expected_s


@pytest.mark.slow
def test_a_run_that_cannot_be_resumed_is_refused(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cut(run, 2)
    options = info_of(run)["options"]
    change(run, options=...)
    assert main(["resume", run.name]) == 2
    assert "is of an older version of Strider and cannot be resumed" in capfd.readouterr().err
    change(run, options=options, environment=info_of(run)["environment"] | {"targets": {}})
    assert main(["resume", run.name]) == 2
    assert "has several targets and cannot be resumed" in capfd.readouterr().err
    assert main(["resume", run.name, "--time-limit", "soon"]) == 2
    assert '--time-limit soon: "soon" is not a time' in capfd.readouterr().err


def test_a_run_that_writes_a_data_set_is_refused(
    target: Path, store: Path, engine_in_use: object, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", str(target), "--store", str(store), "-q"]
    assert main(["data", "make", "held", "--set", "transfer=64KiB", "--set", "block=64KiB", *words]) == 0
    (path,) = run_directories(store)
    sealed = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**sealed, "status": "interrupted"}))
    assert main(["resume", str(path), "--store", str(store), "-q"]) == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "cannot be resumed: case 1 writes the data set held, which a cut may leave half written" in said
    assert main(["data", "remove", "held", "--target", str(target)]) == 0

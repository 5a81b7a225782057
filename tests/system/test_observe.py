"""`strider observe` beside a run: its output, its end, and the combination of both."""

import json
import signal
import subprocess
from itertools import accumulate
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, strider_command, wait_for
from strider.engine import Engine

SUITE = """\
[suite]
name = "watched"
clients = 1
repetitions = 1
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "4KiB"
block = "64MiB"
operations = ["write", "read"]
deadline = 0.5
wear_out = false
sync = "each"
"""


def lines_of(file: Path) -> list[Json]:
    """The whole lines of a file of JSON Lines."""
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


# proves measuring: observe-by-hand, observe-interval, show-observed
def test_a_line_for_each_interval_until_it_is_interrupted(tmp_path: Path, engine: Engine) -> None:
    out = tmp_path / "observed.jsonl"
    words = ["observe", "--out", out, "--interval", "100ms"]
    with subprocess.Popen(strider_command(*words), env={"STRIDER_ENGINE": str(engine.path)}) as process:
        wait_for(lambda: len(lines_of(out)) >= 4, "three readings")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=DEADLINE_S) == 0
    head, *readings = lines_of(out)
    assert head["format"] == "strider-observed"
    assert head["interval_s"] == pytest.approx(0.1)
    assert all(set(reading) == {"end", "elapsed_s", "counters"} for reading in readings)
    # None comes before its time, counted from the beginning: one after a late one may be short.
    ends = list(accumulate(reading["elapsed_s"] for reading in readings[:-1]))
    assert all(end >= 0.1 * number - 1e-6 for number, end in enumerate(ends, 1))
    sources = {group["source"] for reading in readings for group in reading["counters"]}
    assert {"cpu", "kernel", "memory"} <= sources


def test_it_ends_after_its_time_and_reads_another_root(tmp_path: Path, engine: Engine) -> None:
    root, out = tmp_path / "root", tmp_path / "observed.jsonl"
    (root / "proc").mkdir(parents=True)
    (root / "proc" / "meminfo").write_text("MemTotal: 8 kB\nMemFree: 4 kB\n")
    words = ["observe", "--out", out, "--interval", "0.05", "--for", "0.2", "--root", root]
    done = subprocess.run(
        [engine.path, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    _, *readings = lines_of(out)
    assert sum(reading["elapsed_s"] for reading in readings) >= 0.2 - 1e-6
    (group,) = readings[0]["counters"]
    assert group == {"source": "memory", "instance": "", "values": {"total_bytes": 8192, "free_bytes": 4096}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--interval", "soon"], '"soon" is not a time'),
        (["--out", "/nonexistent/folder/file"], "/nonexistent/folder/file"),
        (["--for", "0"], "--for must be a number of seconds"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, engine: Engine, words: list[str], message: str) -> None:
    command = strider_command("observe", "--out", tmp_path / "file", *words)
    environment = {"STRIDER_ENGINE": str(engine.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=False
    )
    assert done.returncode in (2, 3)
    assert message in done.stderr


# proves measuring: observe-by-hand, observe-interval, show-observed
def test_what_a_server_did_stands_beside_the_run(tmp_path: Path, engine: Engine) -> None:
    suite, target, out = tmp_path / "suite.toml", tmp_path / "target", tmp_path / "observed.jsonl"
    suite.write_text(SUITE)
    target.mkdir()
    store = ["--store", tmp_path / "store"]
    environment = {"STRIDER_ENGINE": str(engine.path), "PATH": "/usr/bin:/bin", "COLUMNS": "180"}
    with subprocess.Popen([engine.path, "observe", "--out", out, "--interval", "0.1"]) as observer:
        wait_for(lambda: len(lines_of(out)) >= 2, "a reading")
        run = strider_command("run", suite, "--target", target, "--quiet", *store)
        done = subprocess.run(
            run, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        count = len(lines_of(out))
        wait_for(lambda: len(lines_of(out)) > count + 1, "readings after the run")
        observer.send_signal(signal.SIGINT)
        assert observer.wait(timeout=DEADLINE_S) == 0
    show = strider_command("show", "latest", "--counters", "--observed", out, *store)
    shown = subprocess.run(
        show, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=True
    ).stdout
    host = lines_of(out)[0]["host"]
    assert "Node counters (all processes)" in shown
    assert f"Counters of {host} during each operation" in shown
    assert shown.count("context switches") >= 2

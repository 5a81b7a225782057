"""Signals at random moments, from the first instruction of `./strider` to its last.

`STRIDER_SIGNALS=300` sends more of them than the usual number.
"""

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import DEADLINE_S, strider_command, wait_for
from strider.engine import Engine
from strider.processes import command_lines

ROOT = Path(__file__).parents[2]
SIGNALS = int(os.environ.get("STRIDER_SIGNALS", "16"))
SEED = 13
SUITE = """\
[suite]
name = "trial"
clients = 2
repetitions = 2
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
"""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Command:
    """`./strider run` under way, in a session of its own."""

    process: subprocess.Popen[bytes]
    target: Path
    store: Path
    errors: Path

    def signal(self, number: signal.Signals) -> bool:
        """Sends a signal; whether the process had a handler for it, or had it blocked."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return True
        fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        masks = [int(fields[name], 16) for name in ("SigCgt", "SigBlk") if name in fields]
        self.process.send_signal(number)
        return any(mask >> (number - 1) & 1 for mask in masks)

    def said(self) -> str:
        """Its output on the error stream."""
        return self.errors.read_text()

    def run(self) -> dict[str, object]:
        """What `run.json` says; empty where no run directory was made."""
        found = list(self.store.glob("*/run.json"))
        return json.loads(found[0].read_text()) if found else {}

    def samples(self) -> int:
        """How many phases were measured."""
        return sum(path.read_text().count('"event":"sample"') for path in self.store.glob("*/events.jsonl"))

    def left(self) -> list[str]:
        """Processes that name its folders, and the content of the target."""
        lines = [" ".join(words) for _, words in command_lines()]
        names = [line for line in lines if str(self.target.parent) in line]
        return names + [path.name for path in self.target.iterdir()]


def start(engine: Engine, folder: Path, *options: str, ignored: tuple[signal.Signals, ...] = ()) -> Command:
    """Starts `./strider run` with signals as a terminal would have them, but for those to ignore."""
    folder.mkdir()
    target, store, errors = folder / "target", folder / "store", folder / "errors"
    target.mkdir()
    (folder / "trial.toml").write_text(SUITE)
    words = ["run", folder / "trial.toml", "--target", target, "--store", store, "--ceilings", "none", "-q"]

    def prepare() -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [str(ROOT / "strider"), *map(str, words), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "STRIDER_ENGINE": str(engine.path)},
            start_new_session=True,
            preexec_fn=prepare,
        )
    return Command(process, target, store, errors)


def check_end(command: Command, number: signal.Signals, handled: bool, moment: str) -> int:
    """Waits for the end of a command that got a signal, and checks all that it promises; the exit code."""
    code = command.process.wait(DEADLINE_S)
    said = f"{number.name} {moment}: exit code {code}\n{command.said()}"
    if code == -number and (not handled or not command.run()):
        # Between shell, env and Python there are moments without a handler; nothing has been done by then.
        wait_for(lambda: not command.left(), f"the end of {command.left()} after {said}")
        return code
    assert code in (0, 1, 3), said
    assert "Traceback" not in command.said(), said
    wait_for(lambda: not command.left(), f"the end of {command.left()} after {said}")
    run = command.run()
    if code == 3:
        assert command.samples() == 0, said
        assert "interrupted" in command.said(), said
    if code == 0:
        assert run["status"] == "complete", said
    if run:
        assert run.get("status") in ("complete", "interrupted"), said
        assert run["exit_code"] == code, said
    return code


@pytest.fixture(scope="module")
def duration_s(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long the whole command takes here and now."""
    begin = time.monotonic()
    command = start(engine, tmp_path_factory.mktemp("whole") / "run")
    assert command.process.wait(DEADLINE_S) == 0, command.said()
    return time.monotonic() - begin


def test_a_signal_at_any_moment_gives_an_exit_code_and_leaves_nothing(
    engine: Engine, tmp_path: Path, duration_s: float
) -> None:
    chance = random.Random(SEED)
    codes, killed = [], 0
    for index in range(SIGNALS):
        number = chance.choice(ENDING)
        # Half of them in the first tenth, where a process has no handler yet.
        delay_s = chance.random() * duration_s * (0.1 if index % 2 else 1.0)
        command = start(engine, tmp_path / str(index))
        time.sleep(delay_s)
        handled = command.signal(number)
        moment = f"after {delay_s:.4f} s of {duration_s:.2f} s"
        codes.append(check_end(command, number, handled, moment))
        killed += handled and codes[-1] < 0
    assert 3 in codes
    assert killed <= max(1, SIGNALS // 20), codes


@pytest.mark.parametrize("number", ENDING)
def test_what_was_ignored_at_the_start_stays_ignored(
    engine: Engine, tmp_path: Path, number: signal.Signals
) -> None:
    command = start(engine, tmp_path / "run", "--set", "case.settle=0.3", ignored=(number,))
    while command.process.poll() is None:
        command.process.send_signal(number)
        time.sleep(0.05)
    assert command.process.returncode == 0, command.said()
    assert command.run()["status"] == "complete"


def test_a_signal_between_shell_and_python_waits_for_its_handler(engine: Engine, tmp_path: Path) -> None:
    command = start(engine, tmp_path / "run")

    def blocked() -> bool:
        status = Path(f"/proc/{command.process.pid}/status").read_text()
        mask = int(status.split("SigBlk:\t", 1)[1].split()[0], 16)
        return mask >> (signal.SIGTERM - 1) & 1 == 1

    while not blocked():
        assert command.process.poll() is None, "env blocks the signal for some milliseconds"
    command.process.send_signal(signal.SIGTERM)
    assert command.process.wait(DEADLINE_S) == 3
    assert command.said() == "strider: interrupted\n"


def test_a_server_started_by_nohup_stays(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    words = ["serve", "--allow", tmp_path / "allowed", "--store", tmp_path / "store"]
    process = subprocess.Popen(
        strider_command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "STRIDER_ENGINE": str(engine.path)},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    try:
        assert process.stdout is not None
        assert any("open http" in line for line in process.stdout)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert process.poll() is None
        process.terminate()
        process.wait(DEADLINE_S)
    finally:
        process.kill()
        process.wait()

"""Mounting the target again makes a read cold, if the user gives the command."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from disks import disk
from harness import EngineRun, case, plan, read_events, run_engine, strider_command, wait_for
from strider.engine import Engine

READ = case("segmented", pattern_transfer=65536, pattern_block=1 << 20, clients=2, cache="cold")


def options(*words: object) -> list[str]:
    """A remount command as the engine takes it."""
    return [option for word in words for option in ("--remount", str(word))]


def remounted(engine: Engine, tmp_path: Path, *words: object, **keys: float) -> EngineRun:
    """A cold read with a command that need not mount anything."""
    return run_engine(engine, plan([READ], **keys), tmp_path, options=options(*words))


# proves measuring: remount, remount-once, remount-shell, remount-field
def test_the_target_is_mounted_anew_before_each_cold_read(tmp_path: Path, memory_folder: Path) -> None:
    """By `strider run`, words quoted as for a shell; no rank has anything open, or umount would refuse."""
    suite = tmp_path / "cold.toml"
    suite.write_text(
        '[suite]\nname = "cold"\nclients = 2\nrepetitions = 2\n[[case]]\ninterface = "posix"\n'
        'pattern = "segmented"\ntransfer = "64KiB"\nblock = "1MiB"\noperations = ["write", "read"]\n'
        'cache = ["cold", "as-is"]\nverify = "full"\n',
        encoding="utf-8",
    )
    log, script = tmp_path / "log", tmp_path / "mount it again"
    with disk(memory_folder, 64) as made:
        script.write_text(
            f'set -e\numount "{made.point}"\nmount {made.device} "{made.point}"\necho "$1" >> "{log}"\n'
        )
        words = strider_command(
            *("run", suite, "--target", made.point, "--store", tmp_path / "runs", "--quiet"),
            *("--remount-command", f"sh '{script}' 'two words; no shell'"),
        )
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        left = [entry.name for entry in made.point.iterdir()]
    assert left == ["lost+found"]
    assert log.read_text(encoding="utf-8").splitlines() == ["two words; no shell"] * 2
    (run,) = [folder for folder in (tmp_path / "runs").iterdir() if (folder / "run.json").exists()]
    samples = [event for event in read_events(run / "events.jsonl") if event["event"] == "sample"]
    caches = [sample["cache"] for sample in samples if sample["operation"] == "read"]
    cold = [cache for cache in caches if cache is not None]
    assert len(cold) == 2
    assert len(caches) == 4
    for cache in cold:
        assert cache["action"].startswith("remount, ")
        assert cache["cached_share"] in (0, None)
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["leftover"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sh", "-c", "echo the server is down >&2; exit 32"], "ended with exit status 32"),
        (["sh", "-c", "kill -9 $$"], "was killed by signal 9"),
        (["/nowhere/remount"], "No such file or directory"),
    ],
)
# proves measuring: remount-shell, remount-killed, remount-fails
def test_a_command_that_fails_ends_the_case_and_is_named(
    engine: Engine, tmp_path: Path, words: list[str], said: str
) -> None:
    done = remounted(engine, tmp_path, *words)
    assert done.returncode == 1
    (error,) = done.of("error")
    assert error["operation"] == "remount"
    assert said in error["message"]
    assert error["file"] == words[0]
    assert [sample["operation"] for sample in done.of("sample")] == ["write"]
    assert not list(done.directory.iterdir())
    if "32" in said:
        assert "the server is down" in done.stderr


# proves measuring: remount-killed, remount-fails
def test_a_command_that_hangs_is_killed_with_all_that_it_started(engine: Engine, tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    script = (
        "import os, subprocess, sys, time;"
        "child = subprocess.Popen(['sleep', '600']);"
        f"open({str(pids)!r}, 'w').write(str(child.pid));"
        "time.sleep(600)"
    )
    done = remounted(engine, tmp_path, sys.executable, "-c", script, stall_timeout_s=3.0)
    (error,) = done.of("error")
    assert error["message"] == "the remount command took longer than 1.5 s"
    status = Path(f"/proc/{pids.read_text(encoding='utf-8')}/stat")
    assert not status.exists() or status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_ctrl_c_leaves_a_remount_to_its_end(engine: Engine, tmp_path: Path) -> None:
    """Between unmounting and mounting nothing else would find the target."""
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    script = f"touch '{begun}'; sleep 2; touch '{ended}'"
    suite = tmp_path / "cold.toml"
    suite.write_text(
        '[suite]\nname = "cold"\nclients = 2\nrepetitions = 1\n[[case]]\ninterface = "posix"\n'
        'pattern = "segmented"\ntransfer = "64KiB"\nblock = "1MiB"\noperations = ["write", "read"]\n'
        'cache = "cold"\n',
        encoding="utf-8",
    )
    target = tmp_path / "target"
    target.mkdir()
    words = strider_command(
        *("run", suite, "--target", target, "--store", tmp_path / "runs", "--quiet", "--ceilings", "none"),
        *("--remount-command", f'sh -c "{script}"'),
    )
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        wait_for(begun.exists, "the remount")
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode in (1, 3), said
    assert ended.exists()
    assert not list(target.iterdir())

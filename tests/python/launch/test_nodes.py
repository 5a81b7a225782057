"""Hosts before a run whose launcher or engine says anything."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch import nodes
from strider.launch.launchers import Launcher, Places
from strider.launch.launchers.hosts import Host, Seats
from strider.launch.nodes import Room, require_nodes

Ask = Callable[[str], list[str]]
Alter = Callable[[Mapping[str, Any]], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run, with its marker, in a target."""
    folder = tmp_path / "target" / "strider-run"
    folder.mkdir(parents=True)
    (folder / ".strider").touch()
    return folder


@pytest.fixture
def ask(engine: Engine, folder: Path, tmp_path: Path) -> Ask:
    """Asks the host n1 by a launcher that is a script; its first argument is the engine."""

    def ask(script: str) -> list[str]:
        file = tmp_path / "launcher.sh"
        file.write_text(f"{script}\n")
        places = Places((Host("n1", 1),))
        launcher = Launcher("script", lambda _: ["sh", str(file)], places=places)
        told: list[str] = []
        require_nodes(launcher, engine, folder.parent, folder, Room(1, 1, 1), told.append)
        return told

    return ask


@pytest.fixture
def altered(tmp_path: Path) -> Alter:
    """Returns a script with the engine's answer, but for some keys; a key with the value ... is left out."""

    def altered(changes: Mapping[str, Any]) -> str:
        program = tmp_path / "altered.py"
        program.write_text(
            "import json, subprocess, sys\n"
            f"said = json.loads(subprocess.check_output(sys.argv[1:])) | {dict(changes)!r}\n"
            "print(json.dumps({key: value for key, value in said.items() if value is not ...}))\n"
        )
        return f'exec {shlex.quote(sys.executable)} {shlex.quote(str(program))} "$@"'

    return altered


def test_a_host_that_answers_is_silent_also_after_much_without_an_end_of_line(ask: Ask) -> None:
    assert ask('exec "$@"') == []
    assert ask('head -c 300000 /dev/zero; exec "$@"') == []


@pytest.mark.parametrize("noise", ["yes", "cat /dev/zero", "yes >&2"])
def test_a_launcher_that_talks_for_ever_is_left_at_the_time_limit(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: str
) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 1.0)
    monkeypatch.setattr(nodes, "_here", lambda _: {})
    with pytest.raises(StriderError, match="1 hosts do not answer"):
        ask(f"timeout 20 {noise}; [ $? -ne 124 ] || touch {tmp_path / 'ended'}")
    assert not (tmp_path / "ended").exists()


@pytest.mark.parametrize(
    "line",
    [
        f'{{"strider_node": 1, "pad": "{"x" * 200_000}", "host": "n1"}}',
        f'{{"strider_node": {"[" * 50_000}',
    ],
    ids=["long", "deep"],
)
def test_a_line_that_is_no_answer_of_an_engine_is_none(ask: Ask, tmp_path: Path, line: str) -> None:
    (tmp_path / "line").write_text(f"{line}\n")
    with pytest.raises(StriderError, match="1 hosts do not answer"):
        ask(f"cat {tmp_path / 'line'}")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"engine": "0.0.1", "target": 1}, r"has another engine: 0\.0\.1 \(\w+\) there"),
        ({"build": ...}, r"has another engine: 0\.\S+ \(unknown\) there"),
        ({"node": ..., "rank": ..., "host": "n1", "build": "\x1b[2J"}, r"has another engine: .*\\u001b"),
        ({"target": {}}, r"gives a bad answer, without target\.reason, target\.free_bytes"),
        ({"memory_available_bytes": "many"}, "gives a bad answer, without memory_available_bytes"),
        ({"time_ns": True}, "gives a bad answer, without time_ns"),
    ],
)
def test_a_host_with_a_bad_answer_is_named(
    ask: Ask, altered: Alter, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(StriderError, match=f"^host n1 {reason}.*: install the same ") as caught:
        ask(altered({"rank": "0", **changes}))
    assert "\x1b" not in caught.value.message


def test_an_answer_without_any_key_is_named(ask: Ask) -> None:
    answer = json.dumps({"strider_node": 1, "rank": "²"})
    with pytest.raises(
        StriderError, match=r"^host without a name has another engine: unknown \(unknown\) there"
    ):
        ask(f"echo {shlex.quote(answer)}")


BARE = [(True, "3", 2, 2), (True, "3", 8, 3), (False, "3", 8, 8), (False, "1", 8, 0), (True, "", 8, 0)]


@pytest.mark.parametrize(("is_srun", "allocated", "ranks", "asked"), BARE)
def test_nodes_of_an_allocation_are_asked_without_places(
    engine: Engine,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_srun: bool,
    allocated: str,
    ranks: int,
    asked: int,
) -> None:
    """Each node once by srun; by other launchers each rank, since only they know the nodes of the run."""
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", allocated)
    monkeypatch.delenv("SLURM_NNODES", raising=False)
    seen = tmp_path / "seen"
    script = tmp_path / "launcher.sh"
    script.write_text(f'shift; for i in $(seq $0); do echo $i >> {seen}; SLURMD_NODENAME=n$i "$@"; done')

    def words(seats: Seats) -> list[str]:
        return ["sh", "-c", script.read_text(), str(seats.ranks), "x"]

    launcher = Launcher("srun", words, is_srun=is_srun)
    told: list[str] = []
    require_nodes(launcher, engine, folder.parent, folder, Room(ranks, 1, 1), told.append)
    assert told == []
    assert (len(seen.read_text().split()) if seen.exists() else 0) == asked
    if asked:
        (folder / ".strider").unlink()
        with pytest.raises(StriderError) as caught:
            require_nodes(launcher, engine, folder.parent, folder, Room(ranks, 1, 1), told.append)
        assert len(caught.value.message.splitlines()) == asked
        assert "host n1: " in caught.value.message


def test_ranks_that_do_not_answer_in_an_allocation_are_counted(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    for is_srun, message in ((True, "2 of 2 nodes do not answer"), (False, "4 of 4 ranks do not answer")):
        launcher = Launcher("some", lambda _: ["false"], is_srun=is_srun)
        with pytest.raises(StriderError, match=message):
            require_nodes(launcher, engine, folder.parent, folder, Room(4, 1, 1), lambda _: None)

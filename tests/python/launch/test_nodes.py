"""Hosts before a run whose launcher or engine says anything."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch import nodes
from strider.launch.launchers import Launcher, Places
from strider.launch.launchers.hosts import Host, RankMapping
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
        messages: list[str] = []
        room = Room(1, 1, 1, open_files=64, file_bytes=1 << 24)
        require_nodes(launcher, engine, folder.parent, folder, room, messages.append)
        return messages

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
        ({"open_files": None}, "gives a bad answer, without open_files"),
        ({"time_ns": True}, "gives a bad answer, without time_ns"),
        ({"interfaces": None}, "gives a bad answer, without interfaces"),
    ],
)
def test_a_host_with_a_bad_answer_is_named(
    ask: Ask, altered: Alter, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(StriderError, match=f"^host n1 {reason}.*: install the same ") as caught:
        ask(altered({"rank": "0", **changes}))
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"interfaces": [{"name": "hdf5", "reason": "libhdf5.so: cannot open\x1b"}]},
            r"cannot use interface hdf5: libhdf5.so: cannot open\\u001b$",
        ),
        (
            {"files": [{"name": "/l.csv", "reason": "No such file"}]},
            r"cannot read /l.csv \(No such file\): put",
        ),
        ({"files": [{}, "odd"]}, r"cannot read unknown \(unknown\)"),
        ({"open_files": 0}, "permits 0 open files, and a rank needs 64: raise ulimit -n there"),
        ({"file_bytes": 8192}, "permits files of 8 KiB, and a run needs 16 MiB: raise ulimit -f there"),
    ],
)
def test_what_a_node_lacks_is_named(ask: Ask, altered: Alter, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StriderError, match=f"^host n1 {reason}"):
        ask(altered({"rank": "0", **changes}))


@pytest.mark.parametrize(("rank", "is_refused"), [("0", True), ("", True), ("1", False)])
def test_the_store_is_needed_by_the_first_rank_alone(
    engine: Engine, folder: Path, tmp_path: Path, rank: str, is_refused: bool
) -> None:
    mark = tmp_path / "store" / ".asked-1"
    room = Room(1, 1, 1, store=str(mark))
    words = ["sh", "-c", f'exec env PMI_RANK={rank} "$@"', "x"]
    launcher = Launcher("mpiexec", lambda _: words, places=Places((Host("n1", 1),)))

    def ask() -> None:
        require_nodes(launcher, engine, folder.parent, folder, room, lambda _: None)

    if is_refused:
        with pytest.raises(
            StriderError, match=f"^host .* cannot read the store {tmp_path}/store .*: put the store"
        ):
            ask()
        mark.parent.mkdir()
        mark.touch()
    ask()


def test_the_engine_looks_for_interfaces_and_files(engine: Engine, folder: Path) -> None:
    there, missing = folder / ".strider", folder / "list.csv"
    words = ["--interface", "posix", "--interface", "nosuch", "--file", str(there), "--file", str(missing)]
    program = [str(engine.path), "node", "--target", str(folder.parent), *words]
    found = json.loads(subprocess.run(program, capture_output=True, check=True).stdout)
    assert found["interfaces"] == [{"name": "nosuch", "reason": "this engine does not have it"}]
    assert found["files"] == [{"name": str(missing), "reason": "No such file or directory"}]
    assert 1 <= found["cpus"] <= len(os.sched_getaffinity(0))


def test_a_slow_login_is_waited_for_and_a_host_that_answers_only_alone_is_named(
    engine: Engine, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher starts n2 beside localhost only from the given time on; alone it always does.

    It ends after that, so that the test does not wait for a time limit, however slow the machine is.
    """
    monkeypatch.setattr(nodes, "DEADLINE_S", 300.0)
    calls = tmp_path / "calls"

    def words(starts_n2_from: int) -> Callable[[RankMapping], list[str]]:
        def script(mapping: RankMapping) -> list[str]:
            each = " ".join(f'{name}) PMI_RANK={k} "$@" ;;' for k, name in enumerate(mapping.names))
            with calls.open("a") as file:
                file.write(f"{','.join(mapping.names)}\n")
            started = [
                name
                for name in mapping.names
                if name != "n2" or mapping.ranks == 1 or len(calls.read_text().split()) > starts_n2_from
            ]
            loop = f"for host in {' '.join(started)}; do case $host in {each} esac; done"
            return ["sh", "-c", loop, "x"]

        return script

    places = Places((Host("localhost", 1), Host("n2", 1)))
    messages: list[str] = []

    def ask(starts_n2_from: int) -> None:
        calls.write_text("")
        launcher = Launcher("mpiexec", words(starts_n2_from), places=places)
        require_nodes(launcher, engine, folder.parent, folder, Room(2, 1, 1), messages.append)

    ask(1)
    assert calls.read_text().split() == ["localhost,n2", "n2", "localhost,n2"]
    assert messages[0] == "n2 did not answer: asking each alone, for at most 30 s"
    assert re.fullmatch(
        r"each answers alone within \d+ s: asking all hosts again, for at most \d+ s", messages[1]
    )
    assert messages[2:] == ["all hosts answered: the run starts"]
    with pytest.raises(
        StriderError, match=r"^n2 answers alone, but not beside the other hosts within "
    ) as found:
        ask(1000)
    assert found.value.message.endswith("name this host as n2 knows it, instead of localhost")


def test_the_time_limit_of_an_answer_can_be_raised(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "DEADLINE_S", 0.01)
    with pytest.raises(StriderError, match="or allow more time with STRIDER_NODE_TIMEOUT=60"):
        ask('sleep 1; exec "$@"')
    monkeypatch.setenv(nodes.LIMIT_VARIABLE, "100")
    assert ask('sleep 1; exec "$@"') == []
    monkeypatch.setenv(nodes.LIMIT_VARIABLE, "-1")
    with pytest.raises(StriderError, match="STRIDER_NODE_TIMEOUT=-1: give a number of seconds"):
        ask('exec "$@"')


def test_an_answer_without_any_key_is_named(ask: Ask) -> None:
    answer = json.dumps({"strider_node": 1, "rank": "²"})
    with pytest.raises(
        StriderError, match=r"^host without a name has another engine: unknown \(unknown\) there"
    ):
        ask(f"echo {shlex.quote(answer)}")


BARE = [
    ("srun", "3", 2, 2),
    ("srun", "3", 8, 3),
    ("mpiexec", "3", 8, 3),
    ("own {ranks}", "3", 8, 8),
    ("own {ranks}", "1", 8, 0),
    ("srun", "", 8, 0),
]


@pytest.mark.parametrize(("name", "allocated", "ranks", "asked"), BARE)
def test_nodes_of_an_allocation_are_asked_without_places(
    engine: Engine,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    allocated: str,
    ranks: int,
    asked: int,
) -> None:
    """Each node once; with a launcher that is a command each rank: only it knows the nodes of the run."""
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", allocated)
    monkeypatch.delenv("SLURM_NNODES", raising=False)
    seen = tmp_path / "seen"
    script = tmp_path / "launcher.sh"
    script.write_text(f'shift; for i in $(seq $0); do echo $i >> {seen}; SLURMD_NODENAME=n$i "$@"; done')

    def words(mapping: RankMapping) -> list[str]:
        return ["sh", "-c", script.read_text(), str(mapping.ranks), "x"]

    launcher = Launcher(name, words, is_srun=name == "srun")
    messages: list[str] = []
    require_nodes(launcher, engine, folder.parent, folder, Room(ranks, 1, 1), messages.append)
    assert messages == []
    assert (len(seen.read_text().split()) if seen.exists() else 0) == asked
    if asked:
        (folder / ".strider").unlink()
        with pytest.raises(StriderError) as caught:
            require_nodes(launcher, engine, folder.parent, folder, Room(ranks, 1, 1), messages.append)
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

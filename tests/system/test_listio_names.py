"""Damaged names of a list-I/O volume with real servers: named and repaired, and no reason to delete data."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, strider_command
from labs import Native
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def volume(engine: Engine, tmp_path: Path) -> Iterator[Path]:
    """A volume of two servers with the files one and two."""
    Native("listio").require(engine)
    directory, files = tmp_path / "volume", tmp_path / "files"
    serve(engine, directory, ServerOptions(servers=2))
    files.mkdir()
    for name in ("one", "two"):
        (files / name).write_bytes(CONTENT)
    try:
        _copy(engine, "put", directory, files)
        yield directory
    finally:
        stop(directory)


# proves listio: check-and-remove, check, check-exit
def test_a_damaged_entry_is_named_and_repaired(engine: Engine, volume: Path, tmp_path: Path) -> None:
    entry = volume / "server-0/names/one"
    entry.write_bytes(b"strider-listio-file 1 0123456789abcdef servers 4000000000 first 0 strip 65536\n")
    code, found = _check(volume, "--remove-orphans")
    assert (code, found["orphans"], len(found["problems"])) == (1, [], 1)
    assert found["problems"][0].startswith("one: its name entry is damaged: it names 4000000000 servers")
    _damage(entry, volume / "server-0/names/two")
    code, found = _check(volume, "--repair", "--remove-orphans")
    assert (code, found["problems"], found["orphans"], len(found["repairs"])) == (0, [], [], 1)
    read = tmp_path / "read"
    read.mkdir()
    _copy(engine, "get", volume, read)
    assert {file.name: file.read_bytes() for file in read.iterdir()} == {"one": CONTENT, "two": CONTENT}


# proves listio: check, repair-deletes-nothing, remove-orphans, orphans-kept
def test_orphans_are_kept_while_anything_is_damaged_or_set_aside(volume: Path) -> None:
    server = volume / "server-0"
    for copy in server.glob("entries/*/*"):
        copy.unlink()
    (server / "names/one").write_bytes(b"")
    code, found = _check(volume, "--remove-orphans")
    assert (code, found["removed"], len(found["orphans"])) == (1, False, 2)
    assert found["kept_because"] in found["problems"]
    code, found = _check(volume, "--repair", "--remove-orphans")
    assert (code, found["problems"], found["set_aside"], len(found["orphans"])) == (1, [], 1, 2)
    assert (found["removed"], "server-0/set-aside" in found["kept_because"]) == (False, True)
    shown = _run(volume)
    assert (shown.returncode, f"1 damaged entries are in {server}/set-aside" in shown.stdout) == (1, True)
    (aside,) = (server / "set-aside").iterdir()
    assert aside.name.startswith("entry-one-")
    aside.unlink()
    code, found = _check(volume, "--remove-orphans")
    assert (code, found["removed"], len(found["orphans"]), found["data_files"]) == (0, True, 2, 4)
    assert _check(volume)[1]["data_files"] == 2


def _damage(entry: Path, like: Path) -> None:
    """Puts an entry there of which nothing is right but its length."""
    entry.write_bytes(b"\0" * like.stat().st_size)


def _run(volume: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = strider_command("listio", "check", volume, *words)
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def _check(volume: Path, *words: str) -> tuple[int, Json]:
    done = _run(volume, "--json", *words)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def _copy(engine: Engine, verb: str, volume: Path, folder: Path) -> None:
    program = engine.path.parents[1] / "tests/listio/strider-listio-copy"
    if not program.is_file():
        pytest.skip("strider-listio-copy is not built")
    subprocess.run([program, verb, volume / VOLUME_FILE, folder], check=True, timeout=DEADLINE_S)

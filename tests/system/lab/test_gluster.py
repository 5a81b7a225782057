"""GlusterFS: reads through the mount of a volume return the written data."""

import subprocess
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, strider_command
from labs import PATTERNS, Native, check_interruption, check_metadata, check_mount, check_refusal
from server_syncs import Server, check_server, processes_of
from strider.engine import Engine
from strider.lab import Record
from strider.quick import look

METHODS: list[Json] = [
    {"interface_method": "multiple"},
    {"interface_method": "vectored"},
    {"depth": 4},
]
GFAPI = Native("gfapi", methods=METHODS)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
@pytest.mark.parametrize("volume", ["distributed", "sharded", "dispersed"])
def test_data_is_right(engine: Engine, tmp_path: Path, gluster: Record, volume: str, pattern: Json) -> None:
    (endpoint,) = [each for each in gluster.endpoints if each.name == volume]
    # GlusterFS miscounts the size of a sharded file that two clients write (its issue 2680).
    keys: Json = {"sharing": "per-rank"} if volume == "sharded" else {}
    check_mount(engine, tmp_path, endpoint, {**pattern, **keys})


def test_the_engine_runs_in_the_network_of_the_lab(engine: Engine, tmp_path: Path, gluster: Record) -> None:
    """Where native addresses are reached."""
    assert gluster.enter
    check_mount(engine, tmp_path, gluster.endpoints[0], PATTERNS[0], gluster.enter)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
@pytest.mark.parametrize("volume", ["distributed", "dispersed"])
def test_the_library_moves_the_same_bytes_as_the_mount(
    engine: Engine, tmp_path: Path, gluster: Record, volume: str, pattern: Json
) -> None:
    (endpoint,) = [each for each in gluster.endpoints if each.name == volume]
    check_mount(engine, tmp_path, endpoint, pattern, gluster.enter, GFAPI)


def test_metadata_by_the_library(engine: Engine, tmp_path: Path, gluster: Record) -> None:
    mount = gluster.endpoints[0].mount
    assert mount is not None
    check_metadata(engine, tmp_path, mount, GFAPI, gluster.enter)


@pytest.mark.parametrize(
    ("wrong", "said"), [({"volume": "other"}, "does not exist on the server"), ({"port": 9}, "no connection")]
)
def test_a_wrong_address_is_an_error(
    engine: Engine, tmp_path: Path, gluster: Record, wrong: Json, said: str
) -> None:
    mount = gluster.endpoints[0].mount
    assert mount is not None
    error = check_refusal(engine, tmp_path, mount, GFAPI, gluster.enter, **wrong)
    assert said in error["message"]
    assert "gfapi." in error["remedy"]


def test_ctrl_c_ends_a_run_through_the_library(engine: Engine, tmp_path: Path, gluster: Record) -> None:
    GFAPI.require(engine)
    mount = gluster.endpoints[0].mount
    assert mount is not None
    check_interruption(engine, tmp_path, mount, GFAPI, gluster.enter)


# proves measuring: gfapi-sync
def test_a_sync_is_the_bricks(engine: Engine, tmp_path: Path, gluster: Record, strace: str) -> None:
    mount = gluster.endpoints[0].mount
    assert mount is not None
    bricks = mount.parents[1] / "bricks"
    server = Server(processes_of("glusterfsd", f"{bricks}/distributed"), bricks, "/health_check")
    assert len(server.pids) == 4
    check_server(engine, tmp_path, strace, mount, GFAPI, server, gluster.enter)


def test_a_run_through_the_library_is_not_confined(tmp_path: Path, gluster: Record) -> None:
    """libgfapi crashes in a confined process, which may not name its threads."""
    mount = gluster.endpoints[0].mount
    assert mount is not None
    suite = tmp_path / "suite.toml"
    suite.write_text(
        '[suite]\nname = "one"\n[[case]]\ninterface = "gfapi"\npattern = "segmented"\n'
        'operations = ["write"]\n'
    )
    words = ("run", suite, "--target", mount, "--store", tmp_path / "store", "--ceilings", "none", "-q")
    done = subprocess.run(
        [*gluster.enter, *strider_command(*words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    assert "libgfapi" in done.stderr


def test_the_card_finds_direct_io_and_the_library_of_a_mount(gluster: Record) -> None:
    mount = gluster.endpoints[0].mount
    assert mount is not None
    found = look(Path(mount))
    assert (found.kind, found.is_direct, found.native) == ("network", True, "gfapi")
    assert list(Path(mount).iterdir()) == []

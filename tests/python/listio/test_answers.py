"""Volumes whose servers are asked before a run."""

import json
from pathlib import Path

import pytest

from listio_plans import plan
from strider.engine import Json
from strider.listio import VOLUME_FILE, problems, reaches_into_servers, restart_commands, serve_command
from strider.listio.answers import volumes
from strider.listio.hosts import HOSTS_FILE, HostRecord

ELSEWHERE = "/elsewhere/listio-volume.json"


@pytest.mark.parametrize(
    ("interfaces", "named", "above"),
    [
        ([{"name": "posix"}], [], "unused"),
        ([{"name": "listio", "volume": ""}, {"name": "listio"}], [], "used"),
        ([{"name": "listio", "volume": ELSEWHERE}], [ELSEWHERE], "unused"),
        ([{"name": "listio"}, {"name": "listio", "volume": ELSEWHERE}], [ELSEWHERE], "used"),
        ([{"name": "mpiio", "prefix": "listio:", "volume": ""}], [], "used"),
        ([{"name": "mpiio", "prefix": "", "volume": ""}], [], "unused"),
    ],
)
def test_each_volume_that_cases_use_is_asked(
    tmp_path: Path, interfaces: list[Json], named: list[str], above: str
) -> None:
    (tmp_path / VOLUME_FILE).write_text("{}")
    expected = {*map(Path, named), *([tmp_path / VOLUME_FILE] if above == "used" else [])}
    assert volumes(plan(*interfaces), tmp_path / "target") == expected


def test_what_a_run_brings_for_itself_cannot_be_asked_before(tmp_path: Path) -> None:
    assert volumes(plan({"name": "listio"}), tmp_path) == set()


@pytest.mark.parametrize(
    ("interface", "reaches"),
    [
        ({"name": "listio"}, True),
        ({"name": "listio", "transport": "tcp"}, False),
        ({"name": "mpiio", "prefix": "listio:"}, True),
        ({"name": "mpiio", "prefix": "listio:", "hints": {"listio_transport": "tcp"}}, False),
        ({"name": "mpiio", "prefix": ""}, False),
    ],
)
def test_clients_reach_into_servers_unless_told_otherwise(
    tmp_path: Path, interface: Json, reaches: bool
) -> None:
    volume = {"strider-listio-volume": 1, "servers": ["h:1"], "transport": "cma", "strip_bytes": 65536}
    (tmp_path / VOLUME_FILE).write_text(json.dumps(volume | {"secret": "0" * 64}))
    assert reaches_into_servers(plan(interface), tmp_path) is reaches


def test_a_server_that_does_not_answer_is_named_once() -> None:
    dead = {
        "server": 0,
        "address": "h:1",
        "answers": False,
        "error": "server 0 (h:1): h:1: Connection refused",
    }
    alive = {"server": 1, "address": "h:2", "answers": True}
    assert list(problems([dead, alive])) == ["server 0 does not answer: Connection refused"]


def test_servers_are_started_again_where_they_were(tmp_path: Path) -> None:
    assert (
        restart_commands(tmp_path, [0]) == f"strider listio stop {tmp_path}, then {serve_command(tmp_path)}"
    )
    record = HostRecord(program="p", hosts=["one", "two", "one"])
    (tmp_path / HOSTS_FILE).write_text(record.model_dump_json())
    assert serve_command(tmp_path) == f"strider listio serve {tmp_path} --hosts one,two"

"""Hosts and nodes on the command line."""

import json
import os
from pathlib import Path

import pytest

from strider.cli.ior import ior
from strider.cli.plan import plan
from strider.errors import StriderError
from strider.launch.launchers import places_of
from strider.running.options import RunOptions
from strider.running.sizing import prepare
from strider.suite.document import parse

SUITE = """\
[suite]
name = "s"
target = "{target}"
[[case]]
interface = "posix"
pattern = "segmented"
block = "1MiB"
clients = [1, 2]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite file."""
    file = tmp_path / "s.toml"
    file.write_text(SUITE.format(target=tmp_path))
    return file


@pytest.mark.usefixtures("engine_in_use")
def test_the_plan_shows_the_command_that_starts_the_ranks(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(suite=str(suite), hosts="n1,n2", nodes=2, per_node=2, launcher="env {ranks} {hosts} 'a b' {nodes}")
    line = capfd.readouterr().out.splitlines()[-1]
    assert line.startswith("start: /")
    assert "env 4 n1,n2 'a b' 2 /" in line


@pytest.mark.usefixtures("engine_in_use")
def test_nodes_and_ranks_per_node_are_the_clients_unless_others_are_given(suite: Path) -> None:
    document = parse(suite.read_text(), "s.toml")
    places = places_of("n1,n2", per_node=2, nodes=2)
    prepared = prepare(document, RunOptions(places=places))
    assert [case.clients for case in prepared.checked.suite.plan.cases] == [4]
    prepared = prepare(document, RunOptions(clients="1,4", places=places))
    assert [case.clients for case in prepared.checked.suite.plan.cases] == [1, 4]


@pytest.mark.usefixtures("engine_in_use")
def test_clients_that_contradict_the_nodes_are_refused(suite: Path) -> None:
    document = parse(suite.read_text(), "s.toml")
    places = places_of("n1,n2", per_node=2, nodes=2)
    for options in (
        RunOptions(clients="3", places=places),
        RunOptions(settings=["case.clients=3"], places=places),
    ):
        with pytest.raises(StriderError, match="has 3 ranks, but --nodes 2 --per-node 2 have 4"):
            prepare(document, options)


def test_tasks_of_ior_are_those_of_the_nodes(tmp_path: Path) -> None:
    file = tmp_path / "written.toml"
    ior(arguments=["-o", f"{tmp_path}/f", "-b", "1m", "-t", "256k", "-C"], suite=file, nodes=2, per_node=3)
    assert "clients = 6" in file.read_text()


NODES = """\
[suite]
name = "s"
target = "{target}"
[[case]]
interface = "posix"
pattern = "segmented"
block = "1MiB"
nodes = [1, 2]
per_node = 2
"""


@pytest.fixture
def nodes_suite(tmp_path: Path) -> Path:
    """A suite with cases of one and of two nodes."""
    file = tmp_path / "nodes.toml"
    file.write_text(NODES.format(target=tmp_path))
    return file


@pytest.mark.usefixtures("engine_in_use")
def test_a_run_with_nodes_keeps_the_clients_of_cases_that_name_theirs(nodes_suite: Path) -> None:
    places = places_of("n1,n2", nodes=2, per_node=4)
    document = parse(nodes_suite.read_text(), "s.toml")
    prepared = prepare(document, RunOptions(places=places))
    assert [case.clients for case in prepared.checked.suite.plan.cases] == [2, 4]
    assert prepared.checked.suite.plan.ranks == 8


@pytest.mark.usefixtures("engine_in_use")
def test_plan_and_run_refuse_too_few_hosts_alike(nodes_suite: Path) -> None:
    said = "nodes = 2: case 2 needs 2 nodes, but the run has 1"
    with pytest.raises(StriderError, match=said):
        plan(suite=str(nodes_suite), hosts="n1")
    with pytest.raises(StriderError, match=said):
        prepare(parse(nodes_suite.read_text(), "s.toml"), RunOptions(places=places_of("n1")))


@pytest.mark.usefixtures("engine_in_use")
def test_srun_gets_the_nodes_of_the_cases(
    nodes_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "srun"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    plan(suite=str(nodes_suite), launcher="srun")
    assert "srun --ntasks=4 --overcommit --nodes=2 --ntasks-per-node=2 " in capfd.readouterr().out


@pytest.mark.usefixtures("engine_in_use")
def test_the_plan_shows_the_seats_as_text_and_as_json(
    nodes_suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan(suite=str(nodes_suite), hosts="a,b")
    out = capfd.readouterr().out
    assert "seats (node: ranks of the case)\n  case 1: a: 0-1\n  case 2: a: 0-1, b: 2-3\n" in out
    plan(suite=str(nodes_suite), seats=True)
    assert capfd.readouterr().out == (
        "seats (node: ranks of the case)\n  case 1: n0: 0-1\n  case 2: n0: 0-1, n1: 2-3\n"
    )
    plan(suite=str(nodes_suite), seats=True, json=True)
    assert json.loads(capfd.readouterr().out)[1]["nodes"][1] == {"node": "n1", "ranks": [2, 3]}

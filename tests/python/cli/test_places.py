"""Hosts and nodes on the command line."""

from pathlib import Path

import pytest

from strider.cli.ior import ior
from strider.cli.plan import plan
from strider.cli.running import RunOptions, prepare
from strider.errors import StriderError
from strider.launch.launchers import places_of
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
    plan(str(suite), hosts="n1,n2", nodes=2, per_node=2, launcher="env {ranks} {hosts} 'a b' {nodes}")
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
        RunOptions(["case.clients=3"], places=places),
    ):
        with pytest.raises(StriderError, match="has 3 ranks, but --nodes 2 --per-node 2 have 4"):
            prepare(document, options)


def test_tasks_of_ior_are_those_of_the_nodes(tmp_path: Path) -> None:
    file = tmp_path / "written.toml"
    ior(["-o", f"{tmp_path}/f", "-b", "1m", "-t", "256k", "-C"], suite=file, nodes=2, per_node=3)
    assert "clients = 6" in file.read_text()

"""Options of placement mean the same to every verb: a job runs and reserves the nodes of the plan."""

import inspect
import json
import os
import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from strider.cli import main
from strider.cli.ior import ior
from strider.cli.mdtest import mdtest
from strider.cli.plan import plan
from strider.cli.resume import resume
from strider.cli.run import run
from strider.cli.submit import submit
from strider.engine import Engine
from strider.errors import StriderError
from strider.jobs import Reservation, parse_options, reserve
from strider.launch.launchers import Places, places_of
from strider.running.options import RunOptions
from strider.running.resuming import places_again
from strider.running.sizing import prepare
from strider.suite import Changes
from strider.suite.document import parse, read
from strider.suite.load import build

VERBS = (run, resume, plan, ior, mdtest, submit)
HOSTS = ("hosts", "hostfile")
"""The scheduler chooses the hosts of a job."""
PLACES = ("nodes", "per_node", "bind")
SUITES = {
    "few clients": "clients = 2",
    "a sweep": "clients = [1, 2, 8]",
    "axes of nodes": "nodes = [1, 4]\nper_node = 2",
    "nodes alone": "nodes = 2\nclients = 8",
}
SUITE = """\
[suite]
name = "s"
target = "{target}"
[[case]]
interface = "posix"
pattern = "segmented"
block = "64KiB"
transfer = "64KiB"
{keys}
"""


@pytest.mark.parametrize("option", [*HOSTS, *PLACES])
def test_all_verbs_share_the_options_of_placement(option: str) -> None:
    verbs = [verb for verb in VERBS if option in PLACES or verb is not submit]
    shared = {inspect.signature(verb).parameters[option].annotation for verb in verbs}
    assert len(shared) == 1


@pytest.fixture(autouse=True)
def slurm(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of Slurm that are found, outside of an allocation."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sbatch", "squeue", "scancel", "srun"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)


@pytest.fixture(params=SUITES)
def suite(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "s.toml"
    file.write_text(SUITE.format(target=tmp_path, keys=SUITES[request.param]))
    return file


def given() -> list[list[str]]:
    """All combinations of the options of placement."""
    choices = [
        [[], ["-N", "4"]],
        [[], ["--per-node", "2"], ["--per-node", "8"]],
        [[], ["-n", "1,8"]],
        [[], ["--bind", "core"]],
    ]
    return [[word for words in chosen for word in words] for chosen in product(*choices)]


def typed(words: list[str]) -> dict[str, Any]:
    found = dict(zip(words[::2], words[1::2], strict=True))
    nodes, per_node = found.get("-N") or found.get("--nodes"), found.get("--per-node")
    return {
        "clients": found.get("-n"),
        "places": places_of(
            nodes=int(nodes) if nodes else None,
            per_node=int(per_node) if per_node else None,
            bind=found.get("--bind"),
        ),
    }


def planned(suite: Path, words: list[str], capfd: pytest.CaptureFixture[str]) -> list[Any] | None:
    """The ranks of each case on each node, and the start; None if the plan is refused."""
    codes, out = [], []
    for more in (["--seats", "--json"], []):
        codes.append(main(["plan", str(suite), "--launcher", "srun", *words, *more]))
        out.append(capfd.readouterr().out)
    if any(codes):
        return None
    (start,) = re.findall("start: .*srun (.*) /", out[1])
    return [json.loads(out[0]), start]


@pytest.mark.slow
def test_a_job_runs_what_the_plan_of_the_same_options_shows(
    suite: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    refused = []
    for words in given():
        same = planned(suite, words, capfd)
        store = ["--store", str(tmp_path / "store"), "--executor", "slurm", "--show"]
        code = main(["submit", str(suite), *words, *store])
        script = capfd.readouterr().out
        if same is None:
            assert code == 2, words
            refused.append(words)
            continue
        assert code == 0, words
        (line,) = [line for line in script.splitlines() if " strider run " in line]
        inside = shlex.split(line[line.index(" strider run ") :])
        inside = inside[3 : inside.index("--launcher")]
        assert planned(suite, inside, capfd) == same, words
        asked = typed(words)
        prepared = prepare(read(suite), RunOptions(launcher="srun", **asked))
        command = prepared.inputs.launcher.command(prepared.checked.suite.plan.ranks)
        assert " ".join(command[1:]) == same[1], words
        reserved = {key: int(value) for key, value in re.findall("#SBATCH --(n[a-z-]+)=([0-9]+)", script)}
        ranks = prepared.checked.suite.plan.ranks
        assert reserved["nodes"] * reserved["ntasks-per-node"] == reserved["ntasks"] >= ranks, words
        places = prepared.inputs.launcher.places
        if places.are_given:
            mapping = places.mapping(ranks)
            assert (reserved["nodes"], reserved["ntasks-per-node"]) == (mapping.nodes, mapping.per_node)
    assert len(refused) < len(given())


def test_a_job_of_four_nodes_with_eight_ranks_on_each_runs_32_ranks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SUITE.format(target=tmp_path, keys="clients = 2"))
    words = ["submit", str(file), "-N", "4", "--per-node", "8", "--executor", "slurm", "--show"]
    assert main([*words, "--store", str(tmp_path / "store")]) == 0
    found = capfd.readouterr()
    assert "#SBATCH --nodes=4\n" in found.out
    assert "#SBATCH --ntasks=32\n" in found.out
    assert " --nodes 4 --per-node 8 --launcher srun " in found.out
    assert "note" not in found.err


def test_all_options_of_slurm_reach_the_script(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = {
        "partition": "long",
        "account": "lab",
        "qos": "high",
        "constraint": "ssd&ib",
        "reservation": "maint",
    }
    file = tmp_path / "s.toml"
    file.write_text(SUITE.format(target=tmp_path, keys="clients = 2"))
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    store = ["--store", str(tmp_path / "store")]
    assert main(["submit", str(file), "--executor", "slurm", "--show", *words, *store]) == 0
    found = capfd.readouterr().out
    for name, value in given.items():
        assert f'#SBATCH --{name}="{value}"\n' in found


def reservation(
    engine: Engine, keys: str, nodes: int | None = None, per_node: int | None = None, executor: str = "slurm"
) -> Reservation:
    changes = Changes(nodes=nodes, per_node=per_node)
    loaded = build(parse(SUITE.format(target="/data", keys=keys), "s.toml"), engine.description, changes)
    return reserve(loaded, parse_options(executor=executor), Places(nodes=nodes, per_node=per_node))


def test_places_that_stay_idle_are_named(engine: Engine) -> None:
    axes = "nodes = [1, 2]\nper_node = 2"
    idle = reservation(engine, axes, nodes=8)
    assert (idle.options.nodes, idle.options.per_node, idle.busy) == (8, 2, 4)
    assert idle.note.startswith("the job reserves 16 places (8 nodes, 2 on each), and at most 4 clients of ")
    assert reservation(engine, axes).note == ""
    assert reservation(engine, "clients = 2", nodes=4, per_node=6).note == ""
    assert "at most 1 client of" in reservation(engine, "clients = 1", per_node=8).note
    with pytest.raises(StriderError, match="2 ranks cannot be on 4 nodes"):
        reservation(engine, "clients = 2", nodes=4)


def test_a_process_of_this_machine_has_one_node(engine: Engine) -> None:
    with pytest.raises(StriderError, match="--nodes 2: --executor local is this machine"):
        reservation(engine, "clients = 4", nodes=2, executor="local")


def test_a_resumed_run_keeps_its_places_unless_others_are_given() -> None:
    options = {"places": Places(nodes=4, per_node=2, bind="core").to_json()}
    assert places_again(Places(), options).words == ["--nodes", "4", "--per-node", "2", "--bind", "core"]
    assert places_again(Places(nodes=2, per_node=4), options).words[:4] == ["--nodes", "2", "--per-node", "4"]

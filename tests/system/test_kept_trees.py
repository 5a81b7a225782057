"""Trees of data sets: later runs find the items of the marker, and only items of a set are removed."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness import command_of, descendants, strider_command, wait_for
from sets import Place, measured
from strider.datasets import find
from strider.datasets.trees import Population
from strider.engine import Engine
from strider.store import load
from strider.suite import ready_made
from strider.suite.document import parse

HEAD = '[suite]\nname = "trees"\ninterleave = "none"\n'
CASE = """
[[case]]
dataset = "kept"
interface = "posix"
tree = "balanced"
items = 20
depth = 1
fanout = 2
file_size = 300
clients = 2
repetitions = 1
"""
MAKER = HEAD + CASE + 'operations = ["create"]\n'


def user(*operations: str, **keys: object) -> str:
    """Returns a suite of one case that uses the tree."""
    further = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f"{HEAD}{CASE}operations = {list(operations)}\n{further}"


@pytest.fixture
def place(
    memory_folder: Path, engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Place:
    """A target in memory, and a store of its own."""
    if not engine.description.trees:
        pytest.skip("this engine has no trees")
    monkeypatch.setenv("STRIDER_STORE", str(memory_folder / "store"))
    (memory_folder / "target").mkdir()
    return Place(memory_folder, capsys)


def population(place: Place) -> Population:
    tree = place.marker().tree
    assert tree is not None
    return tree.population


def test_a_tree_lives_through_runs_and_ends_with_its_removal(place: Place) -> None:
    place.run(MAKER)
    assert population(place).files == 60
    place.run(
        user("stat", "small-read", "mkdir", "rename", "link", verify='"full"', readback='"growing-shift"')
    )
    found = population(place)
    assert (found.renamed_files, found.directories, found.hard_links) == (True, 60, 60)
    assert place.verify()[0] == 0
    place.run(
        user("stat", "small-read", "stat-directory", "rename", "rmdir", verify='"full"', readback='"shift"')
    )
    assert (population(place).renamed_files, population(place).directories) == (False, 0)
    code, printed, _ = place.data("verify", "--quiet")
    assert (code, "240 files, 3 directories" in printed) == (0, True)
    code, printed, _ = place.data("remove")
    assert (code, printed) == (0, "data set kept: 243 entries removed\n")
    assert list(place.target.iterdir()) == []


def test_what_a_deadline_left_is_all_that_later_runs_visit(place: Place) -> None:
    cut = 'deadline = "0.05s"\nrate_limit = 400\n'
    place.run(MAKER.replace("items = 20", "items = 2000") + cut)
    made = population(place).files
    assert 0 < made < 6000
    assert len(list(place.folder.rglob("f*.*"))) == 2 * made
    assert place.verify()[0] == 0
    reader = user("stat", "small-read", "unlink", verify='"full"').replace("items = 20", "items = 2000")
    place.run(reader)
    assert population(place).files == 0
    assert list(place.folder.rglob("f*.*")) == []
    assert place.data("remove")[0] == 0


def test_a_run_that_removes_the_tree_removes_the_set(place: Place) -> None:
    place.run(MAKER)
    place.run(user("unlink", "remove-tree"))
    assert list(place.target.iterdir()) == []


def test_damage_of_a_tree_that_the_command_made_is_named(place: Place) -> None:
    settings = ("items=20", "depth=1", "fanout=2", "file_size=300")
    place.make("--tree", "balanced", "-n", 2, *(word for each in settings for word in ("--set", each)))
    top = place.folder / "tree.0"
    (top / "f0.0").unlink()
    with (top / "f1.1").open("r+b") as file:
        file.seek(17)
        file.write(b"?")
    (top / "b0" / "f1.25").write_bytes(b"short")
    (top / "mine").write_text("mine", encoding="utf-8")
    code, found = place.verify()
    assert code == 1
    problems = "\n".join(found["problems"])
    assert f"{top}/f0.0: missing" in problems
    assert f"{top}/b0/f1.25: 5 bytes, 300 were written" in problems
    assert f"{top}/mine: not an item of the data set" in problems
    (top / "f0.0").write_bytes(bytes(300))
    wrong = str(place.verify()[1]["errors"])
    assert "f1.1" in wrong
    assert "f0.0" in wrong
    code, _, errors = place.data("remove")
    assert code == 1
    assert f"{top}/mine: not an item of the data set" in errors
    assert [path.name for path in top.iterdir()] == ["mine"]


def test_what_does_not_fit_is_refused_before_the_run(place: Place) -> None:
    place.run(MAKER)
    pattern = 'dataset = "kept"\ninterface = "posix"\npattern = "segmented"\ntransfer = 8\nblock = 8\n'
    messages = {
        user("stat").replace("items = 20", "items = 30"): "its tree has items = 20, the case items = 30",
        user("stat").replace("clients = 2", "clients = 1"): "2 clients, the case has clients = 1",
        user("create"): "it has files, and create needs a tree without them",
        user("mix", mix="{ stat = 1 }"): "after a mix",
        user("unlink").replace("repetitions = 1", "repetitions = 2"): "in the second repetition",
        f"{HEAD}[[case]]\n{pattern}": "holds trees",
    }
    for suite, message in messages.items():
        assert message in place.refusal_of(suite)


def test_a_new_set_needs_a_case_that_makes_it(place: Place) -> None:
    assert 'begin the operations of this case with "create"' in place.refusal_of(user("stat"))
    two = (
        HEAD.replace("none", "random") + CASE + 'operations = ["create"]\n' + CASE + 'operations = ["stat"]\n'
    )
    assert 'interleave = "none"' in place.refusal_of(two)


def test_the_phases_of_hpc_mix_work_on_what_earlier_ones_left(place: Place) -> None:
    text = ready_made()["hpc-mix"].read_text(encoding="utf-8")
    for long, short in (
        ('"2s"', '"0.2s"'),
        ('"256MiB"', '"8MiB"'),
        ("20000", "400"),
        ("10000", "300"),
        ("2000", "20"),
    ):
        text = text.replace(long, short)
    outcome = measured(parse(text, "hpc-mix.toml"), str(place.target))
    assert outcome.exit_code == 0, outcome.errors
    samples = load(outcome.directory.path).samples
    assert all(sample.valid for sample in samples)
    requests = {(sample.case, sample.operation): sample.requests for sample in samples}
    created = {number: requests[number, "create"] for number in (2, 4)}
    assert [requests[case, "stat"] for case in (8, 10)] == list(created.values())
    assert [requests[case, "unlink"] for case in (11, 13)] == list(created.values())
    assert requests[12, "small-read"] == created[4]
    assert (requests[1, "write"], requests[3, "write"]) == (requests[7, "read"], requests[9, "read"])
    assert sorted(path.name for path in place.target.iterdir()) == [
        "strider-data-mix-easy",
        "strider-data-mix-hard",
    ]


def test_a_killed_run_leaves_a_marker_that_says_so_and_is_removed(place: Place) -> None:
    suite = place.path / "slow.toml"
    suite.write_text(MAKER.replace("items = 20", "items = 100000") + "rate_limit = 2000\n", encoding="utf-8")
    words = ("--target", place.target, "--quiet", "--ceilings", "none")
    killed = subprocess.Popen(strider_command("run", suite, *words), start_new_session=True)
    wait_for(lambda: len(list(place.folder.rglob("f*.*"))) > 100, "the first files")
    ranks = descendants(killed.pid)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_for(lambda: not any(map(command_of, ranks)), "the end of the ranks")
    assert place.marker().state == "making"
    (place.folder / "tree.0" / "mine").write_text("mine", encoding="utf-8")
    assert place.verify()[0] == 1
    assert "was never completed" in place.refusal_of(user("stat").replace("items = 20", "items = 100000"))
    assert place.data("remove")[0] == 1
    assert [path.name for path in (place.folder / "tree.0").iterdir()] == ["mine"]
    (place.folder / "tree.0" / "mine").unlink()
    assert place.data("remove")[0] == 0
    assert find(place.target, "kept") is None

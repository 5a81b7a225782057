"""Trees of data sets: their names, missing items, and the remains after a removal."""

from pathlib import Path

import pytest

from datasets_builders import use
from strider.datasets import find, remove, rows
from strider.datasets.folder import opened, path_of
from strider.datasets.marker import Marker, Owner
from strider.datasets.trees import KeptTree, Named, Population, Shape
from strider.datasets.verification import examine

SHAPE = Shape(name="balanced", items=3, depth=1, fanout=2)
"""Three directories; each rank has 9 items."""
FILES = Population(present=["tree", "files"], files=9, file_bytes=4, written_bytes=4)


def kept(population: Population = FILES, sharing: str | int = "shared", order: str = "forward") -> KeptTree:
    made = KeptTree.of_case(SHAPE.model_dump(), 2, sharing, order)
    return made.model_copy(update={"population": population, "is_exact": True})


def made(target: Path, tree: KeptTree, state: str = "complete") -> Path:
    """Makes a data set with its trees; returns its folder."""
    path = path_of(target, "kept")
    path.mkdir()
    marker = Marker(id="a", name="kept", state="complete", owner=Owner.me(), made=use(), seed=1, generation=1)
    marker = marker.with_(prefix="tree.", tree=tree, state=state)
    with opened(target, "kept") as folder:
        folder.write(marker)
    for number in range(tree.trees):
        _make(path / f"tree.{number}", tree, number, 0)
    return path


def _make(path: Path, tree: KeptTree, number: int, directory: int) -> None:
    path.mkdir()
    for named in tree.expected(number, directory):
        name = SHAPE.name_of(named.kind, named.owner, named.number)
        match named.kind:
            case "d" | "e":
                (path / name).mkdir()
            case "s":
                (path / name).symlink_to("f" + name[1:])
            case "l":
                (path / name).hardlink_to(path / ("f" + name[1:]))
            case _:
                (path / name).write_bytes(bytes(tree.population.file_bytes))
    for child, below in enumerate(SHAPE.children(directory)):
        _make(path / f"b{child}", tree, number, below)


def problems(target: Path) -> str:
    return "\n".join(examine(target, "kept").problems)


@pytest.mark.parametrize("sharing", ["shared", "per-rank", 2])
def test_a_whole_tree_has_no_problems_and_is_removed_whole(tmp_path: Path, sharing: str | int) -> None:
    everything = FILES.model_copy(
        update={
            "present": ["tree", "files", "directories", "hard-links", "symbolic-links"],
            "directories": 9,
            "hard_links": 9,
            "symbolic_links": 9,
        }
    )
    tree = kept(everything, sharing)
    made(tmp_path, tree)
    (listed,) = rows(tmp_path)
    assert (listed["tree"], listed["files"], listed["bytes"]) == ("balanced", 54, 72)
    assert listed["directories"] == 18 + 3 * tree.trees
    assert problems(tmp_path) == ""
    removed = remove(tmp_path, "kept")
    assert (removed.kept, removed.files) == ([], tree.file_count + tree.directory_count)
    assert list(tmp_path.iterdir()) == []


def test_missing_surplus_and_damaged_items_are_named(tmp_path: Path) -> None:
    folder = made(tmp_path, kept())
    (folder / "tree.0" / "f1.2").unlink()
    (folder / "tree.0" / "b1" / "f0.7").write_bytes(b"12345")
    (folder / "tree.0" / "b0" / "f0.4").unlink()
    (folder / "tree.0" / "b0" / "f0.4").mkdir()
    (folder / "tree.0" / "b0" / "f2.4").write_bytes(b"")
    (folder / "tree.0" / "notes").write_text("mine", encoding="utf-8")
    (folder / "elsewhere").mkdir()
    found = problems(tmp_path)
    assert f"{folder}/tree.0/f1.2: missing" in found
    assert f"{folder}/tree.0/b1/f0.7: 5 bytes, 4 were written" in found
    assert f"{folder}/tree.0/b0/f0.4: not a regular file" in found
    assert f"{folder}/tree.0/b0/f2.4: not an item of the data set" in found
    assert f"{folder}/tree.0/notes: not an item of the data set" in found
    assert f"{folder}/elsewhere: not a tree of the data set" in found
    assert len(found.splitlines()) == 6


def test_a_marker_that_lies_about_its_size_costs_nothing(tmp_path: Path) -> None:
    huge = Population(present=["tree", "files", "directories"], files=1 << 48, directories=1 << 48)
    tree = KeptTree.of_case({"name": "balanced", "items": 1 << 48}, 2, "shared", "forward")
    folder_of_set = made(tmp_path, tree.model_copy(update={"is_exact": True}))
    for child in ("b0", "b1"):
        (folder_of_set / "tree.0" / child).rmdir()
    with opened(tmp_path, "kept") as folder:
        lying = tree.model_copy(update={"population": huge, "is_exact": True})
        folder.write(folder.read().with_(tree=lying))
    assert "more than 1000 differences" in problems(tmp_path)
    assert remove(tmp_path, "kept").kept == []


def test_a_removal_leaves_foreign_entries_and_what_a_link_leads_to(tmp_path: Path) -> None:
    folder = made(tmp_path, kept())
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f0.3").write_bytes(b"mine")
    for number in (3, 4, 5):
        (folder / "tree.0" / "b0" / f"f0.{number}").unlink()
        (folder / "tree.0" / "b0" / f"f1.{number}").unlink()
    (folder / "tree.0" / "b0").rmdir()
    (folder / "tree.0" / "b0").symlink_to(outside)
    (folder / "tree.0" / "b1" / "f0.9").write_bytes(b"mine")
    removed = remove(tmp_path, "kept")
    assert [line.partition(":")[0].removeprefix(f"{folder}/") for line in removed.kept] == [
        "tree.0/b0",
        "tree.0/b1/f0.9",
    ]
    assert (outside / "f0.3").read_bytes() == b"mine"
    assert (folder / "tree.0" / "b1" / "f0.9").read_bytes() == b"mine"
    assert not (folder / "tree.0" / "f0.0").exists()
    marker = find(tmp_path, "kept")
    assert marker is not None
    assert marker.state == "removing"


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_after_a_deadline_only_the_items_that_were_made_are_the_sets(tmp_path: Path, order: str) -> None:
    cut = FILES.model_copy(update={"files": 4})
    folder = made(tmp_path, kept(cut, order=order))
    assert problems(tmp_path) == ""
    surplus = folder / "tree.0" / ("b0/f0.5" if order == "forward" else "f0.1")
    surplus.write_bytes(b"1234")
    assert problems(tmp_path) == f"{surplus}: not an item of the data set"
    assert remove(tmp_path, "kept").kept[0].startswith(f"{surplus}: ")


def test_of_a_random_order_the_number_of_items_is_known(tmp_path: Path) -> None:
    cut = FILES.model_copy(update={"files": 4})
    folder = made(tmp_path, kept(cut, order="random"))
    for owner, numbers in ((0, (0, 2, 5, 8)), (1, (1, 3, 4))):
        for number in numbers:
            place = folder / "tree.0" / ("" if number < 3 else f"b{number // 3 - 1}")
            (place / f"f{owner}.{number}").write_bytes(b"1234")
    assert problems(tmp_path) == f"{folder}/tree.0: 3 items f1.*, 4 were made"
    assert remove(tmp_path, "kept").kept == []


@pytest.mark.parametrize("state", ["making", "updating"])
def test_what_a_killed_run_may_have_made_is_removed(tmp_path: Path, state: str) -> None:
    tree = kept(Population())
    folder = made(tmp_path, tree.model_copy(update={"is_exact": False}), state)
    (folder / "tree.0" / "b1" / "f1.8").write_bytes(b"1")
    (folder / "tree.0" / "r0.0").write_bytes(b"")
    (folder / "tree.0" / "b0" / "d0.3").mkdir()
    assert "ended while it" in problems(tmp_path)
    assert remove(tmp_path, "kept").kept == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["f0.9", "f2.0", "f00.0", "f0.0x", "g0.0", "f0.3", "b2", "b", "b00", "f0.0.0", "F0.0"]
)
def test_names_of_others_are_no_items(name: str) -> None:
    tree = kept()
    assert tree.item(0, 0, name) is None
    assert tree.child(0, name) is None


def test_names_are_padded_and_items_dealt_as_by_the_engine() -> None:
    padded = Shape(name="balanced", items=2, depth=2, fanout=3, place="leaves", name_length=8)
    tree = KeptTree.of_case(padded.model_dump(), 5, 2, "forward")
    assert padded.name_of("f", 1, 5) == "f1.5xxxx"
    assert (padded.directories, padded.all_items, padded.items_in(4)) == (13, 18, range(2))
    assert (padded.items_in(3), list(padded.children(1))) == (range(0), [4, 5, 6])
    assert [tree.ranks_of(number) for number in range(2)] == [3, 2]
    assert tree.item(1, 4, "d1.1xxxx") == Named("d", 1, 1)
    assert tree.item(1, 4, "d2.1xxxx") is None


def test_a_case_that_does_not_fit_is_named_with_both_values() -> None:
    tree = kept()
    fitting = {**SHAPE.model_dump(), "file_size": 7}
    assert tree.misfit(fitting, 2, "shared") == ""
    assert tree.misfit({**fitting, "items": 4}, 2, "shared") == "its tree has items = 3, the case items = 4"
    assert "2 clients, the case has clients = 3" in tree.misfit(fitting, 3, "shared")
    assert "sharing = shared, the case sharing = per-rank" in tree.misfit(fitting, 2, "per-rank")

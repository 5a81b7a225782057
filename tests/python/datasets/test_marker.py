"""The marker of a data set: its content, and its rejection."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.datasets import marker as markers
from strider.datasets.marker import MARKER, NEW_MARKER, Marker, Owner, Use, Writer, is_name
from strider.errors import StriderError


def a_marker(**changes: object) -> Marker:
    """A complete set of three files."""
    return Marker(
        id="abc",
        name="kept",
        state="complete",
        owner=Owner.me(),
        made=Use(run="r", at="2026-01-01T00:00:00Z"),
        seed=5,
        generation=2,
        last_generation=2,
        files=[(2, 100), (1, 50)],
    ).with_(**changes)


def a_tree(**changes: object) -> dict[str, object]:
    """The trees of a set, as in its marker."""
    return {"shape": {"name": "balanced", "items": 1}, "clients": 1, "sharing": "shared", **changes}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """An open folder."""
    opened = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield opened
    os.close(opened)


def test_a_marker_is_read_as_it_was_written(folder: int, tmp_path: Path) -> None:
    assert markers.read(folder, "set") is None
    marker = a_marker(writer=Writer.me("run"), parts=[(3, 10)])
    markers.write(folder, "set", marker)
    assert markers.read(folder, "set") == marker
    assert not (tmp_path / NEW_MARKER).exists()
    assert '"id": "abc"' in (tmp_path / MARKER).read_text(encoding="utf-8")[:4096], "the engine looks there"


def test_what_a_power_cut_left_of_a_new_marker_does_not_matter(folder: int, tmp_path: Path) -> None:
    markers.write(folder, "set", a_marker())
    (tmp_path / NEW_MARKER).write_text("{", encoding="utf-8")
    assert markers.read(folder, "set") == a_marker()
    markers.write(folder, "set", a_marker(generation=3))
    assert markers.read(folder, "set") == a_marker(generation=3)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("files", [[1, 1 << 63]]),
        ("tree", a_tree(shape={"name": "balanced", "items": 1, "depth": 63, "fanout": 10**9})),
        ("tree", a_tree(sharing=-3)),
        ("format", "other"),
        ("version", 2),
        ("name", "../kept"),
        ("prefix", "../data."),
        ("files", [[-1, 5]]),
        ("files", [[10**9, 5]]),
        ("digits", 0),
        ("state", "lost"),
    ],
)
def test_a_marker_with_other_values_is_refused(folder: int, tmp_path: Path, key: str, value: object) -> None:
    document = json.loads(a_marker().model_dump_json(by_alias=True))
    (tmp_path / MARKER).write_text(json.dumps({**document, key: value}), encoding="utf-8")
    with pytest.raises(StriderError, match=f"set/{MARKER}: not the marker of a data set"):
        markers.read(folder, "set")


@pytest.mark.parametrize("prefix", ["..", "."])
@pytest.mark.parametrize("more", [{"files": [[1, 5]]}, {"files": [], "tree": a_tree()}])
def test_a_file_without_a_number_is_no_directory(
    folder: int, tmp_path: Path, prefix: str, more: dict[str, object]
) -> None:
    document = json.loads(a_marker().model_dump_json(by_alias=True))
    forged = {**document, **more, "prefix": prefix, "digits": 0}
    (tmp_path / MARKER).write_text(json.dumps(forged), encoding="utf-8")
    with pytest.raises(StriderError, match="digits: files without a number need a name"):
        markers.read(folder, "set")


def test_a_set_has_the_files_of_its_numbers() -> None:
    marker = a_marker(prefix="testFile.", digits=8)
    assert all(map(marker.has, marker.sizes()))
    others = ("testFile.00000003", "testFile.1", "testFile.", "testFile.0000000١", "data.0", "..")
    assert not any(map(marker.has, others))
    assert a_marker(prefix="testFile", digits=0, files=[(1, 5)]).has("testFile")
    assert not a_marker(prefix="testFile", digits=0, files=[(1, 5)]).has("testFile0")


def test_a_link_is_no_marker(folder: int, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(a_marker().model_dump_json(by_alias=True), encoding="utf-8")
    (tmp_path / MARKER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StriderError):
        markers.read(folder, "set")


def test_files_have_their_numbers_in_their_names() -> None:
    assert a_marker().sizes() == {"data.0": 100, "data.1": 100, "data.2": 50}
    assert a_marker().total_bytes == 250
    assert a_marker(prefix="testFile.", digits=8).file_name(12) == "testFile.00000012"
    assert a_marker(prefix="testFile", digits=0).file_name(0) == "testFile"


def test_a_writer_is_active_while_its_process_runs() -> None:
    me = Writer.me("run")
    assert f"process {os.getpid()}" in me.active()
    assert me.model_copy(update={"start": me.start + 1}).active() == "", "another process with its number"
    assert me.model_copy(update={"boot": "before"}).active() == ""
    assert "not visible" in me.model_copy(update={"host": "elsewhere"}).active()


def test_names_are_no_paths() -> None:
    assert all(map(is_name, ("a", "run-1.x_y", "9" * 64)))
    assert not any(map(is_name, ("", ".", "..", "a/b", "-a", "9" * 65, "a b", "a\n")))

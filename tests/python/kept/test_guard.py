"""What may be replaced under the names of kept files, and how files get these names."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.datasets.marker import Owner, Use
from strider.errors import StriderError
from strider.kept import FileNames, KeptClaims, KeptUse, examine, moving
from strider.kept.claims import KeptSet
from strider.kept.guard import opened
from strider.kept.marker import KeptFile, KeptMarker, write


def names_of(folder: Path, *, per_rank: bool = False, unique: bool = False) -> FileNames:
    """Returns names in a folder."""
    return FileNames(folder, "file", per_rank=per_rank, unique=unique)


def mark(names: FileNames, number: int = 0) -> KeptFile:
    """Marks an existing file as Strider's."""
    status = names.path(number).stat()
    entry = KeptFile(
        number=number,
        bytes=status.st_size,
        inode=status.st_ino,
        mtime_ns=status.st_mtime_ns,
        seed=1,
        generation=1,
    )
    with opened(names) as folder:
        write(folder, names, KeptMarker(owner=Owner.me(), made=Use(run="r", at="now"), files=[entry]))
    return entry


def test_names_are_those_of_ior(tmp_path: Path) -> None:
    names = FileNames(tmp_path, "file", per_rank=True, unique=True, suffix=".2")
    assert names.path(13) == tmp_path / "13" / "file.00000013.2"
    assert names_of(tmp_path).path(0) == tmp_path / "file"


def test_a_marked_file_may_be_replaced_until_it_differs(tmp_path: Path) -> None:
    names = names_of(tmp_path)
    (tmp_path / "file").write_text("data")
    assert "was not written by Strider" in examine(names, 1).objection_to_replacing()
    entry = mark(names)
    assert examine(names, 1).objection_to_replacing() == ""
    assert entry.fits((tmp_path / "file").stat())
    os.utime(tmp_path / "file", (1, 1))
    assert not entry.fits((tmp_path / "file").stat())
    assert "has changed since Strider wrote it" in examine(names, 1).objection_to_replacing()
    assert examine(names, 1).own(0) is None


def test_a_file_that_took_the_name_is_foreign(tmp_path: Path) -> None:
    names = names_of(tmp_path)
    (tmp_path / "file").write_text("data")
    mark(names)
    (tmp_path / "other").write_text("data")
    (tmp_path / "other").replace(tmp_path / "file")
    existing = examine(names, 1)
    assert "or is another file" in existing.objection_to_replacing()
    assert existing.own(0) is None


def test_a_directory_of_a_task_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "0").symlink_to("elsewhere")
    with pytest.raises(Exception, match="0 is not a directory: -u needs a directory for each task"):
        examine(names_of(tmp_path, per_rank=True, unique=True), 1)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """A descriptor of an empty directory."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("missing", [(), ("rename",), ("rename", "link")])
def test_a_file_is_moved_but_never_over_another(
    tmp_path: Path, folder: int, missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EINVAL, "as of a file system that cannot")

    if "rename" in missing:
        monkeypatch.setattr(moving, "_rename_unless_exists", refuse)
    if "link" in missing:
        monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "new").write_text("new")
    (tmp_path / "precious").write_text("precious")
    with pytest.raises(FileExistsError):
        moving.move("new", folder, "precious", folder)
    assert (tmp_path / "precious").read_text() == "precious"
    moving.move("new", folder, "file", folder)
    assert (tmp_path / "file").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "precious"]


def test_a_file_that_takes_the_name_just_before_the_removal_is_put_back(tmp_path: Path, folder: int) -> None:
    names = names_of(tmp_path)
    (tmp_path / "file").write_text("data")
    mark(names)
    (tmp_path / "trash").mkdir()
    trash = os.open(tmp_path / "trash", os.O_RDONLY)
    use = KeptUse(
        name=".kept-0-new",
        place="own",
        folder=str(tmp_path),
        base="file",
        files=1,
        writes=True,
        keeps="always",
        removes_first=True,
    )
    one = KeptSet(
        uses={1: use}, path=tmp_path, folder=folder, work=folder, manifest={}, before=examine(names, 1)
    )
    (tmp_path / "precious").write_text("data")
    (tmp_path / "precious").replace(tmp_path / "file")
    with pytest.raises(StriderError, match="was replaced by another process"):
        KeptClaims("run", {use.name: one}, trash).begin()
    assert (tmp_path / "file").read_text() == "data"
    assert list((tmp_path / "trash").iterdir()) == []
    os.close(trash)

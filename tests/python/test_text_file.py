"""Text files that are replaced as a whole."""

from pathlib import Path

import pytest

from strider.text_file import write_whole


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    write_whole(file, "old")
    write_whole(file, "nëw")
    assert file.read_text(encoding="utf-8") == "nëw"
    assert list(tmp_path.iterdir()) == [file]


def test_a_secret_is_its_owners_from_the_first_byte_on(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("open to all")
    write_whole(file, "secret", mode=0o600)
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_replaced_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kept").touch()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "one", "text")
    assert [path.name for path in tmp_path.rglob("*")] == ["one", "kept"]


def test_text_that_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "one", "\udcff")
    assert list(tmp_path.iterdir()) == []

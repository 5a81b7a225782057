"""Text files that are replaced as a whole."""

from pathlib import Path

import pytest

from strider.text_file import json_of, read_text, write_whole


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


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_bytes(b"\xef\xbb\xbf[suite]\r\n")
    assert read_text(tmp_path / "suite.toml") == "[suite]\n"


def test_json_that_is_nested_too_deeply_is_none() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        json_of(b"[" * 200_000)
    assert json_of('{"a": [1]}') == {"a": [1]}

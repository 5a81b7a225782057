"""The status file of IOR and mdtest, in their format."""

import os
from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.importers import status_file


def test_a_count_is_written_as_the_programs_print_it(tmp_path: Path) -> None:
    file = tmp_path / "status"
    status_file.write(file, 42, "-x")
    assert file.read_bytes() == b"42"
    assert status_file.read(file, "-x") == 42
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["17", "17\n", "  17 x"])
def test_a_count_is_read_as_by_scanf(tmp_path: Path, text: str) -> None:
    file = tmp_path / "status"
    file.write_text(text)
    assert status_file.read(file, "-x") == 17


def test_a_missing_file_has_no_count(tmp_path: Path) -> None:
    assert status_file.read(tmp_path / "status", "-x") is None


@pytest.mark.parametrize("text", ["", "x", "-1", "1" * 19, "1.5", "٣"])
def test_what_is_no_count_is_refused_with_the_name_of_the_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "status"
    file.write_text(text)
    with pytest.raises(StriderError, match=f"-x: {file} does not begin with a whole number"):
        status_file.read(file, "-x")


def test_a_link_is_replaced_by_no_status_file(tmp_path: Path) -> None:
    link = tmp_path / "status"
    link.symlink_to(tmp_path / "precious")
    with pytest.raises(StriderError, match="not a regular file"):
        status_file.require_writable(link, "-x")
    with pytest.raises(StriderError, match="mkdir -p"):
        status_file.require_writable(tmp_path / "missing" / "status", "-x")
    status_file.require_writable(tmp_path / "new", "-x")


def test_a_file_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "status"
    for text in ("", "17", "18\n"):
        file.write_text(text)
        status_file.require_writable(file, "-x")
        status_file.write(file, 19, "-x")
    for text in ("my thesis", "17 and more", "1" * 65):
        file.write_text(text)
        with pytest.raises(StriderError, match="exists and is not a status file: remove it"):
            status_file.require_writable(file, "-x")
        with pytest.raises(StriderError, match="exists and is not a status file"):
            status_file.write(file, 19, "-x")
        assert file.read_text() == text


def test_a_pipe_does_not_hang_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StriderError, match="not a regular file"):
        status_file.read(tmp_path / "pipe", "-x")


def test_a_failed_write_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "status"
    with pytest.raises(StriderError, match=f"-x: cannot write {file}: No such file"):
        status_file.write(file, 1, "-x")

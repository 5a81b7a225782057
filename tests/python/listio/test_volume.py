"""The file of a volume: information for clients, and only for them."""

import json
import stat
from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.listio import VOLUME_FILE, Volume, read_volume
from strider.listio.volume import choose_transport, new_secret


def volume() -> Volume:
    return Volume(servers=["127.0.0.1:4000"], transport="tcp", strip_bytes=4096, secret=new_secret())


# proves listio: volume-folder, volume-file, volume-file-owner
def test_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    volume().write(tmp_path / VOLUME_FILE)
    assert stat.S_IMODE((tmp_path / VOLUME_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [VOLUME_FILE]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = volume()
    written.write(tmp_path / VOLUME_FILE)
    assert read_volume(tmp_path) == written
    assert json.loads((tmp_path / VOLUME_FILE).read_text())["strider-listio-volume"] == 1


def test_a_directory_without_one_is_no_volume(tmp_path: Path) -> None:
    assert read_volume(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{}", '{"strider-listio-volume": 2, "servers": []}'])
def test_another_file_of_that_name_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / VOLUME_FILE).write_text(text)
    with pytest.raises(StriderError, match=rf"{VOLUME_FILE} is not a volume file"):
        read_volume(tmp_path)


def test_no_two_secrets_are_the_same() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert all(len(bytes.fromhex(new_secret())) == 32 for _ in range(100))


@pytest.mark.parametrize(("scope", "chosen"), [("0", "cma"), ("1", "tcp"), (None, "cma")])
# proves listio: auto-transport
def test_auto_is_the_memory_of_processes_where_the_kernel_lets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str | None, chosen: str
) -> None:
    yama = tmp_path / "ptrace_scope"
    if scope is not None:
        yama.write_text(f"{scope}\n")
    monkeypatch.setattr("strider.listio.volume._YAMA", yama)
    assert choose_transport("auto") == chosen
    assert choose_transport("tcp") == "tcp"

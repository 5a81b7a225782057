"""Observed hosts: their names as typed, and the message about a host that does not answer."""

from pathlib import Path

import pytest

from strider.errors import ExitCode, StriderError
from strider.launch.observers import Observing, observers


@pytest.mark.parametrize("hosts", ["oss:22,oss_22", "a@oss,oss,a_oss"])
def test_hosts_whose_lines_would_share_a_file_are_refused(hosts: str) -> None:
    with pytest.raises(StriderError) as caught:
        Observing.of(hosts, "strider-engine")
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    one, other = (host for host in hosts.split(",") if host != "oss")
    assert f'"{one}" and "{other}"' in str(caught.value)
    assert "observed-" in str(caught.value)


def test_hosts_with_files_of_their_own_are_taken() -> None:
    assert Observing.of("oss:22, oss:23,a@oss", "strider-engine").hosts == ["oss:22", "oss:23", "a@oss"]


def test_of_one_that_did_not_start_nothing_is_reported_but_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text("#!/bin/sh\necho refused >&2\nexit 255\n")
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    messages: list[str] = []
    with (
        pytest.raises(StriderError, match="cannot observe oss: refused"),
        observers(Observing(["oss"]), tmp_path / "store", messages.append),
    ):
        pytest.fail("the run began")
    assert messages == []

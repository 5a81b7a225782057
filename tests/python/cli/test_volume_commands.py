"""The commands of list-I/O volumes as a user types them."""

import shlex
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.listio import processes_of
from strider.listio.tool import SERVER
from strider.processes import is_alive


def test_a_served_volume_says_how_to_stop_it(
    engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if not engine.path.resolve().with_name(SERVER).exists():
        pytest.skip("needs the list-I/O service (Debian package libssl-dev)")
    volume = tmp_path / "a volume"
    try:
        assert main(["listio", "serve", str(volume), "--servers", "1"]) == 0
        (line,) = (one for one in capfd.readouterr().out.splitlines() if one.startswith("to stop: "))
        words = shlex.split(line.removeprefix("to stop: "))
        assert words[0] == "strider"
        assert main(words[1:]) == 0
        assert not any(is_alive(process) for process in processes_of(volume))
    finally:
        main(["listio", "stop", str(volume)])

"""`strider run` on a real terminal: a table that moves in its place, and nothing of it left at the end."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pyte
import pytest

from harness import DEADLINE_S, strider_command

ROWS = 40
SUITE = """\
[suite]
name        = "terminal"
clients     = 2
repetitions = 2
[[case]]
interface = ["posix", "mpiio"]
pattern   = "strided"
transfer  = "64KiB"
count     = 16
settle    = "400ms"
"""


class Seen:
    """The screen of a run on a terminal of some columns, each time that it has been drawn.

    Attributes:
        pictures: The screens, from the first to the last.
        code: The exit code.
    """

    def __init__(self, words: list[str], columns: int, folder: Path) -> None:
        screen = pyte.Screen(columns, ROWS)
        stream = pyte.ByteStream(screen)
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**environment, "TERM": "xterm-256color"},
        )
        os.close(slave)
        self.pictures: list[list[str]] = []
        try:
            while said := _read(master):
                stream.feed(said)
                self.pictures.append([line.rstrip() for line in screen.display])
            self.code = process.wait(DEADLINE_S)
        finally:
            process.kill()
            process.wait()
            os.close(master)

    @property
    def live(self) -> list[list[str]]:
        """Those in which the table was there."""
        return [picture for picture in self.pictures if any("elapsed" in line for line in picture)]


def _read(master: int) -> bytes:
    try:
        return os.read(master, 1 << 16)
    except OSError:  # a terminal that no process has open any more
        return b""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


def words(*more: str) -> list[str]:
    return strider_command("run", "suite.toml", "--target", "target", *more)


@pytest.mark.parametrize("columns", [80, 200])
def test_a_table_moves_in_its_place(work: Path, columns: int) -> None:
    seen = Seen(words(), columns, work)
    assert seen.code == 0
    assert seen.live
    for picture in seen.live:
        (head,) = [number for number, line in enumerate(picture) if line.startswith("case  ")]
        (foot,) = [number for number, line in enumerate(picture) if "elapsed" in line]
        assert "/8 phases · " in picture[foot]
        for row in picture[head + 1 : foot]:
            assert " strided 64 KiB " in row
            assert "MiB/s" in row or "read" in row or "write" in row
            assert len(row) <= 110
        assert len(picture[head + 1 : foot]) <= 9
    assert any(line.endswith("left") for picture in seen.live for line in picture)
    end = seen.pictures[-1]
    assert not any("elapsed" in line for line in end)
    assert any(line.startswith("posix") and "write" in line for line in end)
    assert any(line.startswith("run: ") for line in end)


def test_what_is_no_terminal_gets_lines_and_json(work: Path) -> None:
    done = subprocess.run(
        words("--json"),
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_S,
    )
    assert len(json.loads(done.stdout)["results"]) == 4
    assert "\x1b" not in done.stdout + done.stderr
    assert "/8 phases  case " in done.stderr


def test_who_wants_no_progress_gets_none(work: Path) -> None:
    seen = Seen(words("--quiet"), 80, work)
    assert seen.code == 0
    assert not seen.live

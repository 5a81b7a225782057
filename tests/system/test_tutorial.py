"""The tutorial: its commands are run, one after the other, with measurements cut short."""

import re
import shlex
import subprocess
from pathlib import Path

from harness import DEADLINE_S, strider_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
SHORT = ["--set", "case.deadline=20ms", "--set", "case.repetitions=3"]
NOT_RUN = ("quick",)
"""Verbs that take minutes, with tests of their own."""


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def test_its_commands_do_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "try").mkdir()
    (suite,) = blocks("toml")
    (tmp_path / "first.toml").write_text(suite)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("./strider ")]
    said = {}
    for line in lines:
        verb, *words = shlex.split(line)[1:]
        if verb in NOT_RUN:
            continue
        done = subprocess.run(
            strider_command(verb, *words, *(SHORT if verb == "run" else [])),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE_S,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        said[line] = done.stdout
    assert "6 cases, 72 phases on 2 ranks" in said["./strider plan first.toml --target try"]
    assert said["./strider compare latest --by interface"].count("mpiio") > 0
    assert sum(line.startswith("./strider run") for line in said) == 3
    assert (tmp_path / "results.csv").stat().st_size > 0
    assert not list((tmp_path / "try").iterdir())

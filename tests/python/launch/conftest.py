"""Plans to launch, made without an engine and with one."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Check, Description, Json
from strider.suite import Changes, CheckedPlan
from strider.suite.document import parse
from strider.suite.load import build

SUITE = """\
[suite]
name = "s"
target = "/data"
repetitions = 2
[[case]]
interface = "posix"
pattern = "segmented"
block = "4MiB"
"""


@pytest.fixture
def checked(description: Description) -> Callable[..., CheckedPlan]:
    """Makes a plan of which the engine would say the given things: `checked({"space_bytes": 5})`."""

    def make(*needs: dict[str, Json], keys: str = "") -> CheckedPlan:
        suite = build(parse(SUITE + keys, "s.toml"), description, Changes())
        phases = [
            {"operation": name, "bytes": 1 << 20, "requests": 1, "ranks": 1} for name in ("write", "read")
        ]
        of_cases = [*needs, *([{}] * len(suite.plan.cases))][: len(suite.plan.cases)]
        cases = [
            {"case": number, "phases": phases, **entry} for number, entry in enumerate(of_cases, start=1)
        ]
        return CheckedPlan(
            suite, Check.model_validate({"format": "strider-check", "version": 1, "cases": cases})
        )

    return make


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a program of a name, the only one in PATH that has it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str) -> Path:
        path = folder / name
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make

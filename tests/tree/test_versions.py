"""What is written down in several places says the same everywhere."""

import re
import tomllib
from pathlib import Path

import requirements
import strider

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_package_and_engine_have_one_version() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    (engine,) = re.findall(r"project\(strider VERSION (\S+)", cmake)
    assert PYPROJECT["project"]["version"] == engine == strider.__version__


def test_every_requirement_has_a_tested_version() -> None:
    groups = list(PYPROJECT["dependency-groups"])
    wanted = requirements.requirements(ROOT / "pyproject.toml", groups)
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([\w.-]+)==", constraints, flags=re.MULTILINE))
    assert {re.split(r"[<>=]", requirement)[0] for requirement in wanted} <= pinned

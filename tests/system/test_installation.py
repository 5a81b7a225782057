"""`pip install .` gives a working `strider`, engine and suites included.

The engine is configured, linked and installed as for any user. Sources that the checkout has compiled by the
same command are not compiled once more.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiled_before import write_objects
from strider.engine import Engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def launcher(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The prefix of compiler commands, as CMake's list."""
    objects = tmp_path_factory.mktemp("objects") / "objects.json"
    write_objects(engine.path.parents[1], objects)
    program = Path(__file__).with_name("compiled_before.py")
    return f"{sys.executable};-I;{program};{objects}"


@pytest.fixture(scope="module")
def installed(launcher: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment into which the checkout was installed."""
    uv = shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")
    if not uv:
        pytest.skip("needs uv (make test installs it)")
    environment = tmp_path_factory.mktemp("environment")
    python = environment / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", environment], check=True)
    install = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
        "--constraint",
        "constraints.txt",
        "--config-settings",
        "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG",  # half the time of the compiler
        "--config-settings",
        f"cmake.define.CMAKE_CXX_COMPILER_LAUNCHER={launcher}",
        ".",
    ]
    subprocess.run(install, cwd=ROOT, check=True)
    return python.parent


def test_the_command_finds_its_engine(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "strider"), "describe", "--json"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["format"] == "strider-description"


def test_the_suites_are_installed(installed: Path) -> None:
    (suites,) = installed.parent.glob("lib/python*/site-packages/strider/_suites")
    names = {path.name for path in suites.iterdir()}
    assert names == {path.name for path in (ROOT / "suites").iterdir()}

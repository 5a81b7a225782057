"""`pip install .` gives a working `strider`, engine and suites included."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
        "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0",  # which takes half the time
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

"""`./strider` on machines that lack something: one message that says what to install, and exit code 3."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from strider.lab import SYSTEMS, System

ROOT = Path(__file__).resolve().parents[2]
BARE = ["sh", "awk", "cat", "cksum", "dirname", "find", "flock", "grep", "id", "mkdir", "readlink", "rm"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that the set-up reads, elsewhere; nothing is set up there."""
    folder = tmp_path / "checkout"
    for name in ("strider", "pyproject.toml", "constraints.txt", "CMakeLists.txt", "CMakePresets.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("foundation", "engine", "listio"):
        (folder / name).mkdir()
    return folder


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH with standard tools and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in BARE:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return folder


def strider(checkout: Path, path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path), "HOME": str(checkout), "STRIDER_APT": "never", **environment}
    command = [str(checkout / "strider"), *(words or ["doctor"])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_without_anything(checkout: Path, bare_path: Path) -> None:
    done = strider(checkout, bare_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "lacks a C++ compiler: gcc 12 or clang 15, or newer (Debian package g++)" in done.stderr
    assert "Python 3.11 or newer, with venv (Debian packages python3 python3-venv)" in done.stderr


def test_without_python(checkout: Path, bare_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("needs a C++ compiler (Debian package g++)")
    (bare_path / "c++").symlink_to(compiler)
    done = strider(checkout, bare_path)
    assert done.returncode == 3
    assert "lacks Python 3.11 or newer, with venv (Debian packages python3 python3-venv)" in done.stderr


def test_a_compiler_that_is_too_old_is_passed_over(checkout: Path, bare_path: Path) -> None:
    script(bare_path / "c++", "echo __clang_major__ 11")
    assert "lacks a C++ compiler" in strider(checkout, bare_path).stderr


def test_an_mpi_that_does_not_exist_is_refused(checkout: Path) -> None:
    done = strider(checkout, Path(os.environ["PATH"]), STRIDER_MPICXX="no-such-mpicxx")
    assert done.returncode == 3
    assert "STRIDER_MPICXX=no-such-mpicxx is not a command" in done.stderr


def test_an_activated_environment_of_the_checkout_hides_no_python(checkout: Path, bare_path: Path) -> None:
    own = checkout / ".strider" / "venv" / "bin"
    own.mkdir(parents=True)
    for folder in (own, bare_path):
        script(folder / "python3", "exit 0")
    script(own / "python", "exit 0")
    (own.parent / "root").write_text(str(checkout))
    script(bare_path / "apt-get", "exit 1")
    (bare_path / "id").unlink()
    script(bare_path / "id", "echo 0")
    done = strider(checkout, Path(f"{own}:{bare_path}"), STRIDER_APT="")
    (missing,) = (line for line in done.stderr.splitlines() if "installing what is missing" in line)
    assert " g++" in missing
    assert "python3" not in missing


@pytest.mark.parametrize("words", [[], ["tets"], ["run", "test"]], ids=" ".join)
def test_an_unknown_purpose_is_refused(checkout: Path, bare_path: Path, words: list[str]) -> None:
    command = [str(checkout / "tools" / "setup.sh"), *words]
    environment = {"PATH": str(bare_path), "STRIDER_APT": "never"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f'unknown purpose "{" ".join(words)}": say run (what ./strider needs) or test' in done.stderr
    assert not (checkout / ".strider").exists()


@pytest.mark.parametrize("changed", ["engine/x.cpp", "tests/engine/x_test.cpp"])
def test_a_source_that_changed_is_built_before_the_tests(
    checkout: Path, bare_path: Path, changed: str
) -> None:
    """What was set up is good until a source is newer, of a test as well."""

    def set_up() -> int:
        return subprocess.run(
            [str(setup), "test"], env=environment, capture_output=True, check=False
        ).returncode

    setup = checkout / "tools" / "setup.sh"
    environment = {"PATH": str(bare_path), "STRIDER_APT": "never"}
    state, engine = checkout / ".strider", checkout / "build" / "strider-engine"
    for program in (state / "venv" / "bin" / "python", engine):
        program.parent.mkdir(parents=True)
        script(program, "exit 0")
    for room in ("foundation", "engine", "listio", "forgetfs"):
        (checkout / "tests" / room).mkdir(parents=True)
    key = subprocess.run(
        "{ echo $PWD && cat pyproject.toml constraints.txt tools/setup.sh; } | cksum",
        shell=True, cwd=checkout, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    no_mpi = subprocess.run(["cksum"], input="\n", capture_output=True, text=True, check=True).stdout.split()[
        0
    ]
    (state / f"ready-test-{no_mpi}").write_text(f"{key}{engine}\n")
    assert set_up() == 0
    source = checkout / changed
    source.touch()
    later = (state / f"ready-test-{no_mpi}").stat().st_mtime + 10
    os.utime(source, (later, later))
    assert set_up() == 3, "it goes on to build, and finds no compiler"


def test_scripts_are_found_through_links_from_any_folder(
    checkout: Path, bare_path: Path, tmp_path: Path
) -> None:
    link = tmp_path / "linked"
    link.symlink_to(checkout / "strider")
    environment = {"PATH": str(bare_path), "STRIDER_APT": "never"}
    done = subprocess.run([str(link)], env=environment, cwd="/", capture_output=True, text=True, check=False)
    assert "lacks a C++ compiler" in done.stderr
    assert (checkout / ".strider" / "log").exists()


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.name)
def test_what_the_lab_needs_is_set_up(system: System) -> None:
    words = (ROOT / "tools" / "setup.sh").read_text(encoding="utf-8").replace("'", " ").split()
    for program, package in system.needs.items():
        assert f"{program}:{package}" in words


def test_a_missing_directory_is_reported_before_anything_is_made(checkout: Path, bare_path: Path) -> None:
    missing = checkout / "missing"
    done = strider(checkout, bare_path, "quick", str(missing))
    assert done.returncode == 2
    assert done.stderr == f"strider: {missing} does not exist: create it with mkdir -p {missing}\n"
    assert not (checkout / ".strider").exists()


@pytest.mark.parametrize("words", [["--help"], ["run", "-h"], ["--version"]])
def test_help_does_not_wait_for_an_engine(checkout: Path, bare_path: Path, words: list[str]) -> None:
    venv = checkout / ".strider" / "venv"
    (venv / "bin").mkdir(parents=True)
    script(venv / "bin" / "python", 'echo "${STRIDER_ENGINE:-no engine}: $*"')
    (venv / "root").write_text(f"{checkout}\n")
    (venv / "installed-run").touch()
    done = strider(checkout, bare_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"no engine: -I -m strider {' '.join(words)}\n"


def test_progress_of_a_build_is_a_line_for_each_tenth_where_there_is_no_terminal(tmp_path: Path) -> None:
    setup = (ROOT / "tools" / "setup.sh").read_text(encoding="utf-8")
    function = setup[setup.index("show_progress() {") :].partition("\n}\n")[0]
    program = f'log={tmp_path}/log\nsay() {{ echo "$*" >&2; }}\n{function}\n}}\nshow_progress'
    steps = "\n".join(["preparing", *(f"[{step}/40] Building [x/y] {step}.o" for step in range(1, 41)), ""])
    done = subprocess.run(["sh", "-euc", program], input=steps, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert len(lines) == 10
    assert lines[0] == "engine: 10 % of the steps are done (4/40)"
    assert lines[-1] == "engine: 100 % of the steps are done (40/40)"
    assert (tmp_path / "log").read_text(encoding="utf-8") == steps


def test_an_interruption_of_the_set_up_is_reported(checkout: Path, bare_path: Path) -> None:
    script(checkout / "tools" / "setup.sh", "kill -INT $PPID; echo /engine")
    done = strider(checkout, bare_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "strider: interrupted\n")

"""`./strider` on machines that lack something: one message that says what to install, and exit code 3."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
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


def set_up_before(checkout: Path, purpose: str) -> Path:
    """Leaves the files of a set-up, with scripts for programs; returns its stamp."""
    venv, engine = checkout / ".strider" / "venv", checkout / "build" / "strider-engine"
    for program, text in ((venv / "bin" / "python", 'echo "$STRIDER_ENGINE: $*"'), (engine, "exit 0")):
        program.parent.mkdir(parents=True)
        script(program, text)
    (venv / "root").write_text(f"{checkout}\n")
    key = subprocess.run(
        "{ echo $PWD && cat pyproject.toml constraints.txt tools/setup.sh; } | cksum",
        shell=True, cwd=checkout, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    no_mpi = subprocess.run(["cksum"], input="\n", capture_output=True, text=True, check=True)
    stamp = checkout / ".strider" / f"ready-{purpose}-{no_mpi.stdout.split()[0]}"
    stamp.write_text(f"{key}{engine}\n")
    return stamp


def functions(*names: str) -> str:
    """Returns functions of the set-up."""
    text = (ROOT / "tools" / "setup.sh").read_text(encoding="utf-8")
    return "".join(text[text.index(f"\n{name}() {{") :].partition("\n}\n")[0] + "\n}\n" for name in names)


def shell(program: str, path: str, **environment: str) -> str:
    words = ["sh", "-euc", program]
    environment = {"PATH": path, **environment}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout


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
    """A set-up is good until a source is newer, of a test as well."""

    def set_up() -> int:
        return subprocess.run(
            [str(setup), "test"], env=environment, capture_output=True, check=False
        ).returncode

    setup = checkout / "tools" / "setup.sh"
    environment = {"PATH": str(bare_path), "STRIDER_APT": "never"}
    for room in ("foundation", "engine", "listio", "forgetfs"):
        (checkout / "tests" / room).mkdir(parents=True)
    stamp = set_up_before(checkout, "test")
    assert set_up() == 0
    source = checkout / changed
    source.touch()
    later = stamp.stat().st_mtime + 10
    os.utime(source, (later, later))
    assert set_up() == 3, "it goes on to build, and finds no compiler"


@pytest.mark.parametrize(
    ("before", "words", "is_good"),
    [
        ("quick", ["quick", "."], True),
        ("run", ["quick", "."], True),
        ("test", ["quick", "."], True),
        ("quick", ["quick", ".", "--interface", "listio"], False),
        ("quick", ["doctor"], False),
        ("run", ["doctor"], True),
    ],
)
def test_the_set_up_for_a_first_card_is_good_for_no_more(
    checkout: Path, bare_path: Path, before: str, words: list[str], is_good: bool
) -> None:
    set_up_before(checkout, before)
    (bare_path / "env").symlink_to(shutil.which("env") or "")
    for room in ("foundation", "engine", "listio", "forgetfs"):
        (checkout / "tests" / room).mkdir(parents=True)
    done = strider(checkout, bare_path, *words)
    assert (done.returncode, "lacks a C++ compiler" in done.stderr) == (0 if is_good else 3, not is_good)


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


def test_an_installation_of_packages_shows_its_progress(tmp_path: Path) -> None:
    program = f'log={tmp_path}/log\nsay() {{ echo "$*"; }}\n{functions("show_installation")}show_installation'
    lines = [
        "Reading package lists...",
        "dlstatus:1:0.5:Retrieving file 1 of 2",
        "dlstatus:2:61.25:Retrieving file 2 of 2",
        "pmstatus:libmpich12:amd64:12.5000:Unpacking libmpich12:amd64 (4.0.2-3)",
        "pmstatus:g++:45.0000:Configuring g++ (amd64)",
        "pmstatus:g++:46.0000:Configuring g++ (amd64)",
        "pmstatus::odd",
        "pmstatus:dpkg-exec:100.0000:Running dpkg",
    ]
    done = subprocess.run(
        ["sh", "-euc", program], input="\n".join([*lines, ""]), capture_output=True, text=True, check=True
    )
    shown = ["downloaded 0", "downloaded 60", "installed 0", "installed 40", "installed 100"]
    assert done.stdout.splitlines() == [f"Debian packages: {each} %" for each in shown]
    assert (tmp_path / "log").read_text() == "Reading package lists...\n"


def test_progress_of_a_build_is_a_line_for_each_tenth_where_there_is_no_terminal(tmp_path: Path) -> None:
    program = f'log={tmp_path}/log\nsay() {{ echo "$*" >&2; }}\n{functions("show_progress")}show_progress'
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


@pytest.mark.parametrize("purpose", ["run", "test"])
def test_an_engine_that_the_user_names_is_used(checkout: Path, bare_path: Path, purpose: str) -> None:
    stamp = set_up_before(checkout, purpose)
    source = checkout / "engine" / "newer.cpp"
    source.touch()
    os.utime(source, (stamp.stat().st_mtime + 10,) * 2)
    done = strider(checkout, bare_path, "doctor", STRIDER_ENGINE="/my/engine")
    assert (done.stdout, done.stderr) == ("/my/engine: -I -m strider doctor\n", "")


@pytest.mark.parametrize("purpose", ["run", "test"])
def test_a_set_up_for_the_tests_is_good_for_runs(checkout: Path, bare_path: Path, purpose: str) -> None:
    set_up_before(checkout, purpose)
    done = strider(checkout, bare_path)
    assert (done.stdout, done.stderr) == (f"{checkout}/build/strider-engine: -I -m strider doctor\n", "")


@pytest.fixture
def unwritable(checkout: Path) -> Iterator[Path]:
    """A checkout as another user sees it."""
    with tempfile.TemporaryDirectory() as folder:
        moved = Path(folder).resolve() / "shared"
        shutil.copytree(checkout, moved)
        yield moved
        moved.chmod(0o755)


def as_another(checkout: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs `strider doctor` as a user without write access to a checkout."""
    for folder in (checkout.parent, checkout):
        folder.chmod(0o555)
    # The folders of tests are those of one user, so another one gets no tools from them.
    path = path if os.geteuid() else Path("/usr/bin:/bin")
    return subprocess.run(
        [checkout / "strider", "doctor"],
        env={"PATH": str(path), "STRIDER_APT": "never", "STRIDER_MPICXX": "true"},
        user=None if os.geteuid() else 65534, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_checkout_of_another_user_that_is_not_set_up(unwritable: Path, bare_path: Path) -> None:
    done = as_another(unwritable, bare_path)
    assert done.returncode == 3
    assert done.stderr.startswith("strider: this checkout is not set up, and you may not write to it\n")
    assert f"its owner can run {unwritable}/strider doctor" in done.stderr


def test_a_checkout_of_another_user_that_is_set_up_for_another_mpi(unwritable: Path, bare_path: Path) -> None:
    set_up_before(unwritable, "run")
    done = as_another(unwritable, bare_path)
    assert done.returncode == 3
    assert "this checkout is set up, but not for" in done.stderr


def test_a_checkout_whose_python_others_may_not_run_is_named(unwritable: Path, bare_path: Path) -> None:
    """As where the first Python in the owner's PATH is in his home."""
    set_up_before(unwritable, "run")
    python = unwritable / ".strider" / "venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(unwritable / "home" / "python3")
    done = as_another(unwritable, bare_path)
    assert done.returncode == 3
    assert f"with a Python that you may not run: {unwritable}/home/python3\n" in done.stderr
    assert "STRIDER_PYTHON" in done.stderr


@pytest.mark.parametrize(("mode", "made"), [(0o755, 0o755), (0o750, 0o700)])
def test_what_others_may_read_of_the_checkout_they_may_read_of_the_set_up(
    checkout: Path, bare_path: Path, mode: int, made: int
) -> None:
    (checkout / "tools" / "setup.sh").chmod(mode)
    environment = {"PATH": str(bare_path), "STRIDER_APT": "never"}
    subprocess.run([checkout / "strider", "doctor"], env=environment, umask=0o077, check=False)
    assert (checkout / ".strider").stat().st_mode & 0o777 == made


def test_every_optional_interface_can_be_set_up() -> None:
    listed = (ROOT / "engine/interfaces/CMakeLists.txt").read_text(encoding="utf-8")
    modules = re.findall(r"^strider_add_module\((\w+)", listed, re.MULTILINE)
    assert "hdf5" in modules
    program = functions("library") + "".join(f"library {name}\n" for name in modules)
    assert "hdf5/mpich/hdf5.h:libhdf5-mpich-dev\n" in shell(f"mpi=mpich\n{program}", os.environ["PATH"])


def test_a_library_of_no_interface_is_refused(checkout: Path, bare_path: Path) -> None:
    command = [str(checkout / "tools" / "setup.sh"), "add", "hdf6"]
    done = subprocess.run(command, env={"PATH": str(bare_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert 'no interface "hdf6" has a library to install' in done.stderr


def test_without_the_right_to_install_optional_libraries_are_named(checkout: Path, bare_path: Path) -> None:
    script(bare_path / "apt-get", "exit 1")
    (bare_path / "id").unlink()
    script(bare_path / "id", "echo 1000")
    done = strider(checkout, bare_path, STRIDER_APT="")
    assert "as root: apt-get install pkg-config" in done.stderr
    assert "then: ./strider setup uring hdf5 libfabric" in done.stderr


PIP = """\
[ "$*" = "-m pip config list" ] || exit 9
cat <<'END'
:env:.index-url='https://own.site/simple'
global.cert='/site/ca.pem'
global.find-links='\\n/a\\n/b'
global.index-url='https://mirror.site/simple'
END
"""


def test_uv_learns_what_pip_knows_of_the_site(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "python", PIP)
    program = f"venv={tmp_path}\n{functions('tell_uv', 'pip_setting', 'hand_over')}tell_uv\nenv"
    variables = dict(line.split("=", 1) for line in shell(program, os.environ["PATH"]).splitlines())
    assert variables["SSL_CERT_FILE"] == "/site/ca.pem"
    assert variables["UV_DEFAULT_INDEX"] == "https://own.site/simple"
    assert variables["UV_FIND_LINKS"] == "/a,/b"
    mine = shell(program, os.environ["PATH"], UV_DEFAULT_INDEX="https://mine", SSL_CERT_FILE="/mine.pem")
    assert {"UV_DEFAULT_INDEX=https://mine", "SSL_CERT_FILE=/mine.pem"} <= set(mine.splitlines())


@pytest.mark.parametrize("named", ["PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_certificates_of_a_site_reach_uv(tmp_path: Path, named: str) -> None:
    program = f"venv={tmp_path}\n{functions('tell_uv', 'pip_setting', 'hand_over')}tell_uv\nenv"
    assert "SSL_CERT_FILE=/ca.pem" in shell(program, os.environ["PATH"], **{named: "/ca.pem"}).splitlines()


def test_where_uv_fails_pip_installs(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "python", f'echo "$*" >>{tmp_path}/calls')
    script(tmp_path / "bin" / "uv", "exit 2")
    given = 'say() { :; }\nfail() { exit 9; }\ntell_uv() { :; }\nlogged() { "$@"; }\nhas() { :; }\n'
    program = f"log=x venv={tmp_path}\n{given}{functions('install_wheels')}install_wheels mpich"
    shell(program, f"{tmp_path}/bin:{os.environ['PATH']}")
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert calls[-1] == "-m pip install mpich --constraint constraints.txt"

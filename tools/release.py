"""Makes a release in dist/VERSION: sdist, wheel, bundle and manual; checks them elsewhere, tags the commit.

    tools/release.py            everything but the tag
    tools/release.py --tag      and the tag, as `make release` does

The wheel is built from the source distribution and installed in a new environment, and the bundle is unpacked
elsewhere; with each, a small verified run is made. Nothing is built if the work tree has changes, the version
has a tag, or CHANGELOG.md lists changes that are not released.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAME_VERSION = ("tests/tree/test_versions.py", "tests/tree/test_packaging.py")
"""Tests that compare the places that have the version."""
SUITE = """
[suite]
name = "release"
clients = 2
repetitions = 1

[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
verify = "full"
"""


class ReleaseError(Exception):
    """A reason why there is no release, with the remedy."""


def version_of(root: Path) -> str:
    """The version of a checkout."""
    known = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(known["project"]["version"])


def check_tree(root: Path) -> None:
    """Checks that the committed files are the released ones.

    Raises:
        ReleaseError: It is not.
    """
    version = version_of(root)
    if changed := _git(root, "status", "--porcelain"):
        raise ReleaseError(f"the work tree has changes: commit or remove them\n{changed}")
    if _git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"v{version} has a tag: set the next version")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[Unreleased\]\s+^## \[{re.escape(version)}\]", text, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md: move what is below Unreleased to {version}, with its date")


def _git(root: Path, *words: str) -> str:
    command = ["git", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def build(out: Path) -> tuple[Path, Path]:
    """Makes all parts of a release in a folder; returns the wheel and the bundle."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    _run(uv(), "build", "--quiet", "--build-constraint", "constraints.txt", "--out-dir", str(out), ".")
    _run("make", "bundle", f"OUT={out}")
    _run("make", "manual")
    version = version_of(ROOT)
    with tarfile.open(out / f"strider-{version}-manual.tar.gz", "w:gz") as tar:
        tar.add(ROOT / "build" / "manual", f"strider-{version}-manual")
    (wheel,) = out.glob("*.whl")
    (bundle,) = out.glob(f"strider-{version}-*-*.tar.gz")
    return wheel, bundle


def uv() -> str:
    """The command uv, of the environment or of the machine."""
    return shutil.which("uv", path=Path(sys.executable).parent) or "uv"


def _run(*words: str) -> None:
    print("release:", *words, flush=True)
    subprocess.run(words, cwd=ROOT, check=True)


def check_wheel(wheel: Path, work: Path) -> None:
    """Installs a wheel in a new environment, and measures with it."""
    environment = work / "environment"
    _run(uv(), "venv", "--quiet", str(environment))
    python = str(environment / "bin" / "python")
    _run(uv(), "pip", "install", "--quiet", "--python", python, "--constraint", "constraints.txt", str(wheel))
    check_program(environment / "bin" / "strider", version_of(ROOT), work)


def check_bundle(bundle: Path, work: Path) -> None:
    """Unpacks a bundle, and measures with it."""
    folder = work / "unpacked"
    folder.mkdir()
    subprocess.run(["tar", "xzf", bundle, "-C", folder, "--strip-components", "1"], check=True)
    check_program(folder / "bin" / "strider", version_of(ROOT), work)


def check_program(strider: Path, version: str, work: Path) -> None:
    """Checks the version of a program, and measures with it in an environment that knows no checkout.

    Raises:
        ReleaseError: It has another version, or the run is not complete and valid.
    """
    said = _try(strider, work, "--version")
    if said.split()[-1:] != [version]:
        raise ReleaseError(f"{strider} --version prints {said!r}, not {version}")
    suite, store = work / "release.toml", work / "runs"
    suite.write_text(SUITE, encoding="utf-8")
    words = ("--target", str(work), "--store", str(store), "--ceilings", "none")
    _try(strider, work, "run", str(suite), *words)
    (known,) = store.glob("*/run.json")
    status = json.loads(known.read_text(encoding="utf-8"))["status"]
    if status != "complete" or not known.with_name("report.html").exists():
        raise ReleaseError(f"{strider} run: the run is {status}; see {known.parent}")


def _try(strider: Path, work: Path, *words: str) -> str:
    environment = {"PATH": f"{strider.parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(work)}
    command = [str(strider), *words]
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def write_sums(out: Path) -> None:
    """Writes SHA256SUMS, as `sha256sum --check` reads it."""
    files = sorted(file for file in out.iterdir() if file.name != "SHA256SUMS" and file.is_file())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def release(tags: bool) -> None:
    """Makes and checks a release; tags it if asked to."""
    check_tree(ROOT)
    version = version_of(ROOT)
    _run(sys.executable, "-m", "pytest", "--quiet", *SAME_VERSION)
    out = ROOT / "dist" / version
    wheel, bundle = build(out)
    for check, part in ((check_wheel, wheel), (check_bundle, bundle)):
        with tempfile.TemporaryDirectory(prefix="strider-release-") as work:
            print(f"release: checking {part.name}", flush=True)
            check(part, Path(work))
    write_sums(out)
    if tags:
        check_tree(ROOT)
        _run("git", "tag", "--annotate", f"v{version}", "--message", f"Strider {version}")
    print(*sorted(file.relative_to(ROOT) for file in out.iterdir()), sep="\n")


def main() -> int:
    """Makes a release as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".partition("\n")[0])
    parser.add_argument("--tag", action="store_true", help="tag the commit when all is checked")
    try:
        release(parser.parse_args().tag)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"release.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

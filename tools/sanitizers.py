"""Runs tests of C++ under sanitizers: of the folders where memory and threads are, compiled for that alone.

    tools/sanitizers.py             both of those below
    tools/sanitizers.py address     addresses, undefined behaviour: data, patterns, plans, list I/O
    tools/sanitizers.py thread      data races: list I/O, whose tests run servers as threads
    tools/sanitizers.py --build     builds alone, for tests that run later

The rest is taken from the ordinary build (shadow_build.py). The presets asan and tsan build all of it.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutant_tests import unit_tests
from shadow_build import ShadowBuild

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Sanitizer:
    """The watched folders, and their tests.

    Attributes:
        flag: What `-fsanitize=` takes.
        sources: Folders and files that are compiled with it.
        tests: Folders whose tests are run.
        environment: Settings for them.
    """

    flag: str
    sources: Sequence[str]
    tests: Sequence[str]
    environment: dict[str, str]


SANITIZERS = {
    "address": Sanitizer(
        "address,undefined",
        (
            "foundation",
            *(f"engine/{name}" for name in ("patterns", "verify", "plan", "operations")),
            *(f"listio/{name}" for name in ("layout", "protocol", "transfer")),
        ),
        (
            "tests/foundation",
            *(f"tests/engine/{name}" for name in ("patterns", "verify", "plan", "operations")),
            *(f"tests/listio/{name}" for name in ("layout", "protocol", "transfer", "fuzz")),
        ),
        # Half of a program does not know the marks that containers of the other half set.
        {"ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0", "STRIDER_TEST_DRAWS": "200"},
    ),
    "thread": Sanitizer(
        "thread",
        ("listio", "tests/listio"),
        # Without those of the client, which take three minutes; the preset tsan has them.
        ("tests/listio/transfer", "tests/listio/registration", "tests/listio/server"),
        {"TSAN_OPTIONS": "halt_on_error=1"},
    ),
}
LONGEST = [("thread", "tests/listio/server"), ("thread", "tests/listio/transfer")]
"""Tests that are started first."""


def main() -> int:
    """Builds and tests under the sanitizers named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SANITIZER", help="address, thread; default: both")
    parser.add_argument("--build", action="store_true", help="run no tests")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(SANITIZERS)
    if unknown:
        parser.error(f"no sanitizer {', '.join(sorted(unknown))}: choose of {', '.join(SANITIZERS)}")
    setup = subprocess.run([ROOT / "tools/setup.sh", "test"], check=True, stdout=subprocess.PIPE, text=True)
    ordinary = Path(setup.stdout.strip()).parents[1]
    builds = {name: _build(name, SANITIZERS[name], ordinary) for name in arguments.names or SANITIZERS}
    return 0 if arguments.build or _all_pass(builds) else 1


def _all_pass(builds: Mapping[str, Path]) -> bool:
    """Runs the tests of two folders at a time, those that take longest first."""
    tests = [(name, folder) for name in builds for folder in SANITIZERS[name].tests]
    tests.sort(key=lambda test: LONGEST.index(test) if test in LONGEST else len(LONGEST))
    with ThreadPoolExecutor(2) as pool:
        return all(list(pool.map(lambda test: _passes(test[0], test[1], builds[test[0]]), tests)))


def _build(name: str, sanitizer: Sanitizer, ordinary: Path) -> Path:
    # The check of virtual tables needs a descriptor of its own, and tests take the last ones.
    flags = [f"-fsanitize={sanitizer.flag}", "-fno-sanitize-recover=all", "-fno-sanitize=vptr"]
    build = ShadowBuild(ROOT, ordinary, ROOT / "build/sanitizers" / name, ["-O1", "-g1", *flags], flags)
    began = time.monotonic()
    paths = sorted(path for folder in sanitizer.sources for path in (ROOT / folder).rglob("*.cpp"))
    build.make({str(path.relative_to(ROOT)): path for path in paths}, jobs=2)
    print(f"sanitizers: {name}: built in {time.monotonic() - began:.0f} s", flush=True)
    return build.folder


def _passes(name: str, folder: str, build: Path) -> bool:
    began = time.monotonic()
    # Its map of memory leaves no room for addresses that are drawn at random.
    command = ["setarch", "--addr-no-randomize", *unit_tests(ROOT, build, folder)]
    done = subprocess.run(
        command,
        cwd=build.parent,
        env=os.environ | SANITIZERS[name].environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    passed = done.returncode == 0
    output = "" if passed else f"\n{done.stdout.decode(errors='replace')}"
    state = f"{'passed' if passed else 'FAILED'} in {time.monotonic() - began:.0f} s{output}"
    print(f"sanitizers: {name}: {folder}: {state}", flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main())

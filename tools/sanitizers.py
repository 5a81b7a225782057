"""Runs tests of C++ under sanitizers: of the folders where memory and threads are, compiled for that alone.

    tools/sanitizers.py             both of those below
    tools/sanitizers.py address     addresses, undefined behaviour: data, patterns, plans, list I/O
    tools/sanitizers.py thread      data races: list I/O, whose tests run servers as threads

The rest is taken from the ordinary build (shadow_build.py). The presets asan and tsan build all of it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutant_tests import unit_tests
from shadow_build import ShadowBuild

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Sanitizer:
    """What is watched, where, and by which tests.

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
        {"ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0"},
    ),
    "thread": Sanitizer(
        "thread",
        ("listio", "tests/listio"),
        ("tests/listio/transfer", "tests/listio/registration", "tests/listio/client", "tests/listio/server"),
        {"TSAN_OPTIONS": "halt_on_error=1"},
    ),
}


def main() -> int:
    """Builds and tests under the sanitizers named, or all."""
    setup = subprocess.run([ROOT / "tools/setup.sh", "test"], check=True, stdout=subprocess.PIPE, text=True)
    ordinary = Path(setup.stdout.strip()).parents[1]
    failed = [name for name in sys.argv[1:] or SANITIZERS if not _passes(name, SANITIZERS[name], ordinary)]
    return 1 if failed else 0


def _passes(name: str, sanitizer: Sanitizer, ordinary: Path) -> bool:
    work = ROOT / "build/sanitizers" / name
    # The check of virtual tables needs a descriptor of its own, and tests take the last ones.
    flags = [f"-fsanitize={sanitizer.flag}", "-fno-sanitize-recover=all", "-fno-sanitize=vptr"]
    build = ShadowBuild(ROOT, ordinary, work, ["-O1", "-g1", *flags], flags)
    began = time.monotonic()
    paths = sorted(path for folder in sanitizer.sources for path in (ROOT / folder).rglob("*.cpp"))
    build.make({str(path.relative_to(ROOT)): path for path in paths}, jobs=2)
    built = time.monotonic()
    good = True
    for folder in sanitizer.tests:
        # Its map of memory leaves no room for addresses that are drawn at random.
        command = ["setarch", "--addr-no-randomize", *unit_tests(ROOT, build.folder, folder)]
        done = subprocess.run(command, cwd=work, env=os.environ | sanitizer.environment, check=False)
        print(f"sanitizers: {name}: {folder}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
        good = good and done.returncode == 0
    print(f"sanitizers: {name}: built in {built - began:.0f} s, tested in {time.monotonic() - built:.0f} s")
    return good


if __name__ == "__main__":
    sys.exit(main())

"""`make torture`: what make test tries a sample of, for much longer. docs/torture.md describes the parts.

    tools/torture.py                        all parts, for some hours
    tools/torture.py power kills            these parts
    tools/torture.py --share 0.1 --seed 7   a tenth of the short parts, chosen by the seed, as in make test
    tools/torture.py --list                 their names

The exit code is 1 if a part fails. Results stand in build/torture.json.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "torture.json"
SEED_VARIABLE = "STRIDER_TORTURE_SEED"
PYTEST = (".strider/venv/bin/python", "-m", "pytest", "-q", "-s")
SERVICE = "{build}/tests/listio/strider-listio-service-tests"
FAULTS = "{build}/tests/listio/strider-listio-fault-tests"
DAMAGED = ":".join(
    f"{name}.*" for name in ("CheckedStoreTest", "DamagedCopiesTest", "FolderTest", "Name*Test")
)


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        name: Its name.
        words: Its command; `{build}` and `{seed}` are replaced.
        environment: Settings with which the tests try more.
        is_short: Whether it fits beside the tests of make test.
    """

    name: str
    words: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    is_short: bool = True


def of_tests(name: str, tests: str, *words: str, is_short: bool = True, **environment: str) -> Part:
    """Returns a part that runs Python tests of tests/system with other settings."""
    return Part(name, [*PYTEST, f"tests/system/{tests}", *words], environment, is_short)


def of_units(name: str, program: str, chosen: str, **environment: str) -> Part:
    """Returns a part that runs C++ tests with other settings."""
    return Part(name, [program, f"--gtest_filter={chosen}", "--gtest_brief=1"], environment)


PARTS = (
    of_tests("kills", "test_listio_kills.py", is_short=False, STRIDER_KILLS_S="60"),
    of_tests("layers", "test_listio_layers.py", is_short=False, STRIDER_LAYERS_S="40"),
    of_tests("power", "test_listio_power.py", "-k", "both_copies", is_short=False, STRIDER_POWER_RUNS="2"),
    of_tests("mount-values", "test_mount_values.py", STRIDER_VALUE_REQUESTS="60000"),
    of_tests("mpiio-values", "test_mpiio_values.py", STRIDER_VALUE_REQUESTS="60000"),
    of_tests("plan-values", "test_plan_values.py", STRIDER_VALUE_REQUESTS="4000"),
    of_tests("hostile-files", "test_hostile_files.py", STRIDER_HOSTILE="400"),
    of_tests("signals", "test_signals.py", STRIDER_SIGNALS="96"),
    of_tests("mount-locks", "test_mount.py", STRIDER_TEST_ROUNDS="1500"),
    of_tests("mpi-programs", "test_mpi_programs.py", STRIDER_MPI_SCENARIOS="210"),
    of_tests(
        "causes", "lab", "-k", "causes", is_short=False, STRIDER_CAUSES="all", STRIDER_CAUSES_HEALTHY="40"
    ),
    of_tests("calibration", "calibration", is_short=False),
    of_units("server-values", SERVICE, "*ValuesTest*", STRIDER_VALUE_REQUESTS="400000"),
    of_units("locks", SERVICE, "OverlappingWriters.*", STRIDER_LOCK_TRIALS="3000"),
    of_units("histories", FAULTS, "*Linearizability*", STRIDER_HISTORIES="1000"),
    of_units("faulty-lists", FAULTS, "*-*Linearizability*", STRIDER_FAULTY_LISTS="1000"),
    of_units("corruptions", SERVICE, DAMAGED, STRIDER_CORRUPTIONS="400"),
    of_units("patterns", "{build}/tests/engine/strider-tests", "*Pattern*", STRIDER_TEST_DRAWS="8000"),
    Part("single-files", [PYTEST[0], "tools/compile_commands.py", "{build}"]),
    Part("mutants", [PYTEST[0], "tools/mutants.py"], is_short=False),
    Part(
        "mutants-sample",
        [PYTEST[0], "tools/mutants.py", "--units", "--sample", "60", "--seed", "{seed}"],
        is_short=False,
    ),
    Part(
        "suites",
        [PYTEST[0], "tests/fuzz_suites/fuzz.py", "--count", "400", "--runs", "20", "--seed", "{seed}"],
        {"PYTHONPATH": "python:tests/fuzz_suites"},
    ),
    Part(
        "all-suites",
        [PYTEST[0], "tests/fuzz_suites/fuzz.py"],
        {"PYTHONPATH": "python:tests/fuzz_suites"},
        is_short=False,
    ),
    *(
        Part(
            f"sanitizer-{name}",
            ["sh", "-ec", f"cmake --preset {name} && cmake --build --preset {name} && ctest --preset {name}"],
            is_short=False,
        )
        for name in ("asan", "tsan")
    ),
)


def chosen(names: Sequence[str], share: float, seed: int) -> list[Part]:
    """Returns the parts of these names, or a random share of the short ones, or all.

    Raises:
        SystemExit: A part is unknown.
    """
    by_name = {part.name: part for part in PARTS}
    if unknown := set(names) - by_name.keys():
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; see --list")
    if names:
        return [by_name[name] for name in names]
    if share >= 1:
        return list(PARTS)
    short = [part for part in PARTS if part.is_short]
    return random.Random(seed).sample(short, math.ceil(share * len(short)))  # noqa: S311 - no secret


def run(part: Part, build: Path, seed: int) -> dict[str, object]:
    """Runs a part, and returns its result."""
    words = [word.format(build=build, seed=seed) if "{" in word else word for word in part.words]
    settings = " ".join(f"{key}={value}" for key, value in part.environment.items())
    print(f"\n--- {part.name}: {settings} {' '.join(words)}", flush=True)
    began = time.monotonic()
    done = subprocess.run(words, cwd=ROOT, env=os.environ | part.environment, check=False)
    seconds = time.monotonic() - began
    print(f"--- {part.name}: {'passed' if done.returncode == 0 else 'FAILED'} in {seconds:.0f} s", flush=True)
    return {"part": part.name, "status": done.returncode, "seconds": round(seconds), "seed": seed}


def main() -> int:
    """Runs parts, and keeps their results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="PART")
    parser.add_argument("--share", type=float, default=1.0, help="run a random share of the short parts")
    parser.add_argument("--seed", type=int, help=f"default: {SEED_VARIABLE}, or a random number")
    parser.add_argument("--list", action="store_true", help="print the names of the parts")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(part.name for part in PARTS))
        return 0
    seed = asked.seed
    if seed is None:
        seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(1 << 31))
    build = Path(os.environ["STRIDER_ENGINE"]).parents[1]
    parts = chosen(asked.names, asked.share, seed)
    print(f"seed {seed}: {', '.join(part.name for part in parts)}", flush=True)
    found = [run(part, build, seed) for part in parts]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1), encoding="utf-8")
    failed = [row["part"] for row in found if row["status"]]
    print(f"\n{len(found) - len(failed)} of {len(found)} parts passed")
    if failed:
        print(f"failed: {', '.join(map(str, failed))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

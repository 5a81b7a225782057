"""Which tests are to notice a mutant, and running them until one does."""

import os
import re
import signal
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from mutant_sources import DESCRIPTIONS, Mutant

UNIT_LIMIT_S, PYTEST_LIMIT_S = 600, 900
"""Time after which tests count as endless: many times their usual time, also on a machine with other work."""
UNIT_PROCESSOR_S = 45
"""Processor time after which tests in C++ count as endless: twice that of almost all folders."""
LONG_UNITS = {"tests/listio/client": 120}
"""The same, of folders that take longer."""
UNITS = ("tests/foundation", "tests/engine", "tests/listio")
PYTHON_PATH = ("tools", "tests/python", "tests/system", "tests/browser")
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+)", re.MULTILINE)
SERVICE = ("tests/listio/client", "tests/listio/server", "tests/listio/protocol", "tests/listio/fuzz")
FAILURE = re.compile(r"^(?:FAILED|ERROR|\[  FAILED  \]) ([\w./\[\]:,-]+)", re.MULTILINE)
NO_TESTS = re.compile(
    r"Running 0 tests|^no tests ran|error: unrecognized arguments|ERROR: (?:file or|not found)", re.MULTILINE
)


@dataclass(frozen=True)
class Kill:
    """How a mutant was noticed.

    Attributes:
        stage: What to run to see it again: one test where it has a name.
        end: How the test ended.
    """

    stage: str
    end: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.end}"


class Tests:
    """The tests of a mutant: the one that noticed it last time, those beside it, those that wider.toml names.

    Args:
        root: The source tree.
        build: Where the programs with the faults are.
        faultless: A copy of the tree as `_python_copy` makes it, in which no fault is planted.
        known: What noticed a mutant last time, by `Mutant.key`.
    """

    def __init__(self, root: Path, build: Path, faultless: Path, known: Mapping[str, str]) -> None:
        self._root = root
        self._build = build
        self._faultless = faultless
        self._known = known
        text = (root / DESCRIPTIONS / "wider.toml").read_text(encoding="utf-8")
        self._wider: dict[str, list[str]] = tomllib.loads(text)
        self._faultless_runs: dict[str, Future[Kill | None]] = {}
        self._lock = Lock()

    def run(self, mutant: Mutant, slot: Path, environment: dict[str, str]) -> Kill | None:
        """Runs the tests of a mutant until one fails that passes without it; None if there is none."""
        for stage in self.stages(mutant):
            kill = self._run(stage, slot, os.environ | environment)
            if kill and not self._without_fault(kill.stage):
                return kill
        return None

    def unsound(self) -> list[Kill]:
        """What failed without a fault as well, and so can notice none."""
        with self._lock:
            answers = [each for each in self._faultless_runs.values() if each.done()]
        return [failed for each in answers if (failed := each.result())]

    def _without_fault(self, stage: str) -> Kill | None:
        """Runs a stage without a fault, once for all mutants that it kills; how it fails then."""
        with self._lock:
            asked = stage in self._faultless_runs
            answer = self._faultless_runs.setdefault(stage, Future())
        if not asked:
            try:
                answer.set_result(self._run(stage, self._faultless, dict(os.environ)))
            except BaseException as error:
                answer.set_exception(error)
                raise
        return answer.result()

    def stages(self, mutant: Mutant) -> Iterator[str]:
        """What to run: units of C++ (a folder, perhaps with a test there), or arguments of pytest."""
        known = self._known.get(mutant.key, "")
        if known and (self._root / re.split(r"[ :]", known)[0]).exists():
            yield known
        yield from mutant.tests
        folder = Path(mutant.file).parent
        beside = Path("tests/python", *folder.parts[2:]) if mutant.python else Path("tests") / folder
        while not (self._root / beside).is_dir():
            beside = beside.parent
        if len(beside.parts) > 2 or any((self._root / beside).glob("*_test.cpp")):
            yield str(beside)
        for prefix, stages in self._wider.items():
            if mutant.file.startswith(prefix):
                yield from stages

    def _run(self, stage: str, slot: Path, environment: dict[str, str]) -> Kill | None:
        units = stage.startswith(UNITS)
        limit_s = UNIT_LIMIT_S if units else PYTEST_LIMIT_S
        if not units:
            environment = environment | {
                "PYTHONDONTWRITEBYTECODE": "1",
                "STRIDER_ENGINE": str(self._build / "engine/strider-engine"),
            }
        with subprocess.Popen(
            self._units(stage) if units else self._pytest(stage, slot),
            cwd=slot if units else self._root,  # some libraries leave files there when a program crashes
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                return Kill(stage, f"timed out after {limit_s} s")
            finally:
                _end_group(process.pid)
        return verdict(stage, process.returncode, output)

    def _units(self, stage: str) -> list[str]:
        processor_s = LONG_UNITS.get(stage, UNIT_PROCESSOR_S)
        return ["prlimit", f"--cpu={processor_s}", *unit_tests(self._root, self._build, stage)]

    def _pytest(self, stage: str, slot: Path) -> list[str]:
        paths = " ".join([str(slot / "python"), *(str(self._root / each) for each in PYTHON_PATH)])
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        return [
            str(slot / "venv/bin/python"),
            "-m",
            "pytest",
            *options,
            "-o",
            f"pythonpath={paths}",
            *stage.split(),
        ]


def unit_tests(root: Path, build: Path, stage: str) -> list[str]:
    """The command that runs the tests of C++ that a folder or file has, or one of them."""
    stage, _, filters = stage.partition(" ")
    if not filters:
        path = root / stage
        files = [path] if path.is_file() else sorted(path.rglob("*.cpp"))
        suites = sorted({name for file in files for name in SUITE.findall(file.read_text(encoding="utf-8"))})
        filters = ":".join(f"{name}.*:*/{name}.*:{name}/*" for name in suites)
    program = "engine/strider-tests"
    if stage.startswith("tests/foundation"):
        program = "foundation/strider-foundation-tests"
    elif stage.startswith("tests/listio/mpi"):
        program = "listio/strider-listio-mpi-tests"
    elif stage.startswith("tests/listio"):
        program = f"listio/strider-listio-{'service-' if stage.startswith(SERVICE) else ''}tests"
    command = [str(build / "tests" / program), "--gtest_brief=1", "--gtest_fail_fast"]
    return [*command, f"--gtest_filter={filters}"]


def _end_group(process: int) -> None:
    """Ends processes that a test left running."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def verdict(stage: str, code: int, output: str) -> Kill | None:
    """How a stage noticed the mutant; None if it did not.

    Raises:
        RuntimeError: There was nothing to run.
    """
    if NO_TESTS.search(output):
        raise RuntimeError(f"{stage}: ran no tests:\n{output[-2000:]}")
    if code == 0:
        return None
    failed = FAILURE.search(output)
    if not failed:
        return Kill(stage, f"exit code {code}")
    name = failed.group(1).rstrip(",")
    return Kill(f"{stage.split()[0]} {name}" if stage.startswith(UNITS) else name.split("[")[0], "failed")

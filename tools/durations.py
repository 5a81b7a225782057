"""A pytest plugin: the longest files first, and a table of time and processor time at the end.

`build/durations.json` keeps the seconds of each file from run to run; a new checkout has those of the long
files in `tests/durations.json`. With `--no-loadscope-reorder`,
pytest-xdist gives files to its workers in this order, so that no worker begins a long file at the end.
"""

import json
import resource
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "durations.json"
LONG = ROOT / "tests" / "durations.json"
FILES = 25
"""Rows of the table of files."""
TESTS = 25
"""Rows of the table of tests."""
COLUMNS = 80


def processor_s() -> float:
    """Returns the processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def kept() -> dict[str, float]:
    """Returns the seconds of each file in the last runs; of the long files if there are none."""
    for file in (KEPT, LONG):
        with suppress(OSError, ValueError):
            seconds: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
            return seconds
    return {}


def file_of(nodeid: str) -> str:
    """Returns the file of a test."""
    return nodeid.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest files first, and those without a duration last."""
    seconds = kept()
    items.sort(key=lambda item: -seconds.get(file_of(item.nodeid), 0.0))


def pytest_collection_finish() -> None:
    """Leaves out the time of the tests' imports."""
    _Last.processor_s = processor_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the processor time since the report before; a worker sends it with the report."""
    report = yield
    now = processor_s()
    vars(report)["processor_s"] = now - _Last.processor_s
    _Last.processor_s = now
    return report


class _Last:
    """Processor time at the last report of this process."""

    processor_s = processor_s()


class Durations:
    """Adds up the reports of all workers."""

    def __init__(self) -> None:
        self.tests: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds one report."""
        row = self.tests[report.nodeid]
        row[0] += report.duration
        row[1] += getattr(report, "processor_s", 0.0)

    def files(self) -> dict[str, list[float]]:
        """Returns seconds and processor seconds of each file."""
        files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for nodeid, row in self.tests.items():
            for column, value in enumerate(row):
                files[file_of(nodeid)][column] += value
        return files

    def pytest_sessionfinish(self) -> None:
        """Keeps the seconds for the next run."""
        seconds = kept() | {name: round(row[0], 2) for name, row in self.files().items()}
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(dict(sorted(seconds.items())), indent=1), encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the longest files and tests."""
        files = self.files()
        self._table(terminalreporter, "file", files, FILES)
        self._table(terminalreporter, "test", self.tests, TESTS)

    @staticmethod
    def _table(
        terminalreporter: pytest.TerminalReporter, kind: str, rows: dict[str, list[float]], most: int
    ) -> None:
        """Prints the longest of some rows, and the sum of all."""
        terminalreporter.section(f"time by {kind}")
        terminalreporter.write_line(f"{'seconds':>8} {'processor':>9}  {kind}")
        total = [sum(row[column] for row in rows.values()) for column in (0, 1)]
        longest = sorted(rows.items(), key=lambda row: -row[1][0])[:most]
        for name, (wall, processor) in [*longest, (f"all {len(rows)}", total)]:
            shown = name.removeprefix("tests/")
            width = COLUMNS - 20
            shown = shown if len(shown) <= width else f"…{shown[-(width - 1) :]}"
            terminalreporter.write_line(f"{wall:8.1f} {processor:9.1f}  {shown}")


def pytest_configure(config: pytest.Config) -> None:
    """Adds up where the tests are distributed from, or run."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(), "durations-table")

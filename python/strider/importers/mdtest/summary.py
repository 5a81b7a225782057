"""The summary in which mdtest reports; widths and decimals are those of mdtest 4.1."""

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from strider.importers.file_system import FileSystem
from strider.importers.imported import VERSION, Grades
from strider.store.model import Run, Sample

_DIRECTORY_ROWS = {
    "Directory creation": ("mkdir",),
    "Directory stat": ("stat-directory",),
    "Directory rename": ("rename-directory",),
    "Directory removal": ("rmdir",),
}
_FILE_ROWS = {
    "File creation": ("create", "mknod"),
    "File stat": ("stat",),
    "File read": ("small-read", "open-close"),
    "File removal": ("unlink",),
}
_TREE_ROWS = {"Tree creation": ("make-tree",), "Tree removal": ("remove-tree",)}
"""Rows, and the operations of which one is in each."""
_HEAD = (
    "   Operation                     Max            Min           Mean        Std Dev",
    "   ---------                     ---            ---           ----        -------",
)


@dataclass(frozen=True)
class TestInfo:
    """Facts of a test in the summary, besides its results.

    Attributes:
        tasks: Number of tasks.
        items: Items of each task.
        directories: Whether directories were tested.
        files: Whether files were tested.
        path: The directory as typed.
        shows_rate: Whether rates are shown.
        shows_time: Whether times are shown.
    """

    tasks: int
    items: int
    directories: bool
    files: bool
    path: str
    shows_rate: bool
    shows_time: bool

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The rows of its table, and the operations of which one is in each."""
        return {
            **(_DIRECTORY_ROWS if self.directories else {}),
            **(_FILE_ROWS if self.files else {}),
            **_TREE_ROWS,
        }

    @property
    def what(self) -> str:
        """The number of items, as mdtest says it."""
        kinds = [name for name, asked in (("files", self.files), ("directories", self.directories)) if asked]
        return f"{self.tasks} tasks, {self.tasks * self.items} {'/'.join(kinds)}"


def render(run: Run, tests: Sequence[TestInfo], source: str) -> Iterator[str]:
    """Yields the lines that mdtest prints.

    Args:
        run: The results.
        tests: The tests, in the order of the run's cases.
        source: The file, or the command line.
    """
    nodes = len(run.start.nodes) if run.start else 0
    yield f"-- started at {_timestamp(run.info.started_s)} --"
    yield ""
    yield f"mdtest-{VERSION} was launched with {run.plan.ranks} total task(s) on {nodes} node(s)"
    yield f"Command line used: {_quoted(source)}"
    yield f"Nodemap: {_node_map(run)}"
    file_system = FileSystem.of(run.plan.target)
    if file_system:
        yield f"{'Path':<20}: {tests[0].path}"
        yield f"{'FS':<20}: {file_system.line}"
    for number, test in enumerate(tests, start=1):
        yield from _test(test, [sample for sample in _samples(run, number) if sample.valid])
    yield f"-- finished at {_timestamp(run.info.ended_s) if run.info.ended else run.status} --"
    yield ""


def _quoted(source: str) -> str:
    """Returns a command line with each argument in quotes; the name of a file as it is."""
    program, *arguments = shlex.split(source) if source.startswith("mdtest ") else [source]
    return " ".join((program, *(f"'{argument}'" for argument in arguments)))


def _node_map(run: Run) -> str:
    """Returns a digit for each task: 1 on the first node, otherwise 0."""
    first = run.start.nodes[0].ranks if run.start and run.start.nodes else run.plan.ranks
    return "1" * first + "0" * (run.plan.ranks - first)


def _samples(run: Run, case: int) -> Iterator[Sample]:
    return (s for s in run.samples if s.case == case and s.measured and not s.warmup)


def _timestamp(seconds: float) -> str:
    return time.strftime("%m/%d/%Y %T", time.localtime(seconds))


def remarks(run: Run, grades: Grades, tests: Sequence[TestInfo]) -> Iterator[str]:
    """Yields what mdtest does not print: excluded results, and the grade of each result.

    Args:
        run: The results.
        grades: Grades of the results.
        tests: The tests, in the order of the run's cases.
    """
    for number, test in enumerate(tests, start=1):
        which = f" of test {number}" if len(tests) > 1 else ""
        for sample in _samples(run, number):
            if not sample.valid:
                what = f"{sample.operation} of iteration {sample.repetition}{which}"
                yield f"WARNING: a check failed: {what} is excluded from the summary"
        for name, operations in test.rows.items():
            grade = next((grades[number, each] for each in operations if (number, each) in grades), None)
            if grade:
                yield f"trust: {name}{which}: {grade}"


def _test(test: TestInfo, samples: Sequence[Sample]) -> Iterator[str]:
    yield test.what
    iterations = len({sample.repetition for sample in samples})
    if test.shows_rate:
        yield ""
        yield f"SUMMARY rate (in ops/sec): (of {iterations} iterations)"
        yield from _table(test, samples, lambda sample: sample.requests_s)
    if test.shows_time:
        yield ""
        yield f"SUMMARY time (in ms/op): (of {iterations} iterations)"
        yield from _table(test, samples, lambda sample: sample.elapsed_s)


def _table(test: TestInfo, samples: Sequence[Sample], value: Callable[[Sample], float]) -> Iterator[str]:
    """Yields the rows of directories, files and trees; phases that were not measured have zeros."""
    yield from _HEAD
    for name, operations in test.rows.items():
        values = [value(sample) for sample in samples if sample.operation in operations] or [0.0]
        deviation = stdev(values) if len(values) > 1 else 0.0
        numbers = (max(values), min(values), fmean(values), deviation)
        yield f"   {name:<22} {' '.join(f'{number:14.3f}' for number in numbers)}"

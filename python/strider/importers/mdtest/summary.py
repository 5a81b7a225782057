"""The summary in which mdtest reports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from strider import __version__
from strider.importers.imported import Grades
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
"""Rows, and the operations of which one stands in each."""
_COLUMNS = ("Max", "Min", "Mean", "Std Dev")


@dataclass(frozen=True)
class TestInfo:
    """What the summary says of a test beside its results.

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
    def what(self) -> str:
        """The number of items, as mdtest says it."""
        kinds = [name for name, asked in (("files", self.files), ("directories", self.directories)) if asked]
        return f"{self.tasks} tasks, {self.tasks * self.items} {'/'.join(kinds)}"


def render(run: Run, grades: Grades, tests: Sequence[TestInfo], source: str) -> Iterator[str]:
    """The report of a run.

    Args:
        run: The results.
        grades: Of the results.
        tests: The tests, in the order of the run's cases.
        source: The file, or the command line.
    """
    nodes = len(run.start.nodes) if run.start else 0
    yield f"-- started at {run.info.started} --"
    yield ""
    yield (
        f"Strider-{__version__}, in the form of mdtest, was launched with {run.plan.ranks} total task(s) "
        f"on {nodes} node(s)"
    )
    yield f"Command line used: {source}"
    yield f"Path: {run.info.directory}"
    for number, test in enumerate(tests, start=1):
        own = [s for s in run.samples if s.case == number and s.measured and not s.warmup]
        graded = {operation: grade for (case, operation), grade in grades.items() if case == number}
        yield from _test(test, own, graded)
    yield ""
    yield f"-- finished at {run.info.ended or run.status} --"


def _test(test: TestInfo, samples: Sequence[Sample], grades: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield test.what
    valid = [sample for sample in samples if sample.valid]
    iterations = len({sample.repetition for sample in valid})
    if test.shows_rate:
        yield ""
        yield f"SUMMARY rate: (of {iterations} iterations)"
        yield from _table(test, valid, grades, lambda sample: sample.requests_s)
    if test.shows_time:
        yield ""
        yield f"SUMMARY time (in seconds): (of {iterations} iterations)"
        yield from _table(test, valid, grades, lambda sample: sample.elapsed_s)
    for sample in samples:
        if not sample.valid:
            which = f"{sample.operation} of iteration {sample.repetition}"
            yield f"WARNING: a check failed: {which} is excluded from the summary"


def _table(
    test: TestInfo, samples: Sequence[Sample], grades: Mapping[str, str], value: Callable[[Sample], float]
) -> Iterator[str]:
    """The rows of directories, files and trees; what was not measured has zeros, as in mdtest.

    The grade is the last column, so that scripts find mdtest's columns where they are in mdtest.
    """
    rows = {
        **(_DIRECTORY_ROWS if test.directories else {}),
        **(_FILE_ROWS if test.files else {}),
        **_TREE_ROWS,
    }
    yield _line("Operation", _COLUMNS, "Trust")
    yield _line("---------", ["-" * len(column) for column in _COLUMNS], "-----")
    for name, operations in rows.items():
        values = [value(sample) for sample in samples if sample.operation in operations] or [0.0]
        deviation = stdev(values) if len(values) > 1 else 0.0
        numbers = (max(values), min(values), fmean(values), deviation)
        grade = next((grades[operation] for operation in operations if operation in grades), "-")
        yield _line(name, [f"{number:.3f}" for number in numbers], grade)


def _line(name: str, cells: Sequence[str], grade: str) -> str:
    return f"   {name:<22} {' '.join(f'{cell:>14}' for cell in cells)}   {grade}"

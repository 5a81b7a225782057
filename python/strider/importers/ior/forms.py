"""The form in which the results of a suite of IOR's tests are printed, and the files that it requests."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from strider.importers.imported import Grades, Imported, ResultFile
from strider.importers.ior import data_forms, table
from strider.importers.ior.report import Report
from strider.importers.ior.test_info import TestInfo
from strider.store.model import Run
from strider.suite.document import Document

_RENDERS: dict[str, Callable[[Report], Iterator[str]]] = {
    "default": table.render,
    "json": data_forms.render_json,
    "csv": data_forms.render_csv,
}


def imported_of(document: Document, notes: list[str], tests: Sequence[TestInfo], source: str) -> Imported:
    """Returns a suite of tests with the output that they request.

    As in IOR, the last test's `summaryFormat` and `summaryFile` are in force for all tests.

    Args:
        document: The suite.
        notes: What differs from IOR.
        tests: The tests, at least one.
        source: The script, or the command line.
    """
    reports = _Reports(tests, source)
    settings = tests[-1].work.settings
    form = settings.text("summaryFormat", "default").lower()

    def results(run: Run, grades: Grades) -> Iterator[str]:
        return _RENDERS[form](reports.of(run))

    def remarks(run: Run, grades: Grades) -> Iterator[str]:
        return reports.of(run).remarks(grades)

    files = _rank_files(reports)
    summary = settings.text("summaryFile")
    if not summary:
        return Imported(document, notes, results, remarks, files)
    file = ResultFile(Path(summary), settings.place("summaryFile"), results)

    def announcement(run: Run, grades: Grades) -> Iterator[str]:
        yield f"Writing output to {summary}"

    return Imported(document, notes, announcement, remarks, [file, *files])


class _Reports:
    """The report of a run, which reads the run's events once for all that is printed of it.

    Args:
        tests: The tests, in the order of the run's cases.
        source: The script, or the command line.
    """

    def __init__(self, tests: Sequence[TestInfo], source: str) -> None:
        self.tests = tests
        self._source = source
        self._latest: Report | None = None

    def of(self, run: Run) -> Report:
        """Returns the report of a run."""
        if self._latest is None or self._latest.run is not run:
            self._latest = Report(run, self.tests, self._source)
        return self._latest


def _rank_files(reports: _Reports) -> list[ResultFile]:
    """Returns the files with times of each rank; tests that name the same file share it."""
    option = "saveRankPerformanceDetailsCSV"
    by_path: dict[str, list[TestInfo]] = {}
    for test in reports.tests:
        path = test.work.settings.text(option)
        if path:
            by_path.setdefault(path, []).append(test)
    return [_rank_file(path, own, reports) for path, own in by_path.items()]


def _rank_file(path: str, tests: Sequence[TestInfo], reports: _Reports) -> ResultFile:
    place = tests[0].work.settings.place("saveRankPerformanceDetailsCSV")
    return ResultFile(Path(path), place, lambda run, grades: data_forms.render_ranks(reports.of(run), tests))

"""The form in which the results of a suite of IOR's tests are printed, and the files that it requests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from strider.engine import Json
from strider.importers import status_file
from strider.importers.imported import Grades, Imported, ResultFile
from strider.importers.ior import data_forms, table
from strider.importers.ior.kept import STATUS
from strider.importers.ior.report import Report
from strider.importers.ior.test_info import TestInfo
from strider.store.model import Run
from strider.suite.document import Document
from strider.suite.mistakes import Place

_RENDERS: dict[str, Callable[[Report], Iterator[str]]] = {
    "default": table.render,
    "json": data_forms.render_json,
    "csv": data_forms.render_csv,
}


def imported_of(
    document: Document,
    notes: list[str],
    tests: Sequence[TestInfo],
    source: str,
    manifests: Mapping[int, dict[str, Json]],
) -> Imported:
    """Returns a suite of tests with the output that they request.

    As in IOR, the last test's `summaryFormat` and `summaryFile` are in force for all tests.

    Args:
        document: The suite.
        notes: What differs from IOR.
        tests: The tests, at least one.
        source: The script, or the command line.
        manifests: Manifests of cases with files that stay, by the case's number.
    """
    reports = _Reports(tests, source)
    settings = tests[-1].work.settings
    form = settings.text("summaryFormat", "default").lower()

    def results(run: Run, grades: Grades) -> Iterator[str]:
        return _RENDERS[form](reports.of(run))

    def remarks(run: Run, grades: Grades) -> Iterator[str]:
        return reports.of(run).remarks(grades)

    files = [*_rank_files(reports), *_status_files(reports)]
    summary = settings.text("summaryFile")
    if not summary:
        return Imported(document, notes, results, remarks, files, manifests)
    file = ResultFile(Path(summary), settings.place("summaryFile"), results)

    def announcement(run: Run, grades: Grades) -> Iterator[str]:
        yield f"Writing output to {summary}"

    return Imported(document, notes, announcement, remarks, [file, *files], manifests)


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


def _status_files(reports: _Reports) -> Iterator[ResultFile]:
    """Yields the status files that tests with a deadline leave for later reads."""
    for test in reports.tests:
        path, place = test.work.settings.text(STATUS), test.work.settings.place(STATUS)
        if path and test.work.asked.writes and test.work.surroundings.keeps_files:
            yield _status_file(Path(path), place, test, reports)


def _status_file(path: Path, place: Place, test: TestInfo, reports: _Reports) -> ResultFile:
    def write(run: Run) -> None:
        written = [access for access in reports.of(run).accesses(test) if access.name == "write"]
        if written:
            # As in IOR, of the first repetition.
            status_file.write(path, max(rank.requests for rank in written[0].ranks), place.text)

    return ResultFile(path, place, check=lambda: status_file.require_writable(path, place.text), write=write)

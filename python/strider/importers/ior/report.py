"""A run in IOR's terms: its tests with their accesses, and the machine."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from strider.importers.file_system import FileSystem
from strider.importers.imported import Grades
from strider.importers.ior.results import Access, accesses
from strider.importers.ior.test_info import TestInfo
from strider.store import load_events
from strider.store.model import RankRow, Run


@dataclass(frozen=True)
class Report:
    """What IOR would print about a run.

    Attributes:
        run: The results.
        tests: The tests, in the order of the run's cases.
        source: The script, or the command line.
    """

    run: Run
    tests: Sequence[TestInfo]
    source: str

    @cached_property
    def _accesses(self) -> dict[int, list[Access]]:
        ranks = load_events(self.run.directory, RankRow)
        return {test.number: list(accesses(test, self.run.samples, ranks)) for test in self.tests}

    def accesses(self, test: TestInfo) -> Sequence[Access]:
        """Returns the accesses of a test in the order of execution."""
        return self._accesses[test.number]

    def counted(self, test: TestInfo, name: str) -> Sequence[Access]:
        """Returns the valid accesses of a test with this name."""
        return [access for access in self.accesses(test) if access.name == name and access.counts]

    @property
    def nodes(self) -> int:
        return len(self.run.start.nodes) if self.run.start else 0

    @property
    def began(self) -> str:
        """When the run began."""
        return time.ctime(self.run.info.started_s)

    @property
    def finished(self) -> str:
        """When the run ended; its status if it did not."""
        return time.ctime(self.run.info.ended_s) if self.run.info.ended else self.run.status

    def started(self, test: TestInfo) -> str:
        """Returns when a test began."""
        begins = (sample.start_s for sample in self.run.samples if sample.case in test.cases)
        return time.ctime(self.run.info.started_s + next(begins, 0.0))

    @property
    def machine(self) -> str:
        """System and name of the machine."""
        system = os.uname()
        nodes = self.run.start.nodes if self.run.start else ()
        return f"{system.sysname} {nodes[0].name if nodes else system.nodename}"

    @property
    def platform(self) -> str:
        """The machine's name without its number, and the system."""
        sysname, nodename = self.machine.split(" ", 1)
        return f"{re.sub('[0-9]+$', '', nodename) or nodename[:1]}({sysname})"

    @cached_property
    def file_system(self) -> FileSystem | None:
        """Sizes of the target's file system; None if they cannot be read here."""
        return FileSystem.of(self.run.plan.target)

    def remarks(self, grades: Grades) -> Iterator[str]:
        """Yields what IOR does not print: excluded results, and the grade of each result.

        Args:
            grades: Grades of the results.
        """
        for test in self.tests:
            which = f" of test {test.number}" if len(self.tests) > 1 else ""
            for access in self.accesses(test):
                if not access.counts:
                    what = f"{access.name} of iteration {access.iteration}{which}"
                    yield f"WARNING: a check failed: {what} is excluded from the summary"
            for operation in test.shown:
                name = "read" if operation == "read" else "write"
                found = [grade for case in test.cases if (grade := grades.get((case, operation)))]
                yield from (f"trust: {name}{which}: {grade}" for grade in dict.fromkeys(found))

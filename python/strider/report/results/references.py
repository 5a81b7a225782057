"""Figures that others have published for the workloads of a suite, for comparison with the measurements.

They are in `suites/references/SUITE.toml` (docs/formats.md, section 5).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from strider.errors import StriderError
from strider.statistics import OperationSummary
from strider.store.case import Case
from strider.suite.ready_made import folder
from strider.units import MB, MIB, in_bytes

#: Times of a process in an operation, seconds.
ProcessTime = Literal["wall_s", "user_s", "system_s"]
PROCESS_TIMES: tuple[ProcessTime, ...] = ("wall_s", "user_s", "system_s")
Quantity = Literal[
    "rate", "requests", "context_switches", "user_percent", "system_percent", "packets", ProcessTime
]
Key = int | str | bool
Figure = float | list[float]


#: In the place of an operation: all of a case together.
ALL = "all"


class Table(BaseModel):
    """Figures of some cases.

    Attributes:
        match: Keys that are the same for all rows, with their values; of a list, any value.
        keys: The keys in the first columns of a row; sizes as typed in a suite.
        figures: The operations in the other columns: rates in MB/s, one or one for each run.
        quantity: Quantity of the figures: rates; the requests of a client, for which `figures` is `["all"]`:
            those of all operations of a case together; or counts of the nodes during an operation: context
            switches, processor time in percent in user mode and in the kernel, packets; or times of one
            process in seconds.
        rows: The rows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    match: dict[str, Key | list[Key]] = {}
    keys: list[str] = []
    figures: list[str]
    quantity: Quantity = "rate"
    rows: list[list[Any]]

    @model_validator(mode="after")
    def _check_rows(self) -> Table:
        width = len(self.keys) + len(self.figures)
        wrong = next((row for row in self.rows if len(row) != width), None)
        if wrong is not None:
            raise ValueError(f"a row has {len(wrong)} columns and not {width}: {wrong}")
        return self

    def find(self, case: Case, operation: str) -> float | None:
        """The figure of an operation of a case, the mean of the runs."""
        if operation not in self.figures or not _all_equal(case, self.match):
            return None
        column = len(self.keys) + self.figures.index(operation)
        rows = (row for row in self.rows if _all_equal(case, dict(zip(self.keys, row, strict=False))))
        found = next(rows, None)
        if found is None:
            return None
        figure: Figure = found[column]
        return fmean(figure) if isinstance(figure, list) else figure


class PublishedRatio(BaseModel):
    """A published ratio of cases that do the same work in two ways.

    Attributes:
        what: The two ways, in a few words.
        of: The quotient: the rates, other ÷ base; or the times, other ÷ base.
        operations: Operations with a ratio of their own; `all`: of all operations of a case together.
        match: Keys that both cases have, with their values.
        base: Keys of the case in the denominator.
        other: Keys of the case in the numerator; a base is not compared with itself.
        published: The published ratio in words, such as `1.6 to 5.6`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    of: Literal["rate", "time"]
    operations: list[str]
    match: dict[str, Key] = {}
    base: dict[str, Key]
    other: dict[str, Key]
    published: str

    def is_base(self, case: Case) -> bool:
        """Whether a case is in the denominator."""
        return _all_equal(case, self.match | self.base)

    def is_other(self, case: Case) -> bool:
        """Whether a case is in the numerator."""
        return _all_equal(case, self.match | self.other) and not self.is_base(case)


class PublishedFigure(BaseModel):
    """A published figure of rates against the transfer size.

    Attributes:
        name: Such as `Figure 10`.
        operation: The operation in it.
        clients: The number of clients in it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    operation: str
    clients: int


class Reference(BaseModel):
    """Published figures for a suite.

    Attributes:
        suite: Name of the suite.
        machine: Where they were measured, in a few words.
        year: When they were published.
        about: The machine, and what differs from the suite.
        source: Where they are published.
        claims: Publications beside figures of cases, a sentence each.
        excludes_open: Whether its rates leave out the time to open and close files.
        table: The figures.
        ratio: Ratios of figures.
        figure: Drawings of them.
        scale_down: How many times smaller the sizes of the run are than the published ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    machine: str
    year: int
    about: str
    source: str
    claims: list[str] = []
    excludes_open: bool = False
    table: list[Table] = []
    ratio: list[PublishedRatio] = []
    figure: list[PublishedFigure] = []
    scale_down: int = 1

    def figure_mb_s(self, case: Case, operation: str) -> float | None:
        """The rate of an operation of a case in MB/s; None where none was published."""
        return self._find(case, operation, "rate")

    def count(self, case: Case, operation: str, quantity: Quantity) -> float | None:
        """Another figure of an operation of a case; None where none was published."""
        return self._find(case, operation, quantity)

    def comparable_mb_s(self, summary: OperationSummary) -> float | None:
        """The measured rate in MB/s, of the same time as the published one."""
        if not self.excludes_open:
            return summary.rate.centre * MIB / MB if summary.rate else None
        rates = [s.bytes / s.access_s / MB for s in summary.samples if s.bytes and s.access_s > 0]
        return geometric_mean(rates) if rates else None

    def figures_of(self, operation: str, clients: int) -> list[str]:
        """Names of the published figures of an operation and a number of clients."""
        return [one.name for one in self.figure if (one.operation, one.clients) == (operation, clients)]

    def requests(self, case: Case) -> int | None:
        """The requests of one client in all operations of a case; None where no number was published."""
        found = self._find(case, ALL, "requests")
        return None if found is None else round(found)

    def _find(self, case: Case, operation: str, quantity: Quantity) -> float | None:
        published = with_published_sizes(case, self.scale_down)
        found = (table.find(published, operation) for table in self.table if table.quantity == quantity)
        return next((figure for figure in found if figure is not None), None)

    def knows_process_times(self, summaries: Sequence[OperationSummary]) -> bool:
        """Whether there is a time of a process for any of some summaries."""
        return any(
            self.count(s.case, s.operation, quantity) is not None
            for s in summaries
            for quantity in PROCESS_TIMES
        )

    def knows(self, summaries: Sequence[OperationSummary]) -> bool:
        """Whether there is a rate for any of some summaries."""
        return any(self.figure_mb_s(s.case, s.operation) is not None for s in summaries)

    def applies(self, summaries: Sequence[OperationSummary]) -> bool:
        """Whether anything is published for any of some summaries."""
        cases = {s.case.number: s.case for s in summaries}.values()
        return bool(self.claims) or self.knows(summaries) or any(self.requests(c) is not None for c in cases)

    @property
    def remark(self) -> str:
        """Where the figures come from, in a sentence."""
        rates = any(table.quantity == "rate" for table in self.table)
        unit = ", in MB/s of 1 000 000 bytes," if rates else ""
        without = " They leave out the time to open and close files, and so do the rates in MB/s beside them."
        claims = [f"Published: {claim}." for claim in self.claims]
        where = f"The published figures{unit} are from {self.source}: {self.about}."
        smaller = (
            f" All sizes of this run are {self.scale_down} times smaller than the published ones beside them."
            if self.scale_down > 1
            else ""
        )
        return " ".join([where + smaller + (without if self.excludes_open else ""), *claims])


def reference_of(suite: str, scale_down: int = 1) -> Reference | None:
    """The published figures for a suite; None where there are none.

    Args:
        suite: Its name.
        scale_down: Divisor of the sizes in the run.

    Raises:
        StriderError: Their file is damaged.
    """
    ready_made = folder()
    file = ready_made / "references" / f"{suite}.toml" if ready_made else None
    found = read(file) if file and file.is_file() else None
    return found.model_copy(update={"scale_down": scale_down}) if found else None


def read(file: Path) -> Reference:
    """Reads a file of published figures.

    Raises:
        StriderError: It cannot be read, or is not of this form.
    """
    try:
        return Reference.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StriderError(f"{file}: {place}: {first['msg']}") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise StriderError(f"{file}: {error}") from error


def with_published_sizes(case: Case, scale_down: int) -> Case:
    """A case as it would be with the sizes of the published one."""
    if scale_down == 1:
        return case
    sizes = {
        name: option.value * scale_down
        for name, option in case.shape_options.items()
        if option.kind == "bytes" and isinstance(option.value, int)
    }
    return case.model_copy(update={"tree" if case.is_metadata else "pattern": {**case.shape, **sizes}})


def _all_equal(case: Case, wanted: Mapping[str, Key | list[Key]]) -> bool:
    return all(
        any(
            _value(case, key) == in_bytes(value)
            for value in (values if isinstance(values, list) else [values])
        )
        for key, values in wanted.items()
    )


def _value(case: Case, key: str) -> object:
    """A case's value of a key as in a suite; None where it has no such key."""
    named = {"name": case.name, "interface": case.interface_name, "pattern": case.shape_name}
    interface, dot, option = key.partition(".")
    if dot:
        return case.interface.get(option) if case.interface_name == interface else None
    if key == "transfer":
        return case.transfer_bytes
    return named.get(key, case.common_parameters.get(key, case.pattern.get(key)))

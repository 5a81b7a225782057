"""Whether the same case read the same values through every interface.

Unlike digests, values are there without verification, and of each request of each rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from strider.statistics.digest import Verdict, data_keys
from strider.store.case import Case
from strider.store.model import Run
from strider.store.records import RequestValues

Which = Literal["first", "middle", "last"]
WHICH: tuple[Which, ...] = ("first", "middle", "last")

#: Values of the ranks of a repetition, by case.
_ByCase = Mapping[int, RequestValues]


@dataclass(frozen=True)
class ValueDifference:
    """The first value that differs between cases.

    Attributes:
        request: Number of the request among those of the rank, from 0.
        offset: Offset of the request in the file.
        which: Which value of the request.
        found: The value that each case read, by its number.
    """

    repetition: int
    rank: int
    request: int
    offset: int
    which: Which
    found: Mapping[int, int]


@dataclass(frozen=True)
class ValueComparison:
    """Cases with the same requests through different interfaces or settings of them, in one operation.

    Attributes:
        cases: The cases that were compared, in the order of the plan.
        repetitions: Number of repetitions in which at least two of them have values.
        ranks: Number of ranks with values.
        requests: Requests that were compared, over all ranks and repetitions.
        different: Those of them with a value that differs between cases.
        first: The first value that differs; None without one.
    """

    cases: Sequence[Case]
    operation: str
    repetitions: int
    ranks: int
    requests: int
    different: int
    first: ValueDifference | None

    @property
    def verdict(self) -> Verdict:
        """`not comparable` if the cases have no request in common."""
        if not self.requests:
            return "not comparable"
        return "different data" if self.different else "same data"


def compare_values(run: Run, values: Sequence[RequestValues]) -> list[ValueComparison]:
    """Compares the values of requests between cases with the same data.

    Args:
        run: The run.
        values: What each of its ranks recorded in each phase.

    Returns:
        A comparison for each group of two cases or more that recorded values, without warm-ups.
    """
    groups: defaultdict[tuple[str, str], list[RequestValues]] = defaultdict(list)
    keys = data_keys(run)
    for row in values:
        if not row.warmup and row.case in keys:
            groups[keys[row.case], row.operation].append(row)
    return [
        _compare(run, operation, rows)
        for (_, operation), rows in groups.items()
        if len({row.case for row in rows}) > 1
    ]


def _compare(run: Run, operation: str, rows: Sequence[RequestValues]) -> ValueComparison:
    by_place: defaultdict[tuple[int, int], dict[int, RequestValues]] = defaultdict(dict)
    for row in rows:
        by_place[row.repetition, row.rank][row.case] = row
    shared = {place: found for place, found in sorted(by_place.items()) if len(found) > 1}
    requests = different = 0
    first: ValueDifference | None = None
    for (repetition, rank), found in shared.items():
        for request in _common_requests(found):
            requests += 1
            which = _differing(found, request)
            if which is None:
                continue
            different += 1
            offset = next(iter(found.values())).offset[request]
            own = {case: getattr(row, which)[request] for case, row in sorted(found.items())}
            first = first or ValueDifference(repetition, rank, request, offset, which, own)
    return ValueComparison(
        cases=[run.cases[number] for number in sorted({row.case for row in rows})],
        operation=operation,
        repetitions=len({repetition for repetition, _ in shared}),
        ranks=len({rank for _, rank in shared}),
        requests=requests,
        different=different,
        first=first,
    )


def _common_requests(found: _ByCase) -> Iterator[int]:
    """Yields the numbers of the requests that all cases have at the same offset, with the same length."""
    rows = list(found.values())
    for request in range(min(len(row.offset) for row in rows)):
        if len({(row.offset[request], row.bytes[request]) for row in rows}) == 1:
            yield request


def _differing(found: _ByCase, request: int) -> Which | None:
    """Returns the first value of a request that differs between cases."""
    for which in WHICH:
        if len({getattr(row, which)[request] for row in found.values()}) > 1:
            return which
    return None

"""Equal values are counted, and a wrong byte in one of them is found without verification."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder
from strider.statistics import ValueComparison, compare_values
from strider.store import RequestValues, Run, load, load_events

RANKS = [[10, 20, 30], [40, 50, 60]]
OFF = {"verify": "off"}


def run_of(folder: Path, *cases: CaseSpec, repetitions: int = 2, warmup: int = 0) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions, warmup=warmup).write(folder / "run"))


def case(interface: str, values: list[list[int]] = RANKS, **keys: object) -> CaseSpec:
    return CaseSpec(
        interface={"name": interface}, operations=("read",), values=values, common={**OFF, **keys}
    )


def compared(
    run: Run, change: dict[str, object] | None = None, case_number: int = 2
) -> list[ValueComparison]:
    """Comparisons, after a change of the second rank's record of a case in the second repetition."""
    values = [
        row.model_copy(update=change)
        if change and (row.case, row.repetition, row.rank) == (case_number, 1, 1)
        else row
        for row in load_events(run.directory, RequestValues)
    ]
    return compare_values(run, values)


def test_equal_values_are_equal_with_the_number_of_requests_compared(tmp_path: Path) -> None:
    (found,) = compared(run_of(tmp_path, case("posix"), case("mpiio"), case("listio")))
    assert [one.interface_name for one in found.cases] == ["posix", "mpiio", "listio"]
    assert (found.verdict, found.requests, found.different) == ("same data", 2 * 2 * 3, 0)
    assert (found.ranks, found.repetitions, found.first) == (2, 2, None)


@pytest.mark.parametrize("which", ["first", "middle", "last"])
def test_one_wrong_value_is_found_with_its_place(tmp_path: Path, which: str) -> None:
    add = {"first": 0, "middle": 1, "last": 2}[which]
    wrong = [40 + add, 50 + add ^ 1, 60 + add]
    (found,) = compared(run_of(tmp_path, case("posix"), case("mpiio")), {which: wrong})
    assert (found.verdict, found.requests, found.different) == ("different data", 12, 1)
    first = found.first
    assert first is not None
    assert (first.repetition, first.rank, first.request, first.offset) == (1, 1, 1, MIB)
    assert (first.which, first.found) == (which, {1: 50 + add, 2: 50 + add ^ 1})


def test_requests_at_other_offsets_or_of_other_lengths_are_not_compared(tmp_path: Path) -> None:
    run = run_of(tmp_path, case("posix"), case("mpiio"))
    (found,) = compared(run, {"offset": [0, 7, 2 * MIB]})
    assert (found.requests, found.different) == (11, 0)
    (found,) = compared(run, {"bytes": [MIB, 7, MIB]})
    assert (found.requests, found.different) == (11, 0)


def test_a_case_that_read_less_is_compared_as_far_as_it_read(tmp_path: Path) -> None:
    (found,) = compared(run_of(tmp_path, case("posix"), case("mpiio", [[10], [40, 50]])))
    assert (found.verdict, found.requests) == ("same data", 2 * 3)
    (none,) = compared(run_of(tmp_path / "none", case("posix"), case("mpiio", [[], []])))
    assert (none.verdict, none.requests) == ("not comparable", 0)


def test_other_work_is_not_compared(tmp_path: Path) -> None:
    assert compared(run_of(tmp_path, case("posix"), case("mpiio", order="random"))) == []
    assert compared(run_of(tmp_path / "alone", case("posix"))) == []


def test_warm_ups_do_not_count(tmp_path: Path) -> None:
    (found,) = compared(run_of(tmp_path, case("posix"), case("mpiio"), repetitions=1, warmup=1))
    assert (found.repetitions, found.requests) == (1, 6)

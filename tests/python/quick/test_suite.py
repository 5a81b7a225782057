"""The suite of a quick measurement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quick_builders import place
from strider.card.model import USEFUL_BUDGET_S
from strider.engine import Description, Engine
from strider.quick.probe import Probe, native_document, probe_document
from strider.quick.suite import LEAST_ROUNDS, LONGEST_PHASE_S, SHORTEST_PHASE_S, cost_of, quick_document
from strider.statistics.trust import FEW, LONG_S
from strider.suite import Changes
from strider.suite.load import build
from strider.suite.plan import Plan

ALL = frozenset(["posix", "mpiio", "uring", "listio"])
NAMES = {
    "sequential",
    "random",
    "append",
    "random deep",
    "create",
    "clients",
    "sequential deep",
    "pieces",
    "names",
}


@pytest.fixture(scope="module", name="description")
def of_the_engine(engine: Engine) -> Description:
    return engine.description


def plan_of(description: Description, seconds: float = 110, kind: str = "local", **facts: object) -> Plan:
    document, _ = quick_document(place(kind, **facts), Probe(2.9e9, 1e9), ALL, 2, seconds)
    return build(document, description, Changes([], "/scratch", None)).plan


def test_the_suite_can_be_read_and_names_every_case(description: Description) -> None:
    plan = plan_of(description, 300)
    assert {case.name for case in plan.cases} == NAMES | {"large", "cached"}
    assert plan.interleave == "random"
    assert plan.time_limit_s == 300


def test_the_probe_can_be_read(description: Description) -> None:
    for is_direct in (True, False):
        document = probe_document(place(is_direct=is_direct))
        (case,) = build(document, description, Changes([], "/scratch", None)).plan.cases
        assert case.operations == ["write", "read"]


def test_reads_come_from_storage_with_direct_io_and_without(description: Description) -> None:
    for is_direct in (True, False):
        for case in plan_of(description, is_direct=is_direct).cases:
            reads = any(name.startswith("read") for name in case.operations) and not case.tree
            if reads and case.name != "cached":
                assert case.interface.get("direct") is is_direct
                assert (case.get("cache") == "cold") is not is_direct


def test_nothing_written_twice_through_the_page_cache(description: Description) -> None:
    """Such blocks reach the disk once, and the rate is that of memory."""
    for case in plan_of(description, is_direct=False).cases:
        assert not case.pattern.get("replacement")


def test_writes_end_on_storage(description: Description) -> None:
    for case in plan_of(description).cases:
        if not case.tree and "write" in "".join(case.operations):
            assert case.get("sync", "end") in ("end", "each")


def test_interfaces_that_are_compared_do_the_same_work(description: Description) -> None:
    for name in ("pieces", "large"):
        cases = [case for case in plan_of(description, 300).cases if case.name == name]
        assert len(cases) == 3
        assert len({(str(case.pattern), case.clients, str(case.operations)) for case in cases}) == 1


def test_without_space_only_names_are_measured(description: Description) -> None:
    document, _ = quick_document(place(free_bytes=10**6), Probe(None, None, "no space"), ALL, 2, 60)
    (case,) = build(document, description, Changes([], "/scratch", None)).plan.cases
    assert (case.name, case.get("file_size", 0), case.tree.get("file_size", 0)) == ("names", 0, 0)


@given(
    seconds=st.floats(2, 1000),
    write=st.floats(1e6, 1e10),
    read=st.floats(1e6, 1e10),
    free=st.integers(10**8, 10**13),
)
def test_at_least_three_rounds_fit_or_the_phases_are_as_short_as_can_be(
    seconds: float, write: float, read: float, free: int
) -> None:
    _, found = quick_document(place(free_bytes=free), Probe(write, read), ALL, 2, seconds)
    assert SHORTEST_PHASE_S <= found.phase_s <= LONGEST_PHASE_S
    assert len(found.groups) >= 4
    assert found.groups[0].name == "sequential"
    if found.left_out:
        assert found.phase_s <= 1.1
    if cost_of(found.groups) * LEAST_ROUNDS > seconds * 1.01 and len(found.groups) > 4:
        assert found.phase_s > SHORTEST_PHASE_S


#: Time of a budget that look and probe take.
LOOK_S = 4.0
USUAL = pytest.mark.parametrize(
    ("kind", "write", "read"),
    [
        ("local", 20e6, 20e6),
        ("local", 100e6, 150e6),
        ("local", 1.5e9, 1e9),
        ("memory", 1e9, 6e9),
        ("network", 100e6, 150e6),
    ],
)


@USUAL
def test_the_shortest_useful_budget_has_three_rounds_of_phases_that_count(
    kind: str, write: float, read: float
) -> None:
    _, found = quick_document(place(kind), Probe(write, read), ALL, 2, USEFUL_BUDGET_S - LOOK_S)
    assert found.phase_s >= LONG_S
    assert found.rounds >= FEW
    assert [group.name for group in found.groups][:3] == ["sequential", "random", "append"]


@USUAL
def test_a_shorter_budget_has_no_such_phases(kind: str, write: float, read: float) -> None:
    _, found = quick_document(place(kind), Probe(write, read), ALL, 2, 30 - LOOK_S)
    assert found.phase_s < LONG_S


@pytest.mark.parametrize(("seconds", "rounds"), [(110, 4), (290, 9)])
def test_the_usual_budgets_have_many_rounds_of_all_lines(seconds: float, rounds: float) -> None:
    _, found = quick_document(place(), Probe(2.9e9, 1e9), ALL, 2, seconds)
    assert found.left_out == []
    assert found.rounds >= rounds
    assert found.phase_s >= 1.0


@pytest.mark.parametrize("is_deep", [True, False])
def test_a_library_measures_every_line_and_stands_beside_posix(
    description: Description, is_deep: bool
) -> None:
    facts = {"interface": "nfs", "native": "nfs", "is_direct": False}
    made = place("network", **facts)
    document, _ = quick_document(made, Probe(2e8, 2e8), ALL | {"nfs"}, 2, 600, is_deep)
    plan = build(document, description, Changes(["case.nfs.url=nfs://h/e"], "/scratch", None)).plan
    through: dict[str, set[str]] = {}
    for case in plan.cases:
        through.setdefault(case.name, set()).add(case.interface["name"])
    ratios = {"large": {"posix", "mpiio", "uring", "nfs"}, "pieces": {"posix", "mpiio", "listio", "nfs"}}
    assert through == {**{name: {"nfs"} for name in through}, **ratios}
    assert ("random deep" in through) is is_deep
    assert "cached" not in through
    assert all(case.get("cache") == "cold" for case in plan.cases if case.name.startswith("random"))


def test_the_library_of_a_mount_is_a_ratio_alone(description: Description) -> None:
    document, _ = quick_document(place("network", native="gfapi"), Probe(2e8, 2e8), ALL | {"gfapi"}, 2, 600)
    plan = build(document, description, Changes([], "/scratch", None)).plan
    named = {case.name for case in plan.cases if case.interface["name"] == "gfapi"}
    assert named == {"large", "pieces"}


def test_whether_a_library_reaches_its_servers_is_tried_with_one_write(description: Description) -> None:
    (case,) = build(native_document("gfapi"), description, Changes([], "/scratch", None)).plan.cases
    assert (case.interface["name"], case.operations) == ("gfapi", ["write"])

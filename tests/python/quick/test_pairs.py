"""The suite that compares two directories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quick_builders import place
from strider.engine import Description, Engine
from strider.quick.cases import Group
from strider.quick.pairs import GOOD_PAIRS, LEAST_PAIRS, MOST_PAIRS, fit_pairs, pair_document
from strider.quick.probe import Probe
from strider.quick.sizes import capacity, common_sizes
from strider.quick.suite import LONGEST_PHASE_S, PHASE_S, SHORTEST_PHASE_S, cost_of
from strider.suite import Changes
from strider.suite.load import build
from strider.suite.plan import Plan
from strider.units import MIB

ALL = frozenset(["posix", "mpiio", "uring", "listio"])
RATES = st.floats(1e3, 1e11)


@pytest.fixture(scope="module", name="description")
def of_the_engine(engine: Engine) -> Description:
    return engine.description


def plan_of(description: Description, probes: list[Probe], is_direct: bool = True) -> Plan:
    places = [place(is_direct=is_direct) for _ in probes]
    document, _ = pair_document(places, probes, ALL, 230)
    return build(document, description, Changes([], "/scratch", None)).plan


# proves comparing: lines-of-card, each-line-once
def test_a_run_has_every_case_once_with_one_client(description: Description) -> None:
    plan = plan_of(description, [Probe(2.9e9, 1e9), Probe(2.5e9, 1e9)])
    assert {case.repetitions.max for case in plan.cases} == {1}
    assert {case.clients for case in plan.cases} == {1}
    assert {"sequential", "random", "append", "create", "random deep"} <= {case.name for case in plan.cases}


@pytest.mark.parametrize("is_direct", [True, False])
# proves comparing: any-order
def test_reads_of_a_much_faster_directory_last_their_time(description: Description, is_direct: bool) -> None:
    plan = plan_of(description, [Probe(20e6, 20e6), Probe(2e9, 2e9)], is_direct=is_direct)
    (read,) = (case for case in plan.cases if case.name == "sequential" and case.operations == ["read"])
    assert bool(read.pattern.get("replacement")) is is_direct
    assert read.interface.get("direct") is is_direct
    assert (read.get("cache") == "cold") is not is_direct


# proves comparing: one-without-direct
def test_one_directory_without_direct_io_decides_for_both(description: Description) -> None:
    places = [place(), place(is_direct=False)]
    document, _ = pair_document(places, [Probe(1e9, 1e9)] * 2, ALL, 230)
    for case in build(document, description, Changes([], "/scratch", None)).plan.cases:
        assert not case.interface.get("direct")


@given(rates=st.lists(st.tuples(RATES, RATES), min_size=2, max_size=2), free=st.integers(64 * MIB, 10**15))
# proves comparing: same-work
def test_files_fit_and_the_slowest_can_write_them(rates: list[tuple[float, float]], free: int) -> None:
    places = [place(free_bytes=free), place(free_bytes=10**15)]
    sizes = common_sizes(places, [Probe(*one) for one in rates], PHASE_S)
    for size in (sizes.file, sizes.read, sizes.random, sizes.bounded):
        assert MIB <= size <= capacity(places[0])
        assert size % MIB == 0
    slowest = min(write for write, _ in rates)
    if not sizes.is_joint:
        assert sizes.read <= max(16 * MIB, slowest * PHASE_S * 3)


@given(
    seconds=st.floats(20, 3600),
    start_s=st.floats(0.3, 1.5),
    costs=st.lists(st.floats(0.5, 5.0), min_size=3, max_size=6),
)
def test_pairs_groups_and_phases_fill_the_budget(seconds: float, start_s: float, costs: list[float]) -> None:
    def make(phase_s: float) -> list[Group]:
        return [Group(str(number), [], cost * phase_s) for number, cost in enumerate(costs)]

    found = fit_pairs(make, seconds, start_s)
    assert LEAST_PAIRS <= found.pairs <= MOST_PAIRS
    assert SHORTEST_PHASE_S <= found.phase_s <= LONGEST_PHASE_S
    if len(found.groups) < len(costs):
        assert found.pairs <= GOOD_PAIRS
    total = 2 * found.pairs * (start_s + cost_of(found.groups))
    if SHORTEST_PHASE_S < found.phase_s < LONGEST_PHASE_S:
        assert total == pytest.approx(seconds)

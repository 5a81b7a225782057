"""Sizes that a suite leaves to Strider: `block = "auto"` and `block = "beyond-memory"`."""

from collections.abc import Callable

import pytest

from strider.engine import Engine
from strider.suite import Changes, Suite
from strider.suite.checked import CheckedPlan, check
from strider.suite.document import parse
from strider.suite.estimate import AssumedRates, ProbedRates
from strider.suite.load import build
from strider.suite.mistakes import SuiteError
from strider.suite.sizes import (
    LEAST_S,
    LEAST_TRANSFERS,
    Group,
    Node,
    Size,
    choose,
    groups_of,
    largest,
    require_space,
    sentences,
    sizes_of,
    with_sizes,
)

MIB, GIB = 1 << 20, 1 << 30
NODE = Node(4 * GIB)
HEAD = '[suite]\nname = "s"\ntarget = "/data"\nrepetitions = 1\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\ntransfer = "1MiB"\nblock = "auto"\n'
RANDOM = '[[case]]\ninterface = "posix"\npattern = "random"\ntransfer = "4KiB"\nsize = "auto"\n'


def suite(engine: Engine, text: str, *settings: str) -> Suite:
    return build(parse(HEAD + text, "s.toml"), engine.description, Changes(list(settings)), "optional")


def rates(mib_s: float = 100) -> Callable[[int], AssumedRates]:
    return lambda _: AssumedRates(int(mib_s * MIB), 1000)


def sized(engine: Engine, text: str, *settings: str, mib_s: float = 100) -> CheckedPlan:
    opened = suite(engine, text, *settings)
    return check(with_sizes(opened, choose(opened, engine, NODE, rates(mib_s))), engine)


def values(checked: CheckedPlan, key: str = "block") -> list[int]:
    return [case.pattern[key] for case, _ in checked.cases]


@pytest.mark.parametrize("mib_s", [3, 100, 410, 7000])
@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize(("case", "key"), [(CASE, "block"), (RANDOM, "size")])
def test_each_phase_lasts_long_enough_at_the_probed_rate_and_hardly_longer(
    engine: Engine, case: str, key: str, clients: int, mib_s: float
) -> None:
    found = sized(engine, case, f"case.clients={clients}", "case.transfer=64KiB", mib_s=mib_s)
    shortest = min(phase.bytes / (mib_s * MIB) for _, needs in found.cases for phase in needs.phases)
    assert LEAST_S <= shortest < 2 * LEAST_S
    assert values(found, key)[0] % (64 << 10) == 0


def test_a_slow_target_still_gets_16_transfers_of_each_client(engine: Engine) -> None:
    found = sized(engine, CASE, "case.clients=2", mib_s=0.001)
    assert values(found) == [LEAST_TRANSFERS * MIB]
    assert found.cases[0][1].phases[0].requests == 2 * LEAST_TRANSFERS


def test_all_points_of_a_sweep_get_the_same_size_that_every_transfer_divides(engine: Engine) -> None:
    found = sized(engine, CASE, "case.transfer=3MiB,5MiB", "case.interface=posix,mpiio")
    assert len(found.cases) == 4
    assert len(set(values(found))) == 1
    assert values(found)[0] % (15 * MIB) == 0


def test_the_fastest_phase_decides(engine: Engine) -> None:
    """A read of twice the rate of a write needs files of twice the size."""
    probed = ProbedRates(10 * MIB, 20 * MIB, 40 * MIB, 800 * MIB, 64 * GIB, frozenset({"read"}))
    both, smaller = (
        choose(
            suite(engine, CASE, f"case.operations={operations}"),
            engine,
            NODE,
            lambda _: AssumedRates(1, 1, probed),
        )
        for operations in ("[['write'], ['write', 'read']]", "write")
    )
    assert list(both.values()) == [Size(32 * MIB, "about 1.6 s at 20.0 MiB/s")]
    assert [each.bytes for each in smaller.values()] == [16 * MIB]


def test_numbers_of_clients_are_probed_and_sized_each(engine: Engine) -> None:
    opened = suite(engine, CASE, "case.clients=1,4")
    found = choose(opened, engine, NODE, lambda clients: AssumedRates(clients * 100 * MIB, 1000))
    assert {group.clients: size.bytes for group, size in found.items()} == {1: 256 * MIB, 4: 256 * MIB}
    same_rate = choose(opened, engine, NODE, rates(100))
    assert {group.clients: size.bytes for group, size in same_rate.items()} == {1: 256 * MIB, 4: 64 * MIB}


def test_sizes_that_are_given_stay(engine: Engine) -> None:
    found = sized(engine, CASE, 'case.block=["auto", "32MiB"]')
    assert values(found) == [256 * MIB, 32 * MIB]
    without = suite(engine, CASE, "case.block=1MiB")
    assert choose(without, engine, NODE, rates()) == {}


def test_auto_in_a_zip_is_one_of_its_steps(engine: Engine) -> None:
    zipped = (
        CASE.replace('block = "auto"\n', "") + '[case.zip]\nclients = [1, 2]\nblock = ["auto", "32MiB"]\n'
    )
    assert values(sized(engine, zipped)) == [256 * MIB, 32 * MIB]


def test_beyond_memory_moves_twice_the_memory_of_each_node(engine: Engine) -> None:
    opened = suite(engine, CASE, "case.block=beyond-memory", "case.clients=1,4")
    found = choose(opened, engine, NODE, rates())
    totals = [group.clients * size.bytes for group, size in found.items()]
    assert all(8 * GIB <= total <= 1.04 * 8 * GIB for total in totals)
    assert {size.reason for size in found.values()} == {"8 GiB a node, twice its memory of 4 GiB"}


def test_beyond_memory_is_a_number_that_can_be_read(engine: Engine) -> None:
    opened = suite(engine, CASE, "case.block=beyond-memory")
    (size,) = choose(opened, engine, Node(25_274_912_768), rates()).values()
    assert size == Size(48 * GIB, "48 GiB a node, twice its memory of 23.5 GiB")


def test_beyond_memory_of_several_nodes_counts_the_node_with_the_fewest_clients(engine: Engine) -> None:
    opened = suite(engine, CASE, "case.block=beyond-memory", "case.clients=5", "suite.ranks_per_node=4")
    (size,) = choose(opened, engine, Node(4 * GIB, is_alone=False), rates()).values()
    assert size.bytes == 8 * GIB


def test_bytes_that_all_clients_read_count_once(engine: Engine) -> None:
    case = RANDOM.replace("random", "sequential").replace("auto", "beyond-memory")
    opened = suite(engine, case, "case.clients=4", "case.operations=read")
    (size,) = choose(opened, engine, NODE, rates()).values()
    assert size.bytes >= 8 * GIB


@pytest.mark.parametrize(
    ("text", "setting", "message"),
    [
        (
            RANDOM + "count = 8\n",
            "case.clients=1",
            's.toml:9: size = "auto": count sets the number of requests, and no size makes a phase longer: '
            "remove count, or give size a size",
        ),
        (
            CASE,
            "case.clients=1",
            's.toml:9: block = "auto": there is no directory to probe: add target to [suite], use '
            "--target, or give block a size",
        ),
        (
            CASE,
            "case.block=beyond-memory",
            '--set case.block=beyond-memory: block = "beyond-memory": the number of '
            "clients of a node is unknown: set ranks_per_node in [suite], or give block a size",
        ),
        (CASE, "case.transfer=auto", '--set case.transfer=auto: transfer: "auto" is not a size'),
        (CASE, "case.block=automatic", '--set case.block=automatic: block: "automatic" is not a size'),
    ],
)
def test_a_size_that_cannot_be_chosen_names_its_line_and_a_remedy(
    engine: Engine, text: str, setting: str, message: str
) -> None:
    with pytest.raises(SuiteError) as error:
        choose(suite(engine, text, setting), engine, Node(GIB, is_alone=False), None)
    assert str(error.value).startswith(message)


def test_a_size_without_space_names_its_line_and_a_remedy(engine: Engine) -> None:
    opened = suite(engine, CASE)
    checked = check(with_sizes(opened, choose(opened, engine, NODE, rates())), engine)
    require_space(opened, checked, 256 * MIB)
    with pytest.raises(SuiteError) as error:
        require_space(opened, checked, 255 * MIB)
    assert str(error.value) == (
        's.toml:9: block = "auto": 256 MiB a client need 256 MiB (case 1), but /data has 255 MiB for test '
        'files: free space, choose another directory, or give a size such as block = "64MiB"'
    )


def test_a_line_says_what_was_chosen_and_why(engine: Engine) -> None:
    opened = suite(engine, CASE)
    assert list(sentences(opened, choose(opened, engine, NODE, rates(150)))) == [
        "block = auto: 256 MiB a client, about 1.7 s at 150 MiB/s"
    ]
    both = suite(engine, CASE + RANDOM, "case.interface=posix,mpiio")
    assert list(sentences(both, choose(both, engine, NODE, rates(150)))) == [
        "block = auto: 256 MiB a client, about 1.7 s at 150 MiB/s (case 1 and 1 more)",
        "size = auto: 256 MiB, about 1.7 s at 150 MiB/s (case 3 and 1 more)",
    ]


def test_several_targets_get_the_size_of_the_fastest(engine: Engine) -> None:
    opened = suite(engine, CASE + RANDOM)
    slow, fast = (choose(opened, engine, NODE, rates(mib_s)) for mib_s in (10, 1000))
    assert largest([slow, fast]) == largest([fast, slow]) == fast


def test_sizes_of_an_earlier_run_are_taken_if_its_cases_are_the_same(engine: Engine) -> None:
    opened = suite(engine, CASE, "case.clients=1,2")
    earlier = with_sizes(opened, choose(opened, engine, NODE, rates(1000))).plan.cases
    found = sizes_of(opened, earlier, "r1")
    assert found == {
        Group(0, 1, "block", "auto"): Size(2 * GIB, "as in run r1"),
        Group(0, 2, "block", "auto"): Size(GIB, "as in run r1"),
    }
    assert groups_of(with_sizes(opened, found)) == {}
    assert sizes_of(opened, earlier[:1], "r1") == {}
    assert sizes_of(opened, opened.plan.cases, "r1") == {}


def test_reads_that_the_page_cache_serves_do_not_make_files_larger(engine: Engine) -> None:
    def rates_of(cached_read_s: float) -> Callable[[int], AssumedRates]:
        probed = ProbedRates(1e8, 2e8, 1e9, cached_read_s, 1 << 34, frozenset({"read"}))
        return lambda clients: AssumedRates(1, 1, probed)

    opened = suite(engine, CASE)
    fast, slow = (choose(opened, engine, NODE, rates_of(cached)) for cached in (1e11, 2e8))
    assert fast == slow

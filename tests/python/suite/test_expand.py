"""How keys and lists become cases."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Engine, Json
from strider.suite import Changes, Suite
from strider.suite.document import parse
from strider.suite.load import build

SuiteOf = Callable[..., Suite]

Values = list[tuple[Json, ...]]


def values(suite: Suite, *keys: str) -> Values:
    """Values of some keys of each case; `posix.direct` is an option, other keys are looked for everywhere."""

    def value(case: dict[str, Json], key: str) -> Json:
        if key in ("interface", "pattern"):
            return case[key]["name"]
        owner, _, option = key.partition(".")
        if option:
            return case["interface"].get(option) if case["interface"]["name"] == owner else None
        return case.get(key, case["pattern"].get(key))

    cases = [case.model_dump() for case in suite.plan.cases]
    return [tuple(value(case, key) for key in keys) for case in cases]


def test_the_example_of_the_manual_has_as_many_cases_as_it_says(engine: Engine) -> None:
    manual = (Path(__file__).parents[3] / "docs" / "suites.md").read_text(encoding="utf-8")
    example = manual.split("```toml\n")[1].split("```")[0]
    suite = build(parse(example, "s.toml"), engine.description, Changes())
    assert f"which is {len(suite.plan.cases)} cases" in manual


def test_one_value_of_each_key_is_one_case(suite_of: SuiteOf) -> None:
    suite = suite_of('transfer = "4KiB"\nblock = "1m"\noperations = "write"')
    assert values(suite, "transfer", "block", "operations") == [(4096, 1 << 20, ["write"])]


def test_defaults_are_spelled_out_and_derived_values_are_absent(suite_of: SuiteOf) -> None:
    case = suite_of().plan.cases[0].model_dump()
    assert case["pattern"] == {"name": "segmented", "transfer": 1 << 20, "segments": 1}
    assert case["interface"] == {"name": "posix", "direct": False, "sync": "end"}
    assert (case["clients"], case["order"], case["sharing"], case["deadline"]) == (
        1,
        "forward",
        "shared",
        0.0,
    )
    assert case["repetitions"] == {"min": 3, "max": 3, "until": 0.0}


def test_lists_are_crossed_the_first_key_slowest(suite_of: SuiteOf) -> None:
    suite = suite_of("clients = [1, 2]\ntransfer = [1, 2]\norder = ['forward', 'random']")
    assert values(suite, "clients", "transfer", "order") == [
        (1, 1, "forward"), (1, 1, "random"), (1, 2, "forward"), (1, 2, "random"),
        (2, 1, "forward"), (2, 1, "random"), (2, 2, "forward"), (2, 2, "random"),
    ]  # fmt: skip


def test_cases_are_numbered_from_one(suite_of: SuiteOf) -> None:
    assert [case.case for case in suite_of("clients = [4, 2, 1]").plan.cases] == [1, 2, 3]


def test_the_ranks_are_those_of_the_largest_case(suite_of: SuiteOf) -> None:
    assert suite_of("clients = [1, 4, 2]").plan.ranks == 4


def test_a_list_of_operations_is_a_sequence_of_phases(suite_of: SuiteOf) -> None:
    assert values(suite_of('operations = ["write", "read"]'), "operations") == [(["write", "read"],)]


def test_a_list_of_lists_of_operations_is_crossed(suite_of: SuiteOf) -> None:
    assert values(suite_of('operations = [["write", "read"], ["write"]]'), "operations") == [
        (["write", "read"],),
        (["write"],),
    ]


def test_options_belong_to_their_interface_only(suite_of: SuiteOf) -> None:
    suite = suite_of(
        'interface = ["posix", "mpiio", "null"]\nposix.direct = [false, true]\nmpiio.access = "collective"'
    )
    assert values(suite, "interface", "posix.direct", "mpiio.access") == [
        ("posix", False, None),
        ("posix", True, None),
        ("mpiio", None, "collective"),
        ("null", None, None),
    ]


def test_options_may_stand_in_a_table_of_their_own(suite_of: SuiteOf) -> None:
    options = '[case.mpiio]\naccess = ["independent", "collective"]\nhints = { a = 1, b = "x" }'
    suite = suite_of(f'interface = "mpiio"\n{options}')
    assert values(suite, "mpiio.access", "mpiio.hints") == [
        ("independent", {"a": "1", "b": "x"}),
        ("collective", {"a": "1", "b": "x"}),
    ]


def test_a_list_of_tables_of_hints_is_crossed(suite_of: SuiteOf) -> None:
    suite = suite_of('interface = "mpiio"\nmpiio.hints = [{}, { cb = "enable" }]')
    assert values(suite, "mpiio.hints") == [({},), ({"cb": "enable"},)]


def test_a_key_of_one_pattern_does_not_multiply_the_others(suite_of: SuiteOf) -> None:
    suite = suite_of('pattern = ["segmented", "strided"]\nblock = [1048576, 2097152]\ncount = 3')
    assert values(suite, "pattern", "block", "count") == [
        ("segmented", 1 << 20, None),
        ("segmented", 2 << 20, None),
        ("strided", None, 3),
    ]


def test_zip_pairs_lists(suite_of: SuiteOf) -> None:
    suite = suite_of('[case.zip]\nclients = [2, 4, 6]\nblock = ["12m", "6m", "4m"]')
    assert values(suite, "clients", "block") == [(2, 12 << 20), (4, 6 << 20), (6, 4 << 20)]


def test_zip_is_crossed_with_the_other_keys(suite_of: SuiteOf) -> None:
    suite = suite_of("transfer = [1, 2]\n[case.zip]\nclients = [2, 4]\norder = ['random', 'forward']")
    assert values(suite, "transfer", "clients", "order") == [
        (1, 2, "random"), (1, 4, "forward"), (2, 2, "random"), (2, 4, "forward")
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["posix.direct", '"posix.direct"'])
def test_zip_takes_options(suite_of: SuiteOf, key: str) -> None:
    suite = suite_of(f"[case.zip]\ntransfer = [512, 1]\n{key} = [true, false]")
    assert values(suite, "transfer", "posix.direct") == [(512, True), (1, False)]


def test_zip_takes_interfaces(suite_of: SuiteOf) -> None:
    text = '[suite]\nname = "s"\ntarget = "/d"\n[[case]]\npattern = "strided"\n'
    suite = suite_of(text=text + '[case.zip]\ninterface = ["posix", "mpiio"]\ntransfer = [1, 2]')
    assert values(suite, "interface", "transfer") == [("posix", 1), ("mpiio", 2)]


def test_zip_takes_lists_of_operations(suite_of: SuiteOf) -> None:
    suite = suite_of('[case.zip]\nclients = [1, 2]\noperations = [["write"], ["write", "read"]]')
    assert values(suite, "clients", "operations") == [(1, ["write"]), (2, ["write", "read"])]


def test_suite_keys_are_defaults_that_a_case_replaces(suite_of: SuiteOf) -> None:
    head = '[suite]\nname = "s"\ntarget = "/d"\nclients = [1, 2]\norder = "random"\n'
    case = '[[case]]\ninterface = "posix"\npattern = "strided"\n'
    suite = suite_of(text=head + case + case + "clients = 5\n")
    assert values(suite, "clients", "order") == [(1, "random"), (2, "random"), (5, "random")]


def test_zip_replaces_a_default_of_the_suite(suite_of: SuiteOf) -> None:
    head = '[suite]\nname = "s"\ntarget = "/d"\nclients = [1, 2]\n'
    case = (
        '[[case]]\ninterface = "posix"\npattern = "strided"\n[case.zip]\nclients = [3, 4]\ncount = [1, 2]\n'
    )
    assert values(suite_of(text=head + case), "clients", "count") == [(3, 1), (4, 2)]


def test_equal_cases_are_merged(suite_of: SuiteOf) -> None:
    assert values(suite_of('transfer = ["1MiB", 1048576, "1m"]'), "transfer") == [(1 << 20,)]


def test_cases_that_differ_in_the_name_alone_stay_apart(suite_of: SuiteOf) -> None:
    head = '[suite]\nname = "s"\ntarget = "/d"\n'
    case = '[[case]]\ninterface = "posix"\npattern = "strided"\n'
    suite = suite_of(text=head + case + 'name = "a"\n' + case + 'name = "b"\n')
    assert values(suite, "name") == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("typed", "plan"),
    [
        ("5", {"min": 5, "max": 5, "until": 0.0}),
        ("{ min = 2, max = 9 }", {"min": 2, "max": 9, "until": 0.0}),
        ('{ until = "5%" }', {"min": 8, "max": 20, "until": 0.05}),
        ('{ min = 3, until = "5%" }', {"min": 8, "max": 20, "until": 0.05}),
        ('{ min = 2, max = 5, until = "5%" }', {"min": 5, "max": 5, "until": 0.05}),
        ('{ min = 30, until = "5%" }', {"min": 30, "max": 30, "until": 0.05}),
    ],
)
# proves measuring: until
def test_repetitions_are_spelled_out(suite_of: SuiteOf, typed: str, plan: dict[str, float]) -> None:
    assert suite_of(f"repetitions = {typed}").plan.cases[0].repetitions.model_dump() == plan


def test_the_seed_of_the_suite_is_that_of_its_cases_unless_they_have_one(suite_of: SuiteOf) -> None:
    head = '[suite]\nname = "s"\ntarget = "/d"\nseed = 7\n'
    case = '[[case]]\ninterface = "posix"\npattern = "strided"\n'
    suite = suite_of(text=head + case + case + "seed = [8]\n")
    assert suite.plan.seed == 7
    assert values(suite, "seed") == [(7,), (8,)]


def test_the_keys_of_the_suite_are_in_the_plan(suite_of: SuiteOf) -> None:
    keys = 'ranks_per_node = 2\ninterleave = "none"\nstall_timeout = "2min"\ndescription = "why"\n'
    keys += 'time_limit = "90s"\n'
    plan = suite_of(
        text=f'[suite]\nname = "s"\ntarget = "/d"\n{keys}[[case]]\ninterface = "null"\npattern = "strided"'
    ).plan
    assert plan.time_limit_s == 90.0
    assert (plan.ranks_per_node, plan.interleave, plan.stall_timeout_s, plan.suite.description) == (
        2,
        "none",
        120.0,
        "why",
    )


def test_the_same_suite_gives_the_same_plan_byte_for_byte(suite_of: SuiteOf) -> None:
    text = "clients = [1, 2]\ntransfer = [1, 2]"
    assert suite_of(text).plan.to_json() == suite_of(text).plan.to_json()


def test_the_plan_has_its_keys_in_the_documented_order(suite_of: SuiteOf) -> None:
    document = json.loads(suite_of().plan.to_json())
    assert list(document) == [
        "format", "version", "suite", "target", "ranks", "ranks_per_node", "seed", "scale_down",
        "interleave", "stall_timeout_s", "time_limit_s", "cases",
    ]  # fmt: skip
    assert list(document["cases"][0])[:7] == [
        "case", "name", "clients", "interface", "pattern", "operations", "repetitions"
    ]  # fmt: skip

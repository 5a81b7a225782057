"""Changes of the command line: `--set`, `--target`, `-n`."""

from collections.abc import Callable

import pytest

from strider.suite import Suite
from strider.suite.mistakes import SuiteError

SuiteOf = Callable[..., Suite]

TWO_CASES = """\
[suite]
name = "s"
target = "/data"
clients = 2
[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
block = "1MiB"
mpiio.access = "collective"
[[case]]
interface = "posix"
pattern = "strided"
"""


def of_cases(suite: Suite, *path: str) -> list[object]:
    """A value of each case."""
    found: list[object] = []
    for case in suite.plan.cases:
        value: object = case.model_dump()
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        found.append(value)
    return found


def test_a_value_is_set_in_all_cases(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.transfer=4KiB", text=TWO_CASES)
    assert of_cases(suite, "pattern", "transfer") == [4096, 4096, 4096]


def test_commas_separate_values_that_are_crossed(suite_of: SuiteOf) -> None:
    assert of_cases(suite_of("", "case.transfer=4KiB,1MiB"), "pattern", "transfer") == [4096, 1 << 20]


@pytest.mark.parametrize("typed", ["write,read", '["write", "read"]'])
def test_operations_are_a_sequence(suite_of: SuiteOf, typed: str) -> None:
    assert of_cases(suite_of("", f"case.operations={typed}"), "operations") == [["write", "read"]]


def test_a_key_is_set_only_where_it_applies(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.block=2MiB", text=TWO_CASES)
    assert of_cases(suite, "pattern", "block") == [2 << 20, 2 << 20, None]


def test_an_option_is_set_for_its_interface(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.posix.direct=true", text=TWO_CASES)
    assert of_cases(suite, "interface", "direct") == [True, None, True]


def test_a_single_hint_is_set(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.mpiio.hints.romio_cb_write=enable", text=TWO_CASES)
    assert of_cases(suite, "interface", "hints") == [None, {"romio_cb_write": "enable"}, None]


def test_a_chosen_interface_leaves_the_options_of_others_behind(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.interface=null", text=TWO_CASES)
    assert of_cases(suite, "interface", "name") == ["null", "null"]


def test_a_chosen_pattern_leaves_the_parameters_of_others_behind(suite_of: SuiteOf) -> None:
    suite = suite_of("", "case.pattern=random", "case.size=1GiB", text=TWO_CASES)
    assert of_cases(suite, "pattern", "size") == [1 << 30, 1 << 30]


ZIP = "[case.zip]\nclients = [2, 4]\nblock = [1048576, '2MiB']"


def steps(suite: Suite) -> list[tuple[object, object]]:
    return list(zip(of_cases(suite, "clients"), of_cases(suite, "pattern", "block"), strict=True))


@pytest.mark.parametrize(
    ("settings", "clients", "expected"),
    [
        ([], "4", [(4, 2 << 20)]),
        (["case.block=1MiB"], None, [(2, 1 << 20)]),
        (["case.block=3MiB,4MiB"], None, [(2, 3 << 20), (4, 4 << 20)]),
        (["case.block=3MiB"], "2,4", [(2, 3 << 20), (4, 3 << 20)]),
        (["case.block=16MiB"], "16", [(16, 16 << 20)]),
    ],
)
def test_the_steps_of_a_zip_stay_together(
    suite_of: SuiteOf, settings: list[str], clients: str | None, expected: list[tuple[int, int]]
) -> None:
    assert steps(suite_of(ZIP, *settings, clients=clients)) == expected


@pytest.mark.parametrize(
    ("setting", "clients", "says"),
    [
        (
            [],
            "16",
            '-n 16: "clients" stands in a zip with "block", 2 steps: give values of the suite (2, 4), '
            'or 2 values, or set "block" as well',
        ),
        (["case.block=3MiB"], None, 'or set "clients" as well'),
        (["case.block=1MiB,2MiB,3MiB"], "2,4", "must be equally long: clients has 2, block has 3"),
    ],
)
def test_a_change_that_would_break_a_zip_is_refused(
    suite_of: SuiteOf, setting: list[str], clients: str | None, says: str
) -> None:
    with pytest.raises(SuiteError) as error:
        suite_of(ZIP, *setting, clients=clients)
    assert says in error.value.message


def test_a_chosen_pattern_leaves_zip_without_the_parameters_of_others(suite_of: SuiteOf) -> None:
    suite = suite_of("[case.zip]\nclients = [2, 4]\nblock = [1048576, 2097152]", "case.pattern=strided")
    assert of_cases(suite, "clients") == [2, 4]


def test_defaults_of_the_suite_are_set(suite_of: SuiteOf) -> None:
    suite = suite_of("", "suite.clients=4,8", "suite.seed=9", text=TWO_CASES)
    assert suite.plan.seed == 9
    assert of_cases(suite, "clients") == [4, 4, 8, 8, 4, 8]


def test_the_number_of_clients_is_set_in_all_cases(suite_of: SuiteOf) -> None:
    assert of_cases(suite_of("clients = [16, 32]", clients="1,2"), "clients") == [1, 2]


def test_the_target_is_set(suite_of: SuiteOf) -> None:
    assert suite_of("", target="/elsewhere").plan.target == "/elsewhere"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("case.transfer", "a value is missing"),
        ("case.transfer=", "a value is missing"),
        ("transfer=1", "did you mean case.transfer?"),
        ("case=1", 'must start with "suite." or "case."'),
        ("case.bs=1", 'unknown key "bs": did you mean "transfer"?'),
        ("case.iodepth=1", 'unknown key "iodepth": did you mean "depth"?'),
        ("case.trnsfer=1", 'unknown key "trnsfer": did you mean "transfer"?'),
        ("suite.tagret=/x", 'unknown key "tagret": did you mean "target"?'),
        ("case.posix=1", "name an option of posix: direct, sync"),
        ("case.posix.dirct=true", 'unknown option of posix "dirct": did you mean "direct"?'),
        ("case.size=1", '"size" does not apply to any interface or pattern'),
        ("case.hdf5.chunk=1", '"hdf5.chunk" does not apply to any interface or pattern'),
        ("case.transfer=4 pints", 'transfer: "4 pints" is not a size'),
        ("case.clients=0", "clients: 0 is too small"),
        ("case.pattern=stided", 'unknown pattern "stided": did you mean "strided"?'),
    ],
)
def test_a_wrong_setting_is_named_as_typed(suite_of: SuiteOf, setting: str, says: str) -> None:
    with pytest.raises(SuiteError) as caught:
        suite_of("", setting)
    (message,) = caught.value.message.splitlines()
    assert message.startswith(f"--set {setting}: ")
    assert says in message


def test_a_wrong_number_of_clients_is_named_as_typed(suite_of: SuiteOf) -> None:
    with pytest.raises(SuiteError, match=r"^-n many: clients: \"many\" is not a whole number"):
        suite_of("", clients="many")

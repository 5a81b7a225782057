"""Objections of the engine are brought back to the lines of the suite."""

import pytest

from strider.engine import Engine
from strider.suite import Changes, check, load, locate, ready_made
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.mistakes import SuiteError

TOO_LARGE = """\
[suite]
name = "s"
target = "/data"
[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
block = "1MiB"
transfer = [
  "1MiB",
  "2MiB",
]
"""


def test_a_transfer_larger_than_the_block_is_named_with_its_line(engine: Engine) -> None:
    suite = build(parse(TOO_LARGE, "s.toml"), engine.description, Changes())
    with pytest.raises(SuiteError) as caught:
        check(suite, engine)
    (message,) = caught.value.message.splitlines()
    assert message.startswith("s.toml:10: transfer is larger than block: ")
    assert message.endswith("(case 2 and 1 more)")


def test_an_objection_to_a_default_is_named_with_the_line_of_the_case(engine: Engine) -> None:
    text = TOO_LARGE.replace('transfer = [\n  "1MiB",\n  "2MiB",\n]\n', "").replace('"1MiB"', '"64KiB"')
    with pytest.raises(SuiteError, match=r"^s.toml:4: transfer is larger than block"):
        check(build(parse(text, "s.toml"), engine.description, Changes()), engine)


def test_each_case_states_what_it_needs(engine: Engine) -> None:
    text = TOO_LARGE.replace('  "2MiB",\n', "").replace("target", "clients = 2\ntarget")
    checked = check(build(parse(text, "s.toml"), engine.description, Changes()), engine)
    assert [(case.case, needs.case, needs.space_bytes) for case, needs in checked.cases] == [
        (1, 1, 2 << 20),
        (2, 2, 2 << 20),
    ]


@pytest.mark.parametrize("name", sorted(ready_made()))
def test_ready_made_suites_are_valid(name: str, engine: Engine) -> None:
    suite = load(locate(name), engine.description, target="optional")
    assert check(suite, engine).cases
    assert suite.plan.suite.name == name


def test_the_thesis_measures_eleven_sizes_with_three_numbers_of_clients(engine: Engine) -> None:
    cases = load(locate("thesis-2009"), engine.description, target="optional").plan.cases
    combinations = {(case.interface["name"], case.clients, case.pattern["transfer"]) for case in cases}
    sizes = {1 << power for power in range(20, 31)}
    assert combinations == {(i, c, t) for i in ("posix", "mpiio") for c in (2, 4, 6) for t in sizes}
    assert all(case.operations == ["write", "read"] for case in cases)
    assert all(case.clients * case.pattern["block"] == 24 << 30 for case in cases)


def test_the_column_reads_the_same_through_both_interfaces(engine: Engine) -> None:
    cases = load(locate("clusters-2002"), engine.description, target="optional").plan.cases
    posix, mpiio = ([case for case in cases if case.interface["name"] == name] for name in ("posix", "mpiio"))
    assert [(case.clients, case.pattern) for case in posix] == [
        (case.clients, case.pattern) for case in mpiio
    ]
    assert all(
        case.pattern["size"] == 780_171_000 and case.pattern["transfer"] == 8_192_000 for case in cases
    )
    assert all(case.get("verify") == "full" for case in cases)

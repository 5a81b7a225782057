"""Objections of the engine are brought back to the lines of the suite."""

from pathlib import Path

import pytest

from strider.engine import Engine
from strider.listio.temporary import servers_needed
from strider.suite import Changes, PlannedCase, check, load, locate, ready_made
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


def test_the_thesis_measures_four_ways_with_eleven_sizes_and_three_numbers_of_clients(engine: Engine) -> None:
    plan = load(locate("thesis-2009"), engine.description, target="optional").plan

    def way(case: PlannedCase) -> tuple[object, ...]:
        return (
            case.interface["name"],
            case.interface.get("prefix", ""),
            case.get("mount"),
            case.get("mount_servers"),
        )

    sizes = {(1 << power) // plan.scale_down for power in range(20, 31)}
    ways: set[tuple[object, ...]] = {
        ("posix", "", "listio", 0),
        ("mpiio", "", "listio", 0),
        ("mpiio", "listio:", "none", 0),
        ("listio", "", "none", 0),
    }
    expected = {(one, clients, size) for one in ways for clients in (2, 4, 6) for size in sizes}
    expected |= {(("mpiio", "", "listio", 4), 4, size) for size in sizes}  # its Figure 12
    found = [(way(case), case.clients, case.pattern["transfer"]) for case in plan.cases]
    assert (set(found), len(found)) == (expected, len(expected))
    assert all(case.operations == ["write", "read"] for case in plan.cases)
    assert {case.clients * case.pattern["block"] for case in plan.cases} == {(24 << 30) // plan.scale_down}
    assert servers_needed(plan, Path("/nowhere/strider-run")) == 6


def test_the_column_reads_the_same_in_four_ways(engine: Engine) -> None:
    cases = load(locate("clusters-2002"), engine.description, target="optional").plan.cases
    work: dict[tuple[object, object], list[object]] = {}
    for case in sorted(cases, key=lambda one: (one.name, one.clients)):
        way = (case.interface["name"], case.interface.get("prefix") or case.get("mount"))
        work.setdefault(way, []).append((case.name, case.clients, case.pattern))
    assert set(work) == {("posix", "listio"), ("mpiio", "listio"), ("mpiio", "listio:"), ("listio", "none")}
    assert all(each == work["posix", "listio"] for each in work.values())
    assert {case.clients for case in cases} == {1, 2}
    assert all(
        case.pattern["size"] == 780_171_000 and case.pattern["transfer"] == 8_192_000 for case in cases
    )
    verified = {case.name: case.get("verify") for case in cases}
    assert verified == {"as in the column": "off", "every byte": "full"}
    assert all(case.get("values") == 1000 for case in cases)

"""Groups of ranks: each case of a group alone, and all combinations of one case of each group at once."""

import pytest

from strider.engine import Engine
from strider.suite import Changes, Suite
from strider.suite.checked import check
from strider.suite.document import parse
from strider.suite.estimate import AssumedRates, estimate
from strider.suite.load import build
from strider.suite.mistakes import SuiteError

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\nblock = "1MiB"\n'
WRITES = CASE + 'group = "writes"\nclients = 4\noperations = "write"\nruntime = "2s"\n'
READS = CASE + 'group = "reads"\nclients = [1, 2]\noperations = "read"\nruntime = "2s"\nstart = "500ms"\n'


def suite(engine: Engine, text: str) -> Suite:
    return build(parse(HEAD + text, "s.toml"), engine.description, Changes())


def test_each_case_runs_alone_and_beside_each_case_of_the_other_groups(engine: Engine) -> None:
    plan = suite(engine, WRITES + READS + CASE).plan
    assert [(case.case, case.name, case.turn) for case in plan.cases] == [
        (1, "", 0),
        (2, "writes alone", 0),
        (3, "reads alone", 0),
        (4, "reads alone", 0),
        (5, "writes beside reads, clients 1", 1),
        (6, "reads beside writes", 1),
        (7, "writes beside reads, clients 2", 2),
        (8, "reads beside writes", 2),
    ]
    assert [case.clients for case in plan.cases] == [1, 4, 1, 2, 4, 1, 4, 2]
    assert [(case.get("turn") or {}).get("alone") for case in plan.cases[4:]] == [2, 3, 2, 4]
    assert plan.ranks == 6, "the widest case of each group"


def test_a_group_has_the_same_ranks_in_all_its_cases(engine: Engine) -> None:
    plan = suite(engine, READS + WRITES).plan
    earlier = [(case.get("turn") or {})["earlier"] for case in plan.cases if case.get("group") == "writes"]
    assert len(earlier) == 3
    assert all(ranks == earlier[0] for ranks in earlier)
    assert [ranks["clients"] for ranks in earlier[0]] == [2], "as many as the widest case of reads"


def test_names_tell_neighbours_apart_also_by_their_pattern(engine: Engine) -> None:
    patterns = READS.replace('"segmented"', '["segmented", "random"]').replace("[1, 2]", "1")
    names = [case.name for case in suite(engine, WRITES + patterns + 'size = "4MiB"\n').plan.cases]
    beside = [name for name in names if name.startswith("writes beside")]
    assert len(set(beside)) == 2
    assert all("pattern" in name for name in beside)


def test_names_of_cases_are_kept(engine: Engine) -> None:
    named = WRITES.replace("group", 'name = "checkpoint"\ngroup')
    names = [case.name for case in suite(engine, named + READS.replace("[1, 2]", "2")).plan.cases]
    assert names == ["checkpoint alone", "reads alone", "checkpoint beside reads", "reads beside checkpoint"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WRITES, r's\.toml:8: group: "writes" is the only group: add a \[\[case\]\] with another group'),
        (
            WRITES + READS + "repetitions = 5\n",
            r"s\.toml:\d+: repetitions: all groups must have equally many",
        ),
        (WRITES + READS + "nodes = [1, 0]\n", r"s\.toml:\d+: nodes: the cases of group reads must be on the"),
        (WRITES + READS.replace('"reads"', '"a b"'), r's\.toml:\d+: group: "a b" is no name'),
    ],
)
def test_what_cannot_run_at_the_same_time_is_named_with_its_line(
    engine: Engine, text: str, message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        suite(engine, text)


def test_lists_that_multiply_to_too_many_cases_are_refused(engine: Engine) -> None:
    many = READS.replace("[1, 2]", str(list(range(1, 101))))
    with pytest.raises(SuiteError, match="with all combinations of the groups there are 20200 cases"):
        suite(engine, many + many.replace('"reads"', '"more"'))


def test_a_turn_lasts_as_long_as_its_longest_case_and_needs_the_room_of_all(engine: Engine) -> None:
    rates = AssumedRates(bytes_s=10**9, operations_s=10**4)

    def estimated(text: str) -> tuple[float, int]:
        found = estimate(check(suite(engine, text), engine), rates)
        return found.seconds, found.space_bytes

    (seconds, space), first, second = (
        estimated(WRITES + READS.replace("[1, 2]", "2")),
        estimated(WRITES.replace('group = "writes"\n', "")),
        estimated(READS.replace("[1, 2]", "2").replace('group = "reads"\n', "").replace("start", "settle")),
    )
    waiting = 3 * 0.5  # before each repetition beside the other group
    assert seconds == pytest.approx(first[0] + second[0] - waiting + max(first[0], second[0]), rel=0.01)
    assert space == first[1] + second[1] == 6 << 20

"""Cases of metadata in a suite: a tree in the place of a pattern, operations on items, mixes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from strider.engine import Description
from strider.errors import StriderError
from strider.suite import Changes, Suite
from strider.suite.document import parse
from strider.suite.load import build

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
DATA = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'
TREE = '[[case]]\ninterface = "posix"\ntree = "balanced"\nitems = 10\n'
"""The first line of its case is line 4 of a suite after HEAD, `items` is line 7."""
MIX = "{ stat = 60, small-read = 25, create = 10, unlink = 5 }"

Expand = Callable[..., Suite]


@pytest.fixture
def expand(description: Description) -> Expand:
    def make(text: str, *settings: str, clients: str | None = None) -> Suite:
        return build(parse(text, "s.toml"), description, Changes(list(settings), clients=clients))

    return make


def message(expand: Expand, text: str, *settings: str) -> str:
    with pytest.raises(StriderError) as caught:
        expand(text, *settings)
    return caught.value.message


class TestPlan:
    def test_a_tree_stands_in_the_place_of_the_pattern(self, expand: Expand) -> None:
        (case,) = json.loads(expand(HEAD + TREE).plan.to_json())["cases"]
        assert "pattern" not in case
        assert list(case)[:5] == ["case", "name", "clients", "interface", "tree"]
        assert case["tree"] == {
            "name": "balanced",
            "items": 10,
            "depth": 0,
            "fanout": 1,
            "place": "all",
            "name_length": 0,
            "file_size": 0,
        }

    def test_a_case_of_data_has_no_tree(self, expand: Expand) -> None:
        (case,) = json.loads(expand(HEAD + DATA).plan.to_json())["cases"]
        assert "tree" not in case
        assert case["pattern"]["name"] == "segmented"

    def test_it_has_the_keys_of_metadata_with_their_defaults(self, expand: Expand) -> None:
        (case,) = expand(HEAD + TREE).plan.cases
        assert case.operations == ["create", "stat", "unlink"]
        assert (case.get("readback"), case.get("open_files"), case.get("mix")) == ("same", 512, {})

    def test_one_suite_may_have_both_kinds(self, expand: Expand) -> None:
        cases = expand(HEAD + DATA + TREE).plan.cases
        assert [bool(case.tree) for case in cases] == [False, True]
        assert [case.shape["name"] for case in cases] == ["segmented", "balanced"]

    def test_lists_are_crossed(self, expand: Expand) -> None:
        cases = expand(HEAD + TREE + 'sharing = ["shared", "per-rank"]\ndepth = [0, 2]\n').plan.cases
        assert [(case.get("sharing"), case.tree["depth"]) for case in cases] == [
            ("shared", 0),
            ("shared", 2),
            ("per-rank", 0),
            ("per-rank", 2),
        ]

    def test_a_mix_is_one_value(self, expand: Expand) -> None:
        (case,) = expand(HEAD + TREE + f'operations = "mix"\nmix = {MIX}\n').plan.cases
        assert case.get("mix") == {"stat": 60, "small-read": 25, "create": 10, "unlink": 5}

    def test_a_list_of_mixes_is_crossed(self, expand: Expand) -> None:
        text = HEAD + TREE + f'operations = "mix"\nmix = [{MIX}, {{ stat = 1 }}]\n'
        assert [len(case.get("mix")) for case in expand(text).plan.cases] == [4, 1]

    def test_a_mix_may_be_a_table_of_its_own(self, expand: Expand) -> None:
        text = HEAD + TREE + 'operations = "mix"\n[case.mix]\nstat = 1.5\nunlink = 1\n'
        assert expand(text).plan.cases[0].get("mix") == {"stat": 1.5, "unlink": 1}


class TestDefaultsOfTheSuite:
    def test_each_case_takes_the_operations_of_its_kind(self, expand: Expand) -> None:
        text = HEAD + 'operations = ["write", "create", "read", "stat"]\n' + DATA + TREE
        data, metadata = expand(text).plan.cases
        assert data.operations == ["write", "read"]
        assert metadata.operations == ["create", "stat"]

    def test_a_kind_without_any_of_them_takes_its_own_default(self, expand: Expand) -> None:
        _, metadata = expand(HEAD + 'operations = ["write"]\n' + DATA + TREE).plan.cases
        assert metadata.operations == ["create", "stat", "unlink"]

    def test_a_value_goes_to_the_cases_that_can_have_it(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + 'order = "backward"\n' + DATA + TREE).plan.cases
        assert (data.get("order"), metadata.get("order")) == ("backward", "forward")

    def test_a_value_that_no_case_can_have_is_a_mistake(self, expand: Expand) -> None:
        assert "s.toml:4: order" in message(expand, HEAD + 'order = "sideways"\n' + DATA + TREE)

    def test_keys_of_one_kind_are_defaults_of_that_kind(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + "open_files = 500\n" + DATA + TREE).plan.cases
        assert (data.get("open_files"), metadata.get("open_files")) == (None, 500)

    def test_a_number_that_would_be_bytes_here_and_requests_there_is_a_mistake(self, expand: Expand) -> None:
        assert message(expand, HEAD + "rate_limit = 500\n" + DATA + TREE) == (
            's.toml:4: "rate_limit" is a size in data cases and a number in metadata cases, '
            "and the suite has both: set it in the cases"
        )

    def test_a_size_goes_to_the_cases_of_data(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + 'rate_limit = "1KiB"\n' + DATA + TREE).plan.cases
        assert (data.get("rate_limit"), metadata.get("rate_limit")) == (1024, 0)

    def test_a_key_for_cases_that_the_suite_lacks_is_a_mistake(self, expand: Expand) -> None:
        assert message(expand, HEAD + "open_files = 500\n" + DATA) == (
            's.toml:4: "open_files" applies to metadata cases, but the suite has none'
        )

    def test_an_operation_of_the_other_kind_alone_is_a_mistake(self, expand: Expand) -> None:
        found = message(expand, HEAD + 'operations = ["create"]\n' + DATA)
        assert found.startswith('s.toml:4: operations: "create" is a metadata operation')


class TestMistakes:
    @pytest.mark.parametrize(
        ("case", "line", "expected"),
        [
            pytest.param(
                TREE + 'pattern = "segmented"\n',
                6,
                "a case has either a pattern (data) or a tree (metadata): write two cases",
                id="both named",
            ),
            pytest.param(
                '[[case]]\ninterface = "posix"\n',
                4,
                'the case has no pattern: add pattern = "segmented", or tree = "balanced" for metadata',
                id="neither named",
            ),
            pytest.param(
                TREE.replace("balanced", "balancd"),
                6,
                'unknown tree "balancd": did you mean "balanced"?',
                id="unknown tree",
            ),
            pytest.param(
                TREE.replace("items = 10\n", ""),
                4,
                'tree balanced needs "items": add items = 16',
                id="no items",
            ),
            pytest.param(
                TREE + 'operations = ["create", "write"]\n',
                8,
                'operations: "write" is a data operation, but this case has a tree: '
                "replace the tree with a pattern",
                id="data on a tree",
            ),
            pytest.param(
                DATA + 'operations = ["write", "stat"]\n',
                7,
                'operations: "stat" is a metadata operation, but this case has a pattern: '
                "replace the pattern with a tree",
                id="metadata on a pattern",
            ),
            pytest.param(
                TREE + 'operations = ["creat"]\n',
                8,
                'operations: unknown operation "creat": did you mean "create"?',
                id="unknown operation",
            ),
            pytest.param(
                TREE + 'transfer = "1MiB"\n',
                8,
                '"transfer" does not apply to tree balanced: it belongs to pattern segmented, strided',
                id="key of a pattern",
            ),
            pytest.param(
                DATA + "items = 10\n",
                7,
                '"items" does not apply to pattern segmented: it belongs to tree balanced',
                id="key of a tree",
            ),
            pytest.param(
                DATA + "open_files = 10\n",
                7,
                '"open_files" does not apply to a data case: '
                "it is a key of metadata cases, which have a tree",
                id="key of metadata",
            ),
            pytest.param(
                TREE + 'operations = ["mix"]\n',
                8,
                'operations: "mix" needs weights: add for example '
                "mix = { stat = 60, small-read = 25, create = 10, unlink = 5 }",
                id="mix of nothing",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { stt = 1 }\n',
                9,
                'mix: unknown operation "stt": did you mean "stat"?',
                id="unknown in a mix",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { stat = 1, mkdir = 1 }\n',
                9,
                'mix: "mkdir" cannot be part of a mix: choose from create, ',
                id="unmixable",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { write = 1 }\n',
                9,
                'mix: "write" cannot be part of a mix: choose from create, ',
                id="data in a mix",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { stat = 0 }\n',
                9,
                "mix: stat = 0 is not a weight: write a number above 0, or remove the operation",
                id="no weight",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { stat = "60%" }\n',
                9,
                'mix: stat = "60%" is not a weight: write a number above 0',
                id="text as weight",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = { stat = nan }\n',
                9,
                "mix: stat = nan is not a weight",
                id="nan as weight",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = ["stat"]\n',
                9,
                'mix: "stat" is not a table of operations and their weights: write for example { stat = 60,',
                id="mix without weights",
            ),
            pytest.param(
                TREE + 'operations = "mix"\nmix = {}\n',
                9,
                "mix: {} is not a table of operations and their weights",
                id="empty mix",
            ),
            pytest.param(
                TREE.replace("posix", "mpiio"),
                5,
                "interface mpiio does not support operations on a tree: choose one of posix, null",
                id="interface without trees",
            ),
            pytest.param(
                TREE.replace("posix", "null") + 'operations = ["create", "setxattr"]\n',
                8,
                'operations: interface null does not support "setxattr" on a tree: ',
                id="operation not offered",
            ),
            pytest.param(
                TREE.replace("posix", "null") + 'operations = "mix"\nmix = { setxattr = 1 }\n',
                9,
                'mix: interface null does not support "setxattr" on a tree: ',
                id="part of a mix not offered",
            ),
        ],
    )
    def test_gets_one_message_with_its_line(
        self, expand: Expand, case: str, line: int, expected: str
    ) -> None:
        found = message(expand, HEAD + case).splitlines()
        assert len(found) == 1
        assert found[0].startswith(f"s.toml:{line}: {expected}")

    def test_of_crossed_interfaces_is_named_once(self, expand: Expand) -> None:
        text = HEAD + TREE.replace('"posix"', '["posix", "mpiio"]') + "depth = [0, 1, 2]\n"
        assert message(expand, text).splitlines() == [
            "s.toml:5: interface mpiio does not support operations on a tree: choose one of posix, null"
        ]


class TestChanges:
    def test_items_are_set_in_cases_with_trees_alone(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + DATA + TREE, "case.items=99").plan.cases
        assert "items" not in data.pattern
        assert metadata.tree["items"] == 99

    def test_operations_go_to_the_cases_of_their_kind(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + DATA + TREE, "case.operations=create,mknod").plan.cases
        assert data.operations == ["write", "read"]
        assert metadata.operations == ["create", "mknod"]

    def test_a_pattern_does_not_make_data_of_metadata(self, expand: Expand) -> None:
        data, metadata = expand(HEAD + DATA + TREE, "case.pattern=strided", "case.count=4").plan.cases
        assert (data.shape["name"], metadata.shape["name"]) == ("strided", "balanced")

    def test_clients_go_to_all_cases(self, expand: Expand) -> None:
        assert {case.clients for case in expand(HEAD + DATA + TREE, clients="3").plan.cases} == {3}

    def test_a_mix_is_set_as_a_table(self, expand: Expand) -> None:
        text = HEAD + TREE + 'operations = "mix"\nmix = { stat = 1 }\n'
        (case,) = expand(text, "case.mix={ unlink = 1, create = 1 }").plan.cases
        assert case.get("mix") == {"unlink": 1, "create": 1}

    def test_what_no_case_has_is_named(self, expand: Expand) -> None:
        assert message(expand, HEAD + DATA, "case.items=9") == (
            '--set case.items=9: "items" does not apply to any interface or tree in the suite\'s cases'
        )

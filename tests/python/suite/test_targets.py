"""Several targets of a suite."""

from pathlib import Path

import pytest

from strider.engine import Description
from strider.errors import StriderError
from strider.suite import Changes
from strider.suite.document import Document, parse
from strider.suite.load import build
from strider.suite.targets import MOST_TARGETS, targets_of

CASE = """
[[case]]
interface = "posix"
pattern = "segmented"
transfer = 4
block = 8
operations = ["write"]
"""


def suite(target: str) -> Document:
    return parse(f'[suite]\nname = "s"\n{target}{CASE}', "s.toml")


def test_the_targets_of_the_command_line_come_before_those_of_the_suite(tmp_path: Path) -> None:
    several = suite('target = ["/a", "/b"]')
    assert targets_of(several) == ["/a", "/b"]
    assert targets_of(several, ["/c"]) == ["/c"]
    assert targets_of(several, ["/c,/d", "/e"]) == ["/c", "/d", "/e"]
    assert targets_of(suite('target = "/a,/b"')) == ["/a,/b"]
    assert targets_of(suite("")) == []
    with_comma = tmp_path / "a,b"
    with_comma.mkdir()
    assert targets_of(several, [str(with_comma)]) == [str(with_comma)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[]", "s.toml:3: target: write directories"),
        ('["/a", 2]', "s.toml:3: target: write directories"),
        ('["/a", "/b", "/a"]', "s.toml:3: target: /a is named twice"),
        (str([f"/{number}" for number in range(MOST_TARGETS + 1)]), "exceed the limit of 16"),
    ],
)
def test_mistakes_are_named_with_their_line(value: str, message: str) -> None:
    with pytest.raises(StriderError, match=message):
        targets_of(suite(f"target = {value}"))


def test_only_a_plan_may_have_several_targets(description: Description) -> None:
    several = suite('target = ["/a", "/b"]')
    assert build(several, description, Changes(), "several").plan.target == "/a"
    for needed in ("needed", "optional"):
        with pytest.raises(StriderError, match="target: several directories"):
            build(several, description, Changes(), needed)
    assert build(several, description, Changes(target="/c")).plan.target == "/c"

"""Helpers that the tests of suites share."""

from typing import Protocol

import pytest

from strider.engine import Description
from strider.suite import Changes, Suite
from strider.suite.document import parse
from strider.suite.load import build

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'


class SuiteOf(Protocol):
    """Makes a suite of the keys of one case, or of a whole text."""

    def __call__(self, case: str = "", *settings: str, text: str | None = None, **changes: str) -> Suite: ...


@pytest.fixture
def suite_of(description: Description) -> SuiteOf:
    """A suite with a name, a target and one `[[case]]` with interface posix, pattern segmented and the keys.

    Keys in `case` replace those two; `text` is a whole suite instead. `settings` are texts of `--set`.
    """

    def make(case: str = "", *settings: str, text: str | None = None, **changes: str) -> Suite:
        given = {line.split("=")[0].strip() for line in case.splitlines()}
        lines = [line for line in CASE.splitlines() if line.split(" =")[0] not in given]
        whole = HEAD + "\n".join(lines) + "\n" + case + "\n" if text is None else text
        return build(parse(whole, "s.toml"), description, Changes(list(settings), **changes))  # type: ignore[arg-type]

    return make

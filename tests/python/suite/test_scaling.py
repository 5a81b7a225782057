"""One number makes all sizes of a suite smaller, and nothing else."""

from collections.abc import Callable

import pytest

from strider.suite import Suite
from strider.suite.mistakes import SuiteError

SuiteOf = Callable[..., Suite]

HEAD = '[suite]\nname = "s"\ntarget = "/data"\nscale_down = 64\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'


def test_sizes_of_patterns_are_divided(suite_of: SuiteOf) -> None:
    plan = suite_of(text=f'{HEAD}{CASE}transfer = ["1MiB", "64MiB"]\nblock = "128MiB"\nclients = 64\n').plan
    assert [case.pattern["transfer"] for case in plan.cases] == [1 << 14, 1 << 20]
    assert {(case.pattern["block"], case.clients) for case in plan.cases} == {(1 << 21, 64)}
    assert plan.scale_down == 64


def test_defaults_are_divided_too(suite_of: SuiteOf) -> None:
    assert suite_of(text=HEAD + CASE).plan.cases[0].pattern["transfer"] == 1 << 14


def test_the_command_line_gives_the_sizes_back(suite_of: SuiteOf) -> None:
    plan = suite_of("", "suite.scale_down=1", text=f'{HEAD}{CASE}transfer = "1MiB"\n').plan
    assert (plan.cases[0].pattern["transfer"], plan.scale_down) == (1 << 20, 1)


def test_a_size_that_cannot_be_divided_is_named_with_its_line(suite_of: SuiteOf) -> None:
    with pytest.raises(
        SuiteError, match=r"s.toml:8: transfer: 1000 bytes cannot be divided by scale_down = 64"
    ):
        suite_of(text=f"{HEAD}{CASE}transfer = 1000\n")

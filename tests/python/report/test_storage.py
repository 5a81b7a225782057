"""The remedy for reads from a cache is a setting that the interface of the case accepts."""

from __future__ import annotations

import re

import pytest

from strider.engine import Engine
from strider.report.words.storage import from_storage
from strider.store.case import Case
from strider.store.described import Description
from strider.suite import Changes, Suite
from strider.suite.checked import check
from strider.suite.document import parse
from strider.suite.load import build

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\npattern = "segmented"\nblock = "4MiB"\n'
METADATA = '[[case]]\ninterface = "posix"\ntree = "balanced"\nitems = 10\noperations = ["create"]\n'


def suite_of(engine: Engine, text: str, *settings: str) -> Suite:
    return build(parse(HEAD + text, "s.toml"), engine.description, Changes(list(settings)))


def cases_in(engine: Engine, suite: Suite) -> list[Case]:
    """The cases as a run of the suite would store them."""
    description = Description.model_validate(engine.description.model_dump())
    return [
        Case.model_validate({**planned.model_dump(), "own_client": needs.own_client}).model_copy(
            update={"description": description}
        )
        for planned, needs in check(suite, engine).cases
    ]


def remedy(engine: Engine, text: str, chosen: int = 0) -> str:
    """The remedy for one of the cases, or for all data cases; the engine must accept it."""
    cases = cases_in(engine, suite_of(engine, text))
    own = [case for case in cases if not case.is_metadata]
    found = from_storage([own[chosen - 1]] if chosen else own, cases)
    for way in found.split(" or "):
        # `beyond-memory` is a number in the plan that the engine checks.
        settings = re.findall(r"--set ([^\s;]+)", way.replace("beyond-memory", "64GiB"))
        check(suite_of(engine, text, *settings), engine)
    return found


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('interface = "posix"', "add --set case.cache=cold or --set case.posix.direct=true"),
        ('interface = "uring"', "add --set case.cache=cold or --set case.uring.direct=true"),
        (
            'interface = ["posix", "uring"]',
            "add --set case.cache=cold or --set case.posix.direct=true --set case.uring.direct=true",
        ),
        ('interface = "mmap"', "add --set case.cache=cold"),
        ('interface = "mpiio"', "add --set case.cache=cold"),
        ('interface = ["posix", "mmap"]', "add --set case.cache=cold"),
        ('interface = "posix"\nruntime = "1s"', "add --set case.posix.direct=true"),
        ('interface = "mmap"\nruntime = "1s"', "add --set case.block=beyond-memory"),
        ('interface = "posix"\ncache = "cold"', "add --set case.posix.direct=true"),
        ('interface = "posix"\ntransfer = 1000', "add --set case.cache=cold"),
        ('interface = "posix"\nposix.method = "sieve"', "add --set case.cache=cold"),
        ('interface = "posix"\nposix.direct = true', "add --set case.block=beyond-memory"),
        ('interface = "nfs"', "add --set case.block=beyond-memory"),
        ('interface = "listio"', "add --set case.block=beyond-memory"),
        ('interface = "cephfs"', "add --set case.cephfs.cache=false"),
        ('interface = "cephfs"\ncephfs.cache = false', "add --set case.block=beyond-memory"),
        (
            'interface = "posix"\nposix.direct = [false, true]',
            "add --set case.cache=cold or --set case.posix.direct=true",
        ),
        (
            'interface = ["mmap", "listio", "nfs"]',
            "add --set case.cache=cold; for listio, nfs use files larger than memory",
        ),
        (
            'interface = ["posix", "cephfs"]',
            "add --set case.cache=cold or --set case.posix.direct=true and add --set case.cephfs.cache=false",
        ),
    ],
)
def test_the_settings_are_those_that_the_interfaces_accept(engine: Engine, keys: str, expected: str) -> None:
    names = [one.name for one in engine.description.interfaces if one.available]
    if "cephfs" in keys and "cephfs" not in names:
        pytest.skip("machine: the engine has no cephfs")
    assert remedy(engine, f"{CASE}{keys}\n") == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "strided",
        'nested-strided"\nlevels = [[4, "1MiB"], [2, 1000]]\ntransfer = "4KiB',
        'random"\nsize = "8MiB',
        'vector"\npiece = 1000\npieces = "',
        "subarray",
        "flash",
        "btio",
    ],
)
def test_no_pattern_gets_direct_io_for_offsets_that_do_not_suit_it(engine: Engine, pattern: str) -> None:
    text = f'[[case]]\ninterface = "posix"\npattern = "{pattern}"\n'.replace('pieces = ""\n', "")
    assert "case.cache=cold" in remedy(engine, text)


def test_a_setting_suits_the_other_cases_of_the_run_too(engine: Engine) -> None:
    posix, mmap = f'{CASE}interface = "posix"\n', f'{CASE}interface = "mmap"\nruntime = "1s"\n'
    assert remedy(engine, posix + mmap, 1) == "add --set case.posix.direct=true"
    odd = f'{CASE}interface = "posix"\ntransfer = 1000\n'
    assert remedy(engine, posix + odd, 1) == "add --set case.cache=cold"
    assert "direct" not in remedy(engine, posix + METADATA, 1)


def test_without_a_key_larger_files_are_the_remedy(engine: Engine) -> None:
    strided = '[[case]]\ninterface = "listio"\npattern = "strided"\n'
    assert remedy(engine, strided) == "use files larger than memory"
    random = '[[case]]\ninterface = "listio"\npattern = "random"\n'
    assert remedy(engine, random) == "add --set case.size=beyond-memory"
    assert remedy(engine, f"{random}count = 8\n") == "use files larger than memory"
    assert from_storage([], []) == "use files larger than memory"

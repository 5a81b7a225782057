"""Values of the command line for keys in a `zip`."""

import pytest

from strider.suite.zips import Zip, changed, lists_of


def test_lists_are_found_by_key_and_option() -> None:
    case = {"zip": {"clients": [1, 2], "mpiio": {"method": ["a", "b"]}, "block": 3}}
    assert lists_of(case) == {"clients": [1, 2], "mpiio.method": ["a", "b"]}
    assert lists_of({"zip": 3}) == {}


def test_values_of_two_keys_select_the_steps_that_have_both() -> None:
    zipped = {"a": [1, 1, 2], "b": [3, 4, 4], "c": [5, 6, 7]}
    assert changed(zipped, {"a": 1, "b": 4}) == {"a": [1], "b": [4], "c": [6]}


def test_values_that_no_step_has_together_are_refused() -> None:
    with pytest.raises(ValueError, match='no step of the zip has all of a, b: set "c" as well'):
        changed({"a": [1, 2], "b": [3, 4], "c": [5, 6]}, {"a": 1, "b": 4})


def test_a_size_may_be_written_in_another_unit() -> None:
    assert changed({"a": ["1MiB", 512], "b": [1, 2]}, {"a": "1024KiB"}) == {"a": ["1MiB"], "b": [1]}


def test_a_list_can_be_one_value() -> None:
    zipped: Zip = {"dims": [[4, 4], [8, 8]], "clients": [1, 2]}
    assert changed(zipped, {"dims": [8, 8]}) == {"dims": [[8, 8]], "clients": [2]}

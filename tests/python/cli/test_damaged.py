"""A verb that shows runs names the place where values of a run do not fit; other errors stay as they are."""

import pytest

from strider.cli.damaged import showing_runs
from strider.errors import StriderError


@pytest.mark.parametrize("error", [TypeError("'<' not\nsupported"), KeyError("x"), ZeroDivisionError("x")])
def test_an_error_of_values_is_named_with_its_place(error: Exception) -> None:
    def verb() -> None:
        raise error

    with pytest.raises(
        StriderError, match=rf"the run cannot be shown \({type(error).__name__} at .*py:\d+: "
    ):
        showing_runs(verb)()


@pytest.mark.parametrize(
    "error", [StriderError("no run"), BrokenPipeError(), MemoryError(), RuntimeError("x")]
)
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    def verb() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        showing_runs(verb)()
    assert raised.value is error


def test_a_verb_keeps_its_name_result_and_help() -> None:
    def verb(run: str = "latest") -> str:
        """Show a run."""
        return run

    guarded = showing_runs(verb)
    assert (guarded(), guarded("r"), guarded.__name__, guarded.__doc__) == (
        "latest",
        "r",
        "verb",
        "Show a run.",
    )

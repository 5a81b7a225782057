"""Verbs that show runs, whose directories other users may have written or damaged."""

import functools
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from strider.errors import DAMAGE, StriderError
from strider.text import shortened

_PACKAGE = Path(__file__).parents[1]
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def showing_runs(verb: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Returns a verb that ends with an error where values of a run do not fit one another.

    What a run directory holds is checked when it is read, value by value. Some combinations of values are
    found only by the code that works with them.
    """

    @functools.wraps(verb)
    def guarded(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        try:
            return verb(*arguments, **options)
        except Exception as error:
            if not isinstance(error, DAMAGE) and "duckdb" not in type(error).__module__:
                raise
            what = f"{type(error).__name__} at {_place(error)}: {shortened(str(error))}"
            raise StriderError(
                f"the run cannot be shown ({what}): values in its directory do not fit one another, or this "
                "is an error of Strider: report it with a copy of the directory"
            ) from error

    return guarded


def _place(error: Exception) -> str:
    """Returns the last line of Strider that an exception passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    last = own[-1] if own else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}"

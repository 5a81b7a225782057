"""Maps the engine's errors about a plan to the lines of the suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strider.engine import Check, CheckedCase, CheckError, Engine
from strider.suite import places
from strider.suite.load import Suite
from strider.suite.mistakes import Mistakes, Place
from strider.suite.places import Policy
from strider.suite.plan import PlannedCase


@dataclass(frozen=True)
class ChosenSize:
    """A size that the suite left to Strider.

    Attributes:
        cases: Numbers of its cases.
        key: `block` or `size`.
        word: The value in the suite: `auto` or `beyond-memory`.
        bytes: The value in the plan.
        reason: Why, such as `about 1.3 s at 410 MiB/s`.
    """

    cases: list[int]
    key: str
    word: str
    bytes: int
    reason: str


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that the engine can run, with the needs of each case.

    Attributes:
        suite: The suite.
        check: The needs.
        sizes: The sizes that Strider chose.
    """

    suite: Suite
    check: Check
    sizes: Sequence[ChosenSize] = ()

    @property
    def cases(self) -> list[tuple[PlannedCase, CheckedCase]]:
        """Returns each case with its needs."""
        return list(zip(self.suite.plan.cases, self.check.cases, strict=True))


def turns(cases: Iterable[tuple[PlannedCase, CheckedCase]]) -> list[list[tuple[PlannedCase, CheckedCase]]]:
    """Returns cases by turn: those that run at the same time together, the others each alone."""
    found: dict[tuple[int, int], list[tuple[PlannedCase, CheckedCase]]] = {}
    for case, needs in cases:
        found.setdefault((case.turn, 0 if case.turn else case.case), []).append((case, needs))
    return list(found.values())


def check(suite: Suite, engine: Engine, policy: Policy | None = None) -> CheckedPlan:
    """Checks a plan with the engine.

    Args:
        suite: The suite.
        engine: The engine, which may open the files of the plan.
        policy: Resources that the suite may name; None for any, as on the command line.

    Raises:
        SuiteError: A resource is not allowed, or the engine cannot run a case; the message has the line of
            each invalid key.
    """
    if policy is not None:
        places.check(suite, policy)
    result = engine.check(suite.plan.to_json())
    mistakes = Mistakes()
    for place, errors in _by_place(suite, result.errors).items():
        for message in dict.fromkeys(_message(error) for error in errors):
            numbers = [error.case for error in errors if _message(error) == message]
            mistakes.add(place, f"{message} ({_case_numbers(numbers)})")
    mistakes.raise_if_any()
    return CheckedPlan(suite, result)


def _by_place(suite: Suite, errors: list[CheckError]) -> dict[Place, list[CheckError]]:
    found: dict[Place, list[CheckError]] = {}
    for error in errors:
        found.setdefault(_place(suite, error), []).append(error)
    return found


def _place(suite: Suite, error: CheckError) -> Place:
    """Returns the position of the invalid key, or of the case's table if it is a default."""
    if not 1 <= error.case <= len(suite.origins):
        return suite.document.key(())
    origin = suite.origins[error.case - 1]
    path = origin.keys.get(error.key)
    return suite.document.value(path) if path else suite.document.key(origin.case)


def _message(error: CheckError) -> str:
    return f"{error.message}: {error.remedy}" if error.remedy else error.message


def _case_numbers(numbers: list[int]) -> str:
    """`case 3`, or `case 3 and 5 more`."""
    distinct = list(dict.fromkeys(numbers))
    return f"case {distinct[0]}" + (f" and {len(distinct) - 1} more" if len(distinct) > 1 else "")

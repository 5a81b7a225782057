"""The command that remounts the target to drop the caches of all nodes."""

import shlex

from strider.errors import StriderError
from strider.listio import MOUNT
from strider.suite import Plan


def remount_words(text: str | None, plan: Plan) -> list[str]:
    """Splits a remount command into words; empty if not given.

    Raises:
        StriderError: It cannot be split, or no case of the plan would run it.
    """
    if text is None:
        return []
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StriderError(f"--remount-command {text}: {error}: quote it as for a shell") from None
    if not words:
        raise StriderError("--remount-command is empty: name a program and its arguments")
    mounted = next((case for case in plan.cases if case.get("mount") == MOUNT), None)
    if mounted is not None:
        raise StriderError(
            f"--remount-command: the target cannot be remounted while case {mounted.case} has a mount in it: "
            'remove the option, or the cases with mount = "listio"'
        )
    in_set = next((case for case in plan.cases if case.get("dataset")), None)
    if in_set is not None:
        raise StriderError(
            f"--remount-command: the target cannot be remounted while case {in_set.case} has the data set "
            f"{in_set.get('dataset')} open: remove the option, or the cases with a data set"
        )
    if not any(case.get("cache") == "cold" for case in plan.cases):
        raise StriderError(
            '--remount-command needs cases with cache = "cold", but the suite has none: add --set '
            "case.cache=cold"
        )
    return words

"""The command that unmounts and mounts the target, so that no node remembers anything of its files."""

import shlex

from strider.errors import StriderError
from strider.suite import Plan


def remount_words(text: str | None, plan: Plan) -> list[str]:
    """A remount command as typed, word by word; none where nothing was typed.

    Raises:
        StriderError: It cannot be split, or no case of the plan would have it run.
    """
    if text is None:
        return []
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StriderError(f"--remount-command {text}: {error}: quote words as for a shell") from None
    if not words:
        raise StriderError("--remount-command is empty: name a program and its arguments")
    if not any(case.get("cache") == "cold" for case in plan.cases):
        raise StriderError(
            '--remount-command is for cases with cache = "cold", and the suite has none: '
            "add --set case.cache=cold"
        )
    return words

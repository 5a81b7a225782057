"""Any command that starts a program on a number of ranks."""

import shlex

from strider.errors import StriderError
from strider.launch.launchers.launcher import Launcher, installed


def prefix(text: str) -> Launcher:
    """A launcher from a command line with `{ranks}` in it, such as `aprun -n {ranks} -N 4`.

    The string is split as by a shell, but executed without one.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StriderError(f"launcher {text}: {error}") from error
    words[0] = installed(words[0], "check the command given to --launcher")

    def command(ranks: int) -> list[str]:
        return [word.replace("{ranks}", str(ranks)) for word in words]

    return Launcher(text, command)

"""A program of its own: puts folders in the place of others, for one command alone, and becomes that command.

    unshare --mount --propagation slave python cover.py PLACE FOLDER [PLACE FOLDER …] -- COMMAND…

Servers make sockets, locks and notes in places that no setting changes. In a mount name space of their own
they make them in the lab's folder instead.
"""

import os
import subprocess
import sys


def main(words: list[str]) -> None:
    """Mounts each folder on its place, and executes the command.

    Args:
        words: Places and folders in turn, `--`, the command.
    """
    end = words.index("--")
    for place, folder in zip(words[0:end:2], words[1:end:2], strict=True):
        subprocess.run(["mount", "--bind", folder, place], check=True, stdin=subprocess.DEVNULL)
    command = words[end + 1 :]
    os.execvp(command[0], command)  # noqa: S606 (no shell is what is wanted)


if __name__ == "__main__":
    main(sys.argv[1:])

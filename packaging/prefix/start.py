"""Runs a module or a file as Python does, with the packages of the installation that this file is in.

    start.py [-I] -m MODULE ARGUMENT...
    start.py [-I] FILE ARGUMENT...

An installation can be moved, so Python cannot know its packages. Strider starts itself again by
`sys.executable`, which is therefore the command that runs this file.
"""

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Runs what the arguments name."""
    home = Path(__file__).resolve().parent
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    sys.path[:0] = [str(home), str(home / version)]
    sys.executable = str(home.parents[1] / "libexec" / "strider" / "python")
    words = [word for at, word in enumerate(sys.argv[1:]) if at or word != "-I"]
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()

"""A signal never ends Strider by itself: also in a handler of an earlier one there is an exit code."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
from strider import signals
from strider.errors import ExitCode

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def main():
    if "in main" in sys.argv:
        interrupt()

raising = signals.Raising(main.__code__, ExitCode.CANNOT_RUN, "interrupted")
signals.install(raising)
try:
    main()
    interrupt()
except KeyboardInterrupt:
    print("caught", flush=True)
    interrupt()
"""


@pytest.mark.parametrize(("first", "printed"), [("in main", "caught\n"), ("after main", "")])
def test_the_second_signal_gives_the_exit_code(first: str, printed: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, first], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, printed, "interrupted\n")

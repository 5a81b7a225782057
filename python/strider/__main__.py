"""`python -m strider`, and the command `strider`."""

import signal
import sys


def start() -> int:
    """Runs the command line of this process, which signals end in one way from its first import on."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # What nohup has it ignore stays ignored.
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        from strider.cli import main
    except KeyboardInterrupt:
        print("strider: interrupted", file=sys.stderr)
        return 3
    return main()


if __name__ == "__main__":
    sys.exit(start())

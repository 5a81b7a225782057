"""`strider observe`: a node's counters while something else goes on."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def observe(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The file to write; an existing one is replaced."),
    ],
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="Time between two lines.")
    ] = "1s",
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Time until the end; else until Ctrl-C.")
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="DIR", help="What stands before /proc and /sys, as in a container."),
    ] = None,
) -> None:
    """Write down what this node's counters come to in each interval, as JSON Lines.

    For storage servers, while clients are measured: CPU, context switches, disks, network, InfiniBand ports.
    strider show --counters RUN --observed FILE puts it beside the run, by time, so clocks must agree. On a
    server without Python, strider-engine observe --out FILE does the same.
    """
    from strider import engine as engines

    command = [str(engines.find().path), "observe", "--out", str(out)]
    command += ["--interval", _seconds("--interval", interval)]
    command += ["--for", _seconds("--for", duration)] if duration else []
    command += ["--root", str(root)] if root else []
    sys.stdout.flush()
    # The engine takes this process' place, so that signals reach it and nothing is left behind.
    os.execv(command[0], command)  # noqa: S606 - no shell, and a program of ours


def _seconds(option: str, text: str) -> str:
    from strider.errors import StriderError
    from strider.units import parse_seconds

    try:
        return f"{parse_seconds(text):.9f}"
    except ValueError as error:
        raise StriderError(f"{option}: {error}") from None

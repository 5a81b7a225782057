"""`strider observe`: records the counters of a node while clients are measured."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def observe(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="File to write; replaces an existing file."),
    ],
    interval: Annotated[str, typer.Option("--interval", metavar="TIME", help="Sampling interval.")] = "1s",
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Duration (default: until Ctrl-C).")
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="DIR", help="Prefix of /proc and /sys, for example in a container."),
    ] = None,
) -> None:
    """Record the counters of this node for each interval, as JSON Lines.

    For storage servers: CPU, context switches, disks, network, InfiniBand ports. strider show --counters RUN
    --observed FILE shows them beside the run. Records are matched by time, so clocks must be synchronised. On
    a server without Python, use strider-engine observe --out FILE.
    """
    from strider import engine as engines

    command = [str(engines.find().path), "observe", "--out", str(out)]
    command += ["--interval", _seconds("--interval", interval)]
    command += ["--for", _seconds("--for", duration)] if duration else []
    command += ["--root", str(root)] if root else []
    sys.stdout.flush()
    # The engine replaces this process, so that it receives signals directly and no child is left.
    os.execv(command[0], command)  # noqa: S606 - our own program, without a shell


def _seconds(option: str, text: str) -> str:
    from strider.errors import StriderError
    from strider.units import parse_seconds

    try:
        return f"{parse_seconds(text):.9f}"
    except ValueError as error:
        raise StriderError(f"{option}: {error}") from None

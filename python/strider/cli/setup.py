"""`strider setup`: installs the libraries of optional interfaces and builds the engine with them."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from strider.console import echo
from strider.errors import ExitCode, StriderError

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "setup.sh"


def setup(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME…", help="Interfaces that strider doctor reports as missing, or libfabric for RDMA."
        ),
    ],
) -> None:
    """Install the libraries of optional interfaces, and build the engine with them.

    Installs Debian packages, which needs root rights or sudo without a password; otherwise prints the command
    for an administrator. The interfaces uring and hdf5, and libfabric, are part of the first set-up where
    packages can be installed.
    """
    from strider.engine import Engine

    if not SCRIPT.is_file():
        raise StriderError(
            "strider setup works in a checkout only: install the Debian packages that strider doctor names, "
            "then install Strider again",
            ExitCode.CANNOT_RUN,
        )
    done = subprocess.run([SCRIPT, "add", *names], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise typer.Exit(int(ExitCode.CANNOT_RUN))
    interfaces = Engine(Path(done.stdout.strip())).description.interfaces
    for interface in (interface for interface in interfaces if interface.name in names):
        state = "works" if interface.available else interface.unavailable_reason
        echo(f"interface {interface.name}: {state}")
    if any(not interface.available for interface in interfaces if interface.name in names):
        raise typer.Exit(int(ExitCode.CANNOT_RUN))

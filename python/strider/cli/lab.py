"""`strider lab`: runs real parallel file systems, Slurm and nodes on this machine."""

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strider import signals
from strider.console import echo
from strider.errors import ExitCode, StriderError
from strider.running.options import JsonOption, QuietOption

if TYPE_CHECKING:
    from strider.lab import Record, System

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="System to start, from strider lab list.")]
AtOption = Annotated[
    Path | None,
    typer.Option(
        "--at",
        metavar="DIR",
        help="Folder for the lab's files (default: in the temporary directory).",
        show_default=False,
    ),
]

lab = typer.Typer(
    help="Start real parallel file systems, Slurm or nodes on this machine to try Strider.",
    no_args_is_help=True,
)


@lab.command("list")
def list_(at: AtOption = None, json: JsonOption = False) -> None:
    """List the systems of the lab: running, ready to start, or which packages are missing."""
    from strider.lab import SYSTEMS

    rows: list[dict[str, Any]] = [
        {
            "name": system.name,
            "doc": system.doc,
            "missing_packages": system.missing_packages(),
            **_state(system, at),
        }
        for system in SYSTEMS.values()
    ]
    if json:
        _print_json(rows)
        return
    from rich.table import Table

    from strider.console import output

    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        missing = row["missing_packages"]
        lacks = row["obstacle"] or (f"lacks Debian packages: {' '.join(missing)}" if missing else "")
        table.add_row(row["name"], row["state"], row["doc"] + (f"\n→ {lacks}" if lacks else ""))
    output().print(table)


def _state(system: "System", at: Path | None) -> dict[str, str]:
    """The state of a system, and what keeps it from being started; a folder of others is no lab of ours."""
    from strider.lab import folder_of, state_of

    try:
        return {"state": state_of(folder_of(system, at)), "obstacle": system.obstacle()}
    except StriderError as error:
        return {"state": "down", "obstacle": error.message}


@lab.command()
def up(
    name: NameArgument,
    at: AtOption = None,
    install: Annotated[
        bool, typer.Option("--install", help="Install missing Debian packages with apt-get.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Option of the system; repeatable.", show_default=False
        ),
    ] = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Start a file system, Slurm or nodes, wait until it is ready, and show how to use it."""
    from strider import lab as labs

    system = labs.find(name)
    folder = labs.folder_of(system, at)
    say = _say_nothing if quiet else _say
    missing = system.missing_packages()
    if install and missing:
        say(f"installing {' '.join(missing)}")
        labs.install(missing)
    with _signals_interrupt():
        record = labs.up(system, folder, say, settings or [])
    _print_json(record.model_dump(mode="json")) if json else _print_use(record, folder)


@lab.command()
def down(name: NameArgument, at: AtOption = None, quiet: QuietOption = False) -> None:
    """Stop a system of the lab and remove all its files, also after a crash."""
    from strider import lab as labs

    labs.down(labs.folder_of(labs.find(name), at), _say_nothing if quiet else _say)


@lab.command()
def status(name: NameArgument, at: AtOption = None, json: JsonOption = False) -> None:
    """Show whether a system of the lab is running and how to use it; exit code 3 if it is not."""
    from strider import lab as labs

    folder = labs.folder_of(labs.find(name), at)
    state = labs.state_of(folder)
    record = labs.read(folder)
    if json:
        _print_json({"state": state, "record": record.model_dump(mode="json") if record else None})
    else:
        echo(f"{name} is {state} ({folder})")
        if record and state == "up":
            _print_use(record, folder)
    if state != "up":
        raise typer.Exit(int(ExitCode.CANNOT_RUN))


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Handles termination signals like Ctrl-C, so that a started system is stopped again."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in signals.handled()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_use(record: "Record", folder: Path) -> None:
    for endpoint in record.endpoints:
        echo(f"{record.system} {endpoint.name}" + (f": {endpoint.remark}" if endpoint.remark else ""))
        if endpoint.mount:
            echo(f"  mounted at {endpoint.mount}")
        echo(f"  native: {', '.join(f'{key} {value}' for key, value in endpoint.native.items())}")
    if record.enter:
        echo(
            "native addresses are in a separate network namespace: prefix commands with "
            f"{shlex.join(record.enter)}"
        )
    echo(f"to stop: strider lab down {record.system} --at {shlex.quote(str(folder.parent))}")


def _print_json(value: object) -> None:
    from strider.engine import to_json

    sys.stdout.write(to_json(value))


def _say(line: str) -> None:
    for each in line.split("\n"):
        echo(f"strider: {each}", stream=sys.stderr)


def _say_nothing(_: str) -> None:
    pass

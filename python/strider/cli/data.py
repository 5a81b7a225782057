"""`strider data`: files that outlive a run, with a record of what they hold."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import Without, grouped
from strider.console import echo, error_console
from strider.errors import ExitCode, StriderError
from strider.running.options import AccessOptions, JsonOption, LauncherOption, OutputOptions, RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from strider.datasets import Marker
    from strider.datasets.verification import Findings
    from strider.engine import Json
    from strider.launch import Outcome
    from strider.suite import Suite

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of the data set: 1 to 64 letters, digits, dots, hyphens and underscores."
    ),
]
TargetOption = Annotated[
    Path,
    typer.Option("--target", metavar="DIR", help="Directory with the data set (default: this directory)."),
]
RanksOption = Annotated[int, typer.Option("--clients", "-n", metavar="N", min=1, help="Number of clients.")]
InterfaceOption = Annotated[
    str | None,
    typer.Option("--interface", metavar="NAME", help="Interface (default: posix, or that of the format)."),
]
_Access = Annotated[AccessOptions, Without("remount_command")]
_HERE = Path()
_GIVEN = {
    "dataset": "the argument NAME",
    "interface": "--interface",
    "pattern": "--pattern",
    "tree": "--tree",
    "clients": "--clients",
    "operations": "strider data make: a set is written once",
    "repetitions": "strider data make: a set is written once",
}
"""Keys that `--set` cannot change, and what gives them."""

data = typer.Typer(
    help="Make, list, verify and remove data sets: files that outlive a run. Suites read and rewrite them by "
    'dataset = "NAME".',
    no_args_is_help=True,
)


@data.command("make")
@grouped
def make(
    *,
    name: NameArgument,
    target: TargetOption = _HERE,
    pattern: Annotated[
        str, typer.Option("--pattern", metavar="NAME", help="Access pattern of the writers.")
    ] = "segmented",
    tree: Annotated[
        str | None,
        typer.Option("--tree", metavar="NAME", help="Make a tree of files instead, for example balanced."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A key of the case, for example block=64MiB or sharing=per-rank. May be repeated.",
        ),
    ] = None,
    clients: RanksOption = 1,
    interface: InterfaceOption = None,
    launcher: LauncherOption = "mpiexec",
    access: _Access,
    output: Annotated[OutputOptions, Without("json")],
) -> None:
    """Make a data set: write its files, and the marker that says what they hold.

    The set is the folder strider-data-NAME of the target. If the command is interrupted, the marker says so:
    remove the set, and make it again.
    """
    from strider.datasets import find, row

    lines = [
        "[suite]",
        f'name = "make-{_checked(name)}"',
        "[[case]]",
        f'dataset = "{name}"',
        f'interface = "{_checked(interface or "posix")}"',
        f'tree = "{_checked(tree)}"' if tree else f'pattern = "{_checked(pattern)}"',
        f"clients = {clients}",
        f'operations = ["{"create" if tree else "write"}"]',
        "repetitions = 1",
    ]
    place = target.expanduser().absolute()
    own = [_setting(text) for text in settings or []]
    options = _options(place, launcher, access, output, own)
    outcome = _perform("\n".join(lines) + "\n", options)
    made = find(place, name)
    if made is not None:
        _print(place, [row(made)])
    if outcome.exit_code != ExitCode.OK:
        raise typer.Exit(int(outcome.exit_code))


@data.command("list")
def list_(
    target: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Target directory (default: this directory).")
    ] = _HERE,
    json: JsonOption = False,
) -> None:
    """List the data sets of a directory: state, size, writer, age."""
    from strider.datasets import rows

    place = target.expanduser().absolute()
    found = rows(place)
    if json:
        from strider.engine import to_json

        sys.stdout.write(to_json({"directory": str(place), "data_sets": found}))
        return
    _print(place, found)


@data.command("verify")
@grouped
def verify(
    *,
    name: NameArgument,
    target: TargetOption = _HERE,
    clients: RanksOption = 1,
    interface: InterfaceOption = None,
    launcher: LauncherOption = "mpiexec",
    access: _Access,
    order: Annotated[str | None, typer.Option("--order", hidden=True)] = None,
    output: OutputOptions,
) -> None:
    """Verify a data set: read every byte of its files, and compare names, sizes and data.

    Names each file, offset and server of wrong data, and what is wrong with it. Any number of clients and any
    interface can verify a set of which every byte was written. Of a tree, names each missing, surplus or
    damaged item; the clients that made it read the files. The exit code is 1 if anything is wrong.
    """
    from strider.datasets.verification import examine

    place = target.expanduser().absolute()
    findings = examine(place, name)
    options = _options(place, launcher, access, output)
    marker = findings.marker
    read = interface or marker.file_format or "posix"
    outcome = _read(findings, options, _checked(read), clients) if findings.is_readable else None
    _report(findings, outcome, output.json)


@data.command("remove")
def remove(
    name: NameArgument,
    target: TargetOption = _HERE,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also remove a set that a run on another host was writing."),
    ] = False,
) -> None:
    """Remove a data set: the files and trees that its marker names, then the marker and the folder.

    Other files in the folder stay, and are named. An interrupted removal continues when it is repeated. The
    exit code is 1 if entries of the folder stay.
    """
    from strider import datasets

    removed = datasets.remove(target.expanduser().absolute(), name, force=force)
    for line in removed.kept:
        echo(f"not removed: {line}", stream=sys.stderr)
    rest = ", the folder stays" if removed.kept else ""
    what = "entries" if removed.is_tree else "files"
    echo(f"data set {name}: {removed.files} {what} removed{rest}")
    if removed.kept:
        raise typer.Exit(int(ExitCode.CHECK_FAILED))


def _options(
    place: Path,
    launcher: str,
    access: AccessOptions,
    output: OutputOptions,
    settings: list[str] | None = None,
) -> RunOptions:
    """Returns the options of a run whose files count, and not its rates."""
    from strider.running.options import RunOptions

    return RunOptions.of(
        access,
        output,
        settings=settings or [],
        target=str(place),
        launcher=launcher,
        json=False,
        counters="none",
        timeline="none",
        ceilings="none",
    )


def _read(findings: "Findings", options: "RunOptions", interface: str, clients: int) -> "Outcome":
    """Reads all files of a set through the engine, and prints errors."""
    from strider import engine as engines
    from strider.datasets.verification import reading_whole_files, suite_text
    from strider.suite.vocabulary import Vocabulary

    vocabulary = Vocabulary.of(engines.find().description)
    text = suite_text(findings, Path(options.target or "."), interface, clients, vocabulary)
    return _perform(text, options, partial(reading_whole_files, findings=findings, clients=clients))


def _perform(text: str, options: "RunOptions", adjust: "Callable[[Suite], Suite] | None" = None) -> "Outcome":
    """Runs a suite without a table and a report, and prints its errors."""
    from strider.launch import interruptions
    from strider.running.performing import display_of, perform
    from strider.running.sizing import prepare
    from strider.suite.document import parse

    console = error_console()
    prepared = prepare(parse(text, "strider data"), options, adjust=adjust)
    display = display_of(prepared, options, console)
    with interruptions() as interrupted:
        outcome = perform(prepared, display, console, interrupted, error_console(quiet=True))
        interrupted.settle(int(outcome.exit_code))
    return outcome


def _report(findings: "Findings", outcome: "Outcome | None", json: bool) -> None:
    """Prints the result of a verification; raises Exit if anything is wrong."""
    from strider.datasets import row
    from strider.units import format_bytes

    marker = findings.marker
    right = sum(_checked_bytes(outcome)) if outcome else 0
    wrong = len(findings.problems) + (len(outcome.errors) if outcome else 0)
    was_read = outcome is not None and outcome.exit_code == ExitCode.OK
    is_right = not wrong and (was_read or not findings.needs_reading)
    if json:
        from strider.engine import to_json

        document = {
            **row(marker),
            "verified": is_right,
            "checked_bytes": right,
            "problems": findings.problems,
            "errors": outcome.errors if outcome else [],
        }
        sys.stdout.write(to_json(document))
    else:
        for line in findings.problems:
            echo(f"error: {line}", stream=sys.stderr)
        result = "all right" if is_right else f"{wrong} errors" if wrong else "not verified"
        echo(
            f"data set {marker.name}: {result}: {format_bytes(right)} of "
            f"{format_bytes(marker.total_bytes)} read and compared, {_contents(marker)}"
        )
    if not is_right:
        code = outcome.exit_code if outcome and outcome.exit_code != ExitCode.OK else ExitCode.CHECK_FAILED
        raise typer.Exit(int(code))


def _contents(marker: "Marker") -> str:
    directories = f", {marker.tree.directory_count} directories" if marker.tree else ""
    return f"{marker.file_count} files{directories}"


def _checked_bytes(outcome: "Outcome") -> "list[int]":
    from strider.store.events import read_events

    found = []
    for event in read_events(outcome.directory.events):
        if event["event"] == "sample" and event["operation"] in ("read", "small-read"):
            found.append(int((event.get("verify") or {}).get("checked_bytes", 0)))
    return found


def _print(target: Path, rows: "list[dict[str, Json]]") -> None:
    from strider.units import format_bytes

    if not rows:
        echo(f"{target}: no data sets")
    for row in rows:
        if row["state"] == "unreadable":
            echo(f"{row['name']}: {row['reason']}")
            continue
        state = f"{row['state']} {row['active']}".strip()
        shape = row["pattern"] or (f"tree {row['tree']}" if row["tree"] else "")
        writer = f"{shape}, {row['clients']} clients, " if shape and row["clients"] else ""
        directories = f"{row['directories']} directories, " if row["tree"] else ""
        echo(
            f"{row['name']}: {state}, {directories}{row['files']} files, {format_bytes(row['bytes'])}, "
            f"generation {row['generation']}, {writer}{row['owner']}@{row['host']}, {row['at']}, "
            f"run {row['run']}"
        )


def _checked(text: str) -> str:
    """Returns a name that becomes part of a suite.

    Raises:
        StriderError: It has other characters than names have.
    """
    from strider.datasets.marker import NAME_RULE, is_name

    if not is_name(text):
        raise StriderError(f'"{text}" is not a name: {NAME_RULE}')
    return text


def _setting(text: str) -> str:
    """Returns a `--set` of `strider run` for `KEY=VALUE`.

    Raises:
        StriderError: The key is given by another option or argument.
    """
    setting = text.removeprefix("case.")
    key = setting.partition("=")[0].strip()
    if key in _GIVEN:
        raise StriderError(f"--set {text}: {key} is given by {_GIVEN[key]}")
    return f"case.{setting}"

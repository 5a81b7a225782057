"""`strider listio`: manages volumes of the list-I/O service, which stripes files over servers."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strider.console import echo
from strider.errors import ExitCode, StriderError
from strider.running.options import JsonOption

if TYPE_CHECKING:
    from strider.listio import Volume
    from strider.report.output.files import FigureFormat

DirectoryArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The volume's directory.")]
ServersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        help="Number of servers (default: as before for an existing volume, one per host with --hosts, "
        "otherwise 4).",
        show_default=False,
    ),
]
StripOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Strip size of new files (default: the volume's, or 64KiB).", show_default=False
    ),
]
TransportOption = Annotated[
    str,
    typer.Option(
        "--transport",
        "--provider",
        help="cma (this host only), tcp, ofi:PROVIDER, or auto: the best on this host, tcp with --hosts.",
    ),
]
ListenOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        help="Address for clients (default: 127.0.0.1; with --hosts, each host's address).",
        show_default=False,
    ),
]
HostsOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[,HOST…]",
        help="Start the servers on these hosts by ssh, round-robin: [user@]host[:port].",
        show_default=False,
    ),
]
SshServerOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Path of strider-listio-server on these hosts (default: the path on this host).",
        show_default=False,
    ),
]
StoreOption = Annotated[str, typer.Option(help="files, or nothing: discard data, to measure transport only.")]
RateOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Rate limit of each server in bytes per second, reads and writes together, for example "
        "100MiB; 0: no limit (default: the volume's, or no limit).",
        show_default=False,
    ),
]
ChecksumsOption = Annotated[
    str | None,
    typer.Option(
        metavar="crc32c|off",
        help="Checksums of data files, verified at each read (default: the volume's; crc32c for a new one).",
        show_default=False,
    ),
]
CopiesOption = Annotated[
    int | None,
    typer.Option(
        metavar="1|2",
        help="Copies of data files, each on another server (default: the volume's; 1 for a new one).",
        show_default=False,
    ),
]
ReplaceOption = Annotated[
    list[int] | None,
    typer.Option(
        metavar="SERVER",
        help="Number of a server whose folder DIR/server-N is lost: start it with an empty one. The volume "
        "has two copies, and strider listio scrub copies its data. Repeat the option for several.",
        show_default=False,
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory of a server for all clients' buffers.", show_default="256MiB"),
]

listio = typer.Typer(
    help="Manage list-I/O volumes: striped files for the interface listio.",
    no_args_is_help=True,
)


@listio.command()
def serve(
    *,
    directory: DirectoryArgument,
    servers: ServersOption = None,
    strip: StripOption = None,
    transport: TransportOption = "auto",
    listen: ListenOption = None,
    hosts: HostsOption = None,
    ssh_server: SshServerOption = None,
    store: StoreOption = "files",
    rate: RateOption = None,
    checksums: ChecksumsOption = None,
    copies: CopiesOption = None,
    memory: MemoryOption = None,
    replace: ReplaceOption = None,
    json: JsonOption = False,
) -> None:
    """Start the servers of a volume that do not run; return when they are ready.

    The servers run on this host, or on --hosts, and keep all data in DIR. The same command restarts them:
    all of a stopped volume, or those of this host that died, at their former addresses.
    With --hosts, DIR must exist on each host under the same path; it may be shared or local. Clients need
    DIR/listio-volume.json. It contains the volume's secret, and only you can read it.
    """
    from strider import engine as engines
    from strider.listio import ServerOptions
    from strider.listio import serve as start
    from strider.units import format_bytes_rounded

    if store not in ("files", "nothing"):
        raise StriderError(f'--store: unknown value "{store}": use files or nothing')
    if checksums not in ("crc32c", "off", None):
        raise StriderError(f'--checksums: unknown value "{checksums}": use crc32c or off')
    if copies not in (1, 2, None):
        raise StriderError(f"--copies: {copies}: use 1 or 2")
    strip_bytes, bytes_per_s = _size("--strip", strip), _size("--rate", rate)
    named = _hosts(hosts, ssh_server, listen)
    options = ServerOptions(
        servers=servers,
        strip_bytes=strip_bytes,
        transport=transport,
        listen=listen or "127.0.0.1",
        store=store,  # type: ignore[arg-type]
        bytes_per_s=bytes_per_s,
        hosts=named,
        program=ssh_server,
        checksums=checksums,  # type: ignore[arg-type]
        memory_bytes=_size("--memory", memory),
        copies=copies,
        replace=replace or (),
    )
    volume = start(engines.find(), directory, options).volume
    shown = shlex.quote(str(directory))
    if json:
        _print_json({"directory": str(directory), **volume.model_dump(exclude={"format", "secret"})})
        return
    how = f"{volume.transport}, strips of {volume.strip_bytes} bytes, checksums {volume.checksums}"
    how += f", {volume.copies} copies" if volume.copies > 1 else ""
    if volume.server_bytes_per_s:
        how += f", each server limited to {format_bytes_rounded(volume.server_bytes_per_s)}/s"
    where = f" on {len(named)} host{'s' if len(named) > 1 else ''}" if named else ""
    echo(f"{directory}: {len(volume.servers)} servers running{where} ({how})")
    echo(f'to measure: strider run noncontig-2003 --target {shown}, or any suite with interface = "listio"')
    echo(f"to stop: strider listio stop {shown}")
    for number in options.replace:
        echo(f"server {number} begins empty: copy its data with strider listio scrub {shown}")
    _advise_check(directory)


@listio.command()
def stop(directory: DirectoryArgument, json: JsonOption = False) -> None:
    """Stop the servers of a volume after they complete their current requests; keep the data."""
    from strider.listio import processes_of
    from strider.listio import stop as end
    from strider.processes import is_alive

    _require(directory, "name the directory of the volume, as given to strider listio serve")
    dead = [process.name for process in processes_of(directory) if not is_alive(process)]
    count = end(directory)
    if json:
        _print_json({"directory": str(directory), "stopped": count})
    else:
        stopped = f"{count} server{'s' if count > 1 else ''} stopped" if count else "no server was running"
        before = (
            f"; {', '.join(dead)} had already exited, see server-*.log in this directory"
            if dead and count
            else ""
        )
        echo(f"{directory}: {stopped}{before}")


@listio.command()
def mount(
    volume: Annotated[Path, typer.Argument(metavar="VOLUME", help="The volume's directory.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Empty directory to mount it on.")],
    cache: Annotated[
        bool,
        typer.Option(
            "--cache",
            help="Let the kernel cache what was read until a file is opened again. Without it every read and "
            "write goes to the servers.",
        ),
    ] = False,
    allow_other: Annotated[
        bool, typer.Option("--allow-other", help="Let other users of this host use the mount.")
    ] = False,
) -> None:
    """Mount a volume on a directory by FUSE, for any program; return when it is ready.

    It stays mounted until strider listio unmount DIR. Messages go to VOLUME/mount.log.
    """
    from strider import engine as engines
    from strider.listio import MountOptions
    from strider.listio import mount as start

    _require_started(volume)
    start(engines.find(), volume, directory, MountOptions(caches=cache, allows_others=allow_other))
    shown = shlex.quote(str(directory))
    echo(f"{volume} is mounted on {directory}")
    echo(f"to measure: strider quick {shown}")
    echo(f"to unmount: strider listio unmount {shown}")


@listio.command()
def unmount(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that a volume is mounted on.")],
) -> None:
    """Unmount a volume; its servers keep running."""
    from strider.listio import unmount as end

    end(directory)
    echo(f"{directory} is unmounted")


@listio.command()
def env(
    directory: DirectoryArgument,
    mpi: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY",
            help="MPI library of the program: mpich (MPICH, Intel MPI, MVAPICH2, Cray MPI) or openmpi "
            "(default: that of the engine).",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print the environment variables for MPI programs to open files listio:NAME on a volume.

    For example: env $(strider listio env DIR) mpiexec -n 4 ./program listio:output
    """
    import os

    from strider import engine as engines
    from strider.listio import preload_variables

    _require(directory)
    variables = preload_variables(engines.find(), directory, mpi, os.environ)
    if json:
        _print_json(variables)
        return
    for name, value in variables.items():
        echo(f"{name}={value}")


@listio.command()
def status(directory: DirectoryArgument, json: JsonOption = False) -> None:
    """Show the state and the counters of a volume's servers; exit code 3 if a server does not respond."""
    from strider import engine as engines
    from strider.listio import (
        is_check_advised,
        is_down,
        out_text,
        problems,
        processes_of,
        restart_commands,
        silent_of,
    )
    from strider.listio import status as ask

    volume = _require(directory)
    down = is_down(directory)
    servers = [] if down else ask(engines.find(), directory)
    for number, process in enumerate(processes_of(directory)[: len(servers)]):
        servers[number]["pid"] = process.pid
    answer = all(server["answers"] for server in servers)
    state = "down" if down else "up" if answer else "incomplete"
    if json:
        head = {"directory": str(directory), "state": state, "check_advised": is_check_advised(directory)}
        head["transport"] = volume.transport
        _print_json({**head, "strip_bytes": volume.strip_bytes, "servers": servers})
    else:
        echo(
            f"{directory} is {state}" + (f": start it with strider listio serve {directory}" if down else "")
        )
        if servers:
            _print_status(servers)
        for problem in problems(servers):
            echo(f"{problem}: {restart_commands(directory, silent_of(servers))}")
        for server in servers:
            if server["out"] and server["answers"]:
                echo(f"server {server['server']} {out_text(directory)}")
        _advise_check(directory)
    if state != "up":
        raise typer.Exit(int(ExitCode.CANNOT_RUN))


@listio.command()
def check(
    directory: DirectoryArgument,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="First repair damaged name entries from their copies. Entries without a copy are moved to "
            "set-aside; nothing is deleted.",
        ),
    ] = False,
    remove_orphans: Annotated[
        bool,
        typer.Option(
            "--remove-orphans", help="Remove orphaned data files, unless something of the volume is damaged."
        ),
    ] = False,
    remove_run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="First remove the files of this killed run; check lists the names of such runs.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check that names, copies of name entries, and data files match; exit code 1 if they do not.

    The servers must be running, except those that are out. Clients may use the volume meanwhile. The
    check also lists files that killed runs left; finished and interrupted runs remove their own.
    """
    from strider import engine as engines
    from strider import listio as volumes

    _require_started(directory)
    engine = engines.find()
    volumes.require_servers(directory / volumes.VOLUME_FILE, engine, may_be_out=True)
    names_removed = volumes.remove_run(engine, directory, remove_run) if remove_run is not None else 0
    found = {**volumes.check(engine, directory, remove_orphans, repair), "removed_names": names_removed}
    is_clean = not found["problems"] and not found["out"] and (not found["orphans"] or found["removed"])
    if is_clean:
        volumes.note_clean_check(directory)
    if json:
        _print_json(found)
    else:
        if remove_run is not None:
            echo(f"{remove_run}: {names_removed} files and directories removed")
        _print_check(directory, found)
    if not is_clean:
        raise typer.Exit(int(ExitCode.CHECK_FAILED))


@listio.command()
def scrub(
    directory: DirectoryArgument,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Bytes per second that each server verifies at most, for example 100M (default: no limit).",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare all data of a volume with its checksums; exit code 1 if data are damaged.

    With --copies 2, servers that are out first get what they have missed, and damage is repaired from the
    other copy. Each server reads its own data files, while clients use the volume. Names are not compared
    with data files: see strider listio check.
    """
    from strider import engine as engines
    from strider.listio import scrub as run
    from strider.listio.findings import clear_progress, damage_text, filled_text, show_progress
    from strider.units import format_bytes_rounded

    _require_started(directory)
    progress = None if json else show_progress()
    found = run(engines.find(), directory, _size("--rate", rate) or 0, progress)
    clear_progress()
    findings = found["findings"]
    if json:
        _print_json(found)
    else:
        verified, elapsed_s = found["verified"], found["elapsed_s"]
        amount = format_bytes_rounded(verified["bytes"])
        echo(f"{verified['files']} data files, {amount} verified in {elapsed_s:.1f} s")
        for filled in found["filled"]:
            echo(filled_text(filled))
        for finding in findings:
            state = "repaired from the other copy" if finding["repaired"] else "damaged"
            echo(f"{state}: {damage_text(finding)}")
        if not findings:
            echo("no damage found")
    is_well = all(finding["repaired"] for finding in findings)
    if not is_well or any(filled["reason"] for filled in found["filled"]):
        raise typer.Exit(int(ExitCode.CHECK_FAILED))


@listio.command()
def registration(
    domains: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOMAIN]...", help="uring, mlock, model (default: all).", show_default=False),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also draw the measured times and the fits to a .svg, .png or .pdf file."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure the cost of memory registration on this machine: T = a·p + b for p pages, by domain."""
    from strider import engine as engines
    from strider.listio import registration as ask
    from strider.listio.tool import DOMAINS

    format_ = _figure_format(figure) if figure else None
    fits = ask(engines.find(), domains or list(DOMAINS))
    _print_json(fits) if json else _print_fits(fits)
    if figure and format_:
        from strider.report.output.files import write_figure
        from strider.report.sections.listio import fits_of, registration_chart

        drawn = fits_of(fits)
        if not drawn:
            raise StriderError(
                f"cannot draw {figure}: no registration domain could be measured", ExitCode.CANNOT_RUN
            )
        write_figure(registration_chart(drawn), figure, format_)


def _print_check(directory: Path, found: dict[str, Any]) -> None:
    from strider.listio import out_text
    from strider.units import format_bytes_rounded

    command = f"strider listio check {shlex.quote(str(directory))}"
    names = f"{found['files']} files in {found['directories']} directories"
    echo(f"{names}, {found['data_files']} data files, {format_bytes_rounded(found['bytes'])}")
    for line in found["repairs"]:
        echo(f"repair: {line}")
    for problem in found["problems"]:
        echo(f"damaged: {problem}")
    for server in found["out"]:
        echo(f"not checked: server {server} {out_text(directory)}")
    if found["set_aside"]:
        echo(f"{found['set_aside']} damaged entries are in {directory}/server-0/set-aside")
    if found["orphans"]:
        outcome = f"found: remove them with {command} --remove-orphans"
        if found["removed"]:
            outcome = "removed"
        elif found["kept_because"]:
            outcome = f"kept: {found['kept_because']}"
        echo(f"{len(found['orphans'])} orphaned data files {outcome}")
    for left in found["runs"]:
        remedy = f"{command} --remove-run {left['run']}"
        echo(f"a killed run left {left['names']} files or trees: remove them with {remedy}")


def _figure_format(file: Path) -> "FigureFormat":
    from strider.report.output.files import FORMATS

    found = next((one for one in FORMATS if file.suffix.lower() == f".{one}"), None)
    if found is None:
        raise StriderError(f"--figure: {file} has an unsupported suffix: use one of .{', .'.join(FORMATS)}")
    return found


def _require(directory: Path, remedy: str = "") -> "Volume":
    from strider.listio import read_volume

    volume = read_volume(directory)
    if volume is None:
        remedy = remedy or f"create one with strider listio serve {shlex.quote(str(directory))}"
        raise StriderError(f"{directory} is not a volume: {remedy}")
    return volume


def _require_started(directory: Path) -> None:
    from strider.listio import is_down, serve_command

    _require(directory)
    if is_down(directory):
        raise StriderError(
            f"{directory} is stopped: start it with {serve_command(directory)}", ExitCode.CANNOT_RUN
        )


def _hosts(hosts: str | None, program: str | None, listen: str | None) -> list[str]:
    """Returns the hosts of --hosts; empty for this host only."""
    from strider import ssh

    if hosts is None:
        if program is not None:
            raise StriderError("--ssh-server needs --hosts: name the hosts, or remove --ssh-server")
        return []
    if listen is not None:
        raise StriderError(
            "--listen cannot be combined with --hosts, whose servers listen on each host's address: "
            "remove --listen"
        )
    if program is not None:
        ssh.check_program("--ssh-server", program)
    return ssh.parse_hosts("--hosts", hosts)


def _size(option: str, text: str | None) -> int | None:
    from strider.units import parse_bytes

    try:
        return parse_bytes(text) if text is not None else None
    except ValueError as error:
        raise StriderError(f"{option}: {error}") from error


def _advise_check(directory: Path) -> None:
    """Prints the command of a check if servers ended without stop and no check has been clean since."""
    from strider.listio import is_check_advised

    if is_check_advised(directory):
        echo(
            "servers ended without strider listio stop and may have left data of no file: check with "
            f"strider listio check {shlex.quote(str(directory))}"
        )


def _print_status(servers: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from strider.console import output
    from strider.units import format_bytes_rounded

    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("server", "address", "process", "clients", "requests", "written", "read", "file calls"):
        table.add_column(column, justify="left" if column == "address" else "right")
    for server in servers:
        process = str(server.get("pid", ""))
        if not server["answers"]:
            table.add_row(str(server["server"]), server["address"], process)
            continue
        moved = [format_bytes_rounded(server[f"{done}_bytes"]) for done in ("written", "read")]
        counts = [str(server[key]) for key in ("clients", "requests")]
        table.add_row(
            str(server["server"]), server["address"], process, *counts, *moved, str(server["file_calls"])
        )
    output().print(table)


def _print_fits(fits: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from strider.console import output

    table = Table(box=None, pad_edge=False, header_style="", title_justify="left", title_style="")
    table.title = "T = a·p + b, in µs for p pages; ± 95 % interval"
    table.add_column("domain")
    for column in ("a", "b", "a' (undo)", "b' (undo)", "merges holes up to"):
        table.add_column(column, justify="right")
    for fit in fits:
        if fit["problem"]:
            continue
        cells = [
            f"{fit[way][name]:.4g} ± {fit[way][f'{name}_error']:.2g}"
            for way in ("register", "deregister")
            for name in ("us_per_page", "us")
        ]
        table.add_row(fit["domain"], *cells, f"{fit['most_hole_pages']} pages")
    output().print(table)
    for fit in fits:
        if fit["problem"]:
            echo(f"{fit['domain']}: not available on this machine: {fit['problem']}")


def _print_json(value: object) -> None:
    from strider.engine import to_json

    sys.stdout.write(to_json(value))

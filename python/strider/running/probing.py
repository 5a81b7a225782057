"""What `strider quick` finds out before it measures: short runs in a store that is removed."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from strider.console import error_console
from strider.errors import ExitCode, StriderError
from strider.running.options import RunOptions
from strider.running.performing import perform
from strider.running.prepared import Prepared, prepare_as_written
from strider.units import format_bytes

if TYPE_CHECKING:
    from strider.engine import Description
    from strider.quick import Place, Probe
    from strider.store import Run
    from strider.suite.document import Document
    from strider.suite.estimate import AssumedRates


def check_directory(directory: str) -> None:
    """Refuses addresses and volume files, and names the command that measures them.

    Raises:
        StriderError: It is no directory.
    """
    from strider.listio import VOLUME_FILE

    scheme, separator, _ = directory.partition("://")
    if separator:
        name = {"root": "xrootd", "roots": "xrootd"}.get(scheme, scheme)
        raise StriderError(
            f"{directory} is an address, and strider quick needs a directory: name the local directory of "
            f"this server, with --interface {name} --set case.{name}.url={directory} "
            f"--set case.{name}.mount=TOP, where TOP is the local directory of the address"
        )
    if Path(directory).name == VOLUME_FILE and not Path(directory).is_dir():
        raise StriderError(
            f"{directory} is a file: to measure this volume, run "
            f"strider quick {Path(directory).parent} --interface listio"
        )


def settings_of(settings: list[str], interface: str) -> list[str]:
    """Returns the settings of the interface.

    Raises:
        StriderError: A setting is of something else: the sizes and lengths are chosen by Strider.
    """
    for text in settings:
        if not text.strip().startswith(f"case.{interface}."):
            raise StriderError(
                f"--set {text}: strider quick chooses sizes and lengths itself; only options of the "
                f"interface can be set, as case.{interface}.KEY=VALUE; for others use strider run"
            )
    return settings


def probe(place: "Place", options: RunOptions, seconds: float) -> "Probe":
    """Returns the rates that a short run finds."""
    from strider.quick import Probe, probe_document, probed
    from strider.quick.probe import PHASE_S, has_space

    if not has_space(place):
        return Probe(None, None, "no space")
    found, wall_s = measured(probe_document(place, min(PHASE_S, seconds / 50)), options)
    return probed(found, wall_s)


def rates_for(
    target: Path, description: "Description", options: RunOptions | None = None, clients: int = 1
) -> "AssumedRates":
    """Returns the rates of a directory, measured in about three seconds.

    Args:
        target: The directory.
        description: Capabilities of the engine.
        options: Options of a run, such as its launcher; None for the defaults.
        clients: Number of clients that write and read.

    Raises:
        StriderError: They could not be measured.
    """
    from strider.quick import look, probed_rates, rates_document
    from strider.quick.probe import LEAST_DATA_BYTES, has_space
    from strider.suite.estimate import AssumedRates

    place = look(target)
    each = replace(
        place, free_bytes=place.free_bytes // clients, available_bytes=place.available_bytes // clients
    )
    if not has_space(each):
        raise StriderError(
            f"probe: {target} has less than {format_bytes(LEAST_DATA_BYTES * clients)} of free space"
        )
    own = replace(
        options or RunOptions(),
        settings=[],
        target=str(target),
        clients=str(clients),
        ceilings="none",
        observe=None,
        remount_command=None,
    )
    run, _ = measured(rates_document(each), own)
    reads = frozenset(each.name for each in description.operations if each.direction == "read")
    probed, names_s = probed_rates(run, place, reads)
    if probed is None:
        why = run.errors[0].message if run.errors else "a phase was too short"
        raise StriderError(f"probe: the rates of {target} could not be measured: {why}", ExitCode.CANNOT_RUN)
    return AssumedRates(int(probed.write_s), max(1, names_s), probed)


def can_queue(place: "Place", options: RunOptions) -> bool:
    """Returns whether the interface keeps several requests in flight."""
    from strider.quick import probe_document
    from strider.quick.look import POSIX

    if place.interface == POSIX:
        return True
    try:
        prepare_as_written(probe_document(place, depth=2), options)
    except StriderError:
        return False
    return True


def reach(place: "Place", options: RunOptions) -> "Place":
    """Returns the place, without the file system's own library if that does not reach its servers."""
    from strider.quick import native_document
    from strider.quick.look import POSIX

    if not place.native or place.interface != POSIX:
        return place
    try:
        found, _ = measured(native_document(place.native), options)
    except StriderError:
        return replace(place, native="")
    return place if found.samples else replace(place, native="")


def measured(
    document: "Document",
    options: RunOptions,
    prepare: "Callable[[Document, RunOptions], Prepared]" = prepare_as_written,
) -> "tuple[Run, float]":
    """Returns a run without output, and the time that it took.

    Args:
        document: The suite.
        options: Options of the run.
        prepare: Prepares the suite; by default, one without open sizes.

    Raises:
        StriderError: The run cannot be started.
    """
    from strider import store as runs
    from strider.launch import interruptions
    from strider.launch.temporary import temporary_folder
    from strider.running.performing import display_of

    began = time.monotonic()
    with temporary_folder() as folder:
        silent = error_console(quiet=True)
        places = replace(options.places, is_exact=False) if options.places else None
        own = replace(options, store=folder, quiet=True, places=places, per_rank=None)
        prepared = prepare(document, own)
        with interruptions() as interrupted:
            outcome = perform(prepared, display_of(prepared, own, silent), silent, interrupted)
            wall_s = time.monotonic() - began
            interrupted.settle(int(outcome.exit_code))
        if outcome.status == "interrupted":
            raise typer.Exit(int(outcome.exit_code))
        return runs.load(outcome.directory.path), wall_s


def budget_seconds(budget: str, least_s: float) -> float:
    """Returns the time of `--budget`.

    Raises:
        StriderError: It is no time, or too short.
    """
    from strider.units import parse_seconds

    try:
        seconds = parse_seconds(budget)
    except ValueError as error:
        raise StriderError(f"--budget: {error}") from None
    if seconds < least_s:
        raise StriderError(f"--budget {budget}: must be at least {least_s:.0f} s, for example 60s")
    return seconds

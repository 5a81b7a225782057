"""`strider quick`: the card of a directory in about two minutes."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import Without, grouped
from strider.errors import StriderError
from strider.running.conducting import run_document
from strider.running.options import AccessOptions, LauncherOption, OutputOptions, RunOptions
from strider.running.probing import budget_seconds, can_queue, check_directory, probe, reach, settings_of
from strider.text import printable

if TYPE_CHECKING:
    from strider.card import Card
    from strider.quick import Budgeted, Place, Probe
    from strider.store import Run

MOST_CLIENTS = 4
LEAST_BUDGET_S = 5.0
_COLOURS = {"bold": "1", "A": "1;32", "C": "33", "dim": "2", "caution": "33", "": ""}

MostClientsOption = Annotated[
    int | None,
    typer.Option(
        "--clients",
        "-n",
        metavar="N",
        min=2,
        help="Number of clients to set against one (default: the number of processors, 2 to 4).",
    ),
]
InterfaceOption = Annotated[
    str,
    typer.Option(
        "--interface",
        metavar="NAME",
        help="Interface to measure through: posix, or a library that bypasses the mount, such as gfapi, "
        "nfs or listio.",
    ),
]
LibraryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Option of that library, as case.nfs.url=…. May be repeated."
    ),
]


@grouped
def quick(
    *,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Directory to measure; it must exist.")],
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="Time to measure, for example 60s or 5min, at least 5s. Grades A and B usually need 45s or "
            "more.",
        ),
    ] = "2min",
    clients: MostClientsOption = None,
    interface: InterfaceOption = "posix",
    settings: LibraryOption = None,
    launcher: LauncherOption = "mpiexec",
    access: Annotated[AccessOptions, Without("remount_command")],
    order: Annotated[str | None, typer.Option("--order", hidden=True)] = None,
    output: Annotated[OutputOptions, Without("report")],
) -> None:
    """Measure the performance of a directory in about two minutes.

    Measures, the most important first: sequential reads and writes, random ones, appends with fsync, creates
    of files, several clients against one (shared file, own files), small pieces, metadata, and interfaces
    against POSIX. A budget below two minutes leaves out the last of these, and the card names them.

    Prints a card of at most 24 lines: rates and latencies of storage, not of the page cache, each with a
    grade (docs/trust.md), one sentence, and cautions. Writes report.html and card.svg (an image to share),
    and removes its files from the directory. Ctrl-C prints the card of the results so far. To print a card
    again: strider show RUN.
    """
    from strider.launch import check_target, open_target
    from strider.quick import look, quick_document

    began, seconds = time.time(), budget_seconds(budget, LEAST_BUDGET_S)
    check_directory(directory)
    available = _interfaces(interface)
    target = check_target(directory)
    # Before anything is written there.
    os.close(open_target(target, [path.expanduser().resolve() for path in access.within]))
    place = look(target, interface)
    _require_space(place)
    options = RunOptions.of(
        access,
        output,
        settings=settings_of(settings or [], interface),
        target=str(target),
        launcher=launcher,
        json=False,
        ceilings="none",
    )
    rates = probe(place, options, seconds)
    usable = reach(place, options)
    unreached = "" if usable.native else place.native
    count = clients or clients_here()
    left_s = seconds - (time.time() - began) - rates.start_s
    document, budgeted = quick_document(usable, rates, available, count, left_s, can_queue(place, options))

    def render(run: "Run") -> Iterator[str]:
        card = _card(run, usable, rates, budgeted, seconds=seconds, began=began, unreached=unreached)
        return iter(_json(card) if output.json else _text(card))

    # The ceilings of a device are too short to be a limit: bursts are faster.
    has_limit = place.kind in ("memory", "network")
    run_document(document, replace(options, ceilings="all" if has_limit else "none"), render, is_brief=True)


def _interfaces(wanted: str) -> frozenset[str]:
    """Returns the interfaces that this engine has.

    Raises:
        StriderError: The wanted one is not among them, or measures no storage.
    """
    from strider import engine as engines

    known = engines.find().description.interfaces
    own = [one.name for one in known if one.capabilities.get("own_client") or one.name in ("posix", "listio")]
    if wanted not in own:
        raise StriderError(f"--interface {wanted}: choose one of {', '.join(own)}")
    (chosen,) = (one for one in known if one.name == wanted)
    if not chosen.available:
        raise StriderError(f"--interface {wanted}: {chosen.unavailable_reason}")
    return frozenset(one.name for one in known if one.available)


def _require_space(place: "Place") -> None:
    from strider.quick.probe import LEAST_DATA_BYTES, has_space_for_names
    from strider.units import format_bytes, format_bytes_rounded

    if not has_space_for_names(place):
        raise StriderError(
            f"{place.path} has {format_bytes_rounded(place.free_bytes)} free, so nothing can be measured: "
            f"free {format_bytes(LEAST_DATA_BYTES)}, or choose another directory"
        )


def clients_here() -> int:
    """Returns the default number of clients.

    MPI ranks spin while they wait. More ranks than processors would measure their contention for the CPU and
    not the directory.
    """
    from strider.launch.job_limits import processors

    return min(MOST_CLIENTS, max(2, processors()))


def _card(
    run: "Run",
    place: "Place",
    probe: "Probe",
    budgeted: "Budgeted",
    *,
    seconds: float,
    began: float,
    unreached: str,
) -> "Card":
    """Makes the card of a run and writes it into the run directory."""
    from strider.card import (
        Budget,
        Machine,
        PlaceFacts,
        earlier_cards,
        make_card,
        write_card,
        write_image,
    )
    from strider.card.model import NotMeasured
    from strider.report.results.results import Results

    ended = datetime.fromisoformat(run.info.ended).timestamp() if run.info.ended else time.time()
    facts = PlaceFacts(
        fs=place.file_system,
        kind=place.kind,
        device=place.device,
        virtual=place.is_virtual,
        size=place.total_bytes,
        free=place.free_bytes,
        direct=place.is_direct,
        interface=place.interface,
        native=place.native,
    )
    missing = [NotMeasured(id=name, why="no time") for name in budgeted.left_out]
    if unreached:
        missing.append(NotMeasured(id="native", why=f"{unreached} reaches no server"))
    if probe.write_bytes_s is None:
        why = f"{probe.why} ({place.free_bytes / 1e6:.0f} MB left)"
        missing += [NotMeasured(id=name, why=why) for name in ("write.sequential", "read.sequential")]
    machine = Machine(
        cores=place.cores,
        clients=run.plan.ranks,
        memory=place.memory_bytes,
        first_touch_us=place.first_touch_us,
    )
    budget = Budget(asked_s=seconds, took_s=round(ended - began, 1))
    earlier = earlier_cards(run.directory.parent, run.directory)
    card = make_card(run, Results(run).summaries, facts, machine, budget, missing=missing, earlier=earlier)
    write_card(card, run.directory)
    write_image(card, run.directory)
    return card


def _json(card: "Card") -> list[str]:
    from strider.engine import to_json

    return [to_json(card.document()).rstrip("\n")]


def _text(card: "Card") -> list[str]:
    from strider.card import card_lines

    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    colours = _COLOURS if coloured else dict.fromkeys(_COLOURS, "")
    return [_painted(printable(line.text), colours.get(line.style, "")) for line in card_lines(card)]


def _painted(text: str, colour: str) -> str:
    return f"\033[{colour}m{text}\033[0m" if colour else text

"""`strider quick`: the card of a directory in about two minutes."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import JsonOption, LauncherOption, QuietOption, StoreOption
from strider.cli.running import RunOptions, perform, prepare, run_document
from strider.errors import StriderError

if TYPE_CHECKING:
    from strider.card import Card
    from strider.quick import Budgeted, Place, Probe
    from strider.store import Run

MOST_CLIENTS = 4
LEAST_BUDGET_S = 5.0
LEAST_FREE_BYTES = 24 << 20
"""Space for names alone; data needs 64 MiB."""
_COLOURS = {"bold": "1", "A": "1;32", "C": "33", "dim": "2", "caution": "33", "": ""}


def quick(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Directory to measure; it must exist.")],
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="Time to measure, for example 60s or 5min.")
    ] = "2min",
    clients: Annotated[
        int | None,
        typer.Option(
            "--clients",
            "-n",
            metavar="N",
            min=2,
            help="Number of clients to set against one (default: the number of processors, 2 to 4).",
        ),
    ] = None,
    launcher: LauncherOption = "mpiexec",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure the performance of a directory in about two minutes.

    Prints a card of at most 24 lines: rates and latencies of storage, not of the page cache, each with a
    grade (docs/trust.md), one sentence, and cautions. Writes report.html, and removes its files from the
    directory. Ctrl-C prints the card of the results so far. To print a card again: strider show RUN.
    """
    from strider import engine as engines
    from strider.launch import check_target
    from strider.quick import look, quick_document
    from strider.units import format_bytes_rounded

    began, seconds = time.time(), _seconds(budget)
    target = check_target(directory)
    place = look(target)
    if place.free_bytes < LEAST_FREE_BYTES:
        raise StriderError(
            f"{target} has {format_bytes_rounded(place.free_bytes)} free, so nothing can be measured: free "
            "64 MiB, or choose another directory"
        )
    options = RunOptions([], str(target), None, launcher, store, quiet, ceilings="none")
    probe = _probe(place, options, seconds)
    interfaces = {each.name for each in engines.find().description.interfaces if each.available}
    count = clients or clients_here()
    left_s = seconds - (time.time() - began) - probe.start_s
    document, budgeted = quick_document(place, probe, frozenset(interfaces), count, left_s)

    def render(run: "Run") -> Iterator[str]:
        card = _card(run, place, probe, budgeted, seconds, began)
        return iter(_json(card) if json else _text(card))

    run_document(document, options, render, is_brief=True)


def clients_here() -> int:
    """Returns the default number of clients.

    MPI ranks spin while they wait. More ranks than processors would measure their contention for the CPU and
    not the directory.
    """
    return min(MOST_CLIENTS, max(2, len(os.sched_getaffinity(0))))


def _seconds(budget: str) -> float:
    from strider.units import parse_seconds

    try:
        seconds = parse_seconds(budget)
    except ValueError as error:
        raise StriderError(f"--budget: {error}") from None
    if seconds < LEAST_BUDGET_S:
        raise StriderError(f"--budget {budget}: must be at least {LEAST_BUDGET_S:.0f} s, for example 60s")
    return seconds


def _probe(place: "Place", options: RunOptions, seconds: float) -> "Probe":
    """Runs the probe in a store of its own, which is removed."""
    from rich.console import Console

    from strider import store as runs
    from strider.cli.running import display_of
    from strider.launch import interruptions
    from strider.quick import Probe, probe_document, probed
    from strider.quick.probe import PHASE_S, has_space

    if not has_space(place):
        return Probe(None, None, "no space")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="strider-probe-") as folder:
        silent = Console(quiet=True)
        own = RunOptions(
            [], options.target, None, options.launcher, Path(folder), quiet=True, ceilings="none"
        )
        prepared = prepare(probe_document(place, min(PHASE_S, seconds / 50)), own)
        with interruptions() as interrupted:
            outcome = perform(prepared, display_of(prepared, own, silent), silent, interrupted)
            wall_s = time.monotonic() - began
            interrupted.settle(int(outcome.exit_code))
        if outcome.status == "interrupted":
            raise typer.Exit(int(outcome.exit_code))
        return probed(runs.load(outcome.directory.path), wall_s)


def _card(
    run: "Run", place: "Place", probe: "Probe", budgeted: "Budgeted", seconds: float, began: float
) -> "Card":
    """Makes the card of a run and writes it into the run directory."""
    from strider.card import Budget, Machine, PlaceFacts, make_card, write_card
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
    )
    missing = [NotMeasured(id=name, why="no time") for name in budgeted.left_out]
    if probe.write_bytes_s is None:
        why = f"{probe.why} ({place.free_bytes / 1e6:.0f} MB left)"
        missing += [NotMeasured(id=name, why=why) for name in ("write.sequential", "read.sequential")]
    machine = Machine(cores=place.cores, clients=run.plan.ranks, memory=place.memory_bytes)
    budget = Budget(asked_s=seconds, took_s=round(ended - began, 1))
    card = make_card(run, Results(run).summaries, facts, machine, budget, missing)
    write_card(card, run.directory)
    return card


def _json(card: "Card") -> list[str]:
    from strider.engine import to_json

    return [to_json(card.document()).rstrip("\n")]


def _text(card: "Card") -> list[str]:
    from strider.card import card_lines

    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return [
        f"\033[{_COLOURS[line.style]}m{line.text}\033[0m" if coloured and _COLOURS[line.style] else line.text
        for line in card_lines(card)
    ]

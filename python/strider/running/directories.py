"""`strider compare DIR1 DIR2`: measures two directories alternately; reports the faster one by operation."""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider.console import echo, error_console
from strider.errors import ExitCode, StriderError
from strider.running.options import RunOptions
from strider.running.probing import budget_seconds, probe
from strider.running.sizing import prepare
from strider.running.turns import (
    MINIMUM_ROUNDS,
    Course,
    Ended,
    Side,
    again,
    complete_rounds,
    run_in_turns,
    show_runs,
    tell,
)
from strider.units import format_bytes, format_bytes_rounded, format_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from strider.compare.directories import Directories, Directory
    from strider.launch import Outcome
    from strider.quick import Place, Probe
    from strider.running.options import FailOn

LEAST_BUDGET_S = 20.0
#: Reading the runs and comparing them.
_END_S = 1.5


@dataclass(frozen=True)
class CompareOptions:
    """Options of `strider compare` for directories.

    Attributes:
        budget: Time of the whole comparison, as typed.
        threshold: Smallest change that counts.
        fail_on: Conditions that fail it.
        page: HTML page to write, or None.
    """

    budget: str
    threshold: float
    fail_on: "list[FailOn]"
    page: Path | None


def compare_measured(names: Sequence[str], options: RunOptions, compare_options: CompareOptions) -> NoReturn:
    """Measures two directories alternately, prints their comparison and exits.

    Raises:
        StriderError: A directory cannot be measured.
    """
    from strider.launch import interruptions

    began, seconds = time.monotonic(), budget_seconds(compare_options.budget, LEAST_BUDGET_S)
    places = _places(names)
    if _is_one_in_memory(places):
        _refuse(names, places, options, compare_options)
    console = error_console(quiet=options.quiet)
    sides, pairs = _sides(names, places, options, seconds - (time.monotonic() - began), console)
    until = began + seconds - _END_S
    with interruptions() as interrupted:
        ended = run_in_turns(
            sides, _course(sides, pairs, until), options, console, interrupted, error_console(quiet=True)
        )
    errors = error_console()
    tell(errors, again(sides, ended, "pairs", max(ended.rounds, pairs)))
    if ended.rounds < MINIMUM_ROUNDS:
        if not options.json:
            show_runs(sides, ended)
        raise typer.Exit(int(ended.exit_code or ExitCode.CHECK_FAILED))
    found = _compared(names, places, sides, ended, compare_options)
    _conclude(found, ended, options, compare_options, time.monotonic() - began)


def _places(names: Sequence[str]) -> "list[Place]":
    from strider.launch import check_target
    from strider.quick import look
    from strider.quick.probe import LEAST_DATA_BYTES, has_space

    targets = [check_target(name) for name in names]
    if targets[0].resolve() == targets[1].resolve():
        raise StriderError(f"{names[0]} and {names[1]} are the same directory: name two directories")
    places = [look(target) for target in targets]
    for place in places:
        if not has_space(place):
            raise StriderError(
                f"{place.path} has {format_bytes_rounded(place.free_bytes)} free, and a comparison needs "
                f"{format_bytes(LEAST_DATA_BYTES)}: free space, or choose another directory"
            )
    return places


def _is_one_in_memory(places: "Sequence[Place]") -> bool:
    return len({place.kind == "memory" for place in places}) > 1


def _refuse(
    names: Sequence[str], places: "Sequence[Place]", options: RunOptions, compare_options: CompareOptions
) -> NoReturn:
    """Prints that memory is not compared with storage, and exits: with code 1 if there is a condition."""
    memory, storage = sorted(range(2), key=lambda number: places[number].kind != "memory")
    sentence = (
        f"{names[memory]} is in memory ({places[memory].file_system}) and {names[storage]} is not: "
        "memory and storage are not compared."
    )
    if options.json:
        from strider.engine import to_json

        sys.stdout.write(to_json({"sentence": sentence, "comparison": None}))
    else:
        echo(sentence)
        echo(f"strider quick {names[storage]} and strider quick {names[memory]} measure each.")
    raise typer.Exit(int(ExitCode.CHECK_FAILED if compare_options.fail_on else ExitCode.OK))


def _sides(
    names: Sequence[str], places: "Sequence[Place]", options: RunOptions, seconds: float, console: "Console"
) -> tuple[list[Side], int]:
    """Probes both directories; returns the cases in each, and the expected number of pairs."""
    from strider import engine as engines
    from strider.quick import pair_document

    began = time.monotonic()
    probes = [_probed(place, replace(options, target=place.path), seconds) for place in places]
    interfaces = frozenset(each.name for each in engines.find().description.interfaces if each.available)
    left_s = seconds - (time.monotonic() - began) - _END_S
    sides = []
    for label, place in zip("AB", places, strict=True):
        # A document takes in the target of its run, so each side has its own.
        document, paired = pair_document(places, probes, interfaces, left_s)
        sides.append(Side(label, prepare(document, replace(options, target=place.path)), []))
    for label, name in zip("AB", names, strict=True):
        tell(console, f"{label}{' (base)' if label == 'A' else ''}: {name}")
    tell(console, f"about {paired.pairs} pairs of runs in {format_seconds(seconds)}")
    return sides, paired.pairs


def _probed(place: "Place", options: RunOptions, seconds: float) -> "Probe":
    found = probe(place, options, seconds / 2)
    if found.write_bytes_s is None:
        raise StriderError(f"{place.path} cannot be measured: {found.why}", ExitCode.CANNOT_RUN)
    return found


def _course(sides: Sequence[Side], pairs: int, until: float) -> Course:
    """Pairs until the time is over, A B and B A alternately; the first order is random."""
    began = time.monotonic()
    first = random.SystemRandom().randrange(2)

    def total(complete: int, elapsed_s: float) -> int:
        if not complete:
            return pairs
        left_s = until - began - elapsed_s
        return max(MINIMUM_ROUNDS, complete + max(0, round(left_s * complete / elapsed_s)))

    def order(number: int) -> Sequence[Side]:
        return sides if (number + first) % 2 else sides[::-1]

    def finish(outcome: "Outcome", _: object) -> bool:
        return outcome.exit_code == ExitCode.OK

    return Course("pair", total, order, finish)


def _compared(
    names: Sequence[str],
    places: "Sequence[Place]",
    sides: Sequence[Side],
    ended: Ended,
    compare_options: CompareOptions,
) -> "Directories":
    from strider.compare.directories import compare_directories

    first, second = (_directory(name, place) for name, place in zip(names, places, strict=True))
    base, other = complete_rounds(sides, ended)
    return compare_directories((first, second), base, other, compare_options.threshold)


def _directory(name: str, place: "Place") -> "Directory":
    from strider.card.wording import size
    from strider.compare.directories import Directory

    device = f" on {place.device}" if place.device else ""
    about = f"{place.file_system}{device}, {size(place.total_bytes)}, {size(place.free_bytes)} free"
    return Directory(name.rstrip("/") or "/", place.kind, about)


def _conclude(
    found: "Directories", ended: Ended, options: RunOptions, compare_options: CompareOptions, took_s: float
) -> NoReturn:
    """Prints the comparison, and exits with code 1 if it meets a condition of --fail-on."""
    from strider.compare.directories import lines, sentence
    from strider.running.conclusion import fail_if_met

    if options.json:
        from strider.compare.document import as_document
        from strider.engine import to_json

        document = {
            "sentence": sentence(found),
            "directories": [asdict(one) for one in found.directories],
            "pairs": found.pairs,
            "took_s": round(took_s, 1),
            "comparison": as_document(found.comparison),
        }
        sys.stdout.write(to_json(document))
    else:
        for line in lines(found, f"{found.pairs} pairs, {took_s:.0f} s"):
            echo(line)
    if compare_options.page is not None:
        from strider.compare.page import write_html

        echo(f"page: {write_html(found.comparison, compare_options.page)}", stream=sys.stderr)
    if ended.exit_code != ExitCode.OK:
        raise typer.Exit(int(ended.exit_code))
    fail_if_met(found.comparison, compare_options.fail_on)
    raise typer.Exit(0)

"""Prints comparisons, and fails on the conditions of --fail-on."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from strider.console import echo
from strider.errors import ExitCode, StriderError
from strider.running.options import FailOn

if TYPE_CHECKING:
    from strider.compare import Comparison


def conditions(threshold: str, fail_on: list[FailOn] | None) -> tuple[float, list[FailOn]]:
    """Returns the threshold as a share, and the conditions without repetition.

    Raises:
        StriderError: One of them is invalid, or they do not go together.
    """
    from strider.units import parse_share

    try:
        share = parse_share(threshold)
    except ValueError as error:
        raise StriderError(f"--threshold: {error}") from None
    wanted = list(dict.fromkeys(fail_on or []))
    if FailOn.UNPROVEN in wanted and not share:
        raise StriderError("--fail-on unproven needs a threshold above 0, such as --threshold 5%")
    return share, wanted


def conclude(found: "Comparison", wanted: list[FailOn], *, json: bool, page: Path | None) -> None:
    """Prints a comparison, and exits with code 1 if it meets a condition of --fail-on."""
    _print(found, json=json, page=page)
    fail_if_met(found, wanted)


def fail_if_met(found: "Comparison", wanted: list[FailOn]) -> None:
    """Exits with code 1 if a comparison meets a condition of --fail-on."""
    said = failures(found, wanted)
    if unjudged := _unjudged(found, wanted):
        echo(f"strider: note: {unjudged}", stream=sys.stderr)
    for failure in said:
        echo(f"strider: {failure}", stream=sys.stderr)
    if said:
        raise typer.Exit(int(ExitCode.CHECK_FAILED))


def show_comparison(found: "Comparison") -> None:
    """Prints a comparison as a table with its remarks."""
    from strider.compare.sections import SECTIONS
    from strider.console import output
    from strider.report.output import terminal

    terminal.show(SECTIONS, found, output())


def _print(found: "Comparison", *, json: bool, page: Path | None) -> None:
    if json:
        from strider.compare.document import as_document
        from strider.engine import to_json

        sys.stdout.write(to_json(as_document(found)))
    else:
        show_comparison(found)
    if page is not None:
        from strider.compare.page import write_html

        echo(f"page: {write_html(found, page)}", stream=sys.stderr)


def failures(found: "Comparison", wanted: list[FailOn]) -> list[str]:
    """Returns one sentence for each condition of --fail-on that is met.

    Raises:
        StriderError: A condition needs verdicts, and no row has one.
    """
    from strider.compare import is_unproven
    from strider.report.words.wording import plural

    failed = sum(row.has_failed for row in found.rows)
    said = [f"{plural(failed, 'operation')} with repetitions that transferred nothing"] if failed else []
    needing = [one for one in wanted if one is not FailOn.INCOMPARABLE]
    if needing and found.compared and not found.judged and not (wanted and said):
        raise StriderError(
            f"--fail-on {needing[0].value} needs verdicts, and no operation has one: {no_verdict(found)}"
        )
    counts = found.counts
    unproven = sum(is_unproven(row, found.threshold) for row in found.rows)
    suite = [one.verdict for one in found.overall]
    numbers = {
        FailOn.SLOWER: (counts["slower"], "slower", suite.count("slower")),
        FailOn.DIFFERENT: (
            counts["slower"] + counts["faster"],
            "different",
            suite.count("slower") + suite.count("faster"),
        ),
        FailOn.UNPROVEN: (unproven, f"possibly slower by {100 * found.threshold:g} % or more", 0),
        FailOn.INCOMPARABLE: (counts["not comparable"], "not comparable", 0),
    }
    met = []
    for one in wanted:
        rows, word, suites = numbers[one]
        if rows:
            met.append(f"{plural(rows, 'operation')} {word} (--fail-on {one.value})")
        elif suites:
            met.append(f"the suite as a whole is {word} (--fail-on {one.value})")
    if wanted:
        met += [f"{one} (--fail-on)" for one in said]
    if wanted and not met and not found.compared:
        return ["the runs have no comparable operation (--fail-on)"]
    return met


def _unjudged(found: "Comparison", wanted: list[FailOn]) -> str:
    """Returns a sentence on the operations that a condition could not judge; empty if there are none."""
    from strider.report.words.wording import plural

    without = found.counts["no verdict"]
    if not without or not any(one in (FailOn.SLOWER, FailOn.DIFFERENT) for one in wanted):
        return ""
    return (
        f"--fail-on judges only operations with a verdict; {plural(without, 'operation')} of "
        f"{len(found.rows)} without: {no_verdict(found)}"
    )


def no_verdict(found: "Comparison") -> str:
    """Returns why the first row without a verdict has none, and the remedy."""
    reason = next(row.reason for row in found.rows if row.verdict == "no verdict")
    if found.by:
        return f'{reason}: run the suite with interleave = "random"'
    return f"{reason}: measure alternating runs with strider run SUITE --against BASELINE"

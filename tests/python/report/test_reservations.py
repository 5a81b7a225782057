"""A report says itself how far its numbers can be trusted."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from builders import CaseSpec, RunBuilder
from strider.report.words.reservations import reservations
from strider.report.words.wording import (
    error_text,
    status_text,
    verification_line,
)
from strider.statistics import OperationSummary, summarize
from strider.statistics.distribution import describe
from strider.store import load
from strider.store.model import ErrorRow


def summary_of(tmp_path: Path, rates: tuple[float, ...], **changes: object) -> OperationSummary:
    """A read with given rates, MiB/s, of which each repetition takes a second, nearly all of it transfer."""
    summary = summarize(load(RunBuilder([CaseSpec()]).write(tmp_path / "run")))[1]
    sample = summary.samples[0].model_copy(update={"elapsed_s": 1.0})
    assert summary.times is not None
    times = dataclasses.replace(summary.times, elapsed_s=1.0, open_s=0.01, close_s=0.01)
    found = dataclasses.replace(summary, samples=[sample] * len(rates), rate=describe(rates), times=times)
    return dataclasses.replace(found, **changes)  # type: ignore[arg-type]


def test_sound_numbers_need_no_words(tmp_path: Path) -> None:
    assert reservations([summary_of(tmp_path, (100, 101, 102))]) == []


def test_short_phases_are_counted(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, (100, 101, 102))
    short = summary.samples[0].model_copy(update={"elapsed_s": 0.02})
    mixed = dataclasses.replace(summary, samples=[short, *summary.samples[1:]])
    assert reservations([mixed]) == ["1 of 3 phases are shorter than 0.1 s; their rates are not reliable."]


def test_expensive_opens_are_reported_by_interface(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, (100, 101, 102))
    assert summary.times is not None
    dear = [
        dataclasses.replace(summary, times=dataclasses.replace(summary.times, open_s=open_s))
        for open_s in (0.24, 0.69)
    ]
    assert reservations([summary, *dear]) == ["posix: open and close take 25–70 % of the time in 2 results."]


# proves measuring: repetitions-needed
def test_operations_that_used_up_their_repetitions_are_reported_with_the_worst(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, (100, 150, 200))
    until = {"min": 3, "max": 3, "until": 0.05}
    case = summary.case.model_copy(update={"repetitions": until})
    wide = dataclasses.replace(summary, case=case)
    narrow = dataclasses.replace(wide, rate=describe((100, 100.1, 100.2)))
    (sentence,) = reservations([wide, narrow])
    assert sentence == (
        "1 of 2 operations did not reach ±5 % in 3 repetitions "
        "(worst: read through posix, segmented, 1 MiB, 2 clients: ±138 %; ±5 % takes about 199 repetitions)."
    )


# proves measuring: repetitions-needed
def test_the_number_of_repetitions_that_5_percent_takes_is_given(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, (100, 104, 96, 101))
    (sentence,) = reservations([summary])
    assert sentence == (
        "1 result is known less well than ±5 %: to show 5 % takes about 5 repetitions "
        "(read through posix, segmented, 1 MiB, 2 clients)."
    )
    wilder = dataclasses.replace(summary, rate=describe((100, 110, 91, 103)))
    (sentence,) = reservations([summary, wilder, wilder])
    assert "3 results are known" in sentence
    assert "repetitions (median; at most " in sentence


def test_nothing_read_needs_no_word_on_checks(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(operations=["write"])]).write(tmp_path / "run"))
    assert verification_line(run, summarize(run)) == ""


def test_a_run_with_errors_is_not_just_complete(tmp_path: Path) -> None:
    good = load(RunBuilder([CaseSpec()]).write(tmp_path / "good"))
    bad = load(RunBuilder([CaseSpec(wrong_data=True)]).write(tmp_path / "bad"))
    assert status_text(good) == "complete"
    assert status_text(bad) == "ended with 3 errors"


def test_an_error_is_one_line_and_begins_with_what_the_system_says() -> None:
    error = ErrorRow(kind="io", message="Other I/O error,\nerror stack:\n  write failed", errno=28)
    assert error_text(error) == "No space left on device: Other I/O error, error stack: write failed"
    same = ErrorRow(kind="io", message="No space left on device", errno=28)
    assert error_text(same) == "No space left on device"

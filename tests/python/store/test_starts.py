"""Which start of a resumed run measured what, and how long it paused."""

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from continued_builders import PAUSE_S, resumed
from strider.store import load
from strider.store.starts import spans


def test_each_sample_belongs_to_the_start_that_measured_it(tmp_path: Path) -> None:
    run = load(resumed(tmp_path / "run", (1, 3)))
    found = spans(run)
    assert [span.repetitions for span in found] == [1, 2, 3]
    assert [{sample.repetition for sample in span.samples} for span in found] == [{0}, {1, 2}, {3, 4, 5}]
    assert [sample.start for sample in run.samples] == [1, 1, *[2] * 4, *[3] * 6]


def test_pauses_are_between_the_last_event_and_the_next_start(tmp_path: Path) -> None:
    first, second, last = spans(load(resumed(tmp_path / "run", (1, 3))))
    assert [first.pause_s, second.pause_s] == pytest.approx([PAUSE_S, PAUSE_S])
    assert last.pause_s != last.pause_s
    assert sum(span.elapsed_s for span in (first, second, last)) < PAUSE_S


def test_cases_are_those_that_a_start_measured(tmp_path: Path) -> None:
    run = load(resumed(tmp_path / "run", (1,), [CaseSpec(), CaseSpec()]))
    assert [span.cases for span in spans(run)] == [[1], [1, 2]]


def test_a_run_that_was_not_resumed_has_one_start(tmp_path: Path) -> None:
    (only,) = spans(load(RunBuilder([CaseSpec()]).write(tmp_path / "run")))
    assert (only.number, only.cut, only.repetitions) == (1, None, 3)


def test_a_run_that_was_killed_before_its_first_event_has_one_start(tmp_path: Path) -> None:
    path = RunBuilder([CaseSpec()]).write(tmp_path / "run", status=None)
    (path / "events.jsonl").unlink()
    (only,) = spans(load(path))
    assert (only.began, only.samples) == ("", [])


def test_a_resumption_that_reached_no_rank_is_a_start_without_results(tmp_path: Path) -> None:
    path = resumed(tmp_path / "run", (1,))
    lines = (path / "events.jsonl").read_text().splitlines(keepends=True)
    cut = next(number for number, line in enumerate(lines) if '"cut"' in line)
    (path / "events.jsonl").write_text("".join(lines[: cut + 1]))
    first, last = spans(load(path))
    assert (first.repetitions, last.repetitions, last.began) == (1, 0, "")

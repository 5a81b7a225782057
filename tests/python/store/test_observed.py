"""Observations of a server, aligned with a run by time."""

import json
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.errors import DamagedRunError, StriderError
from strider.store import load, read_observed

STARTED = "2026-11-21T04:05:06.789Z"
"""When the runs of the builder start."""


def write(file: Path, *readings: tuple[str, float, int]) -> Path:
    """A file with readings: end, seconds, packets."""
    head = {"format": "strider-observed", "version": 1, "host": "oss1", "started": STARTED, "interval_s": 1.0}
    lines = [
        {
            "end": end,
            "elapsed_s": elapsed_s,
            "counters": [
                {"source": "network", "instance": "eth0", "values": {"received_packets": packets}},
                {"source": "memory", "instance": "", "values": {"total_bytes": 1000}},
            ],
        }
        for end, elapsed_s, packets in readings
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]))
    return file


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A run with one sample, whose time the tests set."""
    return RunBuilder([CaseSpec(operations=["write"])], repetitions=1).write(tmp_path / "run")


def sample_between(run_directory: Path, begin_s: float, end_s: float) -> None:
    events = run_directory / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    for line in lines:
        if line["event"] == "sample":
            line |= {"start_s": begin_s, "elapsed_s": end_s - begin_s}
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))


# proves measuring: time-source, short-sample
def test_readings_count_as_far_as_they_cover_a_sample(run_directory: Path, tmp_path: Path) -> None:
    sample_between(run_directory, 0.25, 1.5)
    file = write(
        tmp_path / "file",
        ("2026-11-21T04:05:06.789Z", 1.0, 5000),
        ("2026-11-21T04:05:07.789Z", 1.0, 100),
        ("2026-11-21T04:05:08.789Z", 1.0, 40),
        ("2026-11-21T04:05:09.789Z", 1.0, 7000),
    )
    (found,) = read_observed(file).during(load(run_directory))
    values = {group.source: group.values for group in found.counters}
    assert values["network"]["received_packets"] == pytest.approx(0.75 * 100 + 0.5 * 40)
    assert values["memory"]["total_bytes"] == 1000
    assert found.elapsed_s == pytest.approx(1.25)


@pytest.mark.parametrize(("begin_s", "end_s"), [(-0.5, 0.5), (0.5, 2.5), (5, 6)])
def test_a_sample_that_was_not_wholly_observed_is_left_out(
    run_directory: Path, tmp_path: Path, begin_s: float, end_s: float
) -> None:
    sample_between(run_directory, begin_s, end_s)
    file = write(
        tmp_path / "file", ("2026-11-21T04:05:07.789Z", 1.0, 1), ("2026-11-21T04:05:08.789Z", 1.0, 1)
    )
    assert read_observed(file).during(load(run_directory)) == []


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    file = write(tmp_path / "file", ("2026-11-21T04:05:07.789Z", 1.0, 1))
    file.write_text(file.read_text() + '{"end": "2026')
    assert len(read_observed(file).intervals) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "was not written by strider observe"),
        ('{"event": "run"}\n', "was not written by strider observe"),
        ("nonsense\n", "line 1 is not a JSON object"),
        ('{"format": "strider-observed", "version": 9}\n', "reads version 1"),
        ('{"format": "strider-observed", "version": 1}\n', "invalid host"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(StriderError, match=message):
        read_observed(file)


@pytest.mark.parametrize(
    ("end", "elapsed_s", "field"),
    [
        ("2026-11-21T04:05:07", 1.0, "end"),
        ("1795234707", 1.0, "end"),
        ("9999-12-31T23:59:59-12:00", 1.0, "end"),
        ("2026-11-21T04:05:07Z", 1e300, "elapsed_s"),
        ("2026-11-21T04:05:07Z", 9e11, "elapsed_s"),
        ("2026-11-21T04:05:07Z", None, "elapsed_s"),
    ],
)
def test_a_reading_at_no_time_is_damaged(
    tmp_path: Path, end: str, elapsed_s: float | None, field: str
) -> None:
    head = {"format": "strider-observed", "version": 1, "host": "h", "started": STARTED, "interval_s": 1.0}
    lines = [head, {"end": end, "elapsed_s": elapsed_s, "counters": []}]
    file = tmp_path / "file"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DamagedRunError, match=rf"line 2: reading with an invalid {field}"):
        read_observed(file)

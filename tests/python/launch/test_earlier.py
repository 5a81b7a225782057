"""The events of a cut run, and their repair."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from strider.errors import DamagedRunError, StriderError
from strider.launch.earlier import ASIDE, read_earlier, repair

Event = dict[str, Any]
RUN: Event = {
    "event": "run",
    "time_s": 0.0,
    "run": "r",
    "engine": "0.1.0",
    "started": "2026-11-21T10:00:00.000Z",
    "data_seed": "77",
    "nodes": [{"name": "n1", "ranks": 2, "clock_offset_s": 0.0}],
}
CUT: Event = {
    "event": "cut", "time_s": 9.0, "status": "killed", "reason": "", "at": "2026-11-21T10:00:09Z",
    "repetitions": 0, "time_limit_s": 0.0,
}  # fmt: skip


REQUIRED: dict[str, Event] = {
    "sample": {
        "measured": True, "valid": True, "clients": 1, "bytes": 1, "requests": 1, "start_s": 0.0,
        "elapsed_s": 1.0, "rate_mib_s": 1.0,
    },
    "rank": {"rank": 0, "bytes": 1, "requests": 1, "start_s": 0.0, "end_s": 1.0},
    "error": {"kind": "io", "message": "No space left on device"},
}  # fmt: skip


def phase(kind: str, case: int, repetition: int, time_s: float, **keys: object) -> Event:
    required = REQUIRED.get(kind, {})
    return {"event": kind, "case": case, "repetition": repetition, "time_s": time_s, **required, **keys}


def whole(case: int, repetition: int, time_s: float) -> list[Event]:
    """The events of a complete repetition."""
    return [
        phase("case", case, repetition, time_s),
        phase("sample", case, repetition, time_s + 1, operation="write"),
        phase("rank", case, repetition, time_s + 1, operation="write"),
        phase("repetition", case, repetition, time_s + 1.5, rates={"write": 12.5}, failed=False),
    ]


def torn_off(case: int, repetition: int, time_s: float) -> list[Event]:
    """The events of a repetition that was cut after its first phase."""
    return whole(case, repetition, time_s)[:-1]


def written(path: Path, *events: Event, tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in events) + tail)
    return path


def lines(path: Path) -> list[Event]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def test_a_repetition_counts_once_its_end_is_recorded(events: Path) -> None:
    error = phase("error", 1, 0, 1.2, operation="write")
    written(events, RUN, error, *whole(1, 0, 0), *torn_off(2, 0, 2), phase("error", 2, 0, 3))
    found = read_earlier(events)
    assert [(one["case"], one["repetition"]) for one in found.repetitions] == [(1, 0)]
    assert (found.samples, found.errors) == (1, 1)
    assert (found.data_seed, found.nodes) == ("77", [{"name": "n1", "ranks": 2}])
    assert found.end is None
    assert found.last_s == 3.0
    assert found.cut_at == "2026-11-21T10:00:03Z"


def test_the_time_since_the_start_includes_the_pause_and_never_goes_back(events: Path) -> None:
    found = read_earlier(written(events, RUN, *whole(1, 0, 0)))
    started = datetime.fromisoformat(RUN["started"])
    assert found.elapsed_s(started + timedelta(hours=1)) == 3600.0
    # A clock that was set back.
    assert found.elapsed_s(started - timedelta(hours=1)) == 1.5


def test_repair_keeps_complete_repetitions_in_order_and_sets_the_rest_aside(events: Path) -> None:
    end = {"event": "end", "time_s": 9.0, "status": "interrupted"}
    whole_error = {"event": "error", "case": None, "repetition": None, "time_s": 8.0, **REQUIRED["error"]}
    done = [*whole(2, 0, 0), *whole(1, 0, 2)]
    rest = [*torn_off(1, 1, 4), whole_error, end]
    written(events, RUN, *done, *rest, tail=b'{"event":"sam')
    repair(events, read_earlier(events), CUT)
    assert lines(events) == [RUN, *done, CUT]
    torn = {"event": "torn", "text": '{"event":"sam'}
    assert lines(events.parent / ASIDE) == [*rest, torn]
    assert sorted(path.name for path in events.parent.iterdir()) == ["events.jsonl", ASIDE]


@pytest.mark.parametrize(
    "tail", [b'{"event":"sample","ca', b"\0\0\0\0", b'{"event":"end"}', b"\xff\n", b"[]\n"]
)
def test_the_first_incomplete_line_ends_the_record(events: Path, tail: bytes) -> None:
    """Also zeros, which a power cut leaves where data was not written yet, and all that follows them."""
    after = b"".join(json.dumps(event).encode() + b"\n" for event in whole(2, 0, 5))
    written(events, RUN, *whole(1, 0, 0), tail=tail + (after if not tail.endswith(b"}") else b""))
    found = read_earlier(events)
    assert [one["case"] for one in found.repetitions] == [1]
    assert found.torn.startswith(tail)
    assert found.intact_bytes + len(found.torn) == events.stat().st_size
    repair(events, found, CUT)
    assert lines(events) == [RUN, *whole(1, 0, 0), CUT]


def test_repairing_again_changes_nothing(events: Path) -> None:
    """As when the resumption is killed before its first event."""
    repair(written(events, RUN, *whole(1, 0, 0), *torn_off(1, 1, 3)), read_earlier(events), CUT)
    first = lines(events)
    again = {**CUT, "time_limit_s": 5.0}
    repair(events, read_earlier(events), again)
    assert lines(events) == [*first[:-1], again]
    assert len(lines(events.parent / ASIDE)) == len(torn_off(1, 1, 3))


def test_each_further_start_adds_to_the_record(events: Path) -> None:
    second = {**RUN, "time_s": 20.0, "nodes": [{"name": "n2", "ranks": 2}]}
    written(events, RUN, *whole(1, 0, 0), CUT, second, *whole(1, 1, 21), *torn_off(1, 2, 30))
    found = read_earlier(events)
    assert len(found.repetitions) == 2
    assert not found.is_cut
    assert found.nodes == [{"name": "n2", "ranks": 2}]
    repair(events, found, {**CUT, "time_s": 31.0})
    assert [event["time_s"] for event in lines(events) if event["event"] == "cut"] == [9.0, 31.0]


@pytest.mark.parametrize(
    ("starts", "left_s"),
    [
        ([[RUN, *whole(1, 0, 0)]], 600 - 1.5),
        ([[RUN, *whole(1, 0, 0)], [{**CUT, "time_limit_s": 598.5}]], 598.5),
        (
            [
                [RUN, *whole(1, 0, 0)],
                [{**CUT, "time_limit_s": 400.0}, {**RUN, "time_s": 100.0}, *whole(1, 1, 150)],
            ],
            348.5,
        ),
    ],
    ids=["first start", "a second that reached nothing", "second start"],
)
def test_what_is_left_of_the_time_limit(events: Path, starts: list[list[Event]], left_s: float) -> None:
    """Pauses do not count."""
    written(events, *(event for start in starts for event in start))
    assert read_earlier(events).left_of(600) == left_s


def test_a_run_without_events_has_nothing(events: Path) -> None:
    found = read_earlier(events)
    assert (found.repetitions, found.data_seed, found.cut_at) == ([], "", "")
    assert found.elapsed_s(datetime.now(UTC)) == 0.0
    repair(events, found, None)
    assert events.read_bytes() == b""


def test_a_repetition_that_ended_twice_is_refused(events: Path) -> None:
    with pytest.raises(StriderError, match=r"events\.jsonl: a repetition has ended twice"):
        read_earlier(written(events, RUN, *whole(1, 0, 0), *whole(1, 0, 2)))


@pytest.mark.parametrize("field", ["started", "data_seed", "nodes"])
def test_a_start_without_what_a_resumed_run_needs_is_damaged(events: Path, field: str) -> None:
    start = {key: value for key, value in RUN.items() if key != field}
    written(events, RUN, start)
    with pytest.raises(DamagedRunError, match=rf"events\.jsonl line 2: run with an invalid {field}: "):
        read_earlier(events)


@pytest.mark.parametrize("field", ["time_s", "reason", "at", "repetitions", "time_limit_s"])
def test_a_cut_without_what_a_resumed_run_needs_is_damaged(events: Path, field: str) -> None:
    written(events, RUN, {key: value for key, value in CUT.items() if key != field})
    with pytest.raises(DamagedRunError, match=rf"events\.jsonl line 2: cut with an invalid {field}: "):
        read_earlier(events)
    written(events, RUN, {**CUT, field: None})
    with pytest.raises(DamagedRunError, match=rf"events\.jsonl line 2: cut with an invalid {field}: "):
        read_earlier(events)


@pytest.mark.parametrize(
    "started",
    ["x", "", "2026-11-21T10:00:00", "2026-11-21", "0001-01-01T00:00:00+14:00", "1234567890", "x" * 3000],
)
def test_a_start_at_no_time_is_damaged(events: Path, started: str) -> None:
    written(events, {**RUN, "started": started})
    with pytest.raises(DamagedRunError, match=r"line 1: run with an invalid started: .*time zone") as raised:
        read_earlier(events)
    assert len(raised.value.message) < 300


def test_a_last_event_beyond_all_dates_is_damaged(events: Path) -> None:
    written(events, RUN, {"event": "end", "time_s": 9e11, "status": "failed"})
    with pytest.raises(DamagedRunError, match=r"events\.jsonl: .*time_s"):
        read_earlier(events)

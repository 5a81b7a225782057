"""Following a run: the event file, the state, the display, the error messages."""

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from builders import CaseSpec, RunBuilder
from strider.engine import Json
from strider.errors import DamagedRunError
from strider.jobs.following import planned_state
from strider.launch.display import Lines, LiveTable, Silent, choose_display
from strider.launch.messages import message, messages
from strider.launch.state import RunState
from strider.launch.tail import Tail, close_events
from strider.suite import CheckedPlan

RUN = {"event": "run", "time_s": 0.0}
SAMPLE = {
    "event": "sample",
    "case": 1,
    "operation": "write",
    "measured": True,
    "bytes": 1 << 20,
    "rate_mib_s": 812.0,
}
PROGRESS = {
    "event": "progress", "case": 1, "operation": "read", "bytes_done": 1 << 20, "bytes_total": 4 << 20,
    "elapsed_s": 0.5, "done_phases": 1, "planned_phases": 4,
}  # fmt: skip


def test_only_whole_lines_are_events(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = Tail(path)
    assert tail.new_events() == []
    path.write_bytes(b'{"event": "first"}\n{"event": ')
    assert tail.new_events() == [{"event": "first"}]
    with path.open("ab") as file:
        file.write(b'"second"}\n')
    assert tail.new_events() == [{"event": "second"}]
    assert tail.new_events() == []


@pytest.mark.parametrize("torn", ["", '{"event": "sam'])
def test_the_end_comes_after_the_last_whole_line(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "run"}\n' + torn, encoding="utf-8")
    close_events(path, {"event": "end"})
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"event": "run"},
        {"event": "end"},
    ]


def test_an_engine_that_never_wrote_gets_an_end_too(tmp_path: Path) -> None:
    close_events(tmp_path / "events.jsonl", {"event": "end"})
    assert (tmp_path / "events.jsonl").read_text() == '{"event": "end"}\n'


def state_after(*events: dict[str, Json], planned: int = 4) -> RunState:
    state = RunState(planned)
    for event in events:
        state.add(event)
    return state


def test_the_share_that_is_done_counts_phases_and_the_part_of_the_current_one() -> None:
    assert state_after(RUN).fraction == 0.0
    assert state_after(RUN, SAMPLE).fraction == pytest.approx(1 / 4)
    assert state_after(RUN, SAMPLE, PROGRESS).fraction == pytest.approx((1 + 1 / 4) / 4)
    assert state_after(RUN, SAMPLE, PROGRESS, SAMPLE).fraction == pytest.approx(2 / 4)
    assert state_after(RUN, SAMPLE, {"event": "end"}).fraction == 1.0


def test_a_phase_with_a_deadline_is_done_when_its_time_is_over() -> None:
    """1 of 4 MiB after 0.5 of 1 s: the deadline leaves time for 2 MiB."""
    state = RunState(4, deadlines={1: 1.0})
    state.add(PROGRESS)
    assert state.current
    assert (state.current.bytes_done, state.current.bytes_total) == (1 << 20, 2 << 20)
    assert state.fraction == pytest.approx(1 / 2 / 4)
    # Wear-out: the time is over, and the phase is not.
    state.add({**PROGRESS, "elapsed_s": 1.5})
    assert state.current.share == 1.0


def test_a_deadline_does_not_end_a_phase_without_one_or_one_that_is_faster() -> None:
    for deadlines, event in (({2: 1.0}, PROGRESS), ({1: 1.0}, {**PROGRESS, "operation": "prefill"})):
        state = RunState(4, deadlines=deadlines)
        state.add(event)
        assert state.fraction == pytest.approx(1 / 4 / 4)
    fast = RunState(4, deadlines={1: 60.0})
    fast.add(PROGRESS)
    assert fast.fraction == pytest.approx(1 / 4 / 4)


def test_preparation_is_no_phase_of_the_plan() -> None:
    assert state_after(RUN, {**SAMPLE, "measured": False}).samples == 0


def test_more_repetitions_than_planned_do_not_exceed_the_whole() -> None:
    assert state_after(*[SAMPLE] * 6).fraction == 1.0


def test_the_rate_is_that_of_the_current_phase() -> None:
    progress, sample = state_after(PROGRESS).current, state_after(PROGRESS, SAMPLE).current
    assert progress is not None
    assert progress.rate_mib_s == pytest.approx(2.0)
    assert sample is not None
    assert sample.rate_mib_s == pytest.approx(812.0)


def test_errors_are_kept() -> None:
    error = {"event": "error", "kind": "io"}
    assert state_after(error).errors == [error]


def test_a_pipe_gets_a_line_now_and_then(checked: Callable[..., CheckedPlan]) -> None:
    output = io.StringIO()
    now = iter([0.0, 1.0, 6.0])
    lines = Lines(Console(file=output, width=200), checked().suite.plan, lambda: next(now))
    for _ in range(3):
        lines.show(state_after(SAMPLE, PROGRESS))
    shown = output.getvalue().splitlines()
    assert len(shown) == 2
    assert "1/4 phases  case 1 posix segmented 1 MiB, 1 client: read  2.00 MiB/s" in shown[0]


def test_a_pipe_gets_nothing_before_there_is_something_to_say(checked: Callable[..., CheckedPlan]) -> None:
    output = io.StringIO()
    Lines(Console(file=output), checked().suite.plan).show(state_after(RUN))
    assert output.getvalue() == ""


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(checked: Callable[..., CheckedPlan]) -> None:
    output = io.StringIO()
    bar = LiveTable(Console(file=output, force_terminal=True, width=120), checked().suite.plan)
    bar.show(state_after(RUN, SAMPLE, PROGRESS))
    bar.close()
    shown = output.getvalue()
    assert "1/4 phases" in shown
    assert "1 MiB of 4 MiB" in shown
    assert shown.endswith("\x1b[2K")


def test_the_display_fits_where_it_goes(checked: Callable[..., CheckedPlan]) -> None:
    plan = checked().suite.plan
    pipe, terminal = Console(file=io.StringIO()), Console(file=io.StringIO(), force_terminal=True)
    assert isinstance(choose_display(pipe, plan, "normal"), Lines)
    assert isinstance(choose_display(terminal, plan, "normal"), LiveTable)
    assert isinstance(choose_display(terminal, plan, "quiet"), Silent)


IO_ERROR = {
    "event": "error", "case": 3, "repetition": 0, "operation": "write", "kind": "io", "rank": 1, "host": "n1",
    "file": "/t/c0003.0", "offset": 4096, "length": 1 << 20, "call": "pwrite", "errno": 28,
    "message": "No space left on device", "expected": None, "found": None, "class": None, "count": 1,
    "remedy": "free some",
}  # fmt: skip


def test_an_error_says_who_where_what_and_what_to_do() -> None:
    assert message(IO_ERROR) == (
        "case 3, write, repetition 0, rank 1 on n1: pwrite: No space left on device (ENOSPC) "
        "in /t/c0003.0 at offset 4096, 1 MiB: free some"
    )


def test_wrong_data_is_shown_beside_what_it_should_be() -> None:
    wrong = {
        "kind": "verify",
        "class": "stale",
        "expected": "aabb",
        "found": "ccdd",
        "count": 7,
        "remedy": "",
    }
    assert message({**IO_ERROR, **wrong}) == (
        "case 3, write, repetition 0, rank 1 on n1: stale data in /t/c0003.0 at offset 4096, 1 MiB: "
        "expected aabb, found ccdd (7 times)"
    )


def test_wrong_data_is_reported_by_each_of_its_causes() -> None:
    shifted = {"class": "shifted", "offset": 4608, "bytes": 8, "value": 8, "text": "data shifted by +8 bytes"}
    zero = {"class": "zero", "offset": 4096, "bytes": 512, "value": None, "text": "zeros"}
    wrong: dict[str, Json] = {"kind": "verify", "class": "zero", "length": 520, "remedy": ""}
    place = "in /t/c0003.0 at offset 4096, 520 B"
    one, two = (message({**IO_ERROR, **wrong, "causes": causes}) for causes in ([shifted], [zero, shifted]))
    assert one.endswith(f": data shifted by +8 bytes {place}")
    assert two.endswith(
        f": zeros (512 B from offset 4096), data shifted by +8 bytes (8 B from offset 4608) {place}"
    )


def test_an_error_of_the_whole_run_names_no_case() -> None:
    whole = {
        "case": None,
        "repetition": None,
        "operation": None,
        "kind": "stall",
        "file": "",
        "call": "",
        "errno": 0,
        "message": "waited 2 s",
        "remedy": "",
    }
    assert message({**IO_ERROR, **whole}) == "the run, rank 1 on n1: waited 2 s"
    assert message({**IO_ERROR, **whole, "rank": None, "host": None}) == "the run: waited 2 s"


def test_an_error_between_operations_names_its_case() -> None:
    between = {"operation": None, "kind": "stall", "file": "", "call": "", "errno": 0, "message": "silent"}
    assert message({**IO_ERROR, **between, "remedy": ""}) == "case 3, rank 1 on n1: silent"


def test_an_error_of_several_ranks_is_reported_once() -> None:
    other = {"rank": 2, "offset": 8192, "message": "no space left on this device"}
    (line,) = messages([IO_ERROR, {**IO_ERROR, **other}], {3: 4})
    assert line == (
        "case 3, write, repetition 0, 2 of 4 ranks, the first: rank 1 on n1: pwrite: "
        "No space left on device (ENOSPC) in /t/c0003.0 at offset 4096, 1 MiB: free some"
    )


def test_other_cases_phases_and_errors_are_distinguished() -> None:
    others: list[dict[str, Json]] = [
        {"case": 4},
        {"repetition": 1},
        {"operation": "read"},
        {"errno": 5},
        {"call": "fsync"},
    ]
    events = [IO_ERROR, *({**IO_ERROR, **other} for other in others)]
    assert messages(events, {}) == [message(event) for event in events]


def test_errors_of_one_rank_are_counted() -> None:
    (line,) = messages([IO_ERROR, {**IO_ERROR, "offset": 8192}], {3: 4})
    assert "rank 1 on n1" in line
    assert "(2 times)" in line


def test_what_moves_no_bytes_is_at_no_offset() -> None:
    nowhere = {"operation": "connect", "call": "connect", "offset": 0, "length": 0, "errno": 111}
    assert message({**IO_ERROR, **nowhere}) == (
        "case 3, connect, repetition 0, rank 1 on n1: connect: Connection refused (ECONNREFUSED): "
        "No space left on device in /t/c0003.0: free some"
    )
    assert "at offset 0, 1 MiB" in message({**IO_ERROR, "offset": 0})


def test_progress_that_repeats_its_amounts_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("strider.launch.state.time.monotonic", lambda: now[0])
    state = RunState(4)

    def add(at_s: float, event: Json) -> float:
        now[0] = at_s
        state.add(event)
        return state.last_progress

    assert add(101, RUN) == 101
    assert add(102, PROGRESS) == 102
    assert add(103, {**PROGRESS, "elapsed_s": 1.5}) == 102
    assert state.last_event == 103
    assert add(104, {**PROGRESS, "bytes_done": 2 << 20}) == 104
    assert add(105, {**PROGRESS, "bytes_done": 2 << 20, "operation": "reread"}) == 105
    assert add(106, SAMPLE) == 106


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (3, " is not an event"),
        ({"event": 3}, " is not an event"),
        ({"event": "sample"}, ": sample with an invalid case: Field required"),
        ({**PROGRESS, "elapsed_s": "x"}, ": progress with an invalid elapsed_s: "),
        ({**PROGRESS, "time_s": []}, ": progress with an invalid time_s: "),
        ({"event": "of a later Strider", "time_s": 1e99}, ": of a later Strider with an invalid time_s: "),
        ({"event": "run", "run": "r", "engine": "e", "nodes": 3}, ": run with an invalid nodes: "),
        (
            {"event": "end", "time_s": 1.0, "status": "complete", "errors": -1},
            ": end with an invalid errors: ",
        ),
        ({"event": "case", "case": 1 << 40}, ": case with an invalid case: "),
    ],
)
def test_damaged_events_end_in_an_error_that_names_line_and_field(
    tmp_path: Path, event: Json, what: str
) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f"{json.dumps(PROGRESS)}\n{json.dumps(event)}\n", encoding="utf-8")
    with pytest.raises(DamagedRunError, match=rf"^{re.escape(str(path))} line 2{what}"):
        Tail(path).new_events()


@pytest.mark.parametrize(
    "damage", [{"deadline": 10**400}, {"repetitions": {"min": math.inf}}], ids=["deadline", "repetitions"]
)
def test_a_damaged_plan_has_no_expected_phases(tmp_path: Path, damage: Json) -> None:
    run = RunBuilder([CaseSpec()], repetitions=2).write(tmp_path / "run")
    info = json.loads((run / "run.json").read_text())
    check = {"cases": [{"case": 1, "phases": [{}]}]}
    (run / "run.json").write_text(json.dumps({**info, "check": check}))
    assert planned_state(run).planned_phases > 0
    plan = json.loads((run / "plan.json").read_text())
    plan["cases"][0] |= damage
    (run / "plan.json").write_text(json.dumps(plan).replace("Infinity", "1e999"))
    assert (planned_state(run).planned_phases, planned_state(run).deadlines) == (0, {})

"""Follows a run by its events, wherever it is executed."""

import time
from collections.abc import Callable
from pathlib import Path

from strider.errors import DAMAGE, StriderError
from strider.launch.display import Display
from strider.launch.state import RunState
from strider.launch.tail import Tail
from strider.store.load import read_json

POLL_S = 0.5


def planned_state(directory: Path) -> RunState:
    """Returns the state of a run before its first event: its fewest phases, and their deadlines."""
    try:
        info, plan = read_json(directory / "run.json"), read_json(directory / "plan.json")
        phases = {case["case"]: len(case["phases"]) for case in info["check"]["cases"]}
        times = {case["case"]: case["repetitions"]["min"] + case.get("warmup", 0) for case in plan["cases"]}
        deadlines = {case["case"]: float(case.get("deadline", 0.0)) for case in plan["cases"]}
        return RunState(int(sum(phases[case] * times[case] for case in phases)), deadlines=deadlines)
    except (*DAMAGE, StriderError):
        return RunState(0)


def follow(directory: Path, display: Display, is_over: Callable[[], bool]) -> RunState:
    """Shows the events of a run until its end.

    Args:
        directory: The run's directory.
        display: Shows the progress.
        is_over: Whether the run has ended, or nothing executes it any more.

    Returns:
        Its state at the end.
    """
    tail, state = Tail(directory / "events.jsonl"), planned_state(directory)
    while True:
        # What is there now is all there will be, if the run is over by now.
        over = is_over()
        for event in tail.new_events():
            state.add(event)
        display.show(state)
        if over:
            return state
        time.sleep(POLL_S)

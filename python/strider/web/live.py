"""A run while it goes on, as server-sent events: made from `events.jsonl`, whoever started the run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from strider.engine import Json
from strider.errors import StriderError
from strider.launch.messages import message
from strider.launch.state import RunState
from strider.launch.tail import Event, Tail
from strider.store.load import read_json
from strider.web.guard import refuse

MOST_STREAMS = 16
"""At a time; a page has one."""
POLL_S = 0.5
LONGEST_S = 3600.0
"""Then the browser asks again, so that no stream outlives its reader for long."""
HEARTBEAT_S = 10.0
LEAST_FRACTION = 0.01
"""From which on it can be guessed how long the rest takes."""
MOST_ERRORS = 20
MOST_SAMPLES = 2000
"""Of one message; a chart of more shows no more."""


class Streams:
    """Counts the streams that are open."""

    def __init__(self) -> None:
        """No stream is open."""
        self._open = 0

    @property
    def full(self) -> bool:
        """Whether there may be no more."""
        return self._open >= MOST_STREAMS

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Counts a stream for as long as it is open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


class LiveStream(Response):
    """Answers with the events of a run, if there is room for one more stream.

    Args:
        directory: The run's directory.
        streams: Those that are open.
    """

    def __init__(self, directory: Path, streams: Streams) -> None:
        """Takes what the class describes."""
        super().__init__()
        self._directory, self._streams = directory, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers; nothing comes between the question for room and the taking of it."""
        if self._streams.full:
            why = f"{MOST_STREAMS} pages follow runs already: close one"
            await refuse(503, why)(scope, receive, send)
            return
        with self._streams.entered():
            phases = await asyncio.to_thread(planned_phases, self._directory)
            news = StreamingResponse(follow(self._directory, phases), media_type="text/event-stream")
            await news(scope, receive, send)


def planned_phases(directory: Path) -> int:
    """Phases of a run with the fewest repetitions; the engine says more while it runs."""
    try:
        info, plan = read_json(directory / "run.json"), read_json(directory / "plan.json")
        phases = {case["case"]: len(case["phases"]) for case in info["check"]["cases"]}
        times = {case["case"]: case["repetitions"]["min"] + case.get("warmup", 0) for case in plan["cases"]}
        return int(sum(phases[case] * times[case] for case in phases))
    except (LookupError, TypeError, ValueError, AttributeError, StriderError):
        return 0


def _is_sealed(directory: Path) -> bool:
    try:
        return '"ended"' in (directory / "run.json").read_text(encoding="utf-8")
    except OSError:
        return True


async def follow(directory: Path, phases: int) -> AsyncIterator[str]:
    """The messages of one stream: the state from time to time, with what was measured since the last one.

    Args:
        directory: The run's directory.
        phases: Number of phases that it has, as far as the plan tells.
    """
    tail, state = Tail(directory / "events.jsonl"), RunState(phases)
    begun = said = time.monotonic()
    yield "retry: 2000\n\n"
    first, elapsed_s = True, 0.0
    while time.monotonic() - begun < LONGEST_S:
        # What is there now is all there will be, if the run is over by now.
        sealed = await asyncio.to_thread(_is_sealed, directory)
        events = await asyncio.to_thread(tail.new_events)
        for event in events:
            state.add(event)
        if events or first:
            first, said = False, time.monotonic()
            elapsed_s = max(elapsed_s, *(float(event.get("time_s") or 0) for event in events), 0.0)
            yield f"data: {json.dumps(_news(state, events, elapsed_s))}\n\n"
        elif time.monotonic() - said > HEARTBEAT_S:
            said = time.monotonic()
            yield ": still here\n\n"
        if sealed:
            yield "event: over\ndata: {}\n\n"
            return
        await asyncio.sleep(POLL_S)


def _news(state: RunState, events: list[Event], elapsed_s: float) -> dict[str, Json]:
    """What has changed; times are the run's own, as a reader may come late."""
    current, fraction = state.current, state.fraction
    return {
        "fraction": fraction,
        "samples": state.samples,
        "phases": state.planned_phases,
        "elapsed_s": elapsed_s,
        "left_s": elapsed_s * (1 - fraction) / fraction if fraction > LEAST_FRACTION else None,
        "current": current and {**vars(current), "share": current.share},
        "new": [_sample(event) for event in events if event["event"] == "sample"][-MOST_SAMPLES:],
        "progress": [_progress(event) for event in events if event["event"] == "progress"][-MOST_SAMPLES:],
        "errors": [message(event) for event in events if event["event"] == "error"][:MOST_ERRORS],
        "ended": state.end is not None,
    }


def _sample(event: Event) -> dict[str, Json]:
    names = (
        "time_s",
        "case",
        "repetition",
        "warmup",
        "operation",
        "measured",
        "valid",
        "rate_mib_s",
        "bytes",
    )
    return {name: event.get(name) for name in (*names, "requests_s", "elapsed_s")}


def _progress(event: Event) -> dict[str, Json]:
    elapsed_s = event["elapsed_s"]
    scale = 1 / elapsed_s if elapsed_s else 0.0
    return {
        "time_s": event["time_s"],
        "case": event["case"],
        "repetition": event["repetition"],
        "operation": event["operation"],
        "rate_mib_s": event["bytes_done"] * scale / (1 << 20),
        "requests_s": event.get("requests_done", 0) * scale,
    }

"""Active runs as server-sent events: made from `events.jsonl`, for runs of the page and of the command line.

A browser has one stream for all its pages, as it opens six connections to a server and no more.
"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from strider.engine import Json
from strider.errors import DAMAGE, ExitCode, StriderError
from strider.jobs.following import planned_state
from strider.launch.messages import message
from strider.launch.state import RunState
from strider.launch.tail import Tail
from strider.store.checked_events import Event
from strider.text_file import MOST_DOCUMENT_BYTES, read_regular
from strider.web.guard import refuse

MOST_STREAMS = 16
"""At a time; a browser has one."""
MOST_RUNS = 32
"""That one stream follows."""
MOST_MESSAGES = 4
"""That wait for a slow reader; the runs that it follows wait then too."""
POLL_S = 0.5
LONGEST_S = 3600.0
"""Then the browser asks again, so that no stream outlives its reader for long."""
HEARTBEAT_S = 10.0
LEAST_FRACTION = 0.01
"""From which on it can be guessed how long the rest takes."""
LEAST_BEYOND = 10
"""Requests beyond a percentile that is shown (docs/measuring.md, latency)."""
MOST_ERRORS = 20
MOST_SAMPLES = 2000
"""Of one message; a chart of more shows no more."""


class Stream:
    """What one browser follows: any number of runs through one connection.

    Args:
        find: Gives the directory of a run.
        is_open: Whether the session that asked for it has not ended.
    """

    def __init__(self, find: Callable[[str], Path], is_open: Callable[[], bool]) -> None:
        self.name = secrets.token_hex(8)
        self.is_open = is_open
        self._find = find
        self._messages: asyncio.Queue[str] = asyncio.Queue(MOST_MESSAGES)
        self._followed: dict[str, asyncio.Task[None]] = {}

    def follow(self, run: str) -> None:
        """Sends all of a run from its beginning, then what happens; also where it was followed before.

        Raises:
            StriderError: There is no such run, or too many are followed.
        """
        directory = self._find(run)
        self.leave(run)
        if len(self._followed) >= MOST_RUNS:
            raise StriderError(f"too many runs are followed ({MOST_RUNS}): close a page", ExitCode.CANNOT_RUN)
        self._followed[run] = asyncio.create_task(self._pass_on(run, directory))

    def leave(self, run: str) -> None:
        """Sends nothing more of a run."""
        if task := self._followed.pop(run, None):
            task.cancel()

    def close(self) -> None:
        """Leaves all runs."""
        for run in list(self._followed):
            self.leave(run)

    async def _pass_on(self, run: str, directory: Path) -> None:
        await self._put({"run": run, "begin": True})
        try:
            planned = await asyncio.to_thread(planned_state, directory)
            async for news in follow(directory, planned):
                await self._put({"run": run, **news})
        except (StriderError, *DAMAGE) as error:
            await self._put({"run": run, "damaged": f"the events of this run are damaged ({error!r:.200})"})
        finally:
            self._followed.pop(run, None)

    async def _put(self, message: Json) -> None:
        await self._messages.put(f"data: {json.dumps(message)}\n\n")

    async def messages(self) -> AsyncIterator[str]:
        """The text of the answer."""
        yield f"retry: 2000\nevent: stream\ndata: {json.dumps(self.name)}\n\n"
        end = time.monotonic() + LONGEST_S
        while self.is_open() and time.monotonic() < end:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    message = await self._messages.get()
            except TimeoutError:
                message = ": still here\n\n"
            yield message


class Streams:
    """The streams that are open.

    Args:
        find: Gives the directory of a run.
    """

    def __init__(self, find: Callable[[str], Path]) -> None:
        self._find = find
        self._open: dict[str, Stream] = {}

    def answer(self, runs: list[str], is_open: Callable[[], bool]) -> Response:
        """The answer to a browser that wants to follow some runs, and perhaps more of them later.

        Raises:
            StriderError: There are too many streams, or there is no such run.
        """
        return _Answer(Stream(self._find, is_open), runs, self._open)

    def get(self, name: str) -> Stream:
        """A stream by its name.

        Raises:
            StriderError: It is not open.
        """
        if name not in self._open:
            raise StriderError("this stream has ended")
        return self._open[name]


class _Answer(Response):
    """Sends a stream, if there is room for one more."""

    def __init__(self, stream: Stream, runs: list[str], others: dict[str, Stream]) -> None:
        super().__init__()
        self._stream, self._runs, self._others = stream, runs, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers; nothing comes between the question for room and the taking of it."""
        if len(self._others) >= MOST_STREAMS:
            why = f"too many pages follow runs ({MOST_STREAMS}): close one"
            await refuse(503, why)(scope, receive, send)
            return
        self._others[self._stream.name] = self._stream
        try:
            for run in self._runs:
                self._stream.follow(run)
            news = StreamingResponse(self._stream.messages(), media_type="text/event-stream")
            await news(scope, receive, send)
        finally:
            self._stream.close()
            del self._others[self._stream.name]


def _is_sealed(directory: Path) -> bool:
    try:
        return b'"ended"' in read_regular(directory / "run.json", MOST_DOCUMENT_BYTES)
    except OSError:
        return True


class _Clock:
    """The time that a run took, without the pauses before it was resumed; charts and estimates use it."""

    def __init__(self) -> None:
        self._last_s = self._paused_s = 0.0

    def without_pauses(self, event: Event) -> Event:
        """An event with its time since the start of the run, without pauses."""
        time_s = float(event.get("time_s") or 0.0)
        if event["event"] == "run":
            self._paused_s += max(0.0, time_s - self._last_s)
        self._last_s = max(self._last_s, time_s)
        return {**event, "time_s": time_s - self._paused_s} if self._paused_s else event


async def follow(directory: Path, state: RunState) -> AsyncIterator[dict[str, Json]]:
    """The state of a run from time to time, with the measurements since the last one; at its end `over`.

    Args:
        directory: The run's directory.
        state: Its state before the first event.
    """
    tail, clock = Tail(directory / "events.jsonl"), _Clock()
    first, elapsed_s = True, 0.0
    while True:
        # If the run is over by now, no further events follow.
        sealed = await asyncio.to_thread(_is_sealed, directory)
        try:
            events = [clock.without_pauses(event) for event in await asyncio.to_thread(tail.new_events)]
            for event in events:
                state.add(event)
            elapsed_s = max(elapsed_s, *(float(event.get("time_s") or 0) for event in events), 0.0)
            news = _news(state, events, elapsed_s)
        except (StriderError, *DAMAGE):  # the page of the run reports the damage
            yield {"over": True}
            return
        if events or first:
            first = False
            yield news
        if sealed:
            yield {"over": True}
            return
        await asyncio.sleep(POLL_S)


def _news(state: RunState, events: list[Event], elapsed_s: float) -> dict[str, Json]:
    """The changes; times are the run's own, as a reader may come late."""
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
        "requests_s",
        "elapsed_s",
        "served_by_storage",
    )
    latency = event.get("latency") or {}
    count = latency.get("count") or 0
    percentiles = {
        name: latency.get(name) if count * beyond >= LEAST_BEYOND else None
        for name, beyond in (("p50_s", 0.5), ("p99_s", 0.01))
    }
    return {**{name: event.get(name) for name in names}, **percentiles}


def _progress(event: Event) -> dict[str, Json]:
    elapsed_s = event["elapsed_s"]
    scale = 1 / elapsed_s if elapsed_s else 0.0
    return {
        "time_s": event.get("time_s"),
        "case": event["case"],
        "repetition": event.get("repetition", 0),
        "operation": event["operation"],
        "rate_mib_s": event["bytes_done"] * scale / (1 << 20),
        "requests_s": event.get("requests_done", 0) * scale,
    }

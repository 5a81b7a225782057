"""The processes that answer questions: few, bounded in time and memory, replaced when they fail."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel

from strider.engine import Json
from strider.errors import ExitCode, StriderError
from strider.launch.temporary import remove_abandoned, temporary_folder
from strider.web.site import Site

MOST_WORKERS = 3
"""Questions that are worked on at a time; the others wait, and the pages stay quick."""
MOST_WAITING = 32
DEADLINE_S = 20.0
"""For an answer, with the start of a process for it."""
MOST_ANSWER_BYTES = 32 << 20


@dataclass(frozen=True)
class _Worker:
    """One process, with the folder for its temporary files."""

    process: asyncio.subprocess.Process
    folder: contextlib.ExitStack

    @classmethod
    async def start(cls, site: Site) -> Self:
        """Starts a process that knows the ground."""
        stack = contextlib.ExitStack()
        folder = stack.enter_context(temporary_folder())
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-m", "strider.web.worker", folder),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": str(folder)},
                start_new_session=True,  # a group of its own, in which the engine is too
                limit=MOST_ANSWER_BYTES,
            )
        except BaseException:
            stack.close()
            raise
        worker = cls(process, stack)
        ground = {
            "engine": str(site.engine.path),
            "deadline_s": DEADLINE_S,
            "store": str(site.store),
            "allowed": list(map(str, site.allowed)),
            "allowed_places": sorted(site.allowed_places),
        }
        worker._write(ground)
        return worker

    def _write(self, value: Json) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it is a pipe
        self.process.stdin.write(json.dumps(value).encode() + b"\n")

    async def ask(self, kind: str, asked: Json) -> dict[str, Json]:
        """The answer of any kind.

        Raises:
            StriderError: It is too long, or the process has ended.
        """
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        self._write([kind, asked])
        try:
            line = await self.process.stdout.readline()
        except ValueError:
            raise StriderError(
                f"the answer exceeds {MOST_ANSWER_BYTES >> 20} MiB: reduce the number of cases",
                ExitCode.CANNOT_RUN,
            ) from None
        if not line.endswith(b"\n"):
            raise StriderError(
                "the worker process was killed (out of memory, or by a signal): reduce the number of cases",
                ExitCode.CANNOT_RUN,
            )
        found: dict[str, Json] = json.loads(line)
        return found

    def kill(self) -> None:
        """Ends the process and its children, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.folder.close()


class Workers:
    """A bounded number of processes, each started when it is needed and kept while it answers.

    Args:
        site: The ground.
    """

    def __init__(self, site: Site) -> None:
        remove_abandoned()
        self._site = site
        self._idle: list[_Worker] = []
        self._slots = asyncio.Semaphore(MOST_WORKERS)
        self._waiting = 0

    async def ask(self, kind: str, asked: BaseModel) -> Json:
        """The answer to a question of `questions.QUESTIONS`.

        Raises:
            StriderError: It is a refusal, does not come in time, or too many questions wait.
        """
        if self._waiting >= MOST_WAITING:
            raise StriderError(
                f"too many requests are waiting ({MOST_WAITING}): try again", ExitCode.CANNOT_RUN
            )
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            said = await self._answer(kind, asked.model_dump())
        finally:
            self._slots.release()
        if "answer" not in said:
            raise StriderError(said["message"], ExitCode(said["code"]))
        return said["answer"]

    async def _answer(self, kind: str, asked: Json) -> dict[str, Json]:
        worker = None
        try:
            async with asyncio.timeout(DEADLINE_S):
                worker = self._next_idle() or await _Worker.start(self._site)
                said = await worker.ask(kind, asked)
            if "last" not in said:
                self._idle.append(worker)
                worker = None
            return said
        except TimeoutError:
            raise StriderError(
                f"timed out after {DEADLINE_S:g} s: reduce the number or the size of the cases",
                ExitCode.CANNOT_RUN,
            ) from None
        except OSError as error:
            raise StriderError(f"cannot start a worker process: {error}", ExitCode.CANNOT_RUN) from error
        finally:
            if worker is not None:
                worker.kill()

    def _next_idle(self) -> _Worker | None:
        """A process that waits for a question; those that have ended are cleaned away."""
        while self._idle:
            worker = self._idle.pop()
            if worker.process.returncode is None:
                return worker
            worker.kill()
        return None

    def close(self) -> None:
        """Ends all that is idle; the server cancels pending questions."""
        while worker := self._next_idle():
            worker.kill()

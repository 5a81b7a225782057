"""The client of the drawing process: asks for figures, and starts the process again when it dies."""

from __future__ import annotations

import atexit
import base64
import functools
import json
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("draw.py")
DEADLINE_S = 120.0
"""The longest time for one figure; a second is usual on a busy machine."""
MOST_DEATHS = 3
"""After so many deaths in a row no further process is started, since each start costs time."""


class DrawingError(Exception):
    """A figure could not be drawn. The message says why, in words for a page."""


class Drawer:
    """A drawing process; made by `drawer`.

    Attributes:
        missing: How many figures could not be drawn.
    """

    def __init__(self) -> None:
        self.missing = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths = 0
        self._last = ""

    def svg(self, specification: dict[str, Any]) -> str:
        """Draws Vega-Lite as SVG.

        Raises:
            DrawingError: It could not be drawn.
        """
        try:
            return self._ask({"to": "svg", "specification": specification})["svg"]
        except DrawingError:
            self.missing += 1
            raise

    def convert(self, svg: str, to: str) -> bytes:
        """Converts SVG to `png` or `pdf`.

        Raises:
            DrawingError: It could not be converted.
        """
        return base64.b64decode(self._ask({"to": to, "svg": svg})["base64"])

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, request: dict[str, Any]) -> dict[str, str]:
        if self._deaths >= MOST_DEATHS:
            raise DrawingError(self._last)
        said = self._exchange(json.dumps(request).encode() + b"\n")
        if not said:
            self._deaths += 1
            self._last = self._cause_of_death()
            raise DrawingError(self._last)
        self._deaths = 0
        answer: dict[str, str] = json.loads(said)
        if "error" in answer:
            raise DrawingError(answer["error"])
        return answer

    def _exchange(self, request: bytes) -> bytes:
        """The line that answers a request; empty where the process has died or takes too long."""
        try:
            process = self._started()
            if process.stdin is None or process.stdout is None:
                return b""
            process.stdin.write(request)
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], DEADLINE_S)
            return process.stdout.readline() if ready else b""
        except OSError:
            return b""

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                # -I leaves out PYTHONPATH and the user's packages, where the library may be.
                [sys.executable, "-I", str(_PROGRAM), json.dumps([p for p in sys.path if p])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Ctrl-C is for this process, which says what becomes of the results.
                start_new_session=True,
            )
        return self._process

    def _cause_of_death(self) -> str:
        process, self._process = self._process, None
        if process is None:
            return "the drawing process could not be started"
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
        code = process.poll()
        process.kill()
        process.communicate()
        if code is None:
            return f"the drawing process did not answer within {DEADLINE_S:g} s"
        if code < 0:
            return f"the drawing process was ended by {signal.Signals(-code).name}"
        return f"the drawing process ended with exit status {code}"


@functools.cache
def drawer() -> Drawer:
    """The drawing process of this process; it ends with it."""
    made = Drawer()
    atexit.register(made.close)
    return made

"""Hands suites to the command line and to the page, and notes what must not happen."""

import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from generator import Made
from strider.engine import Engine
from strider.errors import StriderError
from strider.suite import Changes, CheckedPlan, check, load
from strider.text import forbidden
from strider.web.guard import MOST_BODY_BYTES
from strider.web.questions import QUESTIONS
from strider.web.site import Site
from world import SECRET, World

DEADLINE_S = 60.0
"""Far more than any answer takes, also on a machine with other work."""
LONGEST_MESSAGE = 20_000


class TooLongError(Exception):
    """An answer took longer than its deadline."""


@dataclass
class Tally:
    """What came of the suites of one way.

    Attributes:
        counts: Accepted and refused suites, and what runs came to.
        findings: What must not happen, each with the suite.
        slowest_s: The longest answer.
        keys: How often each key was there.
    """

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)
    slowest_s: float = 0.0
    keys: Counter[str] = field(default_factory=Counter)

    def find(self, what: str, made: Made) -> None:
        """Notes something that must not happen."""
        self.findings.append((what, made.text[:3000]))


def judge_message(message: str, made: Made, tally: Tally) -> None:
    """A message quotes no secret, changes no terminal and ends somewhere."""
    if SECRET in message:
        tally.find("a message quotes a file that is no list", made)
    if any(forbidden(line) for line in message.split("\n")):
        tally.find(f"a message has {forbidden(message.replace(chr(10), ' '))} in it: {message!r:.200}", made)
    if len(message) > LONGEST_MESSAGE:
        tally.find(f"a message has {len(message)} characters", made)


@contextmanager
def _deadline() -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _timed(tally: Tally, made: Made, action: Callable[[], None]) -> None:
    """An action that ends in time, and by no exception but those that users are meant to see."""
    begun = time.monotonic()
    try:
        with _deadline():
            action()
    except TooLongError:
        tally.find("no answer in time", made)
    except Exception:
        tally.find(f"a traceback: {traceback.format_exc()[-1500:]}", made)
    tally.slowest_s = max(tally.slowest_s, time.monotonic() - begun)


def on_command_line(made: Made, engine: Engine, world: World, tally: Tally) -> CheckedPlan | None:
    """What `strider plan` does with a suite: its plan, or None and a message."""
    found: list[CheckedPlan] = []
    file = world.home / "suite.toml"

    def plan() -> None:
        file.write_bytes(made.text.encode("utf-8", "surrogatepass"))
        try:
            found.append(check(load(file, engine.description, Changes(), "optional"), engine))
            found[0].suite.plan.to_json()
        except StriderError as error:
            judge_message(error.message, made, tally)

    _timed(tally, made, plan)
    tally.counts["accepted" if found else "refused"] += 1
    tally.keys.update(made.keys)
    return found[0] if found else None


def on_page(made: Made, site: Site, tally: Tally) -> None:
    """The answers of a page's worker for a suite: during typing, and before a run."""
    if len(made.text.encode("utf-8", "surrogatepass")) > MOST_BODY_BYTES:
        tally.counts["too large to send"] += 1
        return
    answers: list[dict[str, Any]] = []
    judged: list[Any] = []

    def ask() -> None:
        for kind, into in (("suite", answers), ("judge", judged)):
            model, answer = QUESTIONS[kind]
            try:
                into.append(answer(model.model_validate({"text": made.text}), site))
            except StriderError as error:
                judge_message(error.message, made, tally)

    _timed(tally, made, ask)
    tally.keys.update(made.keys)
    for mistake in answers[0]["mistakes"] if answers else []:
        judge_message(mistake["message"], made, tally)
    accepted = bool(judged) or bool(answers and answers[0]["plan"])
    tally.counts["accepted" if accepted else "refused"] += 1
    if accepted and made.places:
        tally.find(f"the page accepts places that nobody allowed: {made.places}", made)

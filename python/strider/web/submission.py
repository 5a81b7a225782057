"""A suite that was submitted from the page, whatever runs it."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

_OUTPUT_BYTES = 1 << 14
"""Shown part of a job's output: its end."""


class CardOrder(BaseModel):
    """A card to be measured: `strider quick DIRECTORY --budget BUDGET`."""

    directory: str
    budget: str


class VerifyOrder(BaseModel):
    """A data set to be verified: `strider data verify NAME --target DIRECTORY -n CLIENTS`."""

    directory: str
    name: str
    clients: Annotated[int, Field(ge=1)] = 1


@dataclass(kw_only=True)
class Submission:
    """A suite that was submitted, or a card that was asked for.

    Attributes:
        id: Its name on the page.
        suite: Name of the suite.
        folder: Where its suite file and its output are.
        run: Id of its run; empty before the run directory is there.
        card: What to measure, where it is a card.
        resumes: Id of the run that it continues; empty for a new run.
        verifies: The data set to read, where it is a verification.
        output: The end of its output, as far as it was read.
        reason: Why it waits, or why its state is unknown; empty for none.
        number: A scheduler's number of the part that waits or runs; empty for none.
        part: Which part that is, such as `2 of 5`; empty for a job of one part.
    """

    id: str
    suite: str
    folder: Path
    run: str = ""
    output: str = ""
    reason: str = ""
    number: str = ""
    part: str = ""
    card: CardOrder | None = None
    resumes: str = ""
    verifies: VerifyOrder | None = None

    @property
    def result(self) -> str:
        """The last line that it has printed."""
        return next((line for line in reversed(self.output.splitlines()) if line.strip()), "")

    @property
    def is_right(self) -> bool:
        """Whether it is a verification that found nothing wrong."""
        name = self.verifies.name if self.verifies else ""
        return bool(name) and self.result.startswith(f"data set {name}: all right:")

    @property
    def mark(self) -> tuple[str, str]:
        """Class and text of its status; a verification that found errors does not look like success."""
        state = str(getattr(self, "state", ""))
        if not self.verifies or state not in ("done", "failed"):
            return state, state
        return ("done", "all right") if self.is_right else ("failed", "not right")

    @property
    def file(self) -> Path:
        """Its suite file: a path that no other run's command has in it."""
        return self.folder / f"{self.suite}.toml"

    @property
    def output_file(self) -> Path:
        """The file of its output."""
        return self.folder / "output"

    def write(self, text: str) -> None:
        """Makes its folder with its suite file.

        Raises:
            OSError: That cannot be done.
        """
        self.folder.mkdir(parents=True)
        self.file.write_text(text, encoding="utf-8")

    def look_at_output(self) -> None:
        """Reads the end of its output; keeps the earlier one if there is none."""
        with contextlib.suppress(OSError), self.output_file.open("rb") as output:
            output.seek(max(0, self.output_file.stat().st_size - _OUTPUT_BYTES))
            self.output = output.read().decode("utf-8", "replace")


def new_id() -> str:
    """A unique name that cannot be guessed."""
    return secrets.token_hex(6)

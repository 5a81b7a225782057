"""The target of a test of data sets, and commands on it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from harness import Json
from strider.cli import main
from strider.datasets import Marker, find
from strider.launch import Outcome, interruptions
from strider.running.options import RunOptions
from strider.running.performing import display_of, perform
from strider.running.sizing import prepare
from strider.suite.document import Document, parse
from strider.suite.mistakes import SuiteError


def measured(
    document: Document, target: str | None = None, manifests: Mapping[int, dict[str, Json]] | None = None
) -> Outcome:
    """Runs a suite without ceilings, counters and a report.

    Args:
        document: The suite.
        target: Its target; None for that of the suite.
        manifests: Manifests of cases with files under a user's names, by the case's number.
    """
    options = RunOptions(target=target, quiet=True, counters="none", ceilings="none")
    prepared = prepare(document, options, manifests=manifests)
    console = Console(quiet=True)
    with interruptions() as interrupted:
        return perform(prepared, display_of(prepared, options, console), console, interrupted)


@dataclass(frozen=True)
class Place:
    """The directories of a test, and commands on its data set `kept`, in this process."""

    path: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def target(self) -> Path:
        """The target."""
        return self.path / "target"

    @property
    def folder(self) -> Path:
        """The folder of the data set."""
        return self.target / "strider-data-kept"

    def data(self, verb: str, *words: object) -> tuple[int, str, str]:
        """Runs `strider data`; returns exit code, stdout and stderr."""
        code = main(["data", verb, "kept", "--target", str(self.target), *map(str, words)])
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err

    def make(self, *words: object) -> None:
        """Makes the data set."""
        code, _, errors = self.data("make", "--quiet", *words)
        assert code == 0, errors

    def verify(self, *words: object) -> tuple[int, Json]:
        """Verifies it; returns the exit code and the document."""
        code, document, errors = self.data("verify", "--quiet", "--json", *words)
        assert document, errors
        return code, json.loads(document)

    def run(self, suite: str) -> None:
        """Runs a suite without a report; it must succeed."""
        outcome = measured(parse(suite, "suite.toml"), target=str(self.target))
        assert outcome.exit_code == 0, outcome.errors

    def refusal_of(self, suite: str) -> str:
        """Returns why a suite cannot be run."""
        with pytest.raises(SuiteError) as refused:
            prepare(parse(suite, "suite.toml"), RunOptions(target=str(self.target)))
        return refused.value.message

    def marker(self) -> Marker:
        """Returns the marker of the data set."""
        found = find(self.target, "kept")
        assert found is not None
        return found

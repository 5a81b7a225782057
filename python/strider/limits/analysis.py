"""All that can be said of what limits a run."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from strider.limits.findings import Verdict, find
from strider.limits.movers import Move, move_sentences, moves
from strider.limits.wording import sentences
from strider.statistics import OperationSummary, summarize
from strider.store import load_events
from strider.store.model import NodeCounters, Run


@dataclass(frozen=True)
class Analysis:
    """What limits a run.

    Attributes:
        run: The run.
        verdicts: Of each operation that has a sample.
        moves: Counters that differ most between interfaces.
    """

    run: Run
    verdicts: Sequence[Verdict]
    moves: Sequence[Move]

    @classmethod
    def of(cls, run: Run) -> Analysis:
        """That of a run with what its nodes counted."""
        counters = load_events(run.directory, NodeCounters)
        return cls.of_summaries(run, summarize(run, counters), counters)

    @classmethod
    def of_summaries(
        cls, run: Run, summaries: Sequence[OperationSummary], counters: Sequence[NodeCounters]
    ) -> Analysis:
        """The same from summaries, which were made with the counters."""
        return cls(run, find(run, summaries, counters), moves(summaries))

    @property
    def sentences(self) -> list[str]:
        """One for each finding, then what moved between interfaces."""
        return self.sentences_without(())

    def sentences_without(self, rules: Container[str]) -> list[str]:
        """The same without those of some rules, by name, which are reported elsewhere."""
        return [*sentences(self.verdicts, rules), *move_sentences(self.moves)]

    def text(self, verdict: Verdict, without: Container[str] = ()) -> str:
        """All that is to be said of one result, as clauses.

        Args:
            verdict: The result.
            without: Names of rules that are reported elsewhere.
        """
        said = verdict.text(without)
        own = [move for move in self.moves if move.other is verdict.summary]
        if verdict.explained or not own:
            return said
        first = own[0]
        return f"{said}; {first.ratio:.2g} × the {first.counter} of {first.base_name}"

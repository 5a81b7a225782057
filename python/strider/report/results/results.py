"""A run with all that sections are made of, each found when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from strider.limits import Analysis
from strider.report.labels.facets import Facets, joined
from strider.report.results.interface_facts import InterfaceFacts
from strider.report.results.references import Reference, reference_of
from strider.statistics import (
    DigestComparison,
    OperationSummary,
    ValueComparison,
    compare_digests,
    compare_values,
    summarize,
)
from strider.store import Observed, load_events
from strider.store.data_sets import SetOfRun, sets_of
from strider.store.model import NodeCounters, RequestValues, Run

#: Up to so many summaries the tables of a report are open from the start.
_OPEN_TABLES = 40


@dataclass(frozen=True)
class Results:
    """What sections show.

    Attributes:
        anchor: Of the run in a page.
        observed: What servers counted meanwhile.
        most_remarks: Right after a run, how many remarks there may be; what limits the results is among them.
    """

    run: Run
    anchor: str = "run-1"
    observed: Sequence[Observed] = ()
    most_remarks: int | None = None

    @cached_property
    def counters(self) -> list[NodeCounters]:
        """Node counters."""
        return load_events(self.run.directory, NodeCounters)

    @cached_property
    def summaries(self) -> list[OperationSummary]:
        """Of all operations that were executed or failed."""
        return summarize(self.run, self.counters)

    @cached_property
    def data(self) -> list[OperationSummary]:
        """Of reads and writes."""
        return [summary for summary in self.summaries if not summary.case.is_metadata]

    @cached_property
    def metadata(self) -> list[OperationSummary]:
        """Of operations of metadata."""
        return [summary for summary in self.summaries if summary.case.is_metadata]

    @cached_property
    def of_data(self) -> Facets:
        """Labels of the cases of data."""
        return Facets.of([case for case in self.run.cases.values() if not case.is_metadata])

    @cached_property
    def of_metadata(self) -> Facets:
        """Labels of the cases of metadata."""
        return Facets.of([case for case in self.run.cases.values() if case.is_metadata])

    @cached_property
    def facets(self) -> Facets:
        """Labels of all cases."""
        return joined(self.of_data, self.of_metadata)

    @cached_property
    def comparisons(self) -> list[DigestComparison]:
        """Reads of the same data, compared by their digests."""
        return list(compare_digests(self.run))

    @cached_property
    def values(self) -> list[RequestValues]:
        """Values that requests of ranks read; empty where none were recorded."""
        recorded = any(case.common_parameters.get("values") for case in self.run.cases.values())
        return load_events(self.run.directory, RequestValues) if recorded else []

    @cached_property
    def value_comparisons(self) -> list[ValueComparison]:
        """Reads of the same data, compared by these values."""
        return compare_values(self.run, self.values)

    @cached_property
    def data_sets(self) -> list[SetOfRun]:
        """Data sets, with what each case found and left there."""
        return sets_of(self.run)

    @cached_property
    def facts(self) -> InterfaceFacts:
        """What interfaces said of their files."""
        return InterfaceFacts.of(self.run)

    @cached_property
    def reference(self) -> Reference | None:
        """Published figures for the suite."""
        return reference_of(self.run.plan.suite.name, self.run.plan.scale_down)

    @cached_property
    def analysis(self) -> Analysis:
        """What limits the results."""
        return Analysis.of_summaries(self.run, self.summaries, self.counters)

    @property
    def is_small(self) -> bool:
        """Whether all tables may be open from the start."""
        return len(self.summaries) <= _OPEN_TABLES

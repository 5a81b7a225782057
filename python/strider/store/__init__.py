"""Run directories: all measurements, found by name, read back, and queried with SQL."""

from strider.listing.names import resolve
from strider.listing.summary import RunSummary
from strider.store.case import Case
from strider.store.load import load, load_events
from strider.store.model import (
    ClockRow,
    CounterGroup,
    ErrorRow,
    NodeCounters,
    Part,
    RankRow,
    RequestValues,
    Run,
    Sample,
    Timeline,
)
from strider.store.observed import Observed, observed_files, read_observed
from strider.store.runs import list_runs
from strider.store.tables import ExportFormat, Table, derive, export, export_rows, query

__all__ = [
    "Case",
    "ClockRow",
    "CounterGroup",
    "ErrorRow",
    "ExportFormat",
    "NodeCounters",
    "Observed",
    "Part",
    "RankRow",
    "RequestValues",
    "Run",
    "RunSummary",
    "Sample",
    "Table",
    "Timeline",
    "derive",
    "export",
    "export_rows",
    "list_runs",
    "load",
    "load_events",
    "observed_files",
    "query",
    "read_observed",
    "resolve",
]

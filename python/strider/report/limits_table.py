"""What limits each result, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from strider.limits import Verdict, find, sentences
from strider.report import metadata
from strider.report.facets import Facets
from strider.report.limits import ceiling_rows, shares
from strider.report.metadata import Column, Row
from strider.report.metadata_table import print_rows
from strider.report.numbers import significant
from strider.statistics import OperationSummary, summarize
from strider.store import load_counters
from strider.store.model import Run

if TYPE_CHECKING:
    from rich.console import Console

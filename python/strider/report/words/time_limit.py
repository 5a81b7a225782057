"""The sentence on a run that its time limit ended."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from strider.listing.summary import TimeLimitCut
from strider.store.model import Run
from strider.store.time_limit import time_limit_cut
from strider.units import format_seconds


def time_limit_sentence(run: Run) -> str:
    """Returns `6–8 of 50 repetitions: the time limit of 8 s ended the run.`; empty if it ended no case."""
    cut = time_limit_cut(run)
    if cut is None:
        return ""
    counts = f"{cut.fewest}" if cut.fewest == cut.most else f"{cut.fewest}–{cut.most}"
    limit = format_seconds(cut.limit_s)
    return f"{counts} of {cut.planned} repetitions: the time limit of {limit} ended the run.{_gaps(cut)}"


def _gaps(cut: TimeLimitCut) -> str:
    """Returns the sentence on cases that the limit left without a result."""
    return f" Cases without a result: {cut.cases_without}." if cut.cases_without else ""


def time_limit_row(run: Run) -> dict[str, Any] | None:
    """Returns the omissions by the time limit, for JSON; None if it ended no case."""
    cut = time_limit_cut(run)
    return asdict(cut) if cut else None

"""Sentences on the sizes that a suite left to Strider."""

from __future__ import annotations

from strider.store.model import Run
from strider.units import format_bytes

_MOST_CASES = 8


def chosen_sizes(run: Run) -> list[str]:
    """Returns a sentence for each size that Strider chose, with the reason; empty for other runs."""
    several = len(run.info.sizes) > 1
    found = []
    for size in run.info.sizes:
        amount = format_bytes(size.bytes) + (" a client" if size.key == "block" else "")
        numbers = ", ".join(map(str, size.cases[:_MOST_CASES])) + (", …" if size.cases[_MOST_CASES:] else "")
        which = f" ({'case' if len(size.cases) == 1 else 'cases'} {numbers})" if several else ""
        found.append(f"Chosen by Strider: {size.key} = {size.word}: {amount}, {size.reason}{which}.")
    return found

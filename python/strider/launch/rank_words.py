"""What ranks print about the end of a run, in `engine.log`."""

import re
from collections.abc import Sequence

from strider.text import enumerated

_MOST_NAMED = 8
_RECEIVED = re.compile(
    r"^strider-engine: (?P<rank>rank \d{1,10} on \S+) received (?P<signal>\w+ from process \d{1,10})$",
    re.MULTILINE,
)
_OVER = re.compile(
    r"^strider-engine: (?P<rank>rank \d{1,10} on \S+): the run is over for strider run: (?P<why>.+?): this "
    "rank stops",
    re.MULTILINE,
)
_WAITED = re.compile(
    r"^strider-engine: rank (?P<rank>\d{1,10})(?: on \S+)? waited \d{1,10} s for the other ranks",
    re.MULTILINE,
)


def interruption(log: str) -> str:
    """Returns why ranks ended a run that this process did not interrupt, in one line.

    Args:
        log: The end of the output of launcher and ranks.
    """
    if found := list(_RECEIVED.finditer(log)):
        return (
            f"interrupted: {_named([one['rank'] for one in found])} received {found[0]['signal']} there: "
            "check who sent the signal"
        )
    if found := list(_OVER.finditer(log)):
        return (
            f"stopped by {_named([one['rank'] for one in found])}: {found[0]['why']} there: check the "
            "mounts, and other programs that remove files"
        )
    return "interrupted by a signal to the launcher or the ranks, not to strider: check who sent the signal"


def not_waiting(log: str, ranks: Sequence[tuple[int, str]]) -> str:
    """Returns which ranks did not wait as long as the others; empty if that is unknown.

    Args:
        log: The end of the output of launcher and ranks.
        ranks: All ranks, with their nodes.
    """
    waited = {int(one["rank"]) for one in _WAITED.finditer(log)}
    others = [f"rank {rank} on {node}" for rank, node in ranks if rank not in waited]
    if not waited or not others or len(others) > len(ranks) // 2:
        return ""
    return _named(others)


def _named(ranks: Sequence[str]) -> str:
    """Returns the first of these ranks, and the number of the others."""
    return enumerated(list(dict.fromkeys(ranks)), _MOST_NAMED)

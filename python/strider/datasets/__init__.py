"""Data sets: files that outlive a run, with a marker that describes their data.

The data set NAME of a target is its folder `strider-data-NAME`. Runs make, read and rewrite data sets by the
key `dataset` of a case; `strider data` makes, lists, verifies and removes them.
"""

from strider.datasets.binding import bind, changes_since
from strider.datasets.claims import Claims, claimed, keeping
from strider.datasets.folder import PREFIX, find, names_in
from strider.datasets.listing import found_before, left_by, row, rows, state_now
from strider.datasets.marker import Marker, is_name
from strider.datasets.removal import Removed, remove

__all__ = [
    "PREFIX",
    "Claims",
    "Marker",
    "Removed",
    "bind",
    "changes_since",
    "claimed",
    "find",
    "found_before",
    "is_name",
    "keeping",
    "left_by",
    "names_in",
    "remove",
    "row",
    "rows",
    "state_now",
]

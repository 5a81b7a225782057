"""Clocks of nodes whose times of day differ: one sentence, which names those that are not as most others."""

import statistics
from collections.abc import Sequence

CLOCK_S = 1.0
"""Difference of clocks in seconds that is reported."""
_MOST_NAMED = 8


def clock_note(offsets: Sequence[tuple[str, float]]) -> str:
    """Returns a sentence on wrong clocks; empty if there are none.

    Args:
        offsets: Names, and how far each clock is ahead of one of them, in seconds.
    """
    if not offsets:
        return ""
    usual_s = statistics.median_low(off_s for _, off_s in offsets)
    wrong = [(name, off_s - usual_s) for name, off_s in offsets if abs(off_s - usual_s) > CLOCK_S]
    if not wrong:
        return ""
    if 2 * len(wrong) >= len(offsets):
        # Without a majority, none is known to be right.
        (first, least_s), (last, most_s) = (of(offsets, key=lambda one: one[1]) for of in (min, max))
        what = f"the clocks of {first} and {last} differ by {most_s - least_s:.1f} s"
    elif len(wrong) == 1:
        what = f"the clock of {wrong[0][0]} is {wrong[0][1]:+.1f} s off that of the others"
    else:
        named = ", ".join(f"{name} ({off_s:+.1f} s)" for name, off_s in wrong[:_MOST_NAMED])
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        what = (
            f"{len(wrong)} clocks are off those of the other {len(offsets) - len(wrong)} nodes: {named}{more}"
        )
    return (
        f"{what}; times of day in the run are wrong, durations are not: set the clocks, for example with "
        "chronyc makestep"
    )

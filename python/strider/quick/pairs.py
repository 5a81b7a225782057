"""The suite that compares two directories: the lines of a card that can be graded, once in each run.

Runs in both directories alternate, and each pair of them is one measurement. So a run has each line once, and
all lines and pairs fit into the budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from strider.quick.cases import Group, Setting, groups
from strider.quick.look import Place
from strider.quick.probe import Probe
from strider.quick.sizes import common_sizes
from strider.quick.suite import LONGEST_PHASE_S, PHASE_S, SHORTEST_PHASE_S, cost_of
from strider.suite.document import Document, parse

#: In the order of their worth.
_GROUPS = ("sequential", "random", "append", "create", "random deep", "deep")
#: These are never left out.
_LEAST_GROUPS = 3
#: A comparison needs three pairs, grade A six; more of them narrow the intervals.
LEAST_PAIRS, GOOD_PAIRS, MOST_PAIRS = 3, 6, 12


@dataclass(frozen=True)
class Paired:
    """What fits into a budget.

    Attributes:
        groups: Groups of cases of each run, in the order of their worth.
        pairs: Expected number of pairs.
        phase_s: Length of a phase.
    """

    groups: Sequence[Group]
    pairs: int
    phase_s: float


def fit_pairs(make: Callable[[float], Sequence[Group]], seconds: float, start_s: float) -> Paired:
    """Returns what fits into some time.

    First as many pairs as possible with all groups, then six with fewer groups, then at least three.

    Args:
        make: Makes the groups for phases of some length.
        seconds: The time of all runs.
        start_s: Time to start and stop the ranks of a run.
    """

    def left_s(pairs: int) -> float:
        return seconds / (2 * pairs) - start_s

    every = make(PHASE_S)
    few = every[:_LEAST_GROUPS]
    choices = [
        *((pairs, every) for pairs in range(MOST_PAIRS, GOOD_PAIRS - 1, -1)),
        *((GOOD_PAIRS, every[:count]) for count in range(len(every) - 1, _LEAST_GROUPS - 1, -1)),
        *((pairs, few) for pairs in range(GOOD_PAIRS - 1, LEAST_PAIRS - 1, -1)),
    ]
    fitting = (choice for choice in choices if cost_of(choice[1]) <= left_s(choice[0]))
    pairs, chosen = next(fitting, (LEAST_PAIRS, few))
    scale = max(0.0, left_s(pairs)) / cost_of(chosen)
    phase_s = min(LONGEST_PHASE_S, max(SHORTEST_PHASE_S, PHASE_S * scale))
    names = [group.name for group in chosen]
    return Paired([group for group in make(phase_s) if group.name in names], pairs, phase_s)


def pair_document(
    places: Sequence[Place], probes: Sequence[Probe], interfaces: frozenset[str], seconds: float
) -> tuple[Document, Paired]:
    """Returns the suite of each run in both directories.

    Args:
        places: The directories.
        probes: Their rates; each has a rate of writes, and each directory has space for data.
        interfaces: Interfaces that this engine has.
        seconds: Time of all runs.
    """
    is_direct = all(place.is_direct for place in places)
    alike = [replace(place, is_direct=is_direct) for place in places]
    slowest = min(probes, key=lambda probe: probe.write_bytes_s or 0.0)

    def make(phase_s: float) -> list[Group]:
        sizes = common_sizes(alike, probes, phase_s)
        setting = Setting(
            place=alike[0],
            probe=slowest,
            sizes=sizes,
            phase_s=phase_s,
            short_s=phase_s,
            clients=1,
            interfaces=interfaces,
        )
        made = {group.name: group for group in groups(setting, has_data=True)}
        return [made[name] for name in _GROUPS if name in made]

    paired = fit_pairs(make, seconds, max(probe.start_s for probe in probes))
    head = f"""\
# What strider compare measured in each directory, in turns: each run has every case once.
[suite]
name        = "compare"
description = "Comparison of directories"
repetitions = 1
deadline    = "{paired.phase_s:.2f}s"
wear_out    = false
"""
    text = "\n\n".join([head, *(case for group in paired.groups for case in group.cases)]) + "\n"
    return parse(text, "compare"), paired

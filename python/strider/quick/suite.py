"""The suite of a quick measurement: as many lines, rounds and seconds as fit into the budget."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strider.quick.cases import Group, Setting, groups
from strider.quick.look import Place
from strider.quick.probe import Probe, has_space
from strider.quick.sizes import sizes_of
from strider.suite.document import Document, parse

#: A phase that counts for grades A and B lasts a second; the deadline ends it a little later.
PHASE_S = 1.03
SHORTEST_PHASE_S, LONGEST_PHASE_S = 0.25, 3.0
#: Phases of ratios: their grade depends on the number of pairs alone.
_SHORT_SHARE = 0.3
LEAST_ROUNDS, MOST_ROUNDS = 3, 10
#: These groups are never left out.
_LEAST_GROUPS = 4
#: Other work on the machine makes rounds longer than estimated.
_MARGIN = 1.15


@dataclass(frozen=True)
class Budgeted:
    """What fits into a budget.

    Attributes:
        groups: Groups of cases, in the order of their worth.
        rounds: Expected number of rounds.
        phase_s: Length of a phase.
        left_out: Names of the groups that do not fit.
    """

    groups: Sequence[Group]
    rounds: float
    phase_s: float
    left_out: Sequence[str]


def fit(make: Callable[[float], Sequence[Group]], seconds: float) -> Budgeted:
    """Returns what fits into some time.

    At least three rounds, if necessary of fewer groups; more than ten rounds become longer phases.

    Args:
        make: Makes the groups for phases of some length.
        seconds: The time.
    """
    phase_s = PHASE_S
    chosen = list(make(phase_s))
    left_out: list[str] = []
    while len(chosen) > _LEAST_GROUPS and cost_of(chosen) * LEAST_ROUNDS > seconds:
        left_out.insert(0, chosen.pop().name)
    ratio = seconds / cost_of(chosen)
    if ratio < LEAST_ROUNDS or ratio > MOST_ROUNDS:
        wanted = LEAST_ROUNDS if ratio < LEAST_ROUNDS else MOST_ROUNDS
        phase_s = min(LONGEST_PHASE_S, max(SHORTEST_PHASE_S, phase_s * ratio / wanted))
        chosen = [group for group in make(phase_s) if group.name not in left_out]
    return Budgeted(chosen, max(1.0, seconds / cost_of(chosen)), phase_s, left_out)


def cost_of(chosen: Sequence[Group]) -> float:
    """Returns the estimated time of a round."""
    return _MARGIN * sum(group.cost_s for group in chosen)


def quick_document(
    place: Place,
    probe: Probe,
    interfaces: frozenset[str],
    clients: int,
    seconds: float,
    is_deep: bool = True,
) -> tuple[Document, Budgeted]:
    """Returns the suite that fits into some time.

    Args:
        place: The directory.
        probe: Its rates.
        interfaces: Interfaces that this engine has.
        clients: Number of clients of the cases with several.
        seconds: Time from the start of the engine to its end.
        is_deep: Whether the interface keeps several requests in flight.
    """
    has_data = has_space(place) and probe.write_bytes_s is not None

    def make(phase_s: float) -> Sequence[Group]:
        short_s = phase_s * _SHORT_SHARE
        sizes = sizes_of(place, probe, phase_s, short_s)
        setting = Setting(
            place=place,
            probe=probe,
            sizes=sizes,
            phase_s=phase_s,
            short_s=short_s,
            clients=clients,
            interfaces=interfaces,
            is_deep=is_deep,
        )
        return groups(setting, has_data)

    budgeted = fit(make, seconds)
    # The time limit ends the run; more repetitions than expected may fit.
    most = math.ceil(1.5 * budgeted.rounds) + 1
    head = f"""\
# What strider quick measured: phases of {budgeted.phase_s:.2f} s, in rounds of random order.
[suite]
name        = "quick"
description = "Storage card"
repetitions = {most}
deadline    = "{budgeted.phase_s:.2f}s"
wear_out    = false
time_limit  = "{max(0.5, seconds):.1f}s"
"""
    text = "\n\n".join([head, *(case for group in budgeted.groups for case in group.cases)]) + "\n"
    return parse(text, "quick"), budgeted

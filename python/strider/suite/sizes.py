"""Chooses the sizes that a suite leaves to Strider: `block = "auto"` and `block = "beyond-memory"`.

A pass between the expansion of a suite and its check: the plan has numbers only.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from strider.engine import CheckedCase, Engine, Json
from strider.suite.checked import CheckedPlan, ChosenSize, check
from strider.suite.estimate import AssumedRates, rate_of
from strider.suite.load import Suite
from strider.suite.mistakes import Mistakes, Place
from strider.suite.placement import RankPlacement
from strider.suite.places import Policy
from strider.suite.plan import Plan, PlannedCase
from strider.suite.values import AUTO, BEYOND_MEMORY, SIZE_KEYS, SIZE_WORDS
from strider.units import MIB, format_bytes, format_bytes_rounded, format_rate

LEAST_S = 1.4
"""Shortest phase that `auto` chooses, in seconds at the probed rate.

It is 1 s with a reserve, because a short probe of a busy target finds too low rates."""
LEAST_TRANSFERS = 16
"""Fewest transfers of a client."""
OPEN = "chosen by a probe when the run starts; to choose it now, add --probe"
MEMORIES = 2
"""Times the memory of a node that the clients of this node move with `beyond-memory`."""


@dataclass(frozen=True)
class Group:
    """Cases that get the same size: those of one `[[case]]` with the same number of clients.

    Attributes:
        table: Number of the `[[case]]`, from 0.
        clients: Number of clients.
        key: `block` or `size`.
        word: `auto` or `beyond-memory`.
    """

    table: int
    clients: int
    key: str
    word: str


@dataclass(frozen=True)
class Size:
    """A chosen size.

    Attributes:
        bytes: Value of the key.
        reason: The reason in words, such as `about 1.3 s at 410 MiB/s`.
    """

    bytes: int
    reason: str


RatesFor = Callable[[int], AssumedRates]
Sizes = Mapping[Group, Size]
"""The sizes of a suite."""


@dataclass(frozen=True)
class Node:
    """The memory of a node, and its clients.

    Attributes:
        memory_bytes: Memory.
        is_alone: Whether all ranks run on it.
    """

    memory_bytes: int
    is_alone: bool = True

    def fewest(self, plan: Plan, cases: Sequence[PlannedCase]) -> int | None:
        """Returns the number of clients on the node with the fewest, over some cases; None if it is unknown.

        Args:
            plan: The plan.
            cases: Cases of the plan.
        """
        counts = [
            RankPlacement.of(case).fewest(plan.ranks, plan.ranks_per_node, self.is_alone) for case in cases
        ]
        known = [count for count in counts if count is not None]
        return min(known) if len(known) == len(counts) else None


def groups_of(suite: Suite) -> dict[Group, list[int]]:
    """Returns the groups of cases without a size, with the positions of their cases in the plan."""
    found: dict[Group, list[int]] = {}
    for position, (case, origin) in enumerate(zip(suite.plan.cases, suite.origins, strict=True)):
        for key in SIZE_KEYS:
            word = case.pattern.get(key)
            if word in SIZE_WORDS:
                group = Group(int(origin.case[1]), case.clients, key, str(word))
                found.setdefault(group, []).append(position)
    return found


def choose(
    suite: Suite,
    engine: Engine,
    node: Node,
    rates_for: RatesFor | None,
    policy: Policy | None = None,
) -> Sizes:
    """Chooses all sizes that the suite leaves open.

    Args:
        suite: The suite.
        engine: The engine, which computes the bytes of a phase.
        node: The memory of a node.
        rates_for: Returns the rates of the target with a number of clients; None if there is no target.
        policy: Resources that the suite may name; None for any.

    Raises:
        SuiteError: A size cannot be chosen; the message has its line.
    """
    groups = groups_of(suite)
    if not groups:
        return {}
    _require_known(suite, groups, node, has_target=rates_for is not None)
    least = {group: _least(suite, group, positions) for group, positions in groups.items()}
    trial = check(with_sizes(suite, {g: Size(size, "") for g, size in least.items()}), engine, policy)
    return {
        group: _size(suite, group, least[group], [trial.cases[each] for each in positions], node, rates_for)
        for group, positions in groups.items()
    }


def without_probe(suite: Suite, engine: Engine, node: Node) -> tuple[CheckedPlan, Sizes]:
    """Checks a suite of which no target is probed: sizes of `auto` stay open.

    Args:
        suite: The suite.
        engine: The engine.
        node: The memory of a node.

    Returns:
        The suite with the word `auto`, each of its cases with the needs of the smallest size; and the sizes
        that need no probe.

    Raises:
        SuiteError: A size cannot be chosen; the message has its line.
    """
    groups = groups_of(suite)
    _require_known(suite, groups, node, has_target=True)
    least = {
        group: Size(_least(suite, group, positions), "")
        for group, positions in groups.items()
        if group.word == AUTO
    }
    known = choose(with_sizes(suite, least), engine, node, None)
    checked = check(with_sizes(suite, {**least, **known}), engine)
    return replace(checked, suite=with_sizes(suite, known)), known


def probed_key(suite: Suite) -> str:
    """Returns the key of the first size that a probe chooses, `block` or `size`; empty without any."""
    return next((group.key for group in groups_of(suite) if group.word == AUTO), "")


def _of_storage(rates: AssumedRates) -> AssumedRates:
    """Returns the rates without those of the page cache: no size makes its reads slow."""
    probed = rates.probed
    return rates if probed is None else replace(rates, probed=replace(probed, cached_read_s=probed.read_s))


def with_sizes(suite: Suite, sizes: Sizes) -> Suite:
    """Returns the suite with sizes as numbers; those that are not among `sizes` stay open."""
    cases = list(suite.plan.cases)
    for group, positions in groups_of(suite).items():
        for position in positions if group in sizes else ():
            case = cases[position]
            pattern = {**case.pattern, group.key: sizes[group].bytes}
            cases[position] = case.model_copy(update={"pattern": pattern})
    return replace(suite, plan=suite.plan.model_copy(update={"cases": cases}))


def largest(each: Sequence[Sizes]) -> Sizes:
    """Returns the largest size of each group over several targets, so that the work in all is the same."""
    found: dict[Group, Size] = {}
    for sizes in each:
        for group, size in sizes.items():
            if group not in found or size.bytes > found[group].bytes:
                found[group] = size
    return found


class EarlierCase(Protocol):
    """A case of an earlier run."""

    @property
    def clients(self) -> int:
        """Returns the number of clients."""

    @property
    def pattern(self) -> Mapping[str, Json] | None:
        """Returns the pattern with its parameters."""


def sizes_of(suite: Suite, cases: Sequence[EarlierCase], run: str) -> Sizes:
    """Returns the sizes that an earlier run of the suite had; none if its cases were others.

    Args:
        suite: The suite.
        cases: Cases of the earlier run.
        run: Its id.
    """
    if [case.clients for case in cases] != [case.clients for case in suite.plan.cases]:
        return {}
    found = {}
    for group, positions in groups_of(suite).items():
        size = (cases[positions[0]].pattern or {}).get(group.key)
        if isinstance(size, int):
            found[group] = Size(size, f"as in run {run}")
    return found


def require_space(suite: Suite, checked: CheckedPlan, free_bytes: int) -> None:
    """Refuses chosen sizes that do not fit into the target.

    Args:
        suite: The suite with open sizes.
        checked: The same with numbers.
        free_bytes: Bytes that the files of a case may have.

    Raises:
        SuiteError: Some do not fit; the message has their lines.
    """
    mistakes = Mistakes()
    for group, positions in groups_of(suite).items():
        position = max(positions, key=lambda each: checked.check.cases[each].space_bytes)
        case, needs = checked.cases[position]
        if needs.space_bytes > free_bytes:
            mistakes.add(
                _place(suite, position, group.key),
                f'{group.key} = "{group.word}": {_amount(group, case.pattern[group.key])} need '
                f"{format_bytes_rounded(needs.space_bytes)} (case {case.case}), but {suite.plan.target} has "
                f"{format_bytes_rounded(max(0, free_bytes))} for test files: free space, choose another "
                f'directory, or give a size such as {group.key} = "64MiB"',
            )
    mistakes.raise_if_any()


def choices(suite: Suite, sizes: Sizes) -> list[ChosenSize]:
    """Returns the sizes of a suite for its record."""
    return [
        ChosenSize(
            [suite.plan.cases[each].case for each in positions],
            group.key,
            group.word,
            sizes[group].bytes,
            sizes[group].reason,
        )
        for group, positions in groups_of(suite).items()
    ]


def sentences(suite: Suite, sizes: Sizes) -> Iterator[str]:
    """Returns a line for each size: `block = auto: 512 MiB a client, about 1.3 s at 410 MiB/s`.

    Those that are not among `sizes` are open.
    """
    groups = groups_of(suite)
    for group, positions in groups.items():
        which = f" ({_numbers(positions)})" if len(groups) > 1 else ""
        size = sizes.get(group)
        text = f"{_amount(group, size.bytes)}, {size.reason}" if size else OPEN
        yield f"{group.key} = {group.word}: {text}{which}"


def _numbers(positions: Sequence[int]) -> str:
    more = f" and {len(positions) - 1} more" if len(positions) > 1 else ""
    return f"case {positions[0] + 1}{more}"


def _amount(group: Group, size: Json) -> str:
    return format_bytes(int(size)) + (" a client" if group.key == "block" else "")


def _place(suite: Suite, position: int, key: str) -> Place:
    return suite.document.value(suite.origins[position].keys[key])


def _require_known(suite: Suite, groups: Mapping[Group, Sequence[int]], node: Node, has_target: bool) -> None:
    """Refuses sizes that cannot be chosen.

    Raises:
        SuiteError: There are some; the message has their lines.
    """
    mistakes = Mistakes()
    for group, positions in groups.items():
        objection = _objection(suite, group, positions, node, has_target)
        if objection:
            mistakes.add(_place(suite, positions[0], group.key), f'{group.key} = "{group.word}": {objection}')
    mistakes.raise_if_any()


def _objection(suite: Suite, group: Group, positions: Sequence[int], node: Node, has_target: bool) -> str:
    """Returns why a size cannot be chosen, and the remedy; empty if it can."""
    if any(suite.plan.cases[each].pattern.get("count") for each in positions):
        return (
            "count sets the number of requests, and no size makes a phase longer: remove count, or give "
            f"{group.key} a size"
        )
    if group.word == AUTO and not has_target:
        return (
            f"there is no directory to probe: add target to [suite], use --target, or give {group.key} a size"
        )
    cases = [suite.plan.cases[each] for each in positions]
    if group.word == BEYOND_MEMORY and node.fewest(suite.plan, cases) is None:
        return (
            "the number of clients of a node is unknown: set ranks_per_node in [suite], or "
            f"give {group.key} a size"
        )
    return ""


def _least(suite: Suite, group: Group, positions: Sequence[int]) -> int:
    """Returns the smallest size of a group: a whole number of transfers of all its cases and clients."""
    transfers = [suite.plan.cases[each].pattern.get("transfer", MIB) for each in positions]
    sharing = group.clients if group.key == "size" else 1
    return math.lcm(*map(int, transfers)) * LEAST_TRANSFERS * sharing


def _size(
    suite: Suite,
    group: Group,
    least: int,
    cases: Sequence[tuple[PlannedCase, CheckedCase]],
    node: Node,
    rates_for: RatesFor | None,
) -> Size:
    if rates_for and group.word == AUTO:
        return _lasting(least, cases, _of_storage(rates_for(group.clients)))
    fewest = node.fewest(suite.plan, [case for case, _ in cases]) or 1
    return _beyond(least, cases, node.memory_bytes, fewest / group.clients)


def _lasting(least: int, cases: Sequence[tuple[PlannedCase, CheckedCase]], rates: AssumedRates) -> Size:
    """Returns the smallest power of two times `least` with which the shortest phase lasts `LEAST_S`."""
    factor = 1
    while (shortest := min(_phases(cases, factor, rates), default=(LEAST_S, 0.0)))[0] < LEAST_S:
        factor *= 2
    seconds, rate_s = shortest
    return Size(least * factor, f"about {seconds:.2g} s at {format_rate(rate_s / MIB)}")


def _phases(
    cases: Sequence[tuple[PlannedCase, CheckedCase]], factor: int, rates: AssumedRates
) -> Iterator[tuple[float, float]]:
    """Returns seconds and bytes per second of each phase with a multiple of the size that was checked."""
    for case, needs in cases:
        scaled = needs.model_copy(update={"space_bytes": needs.space_bytes * factor})
        for phase in needs.phases:
            if not phase.bytes:
                continue
            rate_s = rate_of(case, scaled, phase.operation, rates)
            yield phase.bytes * factor / rate_s, rate_s


def _beyond(
    least: int, cases: Sequence[tuple[PlannedCase, CheckedCase]], memory_bytes: int, share: float
) -> Size:
    """Returns the smallest multiple of `least` with which a node moves twice its memory.

    Args:
        least: The size that was checked, in bytes.
        cases: The cases with that size.
        memory_bytes: Memory of a node.
        share: Share of the clients on the node with the fewest.
    """
    # Clients that access the same bytes move more than their files have, but from the page cache.
    moved = min(
        min(phase.bytes or least, needs.space_bytes or least) for _, needs in cases for phase in needs.phases
    )
    factor = _readable(math.ceil(MEMORIES * memory_bytes / (moved * share)))
    whole = format_bytes_rounded(moved * share * factor)
    memory = format_bytes_rounded(memory_bytes)
    return Size(least * factor, f"{whole} a node, twice its memory of {memory}")


def _readable(factor: int) -> int:
    """Rounds up by at most 3 %, so that the size has few digits."""
    step = 1 << max(0, factor.bit_length() - 6)
    return -(-factor // step) * step

"""Pictures of where the time goes: one for each operation that several interfaces did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strider.report.blocks import Chart
from strider.report.figures import costs as figure
from strider.report.figures import svg
from strider.report.figures.costs import Panel, Part
from strider.report.labels.facets import Facets
from strider.report.words.numbers import TimeUnit, significant, time_unit
from strider.report.words.wording import plural
from strider.statistics.costs import Costs
from strider.units import format_bytes

#: Most bars of a picture: of more interfaces those with the shortest and the longest times.
_MOST_SERIES = 10

Value = Callable[[Costs], float | None]


@dataclass(frozen=True)
class Comparison:
    """Interfaces that did the same work.

    Attributes:
        group: Pattern and conditions.
        costs: By series.
    """

    group: str
    clients: int
    transfer_bytes: int | None
    operation: str
    costs: Mapping[str, Costs]

    @property
    def title(self) -> str:
        """The work in words."""
        size = "" if self.transfer_bytes is None else format_bytes(self.transfer_bytes)
        parts = (self.operation, self.group, size, plural(self.clients, "client"))
        return ", ".join(part for part in parts if part)

    @property
    def spread(self) -> float:
        """Longest ÷ shortest time of an interface."""
        times = [one.time_s for one in self.costs.values()]
        return max(times) / min(times) if min(times) > 0 else 0.0


def comparisons(costs: Sequence[Costs], facets: Facets) -> list[Comparison]:
    """Returns the work that at least two interfaces did, in the order of the plan."""
    found: defaultdict[tuple[str, int, int | None, str], dict[str, Costs]] = defaultdict(dict)
    for one in costs:
        case = one.summary.case
        key = facets.group[case.number], case.clients, case.transfer_bytes, one.summary.operation
        found[key].setdefault(facets.series[case.number], one)
    return [Comparison(*key, own) for key, own in found.items() if len(own) > 1]


def charts(compared: Sequence[Comparison]) -> list[Chart]:
    """Returns a chart for each operation: of the work in which the interfaces differ most."""
    by_operation: defaultdict[str, list[Comparison]] = defaultdict(list)
    for one in compared:
        by_operation[one.operation].append(one)
    return [chart(max(own, key=lambda one: one.spread)) for own in by_operation.values()]


def chart(compared: Comparison) -> Chart:
    """Draws a picture, with a sentence on the difference between the slowest and the fastest interface."""
    ordered = sorted(compared.costs.items(), key=lambda item: item[1].time_s)
    if len(ordered) > _MOST_SERIES:
        half = _MOST_SERIES // 2
        ordered = [*ordered[:half], *ordered[-half:]]
    costs = dict(ordered)
    specification = figure.figure(_panels(costs), list(costs))
    description = f"Bars of costs for each MiB by interface: {compared.title}. A table has its numbers."
    caption = difference(compared)
    return Chart(compared.title, caption, svg.draw(specification, description), "costs", compared.operation)


def difference(compared: Comparison) -> str:
    """Returns a sentence on the parts of the difference between the slowest and the fastest interface."""
    ordered = sorted(compared.costs.items(), key=lambda item: item[1].time_s)
    (fast, best), (slow, worst) = ordered[0], ordered[-1]
    unit = time_unit([best.time_s, worst.time_s])
    times = (
        f"{slow} takes {unit.format(worst.time_s)} {unit.name} for each MiB, "
        f"{fast} {unit.format(best.time_s)}"
    )
    parts = {
        "waiting": _minus(worst.waiting_s, best.waiting_s),
        "the kernel": _minus(worst.system_s, best.system_s),
        "user mode": _minus(worst.user_s, best.user_s),
    }
    known = {name: value for name, value in parts.items() if value is not None}
    if not known:
        return f"{times}."
    differences = ", ".join(
        f"{'+' if value >= 0 else '−'}{unit.format(abs(value))} {name}"
        for name, value in sorted(known.items(), key=lambda item: -abs(item[1]))
    )
    return f"{times}. The difference in time of the ranks: {differences} ({unit.name})."


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _panels(costs: Mapping[str, Costs]) -> list[Panel]:
    """Returns the panels that have a number."""
    time = time_unit([one.time_s for one in costs.values()])
    found = [
        _panel(
            ["time of the ranks", f"[{time.name}/MiB]"],
            costs,
            {"user": _user, "system": _system, "waiting": lambda one: one.waiting_s},
            time,
        ),
        _panel(
            ["processors, others", f"[{time.name}/MiB]"],
            costs,
            {
                "mounts": lambda one: one.mounts_s,
                "servers": lambda one: one.servers_s,
                "others": lambda one: one.others_s,
            },
            time,
        ),
        _panel(["system calls", "[/MiB]"], costs, {"ranks": lambda one: one.calls}),
        _panel(["bytes copied", "[÷ bytes of data]"], costs, {"ranks": lambda one: one.copied}),
        _panel(
            ["context switches", "[/MiB]"],
            costs,
            {
                "ranks": lambda one: one.switches,
                "mounts": lambda one: one.mounts_switches,
                "servers": lambda one: one.servers_switches,
                "others": lambda one: one.others_switches,
            },
        ),
        _panel(["packets", "[/MiB]"], costs, {"packets": lambda one: one.packets}),
    ]
    return [panel for panel in found if panel.texts]


def _user(one: Costs) -> float | None:
    return one.user_s


def _system(one: Costs) -> float | None:
    return one.system_s


def _panel(
    title: Sequence[str],
    costs: Mapping[str, Costs],
    parts: Mapping[str, Value],
    unit: TimeUnit | None = None,
) -> Panel:
    found: list[Part] = []
    texts: dict[str, str] = {}
    for series, one in costs.items():
        values = {name: value for name, get in parts.items() if (value := get(one)) is not None}
        if not values:
            continue
        scale = unit.seconds if unit else 1.0
        found += [Part(series, name, value / scale) for name, value in values.items()]
        texts[series] = significant(sum(values.values()) / scale)
    return Panel(title, found, texts)

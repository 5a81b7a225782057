"""List I/O: methods by piece length, memory registration, server requests."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strider.report.blocks import Block, Chart, Charts, Section, Table
from strider.report.charts.rates import points_caption
from strider.report.figures import rate_by_piece, registration_fit, svg
from strider.report.figures.points import Point, ends_of, point_of
from strider.report.figures.registration_fit import Fit
from strider.report.figures.style import styles
from strider.report.labels.facets import Facets
from strider.report.results.interface_facts import InterfaceFacts
from strider.report.results.references import Reference
from strider.report.results.results import Results
from strider.report.tables.data import section_starts
from strider.report.words.numbers import NOTHING, significant, time_unit
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.statistics.crossover import Crossover, crossover
from strider.statistics.rule import interval_of
from strider.statistics.trust import is_trusted
from strider.units import MB, MIB, format_bytes, format_bytes_rounded, grouped

_INTERFACE = "listio"
#: Minimum number of lengths of a sweep.
_MINIMUM_LENGTHS = 3
#: Chance that a run calls any two equal methods different.
_CHANCE = 0.005
#: The reason for a low grade that the test of two methods takes into account itself.
_OF_SPREAD = frozenset({"spread"})
#: Tables with at most this many rows are open initially: the first one, and the others.
_OPEN_ROWS, _FEW_ROWS = 40, 12

Cell = Callable[[OperationSummary], str]


def _page(results: Results) -> list[Block]:
    """None if the service reported nothing."""
    facets, facts, reference = results.of_data, results.facts, results.reference
    own = _own(results)
    charts = [*_method_charts(own, facets), *_registration_chart(own, facts)]
    tables = [
        _registrations(own, facets, facts, reference),
        _totals(results.data, facets, facts, reference),
        _servers(own, facets, facts),
    ]
    filled = [table for table in tables if table is not None and len(table.columns) > table.labels]
    return [
        *([Charts(charts)] if charts else []),
        *(
            replace(table, is_open=len(table.rows) <= (_OPEN_ROWS if number == 0 else _FEW_ROWS))
            for number, table in enumerate(filled)
        ),
    ]


def _own(results: Results) -> list[OperationSummary]:
    return [summary for summary in results.data if summary.case.interface_name == _INTERFACE]


@dataclass(frozen=True)
class _Measured:
    """A point of a chart of methods, with the length of its pieces in bytes."""

    summary: OperationSummary
    piece: int
    point: Point

    @property
    def method(self) -> str:
        return str(self.summary.case.interface.get("method", ""))


def _method_charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """Rate against the length of the pieces, for each group, operation and number of clients."""
    cells: defaultdict[tuple[str, str, int], list[_Measured]] = defaultdict(list)
    for summary in summaries:
        piece, point = summary.case.pattern.get("piece"), point_of(summary, facets)
        if isinstance(piece, int) and piece > 0 and point is not None:
            key = point.group, summary.operation, summary.case.clients
            cells[key].append(_Measured(summary, piece, point))
    shown = []
    for (group, operation, clients), own in cells.items():
        for pieces, same in _by_pieces(own).items():
            parts = [f"{group}: {operation}", f"{pieces} pieces" if pieces else "", plural(clients, "client")]
            if len({one.piece for one in same}) >= _MINIMUM_LENGTHS:
                shown.append((", ".join(filter(None, parts)), operation, same, _pairs(same)))
    # Bonferroni: a run compares two methods in each of its charts.
    level = 1 - _CHANCE / max(1, sum(len(pairs) for *_, pairs in shown))
    return [_method_chart(*chart, level, facets) for chart in shown]


def _by_pieces(cells: Sequence[_Measured]) -> dict[int | None, list[_Measured]]:
    """Points by number of pieces; all together (None) where a length has one of them for each interface.

    The transfer size is not distinguished: it grows with the length of the pieces or is the same for all.
    """
    places = Counter((one.point.series, one.piece) for one in cells)
    if max(places.values()) == 1:
        return {None: list(cells)}
    found: defaultdict[int | None, list[_Measured]] = defaultdict(list)
    for one in cells:
        found[(one.summary.case.transfer_bytes or 0) // one.piece].append(one)
    return dict(found)


def _method_chart(
    title: str,
    operation: str,
    cells: Sequence[_Measured],
    pairs: Sequence[tuple[_Method, _Method]],
    level: float,
    facets: Facets,
) -> Chart:
    crossovers = [crossover(gather.rates, pack.rates) for gather, pack in pairs]
    points = sorted(((one.piece, one.point) for one in cells), key=lambda one: one[0])
    ends = ends_of(point for _, point in points)
    # Of several pairs a single line would not say which it is of.
    mark = crossovers[0].length if len(pairs) == 1 and crossovers[0] else None
    specification = rate_by_piece.figure(points, styles(facets.series_order), ends, mark)
    description = (
        f"Line chart of rate in MiB/s against the length of a piece: {title}. A table has its numbers."
    )
    sentences = [
        points_caption([point for _, point in points]),
        *(_in_words(*pair, found, level) for pair, found in zip(pairs, crossovers, strict=True)),
    ]
    caption = " ".join(filter(None, sentences))
    return Chart(title, caption, svg.draw(specification, description), "method by piece", operation)


@dataclass(frozen=True)
class _Method:
    """Rates of the repetitions by the length of the pieces, bytes; `name` is its name in the caption.

    Results below grade B are left out, but not for their spread, which is in the intervals of the sentences.
    Of noisy results those with a narrow interval have it by chance: between them alone, equal methods would
    differ in 2 % of runs of three repetitions.
    """

    name: str
    rates: Mapping[int, Sequence[float]]


def _pairs(cells: Sequence[_Measured]) -> list[tuple[_Method, _Method]]:
    """Returns gather and pack results of cases that differ only in the method."""
    found: defaultdict[str, defaultdict[str, list[_Measured]]] = defaultdict(lambda: defaultdict(list))
    for one in cells:
        other = {key: value for key, value in one.summary.case.interface.items() if key != "method"}
        found[str(sorted(other.items()))][one.method].append(one)
    both = [own for own in found.values() if "gather" in own and "pack" in own]
    several = len(both) > 1

    def method(name: str, own: Sequence[_Measured]) -> _Method:
        rates = {one.piece: one.summary.rates for one in own if _is_comparable(one.summary)}
        return _Method(own[0].point.series if several else name, rates)

    return [(method("gather", own["gather"]), method("pack", own["pack"])) for own in both]


def _is_comparable(summary: OperationSummary) -> bool:
    return summary.trust is not None and is_trusted(summary.trust.apart_from(_OF_SPREAD))


def _in_words(gather: _Method, pack: _Method, found: Crossover | None, level: float) -> str:
    """Returns sentences that compare gather and pack at a level; empty without a common length."""
    both = sorted(set(gather.rates) & set(pack.rates))
    if not both:
        return ""
    name = gather.name[0].upper() + gather.name[1:]
    first = "No crossover shown."
    if found is not None:
        length, low, high = map(format_bytes_rounded, (found.length, found.low, found.high))
        first = f"{name} is faster than {pack.name} from about {length} (95 % interval {low} to {high})."
    # The longest one, and not the one with the largest ratio: the largest of several is too large.
    longest = both[-1]
    ratio = _ratio_of(pack.rates[longest], gather.rates[longest], level)
    if ratio is None:
        return first
    return f"{first} At {format_bytes(longest)} {_faster(name, pack.name, ratio, level)}"


def _ratio_of(
    base: Sequence[float], other: Sequence[float], level: float = 0.95
) -> tuple[float, float, float] | None:
    """Ratio of two rates with its interval, repetitions as pairs; None of fewer than three."""
    return interval_of([b / a if a > 0 else None for a, b in zip(base, other, strict=False)], level)


def _faster(name: str, base: str, ratio: tuple[float, float, float], level: float) -> str:
    centre, low, high = (significant(value) for value in ratio)
    interval = f"{100 * level:.4g} % interval {low} to {high}"
    if ratio[1] <= 1 <= ratio[2]:
        return f"no difference is shown ({centre} times the rate, {interval})."
    return f"{name} has {centre} times the rate of {base} ({interval})."


def _registration_chart(summaries: Sequence[OperationSummary], interface: InterfaceFacts) -> list[Chart]:
    """The fits T = a · p + b of the domains that were calibrated in the run."""
    fits: dict[str, Fit] = {}
    for summary in summaries:
        domain, facts = (
            str(summary.case.interface.get("registration", "none")),
            interface.of_operation(summary),
        )
        if domain not in fits and "register_us_per_page" in facts and "register_us" in facts:
            fits[domain] = Fit(domain, _first(facts["register_us_per_page"]), _first(facts["register_us"]))
    known = [fit for fit in fits.values() if fit.us_per_page > 0 and fit.us > 0]
    return [registration_chart(known)] if known else []


def registration_chart(fits: Sequence[Fit]) -> Chart:
    """Time to register against pages, a line for each domain."""
    named = [replace(fit, name=f"{fit.name}: T = {fit.us_per_page:.3g} p + {fit.us:.3g} µs") for fit in fits]
    drawing = svg.draw(
        registration_fit.figure(named), "Line chart of the time to register memory against its pages."
    )
    points = "points: measured times" if any(fit.samples for fit in fits) else "the points mark its ends"
    caption = f"A line for each domain is the fit T = a · p + b; {points}. Both axes are logarithmic."
    return Chart("Cost of memory registration", caption, drawing, "registration")


def fits_of(domains: Iterable[dict[str, Any]]) -> list[Fit]:
    """Returns the fits of `strider listio registration --json`, without unavailable domains."""
    return [
        Fit(
            str(one["domain"]),
            one["register"]["us_per_page"],
            one["register"]["us"],
            [(sample["pages"], sample["register_us"]) for sample in one["samples"]],
        )
        for one in domains
        if not one["problem"]
    ]


def _first(text: str) -> float:
    """The number before ± in a fact; NaN where there is none."""
    try:
        return float(text.partition("±")[0])
    except ValueError:
        return math.nan


def _registrations(
    summaries: Sequence[OperationSummary], facets: Facets, facts: InterfaceFacts, reference: Reference | None
) -> Table | None:
    """Returns the table of registration methods: rate relative to no registration, and published shares."""
    if all(summary.case.interface.get("registration", "none") == "none" for summary in summaries):
        return None
    ideals = {_alike(s): s for s in summaries if s.case.interface.get("registration", "none") == "none"}

    def share(summary: OperationSummary) -> str:
        ideal = ideals.get(_alike(summary))
        found = _ratio_of(ideal.rates, summary.rates) if ideal else None
        if ideal is summary or found is None:
            return "100" if ideal is summary else NOTHING
        return f"{100 * found[0]:.0f} ({100 * found[1]:.0f}–{100 * found[2]:.0f})"

    def published_share(summary: OperationSummary) -> str:
        ideal = ideals.get(_alike(summary))
        own, best = published(summary), published(ideal) if ideal else None
        return f"{100 * own / best:.0f}" if own and best else NOTHING

    def measured(summary: OperationSummary) -> float | None:
        return summary.rate.centre * MIB / MB if summary.rate else None

    def published(summary: OperationSummary) -> float | None:
        return reference.figure_mb_s(summary.case, summary.operation) if reference else None

    def fact(name: str) -> Cell:
        return lambda s: _grouped(facts.count(s, name))

    def packed(summary: OperationSummary) -> str:
        """Lists that were packed because they could not be registered."""
        failed = facts.count(summary, "registration_failures")
        return _grouped(facts.count(summary, "lists_packed") if failed else None)

    columns: dict[tuple[str, str], Cell] = {
        ("conditions", ""): lambda s: facets.group[s.case.number],
        ("operation", ""): lambda s: s.operation,
        ("domain", ""): lambda s: str(s.case.interface.get("registration", "none")),
        ("strategy", ""): lambda s: _strategy(s),
        ("mean", "MB/s"): lambda s: significant(measured(s)),
        ("of the ideal", "% (95 % interval)"): share,
        **(
            {
                ("published", "MB/s"): lambda s: significant(published(s)),
                ("published: of the ideal", "%"): published_share,
            }
            if reference and reference.knows(summaries)
            else {}
        ),
        ("registrations", ""): fact("registrations"),
        ("failed", ""): fact("registration_failures"),
        ("lists packed", ""): packed,
        ("pages", ""): fact("registered_pages"),
        ("hole pages", ""): fact("hole_pages"),
        ("kernel queries", ""): fact("hole_queries"),
        ("time registering", "ms"): lambda s: significant(
            _milliseconds(facts.of_operation(s).get("registration_us"))
        ),
        ("why not registered", ""): lambda s: _problem(facts.of_operation(s)),
    }
    caption = "Memory registration: rates of all clients; counts of the first client in the first repetition"
    return _table(caption, columns, sorted(summaries, key=lambda s: _group_of(s, facets)), labels=4)


def _problem(facts: Mapping[str, str]) -> str:
    """Returns why memory could not be registered, without the address, which differs in each process."""
    return re.sub(
        r"\d+ bytes at 0x[0-9a-f]+ of (\d+ pieces)", r"\1", facts.get("registration_problem", NOTHING)
    )


def _alike(summary: OperationSummary) -> tuple[str, ...]:
    """Returns the key shared by cases that differ only in memory registration."""
    case = summary.case
    other = {
        key: value
        for key, value in case.interface.items()
        if key not in ("registration", "strategy", "unregistered")
    }
    return tuple(
        map(str, (case.name, summary.operation, case.clients, case.common_parameters, case.pattern, other))
    )


def _strategy(summary: OperationSummary) -> str:
    interface = summary.case.interface
    if interface.get("registration", "none") == "none":
        return "ideal"
    return str(interface.get("strategy", ""))


def _group_of(summary: OperationSummary, facets: Facets) -> int:
    return list(dict.fromkeys(facets.group.values())).index(facets.group[summary.case.number])


def _totals(
    summaries: Sequence[OperationSummary], facets: Facets, facts: InterfaceFacts, reference: Reference | None
) -> Table | None:
    """Each case with all its operations together, also those through other interfaces on the same pattern."""
    patterns = {s.case.shape_name for s in summaries if s.case.interface_name == _INTERFACE}
    by_case: defaultdict[int, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        if summary.case.shape_name in patterns and summary.times is not None:
            by_case[summary.case.number].append(summary)
    calls = {
        s[0].case.interface.get("calls") for s in by_case.values() if s[0].case.interface_name == _INTERFACE
    }
    if len(calls) < 2:
        return None
    unit = time_unit([s.times.elapsed_s for own in by_case.values() for s in own if s.times])
    several = len({facets.group[number] for number in by_case}) > 1
    head = [("interface", ""), ("operations", ""), ("time", unit.name)]
    head += [
        (name, "")
        for name in ("requests", "messages", "bytes on the wire", "network operations", "registrations")
    ]
    figures = {number: _published_requests(own, reference) for number, own in by_case.items()}
    known = any(figures.values())
    if known and reference:
        head.insert(4, (f"requests published: {reference.machine}, {reference.year}", ""))
    rows = []
    for number, own in by_case.items():
        sums = {
            name: _sum(own, name, facts)
            for name in ("requests", "messages", "wire_bytes", "network_operations", "registrations")
        }
        moved = sums["wire_bytes"]
        row = [
            *([facets.group[number]] if several else []),
            facets.series[number],
            " and ".join(summary.operation for summary in own),
            unit.format(sum(summary.times.elapsed_s for summary in own if summary.times)),
            _grouped(sums["requests"]),
            *([_grouped(figures[number])] if known else []),
            _grouped(sums["messages"]),
            NOTHING if moved is None else format_bytes_rounded(moved),
            _grouped(sums["network_operations"]),
            _grouped(sums["registrations"]),
        ]
        rows.append(row)
    columns = [("pattern", "")] * several + head
    caption = "All operations of a case: mean time; counts of the first client"
    return _without_empty(Table(caption, columns, rows, labels=2 + several))


def _published_requests(summaries: Sequence[OperationSummary], reference: Reference | None) -> int | None:
    return reference.requests(summaries[0].case) if reference else None


def _sum(summaries: Sequence[OperationSummary], name: str, facts: InterfaceFacts) -> int | None:
    counts = [facts.count(summary, name) for summary in summaries]
    return sum(count for count in counts if count is not None) if None not in counts else None


def _servers(summaries: Sequence[OperationSummary], facets: Facets, facts: InterfaceFacts) -> Table | None:
    """Returns the server requests of the first client by operation."""

    def fact(name: str) -> Cell:
        return lambda s: _grouped(facts.count(s, name))

    def wire(summary: OperationSummary) -> str:
        moved = facts.count(summary, "wire_bytes")
        return NOTHING if moved is None else format_bytes_rounded(moved)

    several = len({facets.group[summary.case.number] for summary in summaries}) > 1
    pattern: dict[tuple[str, str], Cell] = (
        {("pattern", ""): lambda s: facets.group[s.case.number]} if several else {}
    )
    columns: dict[tuple[str, str], Cell] = {
        **pattern,
        ("operation", ""): lambda s: s.operation,
        ("transfer", ""): lambda s: format_bytes(s.case.transfer_bytes) if s.case.transfer_bytes else NOTHING,
        ("interface", ""): lambda s: facets.series[s.case.number],
        ("calls", ""): fact("calls"),
        ("requests", ""): fact("requests"),
        ("messages", ""): fact("messages"),
        ("bytes on the wire", ""): wire,
        ("network operations", ""): fact("network_operations"),
        ("pieces", ""): fact("network_pieces"),
        ("lists gathered", ""): fact("lists_gathered"),
        ("lists packed", ""): fact("lists_packed"),
        ("lists by piece", ""): fact("lists_by_piece"),
    }
    reported = [summary for summary in summaries if facts.of_operation(summary)]
    caption = "Server requests of the first client in the first repetition"
    return _table(caption, columns, reported, labels=3 + several) if reported else None


def _table(
    caption: str, columns: dict[tuple[str, str], Cell], summaries: Sequence[OperationSummary], labels: int
) -> Table:
    rows = [[cell(summary) for cell in columns.values()] for summary in summaries]
    return _without_empty(
        Table(caption, list(columns), rows, labels, section_starts([row[0] for row in rows]))
    )


def _without_empty(table: Table) -> Table:
    """Returns the table without empty columns."""
    columns = range(len(table.columns))
    has_values = [any(row[column] != NOTHING for row in table.rows) for column in columns]
    return table.with_columns([column for column in columns if column < table.labels or has_values[column]])


def _milliseconds(us: str | None) -> float | None:
    value = _first(us or "")
    return None if math.isnan(value) else value / 1000


def _grouped(count: int | None) -> str:
    return NOTHING if count is None else grouped(count)


SECTION = Section("listio", "List I/O", _page, applies=lambda results: bool(_own(results)))

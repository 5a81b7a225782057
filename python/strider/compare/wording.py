"""Rows of a comparison as texts, for the terminal and for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strider.compare.judge import SIGNIFICANT
from strider.compare.metrics import Metric
from strider.compare.model import Comparison, Measured, Overall, Row, Verdict
from strider.report.words.numbers import NOTHING, TimeUnit, significant, time_unit
from strider.units import grouped

MARKS: Mapping[Verdict, str] = {
    "faster": "▲",
    "slower": "▼",
    "no difference shown": "=",
    "no verdict": "?",
    "not comparable": "–",
}
"""Signs before the verdicts, so that they can be read without colours."""

#: From this ratio on, and below its inverse, a factor says more than a percentage.
_FACTOR = 2.0
#: Reasons for no verdict that are counted below a table, each.
_MOST_REASONS = 3


@dataclass(frozen=True)
class Column:
    """A column: its heading, the unit below it, the text of a row."""

    name: str
    unit: str
    cell: Callable[[Row], str]


def change_text(ratio: float, *, is_factor: bool | None = None) -> str:
    """A ratio as a change: `+3.2 %`, `-12 %`, `× 2.9`.

    Args:
        ratio: The ratio.
        is_factor: Whether it is written as a factor; None: where that says more.
    """
    if ratio >= _FACTOR if is_factor is None else is_factor:
        return f"× {significant(ratio)}"
    change = 100 * (ratio - 1)
    digits = 1 if abs(change) < 9.95 else 0
    return f"{change:+.{digits}f} %".replace("-", "−")


def interval_text(row: Row) -> str:
    """The interval of a row's change, at the level of the row."""
    if row.change is None:
        return NOTHING
    return _interval(row.change.low, row.change.high)


def _change(row: Row) -> str:
    """The change of a row, in the unit of its interval."""
    change = row.change
    if change is None:
        return NOTHING
    return change_text(change.ratio, is_factor=max(change.ratio, change.high) >= _FACTOR)


def _interval(low: float, high: float) -> str:
    """Both ends of an interval in one unit: factors if one of them is written as a factor."""
    is_factor = high >= _FACTOR
    return f"{change_text(low, is_factor=is_factor)} … {change_text(high, is_factor=is_factor)}"


def verdict_text(row: Row) -> str:
    """The verdict with its sign."""
    return f"{MARKS[row.verdict]} {row.verdict}"


def remark_text(row: Row) -> str:
    """Why a row cannot be compared, or what else is to be known of it."""
    return "; ".join([row.reason, *row.notes] if row.reason else row.notes)


def p_text(p_value: float) -> str:
    """A probability: `0.032`, `< 0.001`; nothing where there is none."""
    if p_value != p_value:
        return NOTHING
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}" if p_value < 0.995 else "1"


def count_text(row: Row) -> str:
    """How many measurements were compared: one number for pairs, else one for each side."""
    if row.change is not None and row.change.method.startswith("paired"):
        return f"{row.change.n} pairs"
    if row.change is not None and row.change.method == "by history":
        return f"{row.change.n} earlier runs"
    sides = (row.base, row.other)
    counts = [
        str(side.distribution.n if side.distribution else 0) if side is not None else NOTHING
        for side in sides
    ]
    return counts[0] if counts[0] == counts[1] else " and ".join(counts)


def title(comparison: Comparison) -> str:
    """The compared variable, in a few words."""
    names = [side.label for side in comparison.sides]
    base, *others = names
    return f"{', '.join(others)} compared with {base}"


def counts_text(comparison: Comparison) -> str:
    """How many rows got which verdict, and how it was found, in a sentence."""
    found = [f"{count} {verdict}" for verdict, count in comparison.counts.items() if count]
    level = (
        f" (expected false discovery rate: at most {100 * SIGNIFICANT:g} %; Benjamini-Hochberg "
        f"correction for {comparison.judged} comparisons)"
        if comparison.judged > 1
        else ""
    )
    threshold = (
        f" Only changes shown to exceed {100 * comparison.threshold:g} % count as differences."
        if comparison.threshold
        else ""
    )
    grades = _grades(comparison)
    grade = f" Grade of all comparisons: {grades[0]}." if len(grades) == 1 else ""
    reasons = _reasons_text(comparison)
    return f"{', '.join(found) or 'Nothing to compare'}{level}.{threshold}{reasons}{grade}"


def overall_text(overall: Overall, threshold: float = 0.0) -> str:
    """The whole suite in a sentence, such as `Over all 24 operations B is 2.1 % slower (…)`."""
    change = overall.change
    noun = "rounds" if change.method == "paired by round" else "pairs of runs"
    scope = f"Over all {overall.rows} operations"
    facts = f"{round(100 * change.level)} % interval {{}}, {change.n} {noun}, grade {overall.trust.grade}"
    what = "" if overall.metric.name == "rate" else f"{overall.metric.name} of "
    if overall.verdict not in ("faster", "slower"):
        beyond = f" beyond {100 * threshold:g} %" if threshold else ""
        interval = _interval(change.low, change.high)
        name = what or "the rate of "
        return (
            f"{scope} no difference{beyond} is shown: {name}{overall.other} changes by "
            f"{change_text(change.ratio)} ({facts.format(interval)})."
        )
    if not 1 / _FACTOR < change.ratio < _FACTOR:
        ends = f"{significant(change.low)}–{significant(change.high)}"
        size = f"{significant(change.ratio)} times as {'high' if what else 'fast'}"
        return f"{scope} {what}{overall.other} is {size} ({facts.format(ends)})."
    size, interval = _percents(change.ratio, change.low, change.high)
    word = overall.verdict if not what else "higher" if change.ratio > 1 else "lower"
    return f"{scope} {what}{overall.other} is {size} {word} ({facts.format(interval)})."


def _percents(ratio: float, low: float, high: float) -> tuple[str, str]:
    """A ratio and its interval without a sign: `2.1 %` and `1.4–2.8 %`."""
    ends = sorted(100 * (one - 1 if ratio > 1 else 1 - one) for one in (low, high))
    digits = 1 if ends[1] < 9.95 else 0
    return f"{abs(100 * (ratio - 1)):.{digits}f} %", f"{ends[0]:.{digits}f}–{ends[1]:.{digits}f} %"


def trust_text(row: Row) -> str:
    """The grade of a row with its reason: `A`, `B 4 pairs`; nothing where nothing was compared."""
    return NOTHING if row.trust is None else " ".join([row.trust.grade, ", ".join(row.trust.reasons)]).strip()


def constants_text(comparison: Comparison) -> str:
    """What all rows have in common; empty where there is nothing."""
    return " · ".join(f"{name} {value}" for name, value in comparison.constants)


def label_columns(comparison: Comparison) -> list[Column]:
    """The differences between rows; equal parameters are left out, but the operation stays."""
    rows = comparison.rows
    names = dict.fromkeys(name for row in rows for name in row.labels)

    def label(name: str) -> Callable[[Row], str]:
        return lambda row: row.labels.get(name, NOTHING)

    columns = [
        Column(name, "", label(name))
        for name in names
        if name == "operation" or len({row.labels.get(name) for row in rows}) > 1
    ]
    if len(comparison.metrics) > 1:
        columns.append(Column("metric", "", lambda row: row.metric.name))
    if len(comparison.sides) > 2:
        columns.append(Column(comparison.by, "", lambda row: row.other.label if row.other else NOTHING))
    return columns


class Values:
    """How values are written: one unit for all rows of a metric."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Chooses a unit for each metric of time."""
        typical: dict[str, list[float]] = {}
        for row in rows:
            for side in (row.base, row.other):
                if side is not None and side.typical is not None and row.metric.unit == "s":
                    typical.setdefault(row.metric.name, []).append(side.typical)
        self._times = {name: time_unit(values) for name, values in typical.items()}
        self._units = {self.unit(row) for row in rows}

    def unit(self, row: Row) -> str:
        """The unit in which a row's values are written."""
        return self._time(row.metric).name if row.metric.unit == "s" else row.unit

    @property
    def common_unit(self) -> str:
        """The unit of all rows; empty where they differ, so that each cell has to say its own."""
        return next(iter(self._units)) if len(self._units) == 1 else ""

    def value(self, row: Row, value: float | None) -> str:
        """A value of a row, with its unit where rows have different ones."""
        if value is None or value != value:
            return NOTHING
        if row.metric.unit == "s":
            text = self._time(row.metric).format(value)
        else:
            text = grouped(value) if row.unit == "op/s" else significant(value)
        return text if self.common_unit else f"{text} {self.unit(row)}"

    def typical(self, row: Row, side: Measured | None) -> str:
        """The typical value of a side of a row."""
        return self.value(row, side.typical if side else None)

    def _time(self, metric: Metric) -> TimeUnit:
        return self._times.get(metric.name, TimeUnit("s", 1.0))


def result_columns(comparison: Comparison, values: Values) -> list[Column]:
    """Both sides, the change, the verdict, and how sure it is."""
    sides = comparison.sides
    other = sides[1].label if len(sides) == 2 else "other"
    unit = f"geo. mean\n{values.common_unit}".rstrip()
    return [
        Column(sides[0].label, unit, lambda row: values.typical(row, row.base)),
        Column(other, unit, lambda row: values.typical(row, row.other)),
        Column("change", "", _change),
        Column(_interval_name(comparison), "", interval_text),
        Column("verdict", "", verdict_text),
        Column("p", "adjusted", lambda row: p_text(row.change.p_adjusted) if row.change else NOTHING),
        *([Column("grade", "", trust_text)] if len(_grades(comparison)) > 1 else []),
        Column("n", "", count_text),
        Column("remarks", "", _remarks_of),
    ]


def _grades(comparison: Comparison) -> list[str]:
    """The grades of the rows, each once."""
    return list(dict.fromkeys(trust_text(row) for row in comparison.rows if row.trust is not None))


def _interval_name(comparison: Comparison) -> str:
    """The heading of the intervals: those of named rows may be at another level, which a remark gives."""
    levels = {round(row.change.level, 4) for row in comparison.rows if row.change}
    return "95 % interval" if levels <= {0.95} else "interval"


def _remarks_of(row: Row) -> str:
    """The remarks of a row; why rows have no verdict is in their grade, and counted below the table."""
    return "; ".join(row.notes) if row.verdict == "no verdict" else remark_text(row)


def _reasons_text(comparison: Comparison) -> str:
    """Why rows have no verdict, the most frequent reasons first, in a sentence.

    Empty where there is one reason: the grade of all comparisons and the remarks give it.
    """
    found = Counter(row.reason for row in comparison.rows if row.verdict == "no verdict" and row.reason)
    if len(found) < 2:
        return ""
    known = found.most_common(_MOST_REASONS)
    counts = [f"{reason} ({count})" for reason, count in known]
    others = found.total() - sum(count for _, count in known)
    return f" No verdict because: {'; '.join([*counts, *([f'others ({others})'] if others else [])])}."

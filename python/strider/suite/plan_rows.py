"""The text of a plan: a row for each case, the common parameters, the totals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from strider.engine import CheckedCase, Description, Json, Parameter, ParameterKind
from strider.suite.checked import CheckedPlan
from strider.suite.estimate import ERROR, RUN_S, AssumedRates, Estimate, estimate
from strider.suite.plan import PlannedCase
from strider.suite.values import AUTO, SIZE_KEYS
from strider.suite.vocabulary import Vocabulary, Workload
from strider.units import format_bytes, format_bytes_rounded, format_seconds, grouped

Cell = Callable[[PlannedCase, CheckedCase], str]
Side = Literal["left", "right"]


@dataclass(frozen=True)
class _Column:
    """A column: its name, its text for a case, and the side of the text."""

    header: str
    cell: Cell
    justify: Side = "left"


@dataclass(frozen=True)
class PlanTable:
    """The cases of one kind.

    Attributes:
        common: Equal values of all rows, in words; empty if there are none.
        headers: Of the columns, each with the side on which its texts stand.
        rows: A text for each column.
    """

    common: str
    headers: list[tuple[str, Side]]
    rows: list[list[str]]


def tables(checked: CheckedPlan, description: Description) -> list[PlanTable]:
    """A table for the cases of data and one for those of metadata, where there are such.

    Args:
        checked: The plan and its needs.
        description: The engine's description; parameters at their default are not shown.
    """
    vocabulary = Vocabulary.of(description)
    data = [(case, needs) for case, needs in checked.cases if not case.tree]
    metadata = [(case, needs) for case, needs in checked.cases if case.tree]
    found = [_plan_table(data, _columns_of_data(vocabulary, data))] if data else []
    return found + ([_plan_table(metadata, _columns_of_metadata(vocabulary))] if metadata else [])


def _plan_table(cases: list[tuple[PlannedCase, CheckedCase]], columns: list[_Column]) -> PlanTable:
    rows = [[column.cell(case, needs) for column in columns] for case, needs in cases]
    # Show constant columns once, to leave room for the others.
    same = [len(rows) > 1 and len({row[index] for row in rows}) == 1 for index in range(len(columns))]
    common = [f"{column.header} {rows[0][i]}" for i, column in enumerate(columns) if same[i] and rows[0][i]]
    kind = " of metadata" if cases[0][0].tree else ""
    kept = [i for i in range(len(columns)) if not same[i] and any(row[i] for row in rows)]
    return PlanTable(
        f"all cases{kind}: {'; '.join(common)}" if common else "",
        [(columns[i].header, columns[i].justify) for i in kept],
        [[row[i] for i in kept] for row in rows],
    )


def _first_columns(vocabulary: Vocabulary) -> list[_Column]:
    return [
        _Column("case", lambda case, _: str(case.case), "right"),
        _Column("name", lambda case, _: case.name),
        _Column("interface", lambda case, _: _interface(case, vocabulary)),
    ]


def _repetitions() -> _Column:
    return _Column(
        "repetitions", lambda case, _: _range(str(case.repetitions.min), str(case.repetitions.max)), "right"
    )


def _columns_of_metadata(vocabulary: Vocabulary) -> list[_Column]:
    workload = vocabulary.metadata
    return [
        *_first_columns(vocabulary),
        _Column("tree", lambda case, _: _tree(case, workload)),
        _Column("clients", lambda case, _: str(case.clients), "right"),
        _Column("sharing", lambda case, _: str(case.get("sharing", ""))),
        _Column("order", lambda case, _: str(case.get("order", ""))),
        _Column("further", lambda case, _: _further(case, workload)),
        _Column("operations", lambda case, _: ", ".join(case.operations)),
        _repetitions(),
        _Column("items", lambda _, needs: grouped(needs.files), "right"),
        _Column("directories", lambda _, needs: grouped(needs.directories), "right"),
        _Column("requests", lambda _, needs: grouped(sum(phase.requests for phase in needs.phases)), "right"),
    ]


def _columns_of_data(vocabulary: Vocabulary, cases: list[tuple[PlannedCase, CheckedCase]]) -> list[_Column]:
    return [
        *_first_columns(vocabulary),
        _Column("pattern", lambda case, _: str(case.pattern["name"])),
        _Column("transfer", lambda case, needs: format_bytes(_transfer(case, needs)), "right"),
        *_columns_of_patterns(vocabulary.data, cases),
        _Column("clients", lambda case, _: str(case.clients), "right"),
        _Column("sharing", lambda case, _: str(case.get("sharing", ""))),
        _Column("order", lambda case, _: str(case.get("order", ""))),
        _Column("further", lambda case, _: _further(case, vocabulary.data)),
        _Column("operations", lambda case, _: ", ".join(case.operations)),
        _repetitions(),
        _Column(
            "data per repetition",
            _data_per_repetition,
            "right",
        ),
        _Column("files", lambda _, needs: str(needs.files), "right"),
    ]


def _columns_of_patterns(workload: Workload, cases: list[tuple[PlannedCase, CheckedCase]]) -> list[_Column]:
    """A column for each further parameter of the patterns that some case has not at its default."""
    used = [(case.pattern, workload.shapes[str(case.pattern["name"])].parameters) for case, _ in cases]
    kinds = {
        parameter.name: parameter.kind
        for pattern, parameters in used
        for parameter in parameters
        if pattern.get(parameter.name, parameter.default) != parameter.default
    }
    return [_parameter_column(name, kind) for name, kind in kinds.items() if name != "transfer"]


def _parameter_column(name: str, kind: ParameterKind) -> _Column:
    return _Column(
        name, lambda case, _: _word(case.pattern[name], kind) if name in case.pattern else "", "right"
    )


def _data_per_repetition(case: PlannedCase, needs: CheckedCase) -> str:
    """`64 MiB`, `at most 64 MiB` with a deadline, or `32 MiB a pass` with a runtime; empty if it is open."""
    if _is_open(case):
        return ""
    if not case.get("runtime"):
        size = format_bytes_rounded(sum(phase.bytes for phase in needs.phases))
        return f"at most {size}" if case.get("deadline") else size
    return f"{format_bytes_rounded(max(phase.bytes for phase in needs.phases))} a pass"


def _is_open(case: PlannedCase) -> bool:
    """Returns whether a probe chooses the size of a case."""
    return any(case.pattern.get(key) == AUTO for key in SIZE_KEYS)


def _transfer(case: PlannedCase, needs: CheckedCase) -> int:
    transfer = case.pattern.get("transfer")
    return transfer if isinstance(transfer, int) else needs.request_bytes


def _interface(case: PlannedCase, vocabulary: Vocabulary) -> str:
    """`posix`, or `posix direct`: the options that are not the default."""
    name = str(case.interface["name"])
    return " ".join([name, *_unusual(vocabulary.interfaces[name].parameters, case.interface)])


def _tree(case: PlannedCase, workload: Workload) -> str:
    """`balanced items=1000, depth=2`: the tree with its values that are not the default."""
    name = str(case.tree["name"])
    return " ".join([name, ", ".join(_unusual(workload.shapes[name].parameters, case.tree))])


def _further(case: PlannedCase, workload: Workload) -> str:
    """Common parameters that have no column of their own and are not the default."""
    shown = ("clients", "operations", "repetitions", "order", "sharing", "seed")
    parameters = [parameter for name, parameter in workload.common.items() if name not in shown]
    return ", ".join(_unusual(parameters, case.model_extra or {}))


def _unusual(parameters: list[Parameter], values: dict[str, Json]) -> list[str]:
    words = []
    for parameter in parameters:
        value = values.get(parameter.name, parameter.default)
        if value != parameter.default:
            text = _word(value, parameter.kind)
            words.append(parameter.name if value is True else f"{parameter.name}={text}")
    return words


def _word(value: Json, kind: ParameterKind) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and kind == "bytes":
        return format_bytes(value)
    if isinstance(value, int | float) and kind == "seconds":
        return f"{value:g} s" if value >= 0.1 else format_seconds(value)
    if isinstance(value, dict):
        return ",".join(f"{key}:{inner}" for key, inner in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def totals(
    checked: CheckedPlan, rates: AssumedRates, bytes_option: str = "", operations_option: str = ""
) -> list[str]:
    """Returns sentences on the work, needs and duration of a plan, and on a time limit that is too short.

    Args:
        checked: The plan and its needs.
        rates: Rates that the time estimate assumes.
        bytes_option: How a user says another rate of bytes, said beside it.
        operations_option: The same for operations.

    Where sizes are open, work and needs are unknown: then there is the first sentence alone, without them.
    """
    plan, total = checked.suite.plan, estimate(checked, rates)
    is_open = any(map(_is_open, plan.cases))
    phases = _range(str(total.phases), str(total.phases_most)) + (
        " phase" if total.phases == 1 else " phases"
    )
    space = format_bytes_rounded(total.space_bytes)
    ranks = _number(plan.ranks, "rank")
    kinds = {bool(case.tree) for case in plan.cases}
    done = []
    if False in kinds:
        moved = _range(format_bytes_rounded(total.bytes), format_bytes_rounded(total.bytes_most))
        done.append(f"{moved} transferred in total")
    if total.prepared_bytes:
        most = format_bytes_rounded(total.prepared_bytes_most)
        done.append(f"{_range(format_bytes_rounded(total.prepared_bytes), most)} to create and check files")
    if True in kinds:
        requests = _range(grouped(total.requests), grouped(total.requests_most))
        done.append(f"{requests} metadata operations in total")
    if is_open:
        return [f"{_number(len(plan.cases), 'case')}, {phases} on {ranks}"]
    return [
        f"{_number(len(plan.cases), 'case')}, {phases} on {ranks}, {', '.join(done)}",
        f"needs {space} and {_number(total.files, 'file')} in {plan.target or 'the target'} at the same time",
        _duration(total, kinds, rates, bytes_option, operations_option),
        *_time_limit(plan.time_limit_s, total),
    ]


def _time_limit(limit_s: float, total: Estimate) -> list[str]:
    """Returns a sentence if the time limit is shorter than the estimate of all repetitions."""
    # The limit counts from the start of the engine: launching and the report are not part of it.
    if not 0 < limit_s < total.seconds_most:
        return []
    limit = format_seconds(limit_s)
    if limit_s >= total.seconds:
        return [f"the time limit of {limit} may end the run before the maximum number of repetitions"]
    return [f"the time limit of {limit} is shorter: it will probably end the run before all repetitions"]


def _duration(
    total: Estimate, kinds: set[bool], rates: AssumedRates, bytes_option: str, operations_option: str
) -> str:
    """Returns the sentence on the time of a run, with its assumptions and its uncertainty."""
    least, most = total.seconds + RUN_S, total.seconds_most + RUN_S
    time = _range(format_seconds(least), format_seconds(most))
    probed, assumed = rates.probed, []
    if probed:
        assumed = [
            f"writes {format_bytes_rounded(round(probed.write_s))}/s",
            f"reads {format_bytes_rounded(round(probed.read_s))}/s",
            f"reads {format_bytes_rounded(round(probed.cached_read_s))}/s from memory",
            f"does {grouped(rates.operations_s)} metadata operations/s",
        ]
        between = f"{format_seconds(least / ERROR)} to {format_seconds(most * ERROR)}"
        return f"takes about {time} ({between}); a probe {', '.join(assumed)}"
    if False in kinds:
        assumed.append(f"transfers {format_bytes(rates.bytes_s)}/s{_aside(bytes_option)}")
    if True in kinds:
        assumed.append(f"does {grouped(rates.operations_s)} operations/s{_aside(operations_option)}")
    return f"takes about {time}, if the target {' and '.join(assumed)}"


def _aside(text: str) -> str:
    return f" ({text})" if text else ""


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _range(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"

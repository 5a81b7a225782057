"""The meaning of a suite's form and text: the view of the form, the mistakes, and the plan.

All of it is asked of `strider.suite` and the engine; a mistake here is the same as on the command line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from strider.datasets import bind
from strider.engine import Json
from strider.errors import StriderError
from strider.launch.job_limits import memory
from strider.suite import Changes, CheckedPlan, check
from strider.suite.changes import selection
from strider.suite.document import Document, parse
from strider.suite.estimate import AssumedRates
from strider.suite.keys import resolve
from strider.suite.load import build
from strider.suite.mistakes import SuiteError
from strider.suite.plan_rows import tables, totals
from strider.suite.positions import Positions
from strider.suite.sizes import Node, choose, with_sizes
from strider.suite.vocabulary import SHAPE_KEYS, SUITE_PARAMETERS, Vocabulary
from strider.units import MIB, format_bytes_rounded
from strider.web.fields import to_text
from strider.web.site import Site, confined_target

NAME = "suite.toml"
"""What messages call the text."""
_USUAL = AssumedRates(200 * MIB, 10_000)
MOST_ROWS = 200
"""Rows of a plan that a page shows."""


@dataclass(frozen=True)
class Mistake:
    """Something wrong in a suite.

    Attributes:
        line: Where it stands, from 1.
        message: The mistake and its remedy.
        case: Index of the `[[case]]` at fault; None where it is `[suite]` or nothing of either.
        key: The key at fault, such as `posix.direct`; empty where it is unknown.
    """

    line: int
    message: str
    case: int | None = None
    key: str = ""


def checked_plan(text: str, site: Site) -> CheckedPlan:
    """The plan of a suite's text.

    Raises:
        SuiteError: The suite has mistakes.
    """
    return _checked(parse(text, NAME), site)


def _checked(document: Document, site: Site) -> CheckedPlan:
    """Checks a suite. A size that is "auto" has a stand-in for a usual rate, because nothing is measured."""
    suite = build(document, site.engine.description, Changes(), "optional")
    node = Node(memory().total_bytes)
    sizes = choose(suite, site.engine, node, lambda _: _USUAL, site.policy)
    return check(with_sizes(suite, sizes), site.engine, site.policy)


def answer(text: str, rates: AssumedRates, site: Site) -> dict[str, Json]:
    """Everything that the page shows of a suite's text.

    Args:
        text: The suite.
        rates: Rates that the time estimate assumes.
        site: The ground.

    Returns:
        `text`; `form`, None where the text is no TOML; `mistakes`; `plan`, None where there are some.
    """
    try:
        document = parse(text, NAME)
    except SuiteError as error:
        mistakes = [Mistake(place.line, message) for place, message in error.found]
        return _answer(text, None, mistakes, None)
    form = form_of(document, site.vocabulary)
    try:
        checked = _checked(document, site)
    except SuiteError as error:
        mistakes = [
            _mistake(place.line, message, document.lines, site.vocabulary) for place, message in error.found
        ]
        return _answer(text, form, mistakes, None)
    return _answer(text, form, [], plan_view(checked, rates, site))


def _answer(text: str, form: Json, mistakes: list[Mistake], plan: Json) -> dict[str, Json]:
    return {"text": text, "form": form, "mistakes": [vars(one) for one in mistakes], "plan": plan}


def _mistake(line: int, message: str, lines: Positions, vocabulary: Vocabulary) -> Mistake:
    """A mistake with the field at fault, as far as its line shows it."""
    values = [path for path, at in lines.values.items() if at == line]
    heads = [path for path, at in lines.keys.items() if at == line]
    path = min(values, key=len) if values else max(heads, key=len, default=())
    if path[:1] == ("suite",):
        return Mistake(line, message, None, ".".join(map(str, path[1:2])))
    if len(path) >= 2 and path[0] == "case" and isinstance(path[1], int):
        # Values inside of a list or a table have no field of their own, except the options of interfaces.
        names = path[2 : 4 if path[2:3] and path[2] in vocabulary.interfaces else 3]
        return Mistake(line, message, path[1], ".".join(map(str, names)))
    return Mistake(line, message)


def form_of(document: Document, vocabulary: Vocabulary) -> dict[str, Json]:
    """The suite as texts of fields."""
    suite = document.data.get("suite")
    suite = suite if isinstance(suite, dict) else {}
    common = {key: one for workload in vocabulary.workloads for key, one in workload.common.items()}
    parameters = {**common, **SUITE_PARAMETERS}
    return {
        "suite": {key: to_text(parameters.get(key), value) for key, value in suite.items()},
        "cases": [_case_of(index, table, vocabulary) for index, table in document.cases()],
    }


def _case_of(index: int, table: dict[str, Json], vocabulary: Vocabulary) -> dict[str, Json]:
    used = selection(table, vocabulary)
    values: dict[str, str] = {}
    for key, value in _flat(table, vocabulary):
        try:
            values[key] = to_text(resolve(key, used, vocabulary), value)
        except ValueError:
            values[key] = to_text(None, value)
    zipped = table.get("zip")
    return {
        "index": index,
        "shape": used.workload.key,
        "interfaces": _names(table.get("interface")),
        "shapes": _names(table.get(used.workload.key)),
        "name": str(table.get("name", "")),
        "values": values,
        "zipped": list(zipped) if isinstance(zipped, dict) else [],
    }


def _flat(table: dict[str, Json], vocabulary: Vocabulary) -> Iterator[tuple[str, Json]]:
    """The keys of a case that have a field, options as `posix.direct`."""
    for key, value in table.items():
        if key in vocabulary.interfaces and isinstance(value, dict):
            yield from ((f"{key}.{option}", inner) for option, inner in value.items())
        elif key not in ("name", "interface", "zip", *SHAPE_KEYS):
            yield key, value


def _names(value: Json) -> list[str]:
    return [str(name) for name in (value if isinstance(value, list) else [value] if value else [])]


def plan_view(checked: CheckedPlan, rates: AssumedRates, site: Site) -> dict[str, Json]:
    """The plan as the page shows it, in words."""
    from strider.launch.display import case_title

    plan = checked.suite.plan
    rooms = MOST_ROWS
    shown = []
    for table in tables(checked, site.engine.description):
        shown.append(
            {"common": table.common, "headers": [list(h) for h in table.headers], "rows": table.rows[:rooms]}
        )
        rooms -= len(shown[-1]["rows"])
    return {
        "tables": shown,
        "left_out": max(0, len(plan.cases) - MOST_ROWS),
        "totals": totals(checked, rates),
        "cases": [
            {
                "case": case.case,
                "title": case_title(case),
                "operations": case.operations,
                "origin": origin.case[1],
            }
            for case, origin in zip(plan.cases[:MOST_ROWS], checked.suite.origins, strict=False)
        ],
        "findings": list(_findings(checked, site)),
    }


def _data_sets(checked: CheckedPlan, target: str, site: Site) -> Iterator[dict[str, str]]:
    """Returns the errors of the data sets that the cases name, as the run would find them now."""
    try:
        bound = bind(checked.suite, confined_target(target, site.allowed))
        if bound is not checked.suite:
            check(bound, site.engine, site.policy)
    except SuiteError as error:
        yield from ({"severity": "error", "message": message} for _, message in error.found)
    except StriderError as error:
        yield {"severity": "error", "message": error.message}


def _findings(checked: CheckedPlan, site: Site) -> Iterator[dict[str, str]]:
    """Returns errors and warnings about running the plan on its target now."""
    from strider.launch.launchers import choose
    from strider.launch.machine import space_of
    from strider.launch.preflight import check_target, preflight

    target = checked.suite.plan.target
    if not target:
        yield {
            "severity": "error",
            "message": "the suite has no target directory: enter the directory to measure",
        }
        return
    try:
        confined_target(target, site.allowed)
        found = preflight(
            checked, site.engine.description, check_target(target), choose("mpiexec", site.engine.version.mpi)
        )
    except StriderError as error:
        yield {"severity": "error", "message": error.message}
        return
    for finding in found:
        yield {"severity": finding.severity, "message": f"{finding.message}: {finding.remedy}"}
    yield from _data_sets(checked, target, site)
    free = format_bytes_rounded(space_of(Path(target).expanduser()).free_bytes)
    yield {"severity": "info", "message": f"{target} has {free} free"}

"""Questions about a suite: their forms, and a worker's answers.

A suite is input of a user, and its evaluation can take any time and memory. So all of this happens in a
process of its own (`worker.py`), which `workers.py` ends where it takes too much.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from strider.engine import Json
from strider.errors import StriderError
from strider.suite.checked import CheckedPlan
from strider.suite.estimate import AssumedRates
from strider.units import parse_bytes
from strider.web import checking
from strider.web.editing import Edit, apply
from strider.web.gallery import gallery
from strider.web.picture import picture
from strider.web.site import Site, confined_target

MOST_EDITS = 200
"""In one question; a person makes one at a time."""


class SuiteQuestion(BaseModel):
    """A suite's text, changes to it, and the rates to assume."""

    text: str
    edits: Annotated[list[Edit], Field(max_length=MOST_EDITS)] = []
    bytes_s: str = "200MiB"
    operations_s: int = 10_000


class PictureQuestion(BaseModel):
    """Which case of a suite is to be drawn."""

    text: str
    case: int
    operation: str | None = None


class Nothing(BaseModel):
    """A question that needs no more than its kind."""


class SuiteText(BaseModel):
    """The text of a suite."""

    text: str


class JobQuestion(SuiteText):
    """A suite to submit as a job, on some nodes; None: as many as its cases need."""

    nodes: int | None = None


def _answer(asked: SuiteQuestion, site: Site) -> Json:
    """A suite after some changes: its text, the form, its mistakes or its plan."""
    try:
        rates = AssumedRates(max(1, parse_bytes(asked.bytes_s)), max(1, asked.operations_s))
    except ValueError as error:
        raise StriderError(f"assumed rate: {error}") from error
    return checking.answer(apply(asked.text, asked.edits, site.vocabulary), rates, site)


def _picture(asked: PictureQuestion, site: Site) -> Json:
    """Which rank owns which bytes in a case."""
    plan = checking.checked_plan(asked.text, site).suite.plan
    return picture(site.engine, plan, asked.case, asked.operation)


def _plan(asked: SuiteText, site: Site) -> Json:
    """The plan as `strider plan --json` prints it, and its name."""
    plan = checking.checked_plan(asked.text, site).suite.plan
    return {"plan": plan.to_json(), "name": plan.suite.name}


def _judge(asked: SuiteText, site: Site) -> Json:
    """Name, ranks and estimated seconds of a suite that may be run.

    Raises:
        StriderError: It has mistakes, or its target is not to be measured from here.
    """
    return _needs(_runnable(asked, site))


def _job(asked: JobQuestion, site: Site) -> Json:
    """The same for a suite to submit as a job, with its nodes and the ranks on each.

    0 ranks on each: as many as the suite needs.

    Raises:
        StriderError: It has mistakes, its target is not to be measured from here, or a case needs more nodes.
    """
    from strider.jobs import JobOptions, reserve
    from strider.launch.launchers import Places

    checked = _runnable(asked, site)
    reserved = reserve(checked.suite, JobOptions(), Places(nodes=asked.nodes))
    options = reserved.options
    return {**_needs(checked), "ranks": reserved.ranks, "nodes": options.nodes, "per_node": options.per_node}


def _runnable(asked: SuiteText, site: Site) -> CheckedPlan:
    checked = checking.checked_plan(asked.text, site)
    target = checked.suite.plan.target
    if not target:
        raise StriderError("the suite has no target directory: enter the directory to measure")
    confined_target(target, site.allowed)
    return checked


def _needs(checked: CheckedPlan) -> Json:
    from strider.jobs import estimated_s

    plan = checked.suite.plan
    return {"name": plan.suite.name, "ranks": plan.ranks, "seconds": estimated_s(checked)}


def _gallery(_: Nothing, site: Site) -> Json:
    """Workloads by intent, with pictures."""
    return gallery(site)


QUESTIONS: dict[str, tuple[type[BaseModel], Callable[[Any, Site], Json]]] = {
    "suite": (SuiteQuestion, _answer),
    "picture": (PictureQuestion, _picture),
    "gallery": (Nothing, _gallery),
    "plan": (SuiteText, _plan),
    "judge": (SuiteText, _judge),
    "job": (JobQuestion, _job),
}
"""The questions: the form of each, and the function that answers it."""

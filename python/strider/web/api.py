"""What the scripts of the pages ask for: JSON in, JSON out; every mistake is a message and a status."""

import asyncio
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from strider.engine import Json
from strider.errors import ExitCode, StriderError
from strider.suite.estimate import AssumedRates
from strider.units import parse_bytes
from strider.web import checking
from strider.web.editing import Edit, apply
from strider.web.jobs import Jobs
from strider.web.picture import picture
from strider.web.saved import SavedSuites
from strider.web.site import Site, confined_target
from strider.web.slurm import Slurm, SlurmOptions

Body = TypeVar("Body", bound=BaseModel)

MOST_QUESTIONS = 2
"""Suites that are worked on at a time; the others wait, and the pages stay quick."""


class SuiteQuestion(BaseModel):
    """A suite's text, changes to it, and the rates to assume."""

    text: str
    edits: list[Edit] = []
    bytes_s: str = "200MiB"
    operations_s: int = 10_000


class PictureQuestion(BaseModel):
    """Which case of a suite is to be drawn."""

    text: str
    case: int
    operation: str | None = None


class Submission(BaseModel):
    """A suite that is to be run, and where."""

    text: str
    where: Literal["here", "slurm"] = "here"
    slurm: SlurmOptions = SlurmOptions()


class SuiteToSave(BaseModel):
    """A suite that is to be kept under its name."""

    text: str


async def read(request: Request, model: type[Body]) -> Body:
    """The body of a request.

    Raises:
        StriderError: It is not what it should be.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StriderError(f"this request makes no sense ({place}: {first['msg']})") from error


class Api:
    """The answers.

    Args:
        site: The ground.
        jobs: The queue.
        slurm: The scheduler, whether it is there or not.
        saved: The suites that were kept.
    """

    def __init__(self, site: Site, jobs: Jobs, slurm: Slurm, saved: SavedSuites) -> None:
        """Takes what the class describes."""
        self._site, self._jobs, self._slurm, self._saved = site, jobs, slurm, saved
        self._working = asyncio.Semaphore(MOST_QUESTIONS)

    async def describe(self, _: Request) -> Response:
        """What the form is made of."""
        from strider.suite.vocabulary import SUITE_PARAMETERS

        document = self._site.engine.description.model_dump()
        document["suite"] = [parameter.model_dump() for parameter in SUITE_PARAMETERS.values()]
        return JSONResponse(document)

    async def suite(self, request: Request) -> Response:
        """A suite after some changes: its text, the form, its mistakes or its plan."""
        asked = await read(request, SuiteQuestion)
        async with self._working:
            return JSONResponse(await asyncio.to_thread(self._answer, asked))

    def _answer(self, asked: SuiteQuestion) -> Json:
        try:
            rates = AssumedRates(max(1, parse_bytes(asked.bytes_s)), max(1, asked.operations_s))
        except ValueError as error:
            raise StriderError(f"assumed rate: {error}") from error
        return checking.answer(apply(asked.text, asked.edits, self._site.vocabulary), rates, self._site)

    async def picture(self, request: Request) -> Response:
        """Which rank owns which bytes in a case."""
        asked = await read(request, PictureQuestion)
        async with self._working:
            return JSONResponse(await asyncio.to_thread(self._picture, asked))

    def _picture(self, asked: PictureQuestion) -> Json:
        plan = checking.checked_plan(asked.text, self._site).suite.plan
        return picture(self._site.engine, plan, asked.case, asked.operation)

    async def plan(self, request: Request) -> Response:
        """The plan as `strider plan --json` prints it."""
        asked = await read(request, SuiteToSave)
        async with self._working:
            checked = await asyncio.to_thread(checking.checked_plan, asked.text, self._site)
        return Response(checked.suite.plan.to_json(), media_type="application/json")

    async def submit(self, request: Request) -> Response:
        """Puts a suite into the queue, or hands it to the scheduler."""
        asked = await read(request, Submission)
        async with self._working:
            name, ranks = await asyncio.to_thread(self._judge, asked.text)
        if asked.where == "slurm":
            job = await self._slurm.submit(name, asked.text, ranks, asked.slurm)
            return JSONResponse({"job": job.id}, 201)
        return JSONResponse({"job": self._jobs.submit(name, asked.text).id}, 201)

    def _judge(self, text: str) -> tuple[str, int]:
        """Name and ranks of a suite that may be run.

        Raises:
            StriderError: It has mistakes, or its target is not to be measured from here.
        """
        plan = checking.checked_plan(text, self._site).suite.plan
        if not plan.target:
            raise StriderError("the suite has no target directory: say what is to be measured")
        confined_target(plan.target, self._site.allowed)
        return plan.suite.name, plan.ranks

    async def save(self, request: Request) -> Response:
        """Keeps a suite under its name."""
        asked = await read(request, SuiteToSave)
        async with self._working:
            checked = await asyncio.to_thread(checking.checked_plan, asked.text, self._site)
        name = checked.suite.plan.suite.name
        await asyncio.to_thread(self._saved.save, name, asked.text)
        return JSONResponse({"name": name}, 201)

    async def load(self, request: Request) -> Response:
        """The text of a suite that was kept, or comes with Strider."""
        text = await asyncio.to_thread(self._saved.read, request.path_params["name"])
        return JSONResponse({"text": text})

    async def cancel(self, request: Request) -> Response:
        """Ends a job."""
        name = request.path_params["job"]
        if self._slurm.knows(name):
            await self._slurm.cancel(name)
        else:
            self._jobs.cancel(self._jobs.get(name))
        return JSONResponse({})

    async def jobs(self, _: Request) -> Response:
        """All jobs since the server was started."""
        here = [(job.id, job.state, job.run) for job in self._jobs.all()]
        slurm = [(job.id, job.state, job.run) for job in self._slurm.all()]
        return JSONResponse([{"job": job, "state": state, "run": run} for job, state, run in here + slurm])

    async def job(self, request: Request) -> Response:
        """How a job is."""
        name = request.path_params["job"]
        if self._slurm.knows(name):
            job = await self._slurm.look(name)
            return JSONResponse({"state": job.state, "run": job.run, "output": job.output})
        here = self._jobs.get(name)
        return JSONResponse({"state": here.state, "run": here.run, "output": here.output})


def failure(request: Request, error: Exception) -> Response:
    """A message for a script."""
    assert isinstance(error, StriderError)  # noqa: S101 - what it is registered for
    status = 400 if error.exit_code == ExitCode.BAD_INPUT else 503
    return JSONResponse({"message": error.message}, status)

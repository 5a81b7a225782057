"""Requests of the pages' scripts: JSON in, JSON out; every mistake is a message and a status."""

import asyncio
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from strider.datasets import left_by
from strider.engine import Json
from strider.errors import ExitCode, StriderError
from strider.launch import check_target
from strider.store.labels import write_labels
from strider.units import parse_seconds
from strider.web import data_sets
from strider.web.batch import BatchOptions, BatchQueue
from strider.web.continuing import is_cut, require_resumable
from strider.web.jobs import Jobs
from strider.web.questions import JobQuestion, Nothing, PictureQuestion, SuiteQuestion, SuiteText
from strider.web.runs import Runs
from strider.web.saved import SavedSuites
from strider.web.site import Site, confined_target
from strider.web.submission import CardOrder, VerifyOrder
from strider.web.workers import Workers

LEAST_BUDGET_S, MOST_BUDGET_S = 5.0, 3600.0
"""Of a card; `strider quick` has the same lower limit."""

Body = TypeVar("Body", bound=BaseModel)


class Submission(BaseModel):
    """A suite that is to be run, and where."""

    text: str
    where: Literal["here", "slurm"] = "here"
    slurm: BatchOptions = BatchOptions()


class LabelOrder(BaseModel):
    """New labels of a run."""

    tags: str = ""
    note: str = ""


async def read(request: Request, model: type[Body]) -> Body:
    """The body of a request.

    Raises:
        StriderError: It is not valid.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StriderError(f"invalid request ({place}: {first['msg']})") from error


class Api:
    """The answers.

    Args:
        site: The ground.
        jobs: The queue.
        batch: The jobs of schedulers.
        saved: The saved suites.
        workers: The processes that check suites.
        runs: The store's runs.
    """

    def __init__(
        self, site: Site, jobs: Jobs, batch: BatchQueue, saved: SavedSuites, workers: Workers, runs: Runs
    ) -> None:
        self._runs = runs
        self._site, self._jobs, self._batch, self._saved = site, jobs, batch, saved
        self._workers = workers
        self._gallery: Json = None

    async def describe(self, _: Request) -> Response:
        """The description of the form."""
        from strider.suite.vocabulary import SUITE_PARAMETERS

        document = self._site.engine.description.model_dump()
        document["suite"] = [parameter.model_dump() for parameter in SUITE_PARAMETERS.values()]
        return JSONResponse(document)

    async def suite(self, request: Request) -> Response:
        """A suite after some changes: its text, the form, its mistakes or its plan."""
        return JSONResponse(await self._workers.ask("suite", await read(request, SuiteQuestion)))

    async def gallery(self, _: Request) -> Response:
        """Workloads by intent, with pictures, which are drawn once."""
        if self._gallery is None:
            self._gallery = await self._workers.ask("gallery", Nothing())
        return JSONResponse(self._gallery)

    async def picture(self, request: Request) -> Response:
        """Which rank owns which bytes in a case."""
        return JSONResponse(await self._workers.ask("picture", await read(request, PictureQuestion)))

    async def plan(self, request: Request) -> Response:
        """The plan as `strider plan --json` prints it."""
        answer = await self._workers.ask("plan", await read(request, SuiteText))
        return Response(answer["plan"], media_type="application/json")

    async def submit(self, request: Request) -> Response:
        """Puts a suite into the queue, or hands it to the scheduler."""
        asked = await read(request, Submission)
        if asked.where == "slurm":
            nodes = int(asked.slurm.nodes or 0) or None
            needs = await self._workers.ask("job", JobQuestion(text=asked.text, nodes=nodes))
            job = await self._batch.submit(asked.text, needs, asked.slurm)
            return JSONResponse({"job": job.id}, 201)
        judged = await self._workers.ask("judge", SuiteText(text=asked.text))
        return JSONResponse({"job": self._jobs.submit(judged["name"], asked.text).id}, 201)

    async def order_card(self, request: Request) -> Response:
        """Puts the card of a directory into the queue."""
        order = await read(request, CardOrder)
        try:
            seconds = parse_seconds(order.budget)
        except ValueError as error:
            raise StriderError(f"budget: {error}") from None
        if not LEAST_BUDGET_S <= seconds <= MOST_BUDGET_S:
            raise StriderError(
                f"budget: {order.budget} is not within {LEAST_BUDGET_S:g} s and {MOST_BUDGET_S:g} s"
            )
        await asyncio.to_thread(_check_directory, order.directory, self._site)
        return JSONResponse({"job": self._jobs.submit("card", "", order).id}, 201)

    async def label(self, request: Request) -> Response:
        """Replaces the tags and the note of a run."""
        asked = await read(request, LabelOrder)
        directory = self._runs.directory(request.path_params["run"])
        labels = await asyncio.to_thread(write_labels, directory, asked.tags, asked.note)
        return JSONResponse(labels.model_dump())

    async def delete(self, request: Request) -> Response:
        run = request.path_params["run"]
        job = self._jobs.of_run(run)
        if job and not job.over:
            raise StriderError(f"run {run} is active: cancel it first")
        left = await asyncio.to_thread(left_by, self._runs.directory(run))
        await asyncio.to_thread(self._runs.delete, run)
        return JSONResponse({"stays": [f"Data set {name} stays in {target}." for name, target in left]})

    async def resume(self, request: Request) -> Response:
        """Puts the continuation of a run into the queue."""
        run = request.path_params["run"]
        directory = self._runs.directory(run)
        summary = await asyncio.to_thread(self._runs.summary, run)
        if not await asyncio.to_thread(is_cut, summary):
            raise StriderError(f"run {run} is active or complete: nothing can be resumed")
        name = await asyncio.to_thread(require_resumable, directory, self._site)
        return JSONResponse({"job": self._jobs.submit(name, "", resumes=run).id}, 201)

    async def data(self, request: Request) -> Response:
        """The data sets of a directory."""
        asked = request.query_params.get("directory", "")
        found = await asyncio.to_thread(data_sets.listed, asked, self._site)
        return JSONResponse({"directory": found.directory, "data_sets": found.rows})

    async def verify(self, request: Request) -> Response:
        """Puts the verification of a data set into the queue."""
        order = await read(request, VerifyOrder)
        clients = await asyncio.to_thread(data_sets.readers_of, order.directory, order.name, self._site)
        order = order.model_copy(update={"clients": clients})
        job = self._jobs.submit(f"verify-{order.name}", "", verifies=order)
        return JSONResponse({"job": job.id}, 201)

    async def remove(self, request: Request) -> Response:
        order = await read(request, VerifyOrder)
        done = await asyncio.to_thread(data_sets.removed, order.directory, order.name, self._site)
        return JSONResponse(done)

    async def save(self, request: Request) -> Response:
        """Keeps a suite under its name."""
        asked = await read(request, SuiteText)
        name = (await self._workers.ask("plan", asked))["name"]
        await asyncio.to_thread(self._saved.save, name, asked.text)
        return JSONResponse({"name": name}, 201)

    async def load(self, request: Request) -> Response:
        """The text of a suite that was kept, or comes with Strider."""
        text = await asyncio.to_thread(self._saved.read, request.path_params["name"])
        return JSONResponse({"text": text})

    async def cancel(self, request: Request) -> Response:
        """Ends a job."""
        name = request.path_params["job"]
        if await asyncio.to_thread(self._batch.knows, name):
            await self._batch.cancel(name)
        else:
            self._jobs.cancel(self._jobs.get(name))
        return JSONResponse({})

    async def jobs(self, _: Request) -> Response:
        """All jobs since the server was started."""
        here = [(job.id, job.state, job.run) for job in self._jobs.all()]
        batch = [(job.id, job.state, job.run) for job in await asyncio.to_thread(self._batch.all)]
        return JSONResponse([{"job": job, "state": state, "run": run} for job, state, run in here + batch])

    async def job(self, request: Request) -> Response:
        """How a job is."""
        name = request.path_params["job"]
        if await asyncio.to_thread(self._batch.knows, name):
            job = await self._batch.look(name)
            shown = {"state": job.state, "reason": job.reason, "run": job.run, "output": job.output}
            return JSONResponse(shown)
        here = self._jobs.get(name)
        return JSONResponse({"state": here.state, "run": here.run, "output": here.output})


def _check_directory(directory: str, site: Site) -> None:
    confined_target(directory, site.allowed)
    check_target(directory)


def failure(request: Request, error: Exception) -> Response:
    """A message for a script."""
    assert isinstance(error, StriderError)  # noqa: S101 - it is registered for this type
    status = 400 if error.exit_code == ExitCode.BAD_INPUT else 503
    return JSONResponse({"message": error.message}, status)

"""All addresses in one list, behind the guard."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from strider.errors import ExitCode, StriderError
from strider.web.api import Api, failure
from strider.web.batch import BatchQueue
from strider.web.continuing import require_resumable
from strider.web.drawing import Drawing
from strider.web.guard import Guard, Keys
from strider.web.jobs import Job, Jobs
from strider.web.live import Streams
from strider.web.pages import STATIC, load_templates, page
from strider.web.questions import SuiteText
from strider.web.runs import Runs
from strider.web.saved import SavedSuites
from strider.web.site import Site, confined_target
from strider.web.views import Views
from strider.web.workers import Workers


def application(site: Site, keys: Keys, by_hand: Callable[[], bool]) -> ASGIApp:
    """The web application of one server.

    Args:
        site: The ground.
        keys: The keys of admitted sessions.
        by_hand: Whether the server was ended by Ctrl-C, which ends its runs too.
    """
    runs = Runs(site.store)

    workers = Workers(site)

    async def may_start(job: Job) -> None:
        # Again, as the way to the target may lead elsewhere by now.
        order = job.card or job.verifies
        if order:
            await asyncio.to_thread(confined_target, order.directory, site.allowed)
        elif job.resumes:
            await asyncio.to_thread(require_resumable, runs.directory(job.resumes), site)
        else:
            await workers.ask("judge", SuiteText(text=job.file.read_text(encoding="utf-8")))

    jobs, batch = Jobs(site, runs, may_start, by_hand), BatchQueue(site)
    saved = SavedSuites(site.store / "suites")
    views = Views(site, runs, jobs, batch, saved, Drawing(site.store), Streams(runs.directory), keys)
    routes = [
        *_pages(views),
        *_api(Api(site, jobs, batch, saved, workers, runs)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]

    @contextlib.asynccontextmanager
    async def working(_: Starlette) -> AsyncIterator[None]:
        # Now, so that the first to ask for a page does not wait.
        load_templates()
        queue = asyncio.create_task(jobs.serve())
        yield
        queue.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await queue
        workers.close()

    handlers = {StriderError: _failed, HTTPException: _refused, Exception: _broken}
    return Guard(Starlette(routes=routes, lifespan=working, exception_handlers=handlers), keys)


def _pages(views: Views) -> list[Route]:
    return [
        Route("/", views.measure),
        Route("/configure", views.configure),
        Route("/runs", views.list_runs),
        Route("/runs/{run}", views.run),
        Route("/runs/{run}/report", views.report),
        Route("/runs/{run}/exports", views.exports),
        Route("/runs/{run}/files/{name}", views.file),
        Route("/compare", views.compare),
        Route("/data", views.data),
        Route("/stream", views.stream),
        Route("/api/streams/{stream}", views.follow, methods=["POST"]),
        Route("/jobs/{job}", views.job),
    ]


def _api(api: Api) -> list[Route]:
    return [
        Route("/api/description", api.describe),
        Route("/api/suite", api.suite, methods=["POST"]),
        Route("/api/gallery", api.gallery),
        Route("/api/picture", api.picture, methods=["POST"]),
        Route("/api/plan", api.plan, methods=["POST"]),
        Route("/api/suites", api.save, methods=["POST"]),
        Route("/api/suites/{name}", api.load),
        Route("/api/runs/{run}/labels", api.label, methods=["POST"]),
        Route("/api/runs/{run}/delete", api.delete, methods=["POST"]),
        Route("/api/runs/{run}/resume", api.resume, methods=["POST"]),
        Route("/api/data", api.data),
        Route("/api/data/verify", api.verify, methods=["POST"]),
        Route("/api/data/remove", api.remove, methods=["POST"]),
        Route("/api/cards", api.order_card, methods=["POST"]),
        Route("/api/jobs", api.submit, methods=["POST"]),
        Route("/api/jobs", api.jobs),
        Route("/api/jobs/{job}", api.job),
        Route("/api/jobs/{job}/cancel", api.cancel, methods=["POST"]),
    ]


def _failed(request: Request, error: Exception) -> Response:
    """The message to a person or a script about an error that they can act upon."""
    if request.url.path.startswith("/api/") or not isinstance(error, StriderError):
        return failure(request, error)
    status = 400 if error.exit_code == ExitCode.BAD_INPUT else 503
    return page("problem", status, title="Request failed", message=error.message)


def _broken(request: Request, error: Exception) -> Response:
    """The answer to an internal error; the log has its place."""
    where = "please report it with the output of strider serve"
    message = f"This is a bug in Strider ({type(error).__name__}): {where}."
    if request.url.path.startswith("/api/"):
        return JSONResponse({"message": message}, 500)
    return page("problem", 500, title="Request failed", message=message)


def _refused(request: Request, error: Exception) -> Response:
    """A page that is not there, or may not be asked for in this way."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this type
    if request.url.path.startswith("/api/"):
        return JSONResponse({"message": error.detail}, error.status_code, error.headers)
    title = "Page not found" if error.status_code == 404 else "Method not allowed"
    response = page("problem", error.status_code, title=title, message=error.detail)
    response.headers.update(error.headers or {})
    return response

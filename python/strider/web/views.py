"""The pages: configure, runs, one run."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse

from strider.card import read_card
from strider.card.layout import MOST_CAUTIONS, line_cells, ratio_in_words, ratio_label
from strider.engine import Json
from strider.errors import StriderError
from strider.listing.summary import RunSummary
from strider.store.case import Case
from strider.store.load import load_plan
from strider.suite import ready_made
from strider.units import format_bytes, format_seconds
from strider.web import data_sets
from strider.web.api import read
from strider.web.batch import BatchJob, BatchQueue
from strider.web.continuing import is_cut, is_killed
from strider.web.drawing import Drawing
from strider.web.editing import Add, apply
from strider.web.fields import written
from strider.web.gallery import find
from strider.web.guard import DOCUMENT_POLICY, MOST_BODY_BYTES, SESSION, Keys
from strider.web.jobs import Jobs
from strider.web.live import Streams
from strider.web.pages import page
from strider.web.runs import FILES, Runs
from strider.web.saved import SavedSuites
from strider.web.site import Site

PER_PAGE = 100
PIECE_BYTES = 1 << 18
_HEADS = ("what", "rate", "± 95 %", "p50", "p99", "of limit", "grade")
_KEY = r"[A-Za-z0-9_.-]{0,64}"


class Following(BaseModel):
    """A run that a page begins or ceases to show."""

    run: str
    leave: bool = False


@dataclass(frozen=True)
class Views:
    """Everything that has an address a person may open."""

    site: Site
    runs: Runs
    jobs: Jobs
    batch: BatchQueue
    saved: SavedSuites
    drawing: Drawing
    streams: Streams
    keys: Keys

    async def measure(self, _: Request) -> Response:
        """The first page: the card of a directory, and workloads by intent."""
        return page("measure", allowed=[str(path) for path in self.site.allowed])

    async def configure(self, request: Request) -> Response:
        """The form."""
        kept = await asyncio.to_thread(self.saved.names)
        start = request.query_params.get("suite", "")
        return page(
            "configure",
            kept=kept,
            ready_made=list(ready_made()),
            allowed=[str(path) for path in self.site.allowed],
            slurm_missing=self.batch.missing,
            start=start,
            blank=self._blank(),
            text=self._workload(request.query_params.get("workload", ""))
            or await self._text_of(request.query_params.get("run", "")),
        )

    def _blank(self) -> str:
        """A suite to begin with."""
        head = f'[suite]\nname = "my-suite"\ntarget = {written(str(self.site.allowed[0]))}\n'
        return apply(head, [Add(do="add", shape="pattern")], self.site.vocabulary)

    def _workload(self, name: str) -> str:
        """The suite of a workload of the gallery; empty where there is none of this name."""
        found = find(name)
        return found.suite(str(self.site.allowed[0])) if found else ""

    async def _text_of(self, run: str) -> str:
        """The suite of a run that is to be run again; empty where none is asked for."""
        if not run:
            return ""
        with self._known(self.runs.opened, run, "suite.toml") as file:
            content = await asyncio.to_thread(file.read, MOST_BODY_BYTES)
        return str(content.decode("utf-8", "replace"))

    async def list_runs(self, request: Request) -> Response:
        """The runs of the store, and what waits."""
        words = request.query_params.get("q", "")[:200]
        found = await asyncio.to_thread(self.runs.found, words)
        number = request.query_params.get("page", "1")
        current = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1
        last = max(1, -(-len(found) // PER_PAGE))
        current = min(max(1, current), last)
        names = found[(current - 1) * PER_PAGE : current * PER_PAGE]
        shown = await asyncio.to_thread(self.runs.listed, names)
        await self.batch.refresh()
        batch_jobs = await asyncio.to_thread(self.batch.all)
        return page(
            "runs",
            words=words,
            runs=[_row(run) for run in shown],
            count=len(found),
            first=(current - 1) * PER_PAGE + 1,
            current=current,
            last=last,
            jobs=[job for job in self.jobs.all() if not job.over or not job.run],
            batch_jobs=[job for job in batch_jobs if not job.over or not job.run],
        )

    async def run(self, request: Request) -> Response:
        """One run, active or over."""
        name = request.path_params["run"]
        directory = self._known(self.runs.directory, name)
        summary = await asyncio.to_thread(self.runs.summary, name)
        if summary.damage:
            raise StriderError(f"run {name} is damaged: {summary.damage}")
        plan = await asyncio.to_thread(_plan_of, directory)
        batch = await self._batch_job(name)
        job = batch or self.jobs.of_run(name)
        # A process of this machine ends shortly after its run; a job may have further parts.
        is_active = job is not None and not job.over and (batch is not None or summary.ended is None)
        is_over = summary.ended is not None or await asyncio.to_thread(is_killed, directory)
        history = await asyncio.to_thread(data_sets.history, directory, self.site) if is_over else {}
        return page(
            "run",
            run=_row(summary),
            name=name,
            suite=plan["suite"],
            over=is_over,
            is_cut=is_over and not is_active and await asyncio.to_thread(is_cut, summary),
            history=history,
            job=job if is_active else None,
            batch=batch,
            output=job.output if job else "",
            files=[file for file in FILES if (directory / file).is_file()],
            card=await asyncio.to_thread(_card_of, directory),
            axes=plan["axes"] if summary.ended else [],
            cases=plan["titles"],
        )

    async def _batch_job(self, run: str) -> BatchJob | None:
        """The job of a scheduler that has a run; None if it has none."""
        if await asyncio.to_thread(self.batch.of_run, run) is None:
            return None
        await self.batch.refresh()
        return await asyncio.to_thread(self.batch.of_run, run)

    async def data(self, request: Request) -> Response:
        """The data sets of a directory, to be verified or removed."""
        asked = request.query_params.get("directory", "").strip() or str(self.site.allowed[0])
        try:
            found, mistake = await asyncio.to_thread(data_sets.listed, asked, self.site), ""
        except StriderError as error:
            found, mistake = data_sets.Listed(asked, [], 0), error.message
        stored = {row["run"]: self.runs.has(str(row["run"])) for row in found.rows if row.get("run")}
        jobs = [job for job in self.jobs.all() if job.verifies]
        return page(
            "data",
            directory=found.directory,
            allowed=[str(path) for path in self.site.allowed],
            sets=found.rows,
            count=found.count,
            stored=stored,
            mistake=mistake,
            jobs=jobs,
        )

    async def stream(self, request: Request) -> Response:
        """What happens in some runs, as server-sent events."""
        runs = request.query_params.getlist("run")
        for run in runs:
            self._known(self.runs.directory, run)
        session = request.scope[SESSION]
        return self.streams.answer(runs, lambda: self.keys.is_open(session))

    async def follow(self, request: Request) -> Response:
        """Follows one more run in a stream that is open, or leaves one."""
        asked = await read(request, Following)
        stream = self.streams.get(request.path_params["stream"])
        if asked.leave:
            stream.leave(asked.run)
        else:
            stream.follow(asked.run)
        return JSONResponse({})

    async def report(self, request: Request) -> Response:
        """The report of a run, in a sandbox of its own; while it is drawn, a page for people says so."""
        name = request.path_params["run"]
        directory = self._known(self.runs.directory, name)
        if request.headers.get("sec-fetch-mode") == "navigate":
            taken_s = await self.drawing.started(directory)
            if taken_s is not None:
                return page("drawing", name=name, taken_s=round(taken_s))
        await self.drawing.report(directory)
        file = self._known(self.runs.opened, name, "report.html")
        return _download(file, FILES["report.html"], {"content-security-policy": DOCUMENT_POLICY})

    async def exports(self, request: Request) -> Response:
        """The figures and tables of a run's report, to be kept."""
        name = request.path_params["run"]
        content = await self.drawing.exports(self._known(self.runs.directory, name))
        named = f'attachment; filename="{name}-figures-and-tables.zip"'
        return Response(content, media_type="application/zip", headers={"content-disposition": named})

    async def compare(self, request: Request) -> Response:
        """Two runs beside each other, the older one as the base; or what differs within one."""
        names = sorted(set(request.query_params.getlist("run")))
        by = request.query_params.get("by", "")
        if len(names) != (1 if by else 2) or not re.fullmatch(_KEY, by):
            raise StriderError(f"select two runs, or one run and a key of its suite, not {len(names)}")
        directories = [self._known(self.runs.directory, name) for name in names]
        text = await self.drawing.comparison(directories, by)
        return HTMLResponse(text, headers={"content-security-policy": DOCUMENT_POLICY})

    async def file(self, request: Request) -> Response:
        """A file of a run, to be kept."""
        run, name = request.path_params["run"], request.path_params["name"]
        file = self._known(self.runs.opened, run, name)
        return _download(file, FILES[name], {"content-disposition": f'attachment; filename="{run}-{name}"'})

    async def job(self, request: Request) -> Response:
        """A job: its run once there is one, else how it is."""
        name = request.path_params["job"]
        if await asyncio.to_thread(self.batch.knows, name):
            batch = await self.batch.look(name)
            return page("job", job=batch, where=batch.place)
        job = self._known(self.jobs.get, name)
        if job.run and not job.verifies:
            return RedirectResponse(f"/runs/{job.run}", 303)
        return page("job", job=job, where="this machine")

    @staticmethod
    def _known(find: Json, *names: str) -> Json:
        """Returns the object; a missing one is a missing page."""
        try:
            return find(*names)
        except StriderError as error:
            raise HTTPException(404, error.message) from error


def _row(run: RunSummary) -> dict[str, Json]:
    return {
        **vars(run),
        "name": run.directory.name,
        "shown_status": run.shown_status,
        "condition": run.condition,
        "when": run.started[:16].replace("T", " "),
        "took": "" if run.took_s is None else format_seconds(run.took_s),
    }


def _card_of(directory: Path) -> dict[str, Json] | None:
    """The card of a run for a page; None if it has none."""
    card = read_card(directory)
    if card is None:
        return None
    lines = [line_cells(line) for line in card.lines if line.rate]
    kept = [place for place in range(len(_HEADS)) if any(line[place] != "–" for line in lines)]
    return {
        "verdict": card.verdict,
        "heads": [_HEADS[place] for place in kept],
        "lines": [[line[place] for place in kept] for line in lines],
        "ratios": [(ratio_label(card, ratio.row), ratio_in_words(ratio)) for ratio in card.ratios],
        "cautions": [one.text for one in card.cautions[:MOST_CAUTIONS]],
    }


def _plan_of(directory: Path) -> dict[str, Json]:
    """A run's plan for its page.

    Raises:
        StriderError: It is not there, or damaged.
    """
    plan = load_plan(directory)
    return {
        "suite": {"name": plan.suite.name, "description": plan.suite.description},
        "titles": {case.number: _case_title(case) for case in plan.cases},
        "axes": _axes([case.model_dump(by_alias=True) for case in plan.cases]),
    }


def _download(file: BinaryIO, kind: str, headers: dict[str, str]) -> Response:
    """The content of a file, closed when it has been sent or its reader has gone."""

    async def pieces() -> AsyncIterator[bytes]:
        with file:
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield piece

    return StreamingResponse(pieces(), media_type=kind, headers=headers)


def _case_title(case: Case) -> dict[str, Json]:
    """A case of a plan in a few words."""
    transfer = case.shape.get("transfer")
    size = format_bytes(transfer) if isinstance(transfer, int) else ""
    name = case.common_parameters.get("dataset")
    of_set = f", data set {name}" if name else ""
    title = " ".join(word for word in (case.name, case.interface_name, case.shape_name, size) if word)
    return {
        "title": f"{title}, {case.clients} client{'s' if case.clients > 1 else ''}{of_set}",
        "metadata": case.is_metadata,
    }


def _axes(cases: list[dict[str, Json]]) -> list[str]:
    """The keys in which the cases of a plan differ, as `strider compare --by` names them."""
    values: dict[str, set[str]] = {}
    for case in cases:
        flat = {
            key: case.get(key) for key in case if key not in ("case", "name", "interface", "pattern", "tree")
        }
        for key in ("interface", "pattern", "tree"):
            part = case.get(key) or {}
            flat[key] = part.get("name")
            prefix = f"{part.get('name')}." if key == "interface" else ""
            flat |= {f"{prefix}{name}": value for name, value in part.items() if name != "name"}
        for key, value in flat.items():
            values.setdefault(key, set()).add(json.dumps(value, sort_keys=True))
    return [key for key, found in values.items() if len(found) > 1]

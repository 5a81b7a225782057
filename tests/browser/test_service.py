"""Many pages of one browser, damaged runs, jobs that an earlier server left, and logging out."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from builders import CaseSpec, RunBuilder
from serving import DEADLINE_S, Server, long_suite, suite
from strider.engine import Engine

TABS = 7
"""More than the six connections that a browser opens to one server."""


@contextmanager
def entered(browser: Browser, server: Server, width: int = 1400) -> Iterator[Page]:
    """A page of a browser that has come in."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.set_default_timeout(DEADLINE_S * 1000)
    page = context.new_page()
    page.goto(server.address + server.entrance)
    page.wait_for_url(server.address + "/")
    cookie = context.cookies()[0]
    server.cookie = f"{cookie['name']}={cookie['value']}"
    yield page
    context.close()


@pytest.mark.parametrize("shared", [True, False], ids=["with a shared worker", "without one"])
def test_many_pages_follow_runs_through_one_connection(
    shared: bool, browser: Browser, engine: Engine, tmp_path: Path
) -> None:
    with (
        Server(engine, tmp_path / "allowed", tmp_path / "store") as server,
        entered(browser, server) as first,
    ):
        if not shared:
            first.context.add_init_script("delete globalThis.SharedWorker")
        job = server.submit(long_suite(server.allowed))
        run = server.started(job)
        pages = [first.context.new_page() for _ in range(TABS if shared else 2)]
        for page in pages:
            page.goto(f"{server.address}/runs/{run}")
        for page in pages:
            expect(page.locator("#now")).to_contain_text("so far")
            expect(page.locator("#results td").first).to_be_visible()
        # A late listener hears all, and the earlier ones continue.
        pages[0].reload()
        expect(pages[0].locator("#results td").first).to_be_visible()
        pages.pop().close()
        server.ask("POST", f"/api/jobs/{job}/cancel", {})
        for page in pages:
            expect(page.locator("#status")).to_contain_text("interrupted")


def test_who_logs_out_is_out(browser: Browser, engine: Engine, tmp_path: Path, screenshots: Path) -> None:
    with (
        Server(engine, tmp_path / "allowed", tmp_path / "store") as server,
        entered(browser, server, 400) as page,
    ):
        page.screenshot(path=screenshots / "log-out-400.png")
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("body")).to_contain_text("You are logged out")
        answer = page.goto(f"{server.address}/runs")
        assert answer is not None
        assert answer.status == 401


def test_damaged_runs_and_jobs_of_an_earlier_server_are_rows(
    browser: Browser, engine: Engine, tmp_path: Path, screenshots: Path
) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as earlier:
        earlier.enter()
        job = earlier.submit(long_suite(earlier.allowed))
        run = earlier.started(job)
        earlier.submit(suite(earlier.allowed, name="next"))
        earlier.stop(signal.SIGTERM)
    ruined = tmp_path / "store" / "2026-11-01-101112-ruined-abcd"
    RunBuilder([CaseSpec()]).write(ruined)
    (ruined / "run.json").write_text(json.dumps({"started": 5, "environment": 3, "cases": "x", "status": []}))
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as server:
        for width in (1400, 400):
            if width == 400:  # the terminal shows another address when one is used
                assert server.process.stderr is not None
                said = server.process.stderr.readline().rpartition(f":{server.port}")
                server.entrance = said[2].strip()
            with entered(browser, server, width) as page:
                page.goto(f"{server.address}/runs")
                expect(page.get_by_role("row").filter(has_text="ruined")).to_contain_text("unreadable")
                expect(page.get_by_role("row").filter(has_text="ruined")).to_contain_text(
                    "the run directory is damaged"
                )
                expect(page.get_by_role("listitem").filter(has_text="next")).to_contain_text("waiting")
                page.screenshot(path=screenshots / f"runs-{width}.png", full_page=True)
                page.goto(f"{server.address}/runs/{run}")
                expect(page.locator("#cancel")).to_be_visible()
        server.ask("POST", f"/api/jobs/{job}/cancel", {})
        server.job(job, "done")
        server.quiet()

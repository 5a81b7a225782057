"""A real Chromium without a window, and a real server."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from serving import Server
from strider.engine import Engine

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
DEADLINE_MS = 60_000
expect.set_options(timeout=DEADLINE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of the machine; none is downloaded."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs a browser (Debian package chromium)")
    # Chromium's own sandbox refuses to work for root.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of a module's tests."""
    folder = tmp_path_factory.mktemp("served")
    with Server(engine, folder / "allowed", folder / "store", {"STRIDER_REPORT": "yes"}) as started:
        yield started


@pytest.fixture(scope="module")
def context(server: Server, browser: Browser) -> Iterator[BrowserContext]:
    """A browser that has come in by the address with the token."""
    context = browser.new_context(viewport={"width": 1366, "height": 900}, accept_downloads=True)
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    page.goto(server.address + server.entrance)
    page.wait_for_url(server.address + "/")
    page.close()
    cookie = context.cookies()[0]
    server.cookie = f"{cookie['name']}={cookie['value']}"
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Iterator[Page]:
    """A page on which nothing may go wrong: no error, no refusal, no request to anywhere else, no dialog."""
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((server.address, "blob:", "data:"))
            else wrong.append(f"asked {request.url}")
        ),
    )
    yield page
    page.close()
    server.quiet()
    assert not wrong


@pytest.fixture
def screenshots() -> Path:
    """Where pictures of the pages are kept, as artefacts of the tests."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS

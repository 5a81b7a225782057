"""Actions of a person on the pages, in a few words."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from serving import Server

WAIT_MS = 60_000


def configure(page: Page, server: Server, text: str | None = None) -> None:
    """Opens the form, with a suite from a text or the blank one, and waits for its plan."""
    page.goto(f"{server.address}/configure")
    expect(page.locator("#totals")).to_be_visible(timeout=WAIT_MS)
    if text is None:
        page.select_option("#from", "")
        page.click("#load")
    else:
        page.fill("#toml", text)
    settled(page)


def settled(page: Page) -> None:
    """Waits until the input has been checked."""
    expect(page.locator("#form")).to_have_attribute("aria-busy", "false", timeout=WAIT_MS)


def field(page: Page, key: str, case: int | str = 0) -> Locator:
    """The field of a key, of a case or of the `suite`."""
    return page.locator(f'[id="f-{case}-{key}"]')


def submit(page: Page) -> str:
    """Presses Run; the id of the run that is then shown."""
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/[^/]+$"), timeout=WAIT_MS)
    return page.url.rpartition("/")[2]


def finished(page: Page) -> None:
    """Waits for the end of the run that is shown."""
    expect(page.locator("#status")).to_have_text("complete", timeout=WAIT_MS)
    expect(page.get_by_role("link", name="Open the report")).to_be_visible()


def shot(page: Page, folder: Path, name: str) -> None:
    """Keeps a picture of the whole page."""
    page.screenshot(path=str(folder / f"{name}.png"), full_page=True)


def open_report(page: Page) -> None:
    """Opens the report of the run that is shown; no script may run there."""
    page.get_by_role("link", name="Open the report").press("Enter")
    page.wait_for_url(re.compile(r"/report$"), timeout=WAIT_MS)

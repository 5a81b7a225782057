"""Every section of a report on a phone and on paper, in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

import report_runs
from strider.report import write_html

PHONE = ViewportSize(width=400, height=850)
#: A4 in landscape with its margins, at 96 pixels an inch.
PAPER = ViewportSize(width=1030, height=700)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file with a run of each kind; a thousand cases have a test of their own."""
    folder = tmp_path_factory.mktemp("kinds")
    runs = [report_runs.make(kind, folder) for kind in report_runs.KINDS if kind != "thousand"]
    return write_html(runs, folder / "report.html")


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, offline=True)
    page = context.new_page()
    page.goto(report.as_uri())
    yield page
    context.close()


def test_no_section_is_wider_than_a_phone(opened: Page, screenshots: Path) -> None:
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    # What scrolls by itself may be wide inside.
    wide = opened.evaluate(
        """() => [...document.querySelectorAll('section > *, details > *')]
            .filter(one => one.getBoundingClientRect().right > window.innerWidth + 1)
            .map(one => `${one.closest('section').querySelector('h2').id}: ${one.outerHTML.slice(0, 80)}`)"""
    )
    assert wide == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    opened.screenshot(path=screenshots / "report-phone.png")


def test_paper_has_all_that_is_folded(opened: Page) -> None:
    opened.set_viewport_size(PAPER)
    opened.emulate_media(media="print")
    hidden = opened.evaluate(
        """() => [...document.querySelectorAll('section h2, details > :not(summary)')]
            .filter(one => one.getClientRects().length === 0)
            .map(one => one.outerHTML.slice(0, 80))"""
    )
    assert hidden == []
    assert not opened.locator("nav").first.is_visible()
    cut = opened.evaluate(
        """() => [...document.querySelectorAll('table, figure svg')]
            .filter(one => one.getBoundingClientRect().right > window.innerWidth + 1)
            .map(one => one.textContent.slice(0, 80))"""
    )
    assert cut == []


def test_a_card_is_read_on_a_phone_without_moving_it(opened: Page) -> None:
    table = opened.locator(".plain table").first
    box = table.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= PHONE["width"]

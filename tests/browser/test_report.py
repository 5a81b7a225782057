"""The report of a run of a thousand cases, opened as a file: small, quick to open, to be narrowed down."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from builders import RunBuilder, sweep
from strider.report import write_html
from strider.store import load

MOST_BYTES = 10_000_000
MOST_ELEMENTS = 250_000
#: The goal is 3 s; a machine that does other work at the same time may take longer.
PATIENCE_MS = 30_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thousand")
    cases = sweep(
        interfaces=("posix", "mpiio", "uring"),
        transfers=[1 << power for power in range(9, 23)],
        clients=(1, 2, 4),
        patterns=("segmented", "strided"),
        sharing=["shared", "per-rank"],
        order=["forward", "random"],
    )
    assert len(cases) == 1008
    run = load(RunBuilder(cases, repetitions=1).write(folder / "run"))
    start_s = time.monotonic()
    out = write_html([run], folder / "report.html")
    print(f"report of {len(cases)} cases: {out.stat().st_size} bytes in {time.monotonic() - start_s:.1f} s")
    return out


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    """The report in a browser that reaches nothing else."""
    context = browser.new_context(viewport={"width": 1366, "height": 900}, offline=True)
    page = context.new_page()
    page.goto(report.as_uri(), timeout=PATIENCE_MS)
    yield page
    context.close()


def test_it_is_small_and_opens(opened: Page, report: Path) -> None:
    assert report.stat().st_size < MOST_BYTES
    times = opened.evaluate(
        """() => {
            const [load] = performance.getEntriesByType('navigation')
            const paint = performance.getEntriesByName('first-contentful-paint')
            return { load: load.loadEventEnd, paint: paint.length ? paint[0].startTime : null }
        }"""
    )
    elements = opened.evaluate("document.querySelectorAll('*').length")
    print(f"loaded after {times['load']:.0f} ms, painted after {times['paint']} ms, {elements} elements")
    assert 0 < times["load"] < PATIENCE_MS
    assert elements < MOST_ELEMENTS
    expect(opened.get_by_role("heading", level=1)).to_be_visible()


def test_only_the_first_group_is_open(opened: Page) -> None:
    groups = opened.locator("details.group")
    assert groups.count() == 8
    assert opened.locator("details.group[open]").count() == 1


def test_boxes_hide_rows_and_charts_without_a_script(opened: Page) -> None:
    group = opened.locator("details.group").first
    group.get_by_text("Rates: table of").click()
    rows = group.locator("table").first.locator("tbody tr")
    shown = rows.filter(visible=True)
    whole = rows.count()
    expect(shown).to_have_count(whole)
    opened.get_by_role("checkbox", name="read", exact=True).uncheck()
    expect(shown).to_have_count(whole // 2)
    opened.get_by_role("checkbox", name="mpiio", exact=True).uncheck()
    expect(shown).to_have_count(whole // 3)
    assert {row.locator("th").first.inner_text() for row in shown.all()} == {"write"}
    expect(group.locator("figure", has_text="read, 1 client")).to_be_hidden()
    expect(group.locator("figure", has_text="write, 1 client")).to_be_visible()
    opened.get_by_role("checkbox", name="read", exact=True).check()
    opened.get_by_role("checkbox", name="mpiio", exact=True).check()
    expect(shown).to_have_count(whole)

"""The pages for all users: without a mouse, on a phone, with a screen reader."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from person import configure, field, finished, open_report, settled, shot
from serving import Server, suite


@pytest.fixture(scope="module")
def run(server: Server, context: object) -> str:
    """A run that is over."""
    return str(server.job(server.submit(suite(server.allowed, case='dataset = "kept"')), "done")["run"])


def addresses(run: str) -> dict[str, str]:
    return {
        "measure": "/",
        "configure": "/configure",
        "runs": "/runs",
        "run": f"/runs/{run}",
        "data": "/data",
        "problem": "/runs/none",
    }


PAGES = ("measure", "configure", "runs", "run", "data", "report", "problem")


def open_page(page: Page, server: Server, run: str, name: str) -> None:
    if name == "report":
        # In the page's sandbox no script runs, not even the one that judges it.
        server.ask("GET", f"/runs/{run}/report")
        page.goto((server.store / run / "report.html").as_uri())
        return
    page.goto(server.address + addresses(run)[name])
    if name == "configure":
        expect(page.locator("#totals")).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    if name == "measure":
        expect(page.locator("#gallery a").first).to_be_visible()
    if name == "run":
        expect(page.locator("#results tbody tr").first).to_be_visible()


@pytest.fixture
def tolerant(context: object, browser: object) -> Callable[[], Page]:
    """A page on which an address that is not there is no failure."""
    return lambda: context.new_page()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_serious_violation(
    tolerant: Callable[[], Page], server: Server, run: str, name: str
) -> None:
    page = tolerant()
    open_page(page, server, run, name)
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    said = [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}" for one in serious
    ]
    page.close()
    assert not said


def test_axe_finds_no_serious_violation_among_mistakes(page: Page, server: Server) -> None:
    configure(page, server, suite(server.allowed))
    field(page, "transfer").fill("no size")
    settled(page)
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [360, 768, 1366, 1920])
def test_a_page_fits_its_window(
    tolerant: Callable[[], Page], server: Server, run: str, name: str, width: int, screenshots: Path
) -> None:
    page = tolerant()
    page.set_viewport_size({"width": width, "height": 780})
    open_page(page, server, run, name)
    wide = page.evaluate("document.documentElement.scrollWidth")
    if width in (360, 1920):
        shot(page, screenshots, f"{name}-{width}")
    page.close()
    assert wide <= width


def test_all_of_it_without_a_mouse(page: Page, server: Server) -> None:
    configure(page, server, suite(server.allowed))
    page.reload()
    expect(page.locator("#totals")).to_be_visible()
    settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    seen = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"{focused} does not show that it has the focus"
        seen.add(focused)
        if focused == "run":
            break
    assert {
        "from",
        "load",
        "f-0-interface",
        "f-0-pattern",
        "f-0-transfer",
        "toml",
        "picture-case",
        "run",
    } <= seen
    page.keyboard.press("Enter")
    finished(page)
    open_report(page)


def test_without_scripts_the_runs_are_there(
    browser: object, context: object, server: Server, run: str
) -> None:
    other = browser.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    other.add_cookies(context.cookies())  # type: ignore[attr-defined]
    page = other.new_page()
    page.goto(f"{server.address}/runs?q={run}")
    expect(page.get_by_role("link", name=run)).to_be_visible()
    other.close()

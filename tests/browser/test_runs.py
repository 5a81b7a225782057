"""The list of runs of a large store: search and pages, with scripts and without."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from builders import CaseSpec, RunBuilder
from serving import Server
from strider.cli import main
from strider.engine import Engine

RUNS = 205


def name_of(number: int) -> str:
    suite = ("checkpoint", "random")[number % 2]
    return f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}-101112-{suite}-{number:04d}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of more runs than two pages have, in which every second one has another suite."""
    folder = tmp_path_factory.mktemp("large")
    template = RunBuilder([CaseSpec()], repetitions=1).write(folder / "template")
    info = json.loads((template / "run.json").read_text())
    for number in range(RUNS):
        name = name_of(number)
        copy = folder / "store" / name
        shutil.copytree(template, copy)
        changed = {"run": name, "started": f"{name[:10]}T10:11:12+00:00"}
        (copy / "run.json").write_text(json.dumps(info | changed))
    return folder / "store"


@pytest.fixture(scope="module")
def server(engine: Engine, store: Path) -> Iterator[Server]:
    """A server of this store."""
    with Server(engine, store.parent / "allowed", store) as started:
        yield started


@pytest.fixture
def plain(context: object, server: Server, browser: Browser) -> Iterator[Page]:
    """A page without scripts, in a browser that has come in."""
    name, _, value = server.cookie.partition("=")
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies([{"name": name, "value": value, "url": server.address}])
    yield plain.new_page()
    plain.close()


def shown(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("tbody td:nth-child(3) a:first-child").all_inner_texts()]


def newest_first(*, of: int = 1, rest: int = 0) -> list[str]:
    return [name_of(number) for number in reversed(range(RUNS)) if number % of == rest]


@pytest.mark.parametrize("browsing", ["page", "plain"])
def test_pages_of_runs_are_walked_and_jumped_to(
    browsing: str, server: Server, request: pytest.FixtureRequest
) -> None:
    page: Page = request.getfixturevalue(browsing)
    page.goto(f"{server.address}/runs")
    assert shown(page) == newest_first()[:100]
    expect(page.get_by_text("205 runs, newest first: 1 to 100, started 2026-08-09 to")).to_be_visible()
    page.get_by_role("link", name="Oldest").click()
    expect(page.get_by_label("Page", exact=True)).to_have_value("3")
    assert shown(page) == newest_first()[200:]
    page.get_by_role("link", name="Newer").click()
    expect(page.get_by_label("Page", exact=True)).to_have_value("2")
    page.get_by_label("Page", exact=True).fill("1")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("link", name="Older")).to_be_visible()
    assert shown(page) == newest_first()[:100]


@pytest.mark.parametrize("browsing", ["page", "plain"])
def test_pages_of_a_search_keep_its_words(
    browsing: str, server: Server, request: pytest.FixtureRequest
) -> None:
    page: Page = request.getfixturevalue(browsing)
    page.goto(f"{server.address}/runs")
    page.get_by_role("searchbox").fill("RANDOM complete")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("102 runs, newest first: 1 to 100, started")).to_be_visible()
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_label("Page", exact=True)).to_have_value("2")
    assert shown(page) == newest_first(of=2, rest=1)[100:]
    page.goto(f"{server.address}/runs?q=none+like+it")
    expect(page.get_by_text("No run matches “none like it”")).to_be_visible()


@pytest.mark.parametrize(
    "words", ["random 2026-03", "COMPLETE checkpoint 2026-07", "run-less", "random  004"]
)
def test_page_and_command_line_find_the_same_runs(
    page: Page, server: Server, store: Path, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    page.goto(f"{server.address}/runs?q={words.replace(' ', '%20')}")
    assert main(["list", "--json", "--store", str(store), words]) == 0
    found = [row["run"] for row in json.loads(capfd.readouterr().out)]
    assert shown(page) == list(reversed(found))


def test_a_narrow_page_of_a_large_store_is_not_wider_than_the_screen(
    page: Page, server: Server, screenshots: Path
) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{server.address}/runs?page=2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("navigation", name="Pages of runs").scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "runs-pages-400.png")

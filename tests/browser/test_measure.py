"""The first page, and actions on runs in the list."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from builders import CaseSpec, RunBuilder
from person import settled
from serving import Server


def test_a_directory_out_of_bounds_is_refused_beside_the_button(
    context: BrowserContext, server: Server
) -> None:
    page = context.new_page()
    page.goto(server.address)
    page.get_by_label("Directory", exact=True).fill("/")
    page.keyboard.press("Enter")
    expect(page.locator("#card-note")).to_contain_text("outside the permitted directories")
    expect(page.get_by_role("button", name="Measure")).to_be_enabled()
    page.close()


def test_a_workload_with_its_picture_opens_as_a_suite(page: Page, server: Server) -> None:
    page.goto(server.address)
    workload = page.get_by_role("link", name=re.compile("A job reads small files"))
    expect(workload.locator("svg path")).to_have_count(24)
    workload.press("Enter")
    expect(page.locator("#totals")).to_be_visible()
    settled(page)
    expect(page.locator("#toml")).to_have_value(re.compile('name = "small-files"'))
    expect(page.locator("#run")).to_be_enabled()


def test_a_run_is_named_and_deleted_from_the_list(page: Page, server: Server) -> None:
    run = RunBuilder([CaseSpec()], suite="old").write(server.store / "2026-11-01-101112-old-abcd")
    page.goto(f"{server.address}/runs/{run.name}")
    page.get_by_label("tags", exact=True).fill("retired")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator("#labels-note")).to_have_text("Saved.")
    page.goto(f"{server.address}/runs?q=retired")
    row = page.get_by_role("row").filter(has_text=run.name)
    expect(row).to_contain_text("retired")
    expect(page.get_by_text("Delete selected runs …")).to_be_hidden()
    row.get_by_role("checkbox").check()
    expect(page.get_by_role("button", name="Delete for good")).to_be_hidden()
    page.get_by_text("Delete selected runs …").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(row).to_have_count(0)
    assert not run.exists()

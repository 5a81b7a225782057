"""Data sets on the page: made, verified and removed; and a run that is cut and resumed there."""

from pathlib import Path

from playwright.sync_api import Page, expect

from person import WAIT_MS, configure, field, shot
from serving import Server, suite


def made(server: Server) -> str:
    """Makes the data set `kept` by a suite; returns the run."""
    text = suite(server.allowed, name="maker", case='dataset = "kept"').replace(
        '["write", "read"]', '["write"]'
    )
    text = text.replace('pattern = "strided"', 'pattern = "segmented"').replace("count = 8", "segments = 8")
    return str(
        server.job(server.submit(text.replace('"segmented"', '"segmented"\nblock = "4KiB"')), "done")["run"]
    )


def test_a_set_is_listed_verified_and_removed(page: Page, server: Server, screenshots: Path) -> None:
    run = made(server)
    page.goto(f"{server.address}/runs/{run}")
    expect(page.locator("section", has_text="made by this run, left generation 1")).to_be_visible()
    page.get_by_text("Delete this run …").click()
    expect(page.locator("#delete-note")).to_contain_text(f"Data set kept: stays in {server.allowed}")

    folder = server.allowed / "strider-data-kept"
    for damage, result in ((False, "all right"), (True, "errors: ")):
        if damage:
            content = bytearray((folder / "data.0").read_bytes())
            content[5000] ^= 1
            (folder / "data.0").write_bytes(content)
        page.goto(f"{server.address}/data")
        page.get_by_label("choose kept").check()
        page.get_by_role("button", name="Verify selected").press("Enter")
        expect(page.locator("#result")).to_contain_text(result, timeout=WAIT_MS)
        expect(page.locator("#status")).to_have_text("not right" if damage else "all right")
    expect(page.locator("pre")).to_contain_text("data.0")
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{server.address}/data")
    shot(page, screenshots, "data-sets-400")

    (folder / "mine").touch()
    for entry, said in (("mine", "not a file of the data set"), ("", "1 file removed")):
        page.get_by_label("choose kept").check()
        page.get_by_text("Remove selected data sets …").click()
        page.get_by_role("button", name="Remove the files for good").click()
        if entry:
            expect(page.locator("#data-note")).to_contain_text(said)
            (folder / entry).unlink()
    expect(page.get_by_label("choose kept")).to_have_count(0)
    assert not folder.exists()


def test_a_form_offers_the_sets_of_its_target(page: Page, server: Server) -> None:
    made(server)
    reading = suite(server.allowed, case='dataset = "kept"').replace('["write", "read"]', '["read"]')
    reading = reading.replace('pattern = "strided"', 'pattern = "segmented"\nblock = "4KiB"')
    configure(page, server, reading.replace("count = 8", "segments = 8"))
    page.get_by_text("More: order, files").click()
    field(page, "dataset").focus()
    expect(page.locator("#f-0-dataset-offers option[value=kept]")).to_have_count(1)
    expect(page.locator("#findings .error")).to_have_count(0)
    field(page, "dataset").fill("other")
    expect(page.locator("#findings")).to_contain_text('has no data set "other"')
    server.ask("POST", "/api/data/remove", {"directory": str(server.allowed), "name": "kept"})


def test_a_cut_run_goes_on_from_its_page(page: Page, server: Server) -> None:
    text = suite(server.allowed, name="slow").replace("repetitions = 1", "repetitions = 20")
    job = server.submit(text.replace("count = 8", 'count = 8\nrate_limit = "128KiB"'))
    run = server.started(job)
    page.goto(f"{server.address}/runs/{run}")
    expect(page.locator("#results td").first).to_be_visible()
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("#status")).to_contain_text("interrupted")
    expect(page.get_by_role("button", name="Resume this run")).to_be_enabled()
    page.get_by_role("button", name="Resume this run").press("Enter")
    expect(page.locator("#status")).to_have_text("complete, 2 starts", timeout=WAIT_MS)
    expect(page.locator("section", has_text="Starts of this run").locator("tbody tr")).to_have_count(2)
    expect(page.locator("section", has_text="Starts of this run")).to_contain_text("interrupted: SIGINT")
    expect(page.get_by_role("button", name="Resume this run")).to_have_count(0)

"""From an empty form to a report, by mouse and keyboard."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from person import WAIT_MS, configure, field, finished, open_report, settled, shot, submit
from serving import Server, long_suite, suite
from strider.engine import Engine


def test_a_strided_workload_by_mouse_and_keyboard(page: Page, server: Server, screenshots: Path) -> None:
    configure(page, server)
    field(page, "pattern").select_option("strided")
    settled(page)
    # By keyboard from here on: from field to field with Tab.
    field(page, "transfer").focus()
    page.keyboard.type("64KiB")
    page.keyboard.press("Tab")
    page.keyboard.type("4")
    page.keyboard.press("Tab")
    page.keyboard.type("3")
    settled(page)
    lanes = page.locator("#picture svg g:has(rect)")
    expect(lanes).to_have_count(3)
    expect(lanes.nth(1)).to_contain_text(re.compile("rank 1.*0.*1.*2.*3"))
    totals = "1 case, 6 phases on 3 ranks, 4.5 MiB transferred in total"
    expect(page.locator("#totals")).to_contain_text(totals)
    shot(page, screenshots, "configure")
    run = submit(page)
    finished(page)
    expect(page.locator("#results tbody tr")).to_have_count(2)
    expect(page.locator("#chart svg[role=img]")).to_be_visible()
    shot(page, screenshots, "run")
    with page.expect_download(timeout=WAIT_MS) as kept:
        page.get_by_role("link", name="Figures (SVG, PNG, PDF) and tables").press("Enter")
    assert kept.value.suggested_filename == f"{run}-figures-and-tables.zip"
    with zipfile.ZipFile(kept.value.path()) as archive:
        folders = {Path(name).parts[:2] for name in archive.namelist()}
        endings = {Path(name).suffix for name in archive.namelist()}
    assert folders == {(run, "figures"), (run, "tables")}
    assert endings >= {".svg", ".png", ".pdf", ".csv"}
    open_report(page)
    shot(page, screenshots, "report")
    report = server.ask("GET", f"/runs/{run}/report").text
    assert ">my-suite</h1>" in report
    assert run in report
    assert not list(server.allowed.iterdir())


def test_the_picture_is_of_the_engines_extents(page: Page, server: Server, engine: Engine) -> None:
    configure(page, server, suite(server.allowed))
    boxes = page.locator("#picture svg g:has(rect)").nth(1).locator("rect")
    expect(boxes).to_have_count(8)
    places = [
        (float(box.get_attribute("x") or 0), float(box.get_attribute("width") or 0)) for box in boxes.all()
    ]
    plan = server.ask("POST", "/api/plan", {"text": suite(server.allowed)}).text
    offsets = [int(line.split(",")[2]) for line in list(engine.extents(plan, 1, 1, "write"))[2:]]
    # 64 KiB of file between pixel 70 and 12 from the right.
    width = float((page.locator("#picture svg").get_attribute("viewBox") or "").split()[2]) - 82
    assert [round((x - 70) / width * 65536, -2) for x, _ in places] == [
        round(offset, -2) for offset in offsets
    ]


def test_the_picture_follows_the_form_and_can_be_looked_at_closely(page: Page, server: Server) -> None:
    configure(page, server, suite(server.allowed))
    field(page, "count").fill("4096")
    settled(page)
    picture = page.locator("#picture svg")
    expect(picture).not_to_contain_text("7")
    page.locator("#zoom").focus()
    page.keyboard.press("End")
    expect(picture).to_contain_text("rank 1")
    expect(picture.locator("g:has(rect) text").nth(2)).to_have_text("1")
    page.locator("#place").focus()
    page.keyboard.press("End")
    expect(picture.locator("g").last).to_contain_text("32 MiB")


def test_a_mistake_is_shown_at_its_field_while_it_is_typed(
    page: Page, server: Server, screenshots: Path
) -> None:
    configure(page, server, suite(server.allowed))
    field(page, "transfer").fill("4KiX")
    settled(page)
    wrong = page.locator('[id="f-0-transfer-wrong"]')
    expect(wrong).to_contain_text('"4KiX" is not a size')
    expect(field(page, "transfer")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#run")).to_be_disabled()
    shot(page, screenshots, "mistake")
    page.get_by_role("link", name=re.compile("^line ")).click()
    expect(page.locator("#toml")).to_be_focused()
    field(page, "transfer").fill("8KiB")
    settled(page)
    expect(wrong).to_be_hidden()
    expect(page.locator("#run")).to_be_enabled()


def test_what_only_the_engine_knows_to_be_wrong_is_said_too(page: Page, server: Server) -> None:
    configure(page, server, suite(server.allowed).replace("strided", "segmented").replace("count = 8", ""))
    field(page, "block").fill("1KiB")
    settled(page)
    expect(page.locator("#mistakes")).to_contain_text("transfer")
    expect(page.locator("#run")).to_be_disabled()


def test_a_target_out_of_bounds_cannot_be_run(page: Page, server: Server) -> None:
    configure(page, server, suite(server.store.parent))
    expect(page.locator("#findings")).to_contain_text("outside the permitted directories")
    expect(page.locator("#run")).to_be_disabled()


def test_form_and_text_are_the_same_suite(page: Page, server: Server) -> None:
    configure(page, server, "# mine\n" + suite(server.allowed))
    field(page, "clients").fill("1, 2")
    settled(page)
    page.locator('[id="f-0-interface-1"]').check()
    settled(page)
    text = page.locator("#toml").input_value()
    assert "clients = [1, 2]" in text
    assert text.startswith("# mine\n")
    page.fill("#toml", text.replace('transfer = "4KiB"', 'transfer = ["4KiB", "8KiB"] # two'))
    settled(page)
    expect(field(page, "transfer")).to_have_value("4KiB, 8KiB")
    page.get_by_role("button", name="read-modify-write").click()
    settled(page)
    expect(page.locator("#toml")).to_have_value(re.compile(r'"read", "read-modify-write"\]'))
    expect(page.locator("#toml")).to_have_value(re.compile("# two"))


def test_cases_are_added_copied_and_removed(page: Page, server: Server, screenshots: Path) -> None:
    configure(page, server, suite(server.allowed))
    page.get_by_role("button", name="Copy case 1").click()
    page.get_by_role("button", name="Add a case of metadata").click()
    settled(page)
    expect(page.get_by_role("heading", name=re.compile("^Case 3 of the suite: metadata"))).to_be_visible()
    page.get_by_role("button", name="Remove case 1").click()
    settled(page)
    page.locator("#picture-case").select_option("2")
    expect(page.locator("#picture")).to_contain_text("case1.0/")
    shot(page, screenshots, "metadata")
    assert page.locator("#toml").input_value().count("[[case]]") == 2
    # The cases of a suite are a line each until they are opened.
    page.select_option("#from", "metadata")
    page.click("#load")
    settled(page)
    expect(page.locator("#case-2-words")).to_contain_text("listing · posix · balanced")
    expect(field(page, "items", 2)).to_be_hidden()
    page.locator("#case-2-words").click()
    expect(field(page, "items", 2)).to_be_visible()


def test_a_suite_is_kept_downloaded_and_uploaded(page: Page, server: Server, tmp_path: Path) -> None:
    configure(page, server, suite(server.allowed, name="mine"))
    page.click("#save")
    expect(page.locator("#run-note")).to_have_text("Kept as mine.")
    with page.expect_download() as download:
        page.click("#download")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert (file.name, file.read_text()) == ("mine.toml", suite(server.allowed, name="mine"))
    page.reload()
    expect(page.locator("#totals")).to_be_visible()
    page.select_option("#from", "load")
    page.click("#load")
    expect(field(page, "name", "suite")).to_have_value("load")
    page.select_option("#from", "mine")
    page.click("#load")
    expect(field(page, "name", "suite")).to_have_value("mine")
    file.write_text(suite(server.allowed, name="other"))
    page.set_input_files("#file", file)
    expect(field(page, "name", "suite")).to_have_value("other")


def test_a_run_that_is_cancelled_leaves_nothing_behind(page: Page, server: Server, screenshots: Path) -> None:
    configure(page, server, long_suite(server.allowed))
    run = submit(page)
    expect(page.locator("#now")).to_contain_text("phases", timeout=60_000)
    expect(page.locator("#chart svg[role=img]")).to_be_visible()
    shot(page, screenshots, "live")
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.locator("#status")).to_have_text("interrupted", timeout=60_000)
    assert not list(server.allowed.iterdir())
    assert f'"{run}"' in (server.store / run / "run.json").read_text()


def test_suites_that_are_submitted_together_run_one_after_the_other(
    context: BrowserContext, server: Server
) -> None:
    first = server.submit(long_suite(server.allowed))
    second = server.submit(suite(server.allowed))
    server.job(first, "running")
    page = context.new_page()
    page.goto(f"{server.address}/jobs/{second}")
    expect(page.locator("#status")).to_have_text("waiting")
    page.goto(f"{server.address}/runs")
    expect(page.get_by_role("region", name="Submitted from this page")).to_contain_text("waiting")
    page.goto(f"{server.address}/jobs/{second}")
    server.ask("POST", f"/api/jobs/{first}/cancel", {})
    finished(page)
    page.close()


def test_page_and_command_line_make_the_same_plan(page: Page, server: Server, tmp_path: Path) -> None:
    configure(
        page,
        server,
        suite(server.allowed, case='verify = "full"\nmpiio.access = "collective"').replace(
            '"posix"', '["posix", "mpiio"]'
        ),
    )
    field(page, "clients").fill("1, 2")
    settled(page)
    text = page.locator("#toml").input_value()
    run = submit(page)
    finished(page)
    file = tmp_path / "suite.toml"
    file.write_text(text)
    command = [sys.executable, "-I", "-m", "strider"]
    planned = subprocess.run([*command, "plan", "--json", str(file)], capture_output=True, check=True)
    subprocess.run(
        [*command, "run", str(file), "--store", str(tmp_path / "store"), "-q"],
        check=True,
        capture_output=True,
    )
    (from_command_line,) = (tmp_path / "store").glob("*/plan.json")
    assert (server.store / run / "plan.json").read_bytes() == from_command_line.read_bytes() == planned.stdout
    assert (server.store / run / "suite.toml").read_text() == text


def test_runs_are_found_by_their_words(page: Page, server: Server, screenshots: Path) -> None:
    for name in ("alpha", "beta"):
        server.job(server.submit(suite(server.allowed, name=name)), "done")
    page.goto(f"{server.address}/runs")
    shot(page, screenshots, "runs")
    page.get_by_label("Search").fill("ALPHA comp")
    rows = page.locator("#found tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("alpha")
    page.get_by_label("Search").fill("no such run")
    expect(page.locator("#found")).to_contain_text("No run matches")


def test_two_runs_are_compared(page: Page, server: Server, screenshots: Path) -> None:
    text = suite(server.allowed, name="twice").replace("repetitions = 1", "repetitions = 4")
    runs = [str(server.job(server.submit(text), "done")["run"]) for _ in range(2)]
    page.goto(f"{server.address}/runs?q=twice")
    compare = page.get_by_role("button", name="Compare selected runs")
    expect(compare).to_be_disabled()
    for run in runs:
        page.get_by_label(f"choose {run}").check()
    expect(page.locator("#chosen")).to_contain_text("the older one is the base")
    compare.press("Enter")
    page.wait_for_url(re.compile("/compare"), timeout=60_000)
    shot(page, screenshots, "compare")
    found = server.ask("GET", f"/compare?run={runs[1]}&run={runs[0]}").text
    assert found.index(min(runs)) < found.index(max(runs))


def test_what_differs_within_a_run_is_compared(page: Page, server: Server, screenshots: Path) -> None:
    text = suite(server.allowed, name="within").replace(
        'interface = "posix"', 'interface = ["posix", "mpiio"]'
    )
    run = server.job(server.submit(text), "done")["run"]
    page.goto(f"{server.address}/runs/{run}")
    page.get_by_label("what differs in").select_option("interface")
    page.get_by_role("button", name="Compare", exact=True).press("Enter")
    page.wait_for_url(re.compile("/compare.*by=interface"), timeout=60_000)
    shot(page, screenshots, "compare-within")


def test_markup_that_was_typed_is_text(page: Page, server: Server) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    configure(page, server, suite(server.allowed, more=f"description = '{evil}'", case=f"name = '{evil}'"))
    expect(page.locator("#plan")).to_contain_text(evil)
    field(page, "transfer").fill(evil)
    settled(page)
    expect(page.locator("#mistakes")).to_contain_text(evil)
    field(page, "transfer").fill("4KiB")
    settled(page)
    submit(page)
    finished(page)
    expect(page.locator("#results")).to_contain_text(evil)
    open_report(page)


def test_labels_of_options_are_not_broken_within_a_word(page: Page, server: Server) -> None:
    configure(page, server)
    settled(page)
    broken = page.evaluate(
        """() => {
          document.querySelectorAll("details").forEach((one) => { one.open = true; });
          const lines = (label) => {
            const range = document.createRange();
            range.selectNodeContents(label);
            return range.getClientRects().length;
          };
          const labels = [...document.querySelectorAll(".field > label, .field > .label")];
          return [labels.length, labels.filter((one) => lines(one) > 1).map((one) => one.textContent)];
        }"""
    )
    assert broken[0] > 20
    assert broken[1] == []

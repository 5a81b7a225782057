"""Rules for every section of a report, with any content and any run."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

import report_runs
from strider.cli import main
from strider.engine import to_json
from strider.report import sections
from strider.report.blocks import Block, Chart, Charts, Fold, Section, Table, Text, walk
from strider.report.figures import svg
from strider.report.figures.points import point_of
from strider.report.labels.facets import Facets
from strider.report.output import files, terminal
from strider.report.output.page import rendered, view_of
from strider.report.results.results import Results
from strider.report.sections import NAMES, SECTIONS
from strider.statistics import summarize
from strider.store import Run

WIDTH = 80
of_section = pytest.mark.parametrize("section", SECTIONS, ids=NAMES)
of_kind = pytest.mark.parametrize("kind", report_runs.KINDS)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A run of each kind with its results, without drawing."""
    return Made(tmp_path_factory.mktemp("runs"))


class Made:
    """Results by kind, made when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.of = cache(lambda kind: Results(report_runs.make(kind, folder)))
        self.page = cache(self._page)

    def _page(self, section: Section[Results], kind: str) -> Sequence[Block]:
        return section.page(self.of(kind)) if section.applies(self.of(kind)) else []

    def terminal(self, section: Section[Results], kind: str) -> Sequence[Block]:
        """Its blocks in a terminal."""
        return section.terminal(self.of(kind)) if section.applies(self.of(kind)) else []


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are drawn elsewhere: a thousand cases have a hundred of them."""
    monkeypatch.setattr(
        svg, "draw", lambda specification, description: f"<svg aria-label='{len(description)}'/>"
    )


@of_section
def test_a_section_shown_on_request_has_an_option_of_strider_show(
    section: Section[Results], results: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    if section.option:
        run = results.of("one case").run
        assert main(["show", str(run.directory), f"--{section.option}"]) == 0
        asked = capfd.readouterr().out
        assert main(["show", str(run.directory)]) == 0
        assert asked != capfd.readouterr().out


def uneven(run: Run) -> Run:
    """With rates whose geometric mean is 200 MiB/s, and whose median is 100."""
    rates = {sample.repetition: 100.0 * (1, 1, 8)[sample.repetition % 3] for sample in run.samples}
    assert len(rates) % 3 == 0
    samples = [one.model_copy(update={"rate_mib_s": rates[one.repetition]}) for one in run.samples]
    return run.model_copy(update={"samples": samples})


def test_the_table_of_limits_has_the_centre_that_all_tables_have(results: Made) -> None:
    """The geometric mean, on which its shares rest as well."""
    section = next(one for one in SECTIONS if one.option == "limits")
    blocks = section.terminal(Results(uneven(results.of("one case").run)))
    (table,) = (one for one in blocks if isinstance(one, Table) and one.columns[-1][0] == "what limits it")
    place = [name for name, _ in table.columns].index("rate")
    assert {row[place] for row in table.rows} == {"200"}


def test_charts_have_the_same_centre(results: Made) -> None:
    run = uneven(results.of("one case").run)
    facets = Facets.of(list(run.cases.values()))
    points = [point_of(summary, facets) for summary in summarize(run)]
    assert [round(point.rate_mib_s) for point in points if point] == [200] * len(points)


def test_the_list_has_every_file() -> None:
    folder = Path(sections.__file__).parent
    assert sorted(NAMES) == sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


@of_section
def test_it_shows_something_of_some_run(section: Section[Results], results: Made) -> None:
    """A section that none of these runs has anything for needs a run in `report_runs`."""
    assert any(results.page(section, kind) or results.terminal(section, kind) for kind in report_runs.KINDS)


@of_kind
@of_section
def test_it_fits_a_terminal_and_cuts_no_number(section: Section[Results], kind: str, results: Made) -> None:
    text = io.StringIO()
    for block in results.terminal(section, kind):
        terminal.show_block(block, Console(file=text, width=WIDTH))
    for line in text.getvalue().splitlines():
        assert len(line) <= WIDTH, line
        assert not re.search(r"\d…", line), line


@of_kind
@of_section
def test_its_tables_are_whole(section: Section[Results], kind: str, results: Made) -> None:
    for _, block in walk([*results.page(section, kind), *results.terminal(section, kind)]):
        if isinstance(block, Table):
            assert block.rows, block.caption
            assert {len(row) for row in block.rows} == {len(block.columns)}, block.caption
            assert 0 < block.labels < len(block.columns)


@of_kind
def test_page_files_and_documents_walk_the_same_list(kind: str, results: Made, tmp_path: Path) -> None:
    found = results.of(kind)
    view = view_of(SECTIONS, found.run, "run-1")
    page = rendered("report.html.j2", views=[view])
    for part in view.parts:
        assert f'<h2 id="run-1-{part.name}">{part.title}</h2>' in page
        assert f'<a href="#run-1-{part.name}">' in page
    assert "None" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    captions = {block.caption for _, block in files.blocks_of(view) if isinstance(block, Table)}
    written = {file.stem for file in files.write_tables([view], tmp_path)} - {"results"}
    assert len(written) == len(captions)
    for section in SECTIONS:
        if section.applies(found):
            assert to_json(dict(section.document(found)))


class TestANewSection:
    """One file that defines this, and one line in the list."""

    @staticmethod
    def show(results: Results) -> list[Block]:
        table = Table("Cases by interface", [("interface", ""), ("cases", "")], [["posix", "1"]], 1)
        return [Text("One interface."), table, Fold("More", [Charts([Chart("A figure", "of it", "<svg/>")])])]

    def section(self) -> Section[Results]:
        return Section(
            "novelty", "Novelty", self.show, lambda results: self.show(results)[:2], lambda _: {"novelty": 1}
        )

    def test_it_is_on_the_page_and_in_the_files(self, results: Made, tmp_path: Path) -> None:
        view = view_of([*SECTIONS, self.section()], results.of("one case").run, "run-1")
        page = rendered("report.html.j2", views=[view])
        assert page.index('id="run-1-environment"') < page.index('id="run-1-novelty"')
        assert "Cases by interface: table of 1 rows" in page
        assert "A figure" in [chart.title for _, chart in files.charts_of(view)]
        assert "cases-by-interface.csv" in {file.name for file in files.write_tables([view], tmp_path)}

    def test_it_is_in_the_terminal(self, results: Made) -> None:
        text = io.StringIO()
        known = [*SECTIONS, self.section()]
        terminal.show(known, results.of("one case"), Console(file=text, width=WIDTH))
        assert "One interface." in text.getvalue()

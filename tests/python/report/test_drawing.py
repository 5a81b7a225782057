"""The drawing process: its drawings, and the cost of its death."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.report.figures import drawing, svg
from strider.report.figures.drawing import MOST_DEATHS, Drawer, DrawingError

BAR = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"a": 1, "b": 2}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "ordinal"}, "y": {"field": "b", "type": "quantitative"}},
}
DYING = "import os, signal, sys\nsys.stdin.readline()\nos.kill(os.getpid(), signal.SIGABRT)\n"


@pytest.fixture
def drawer() -> Iterator[Drawer]:
    made = Drawer()
    yield made
    made.close()


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawing program that aborts at its first request."""
    program = tmp_path / "draw.py"
    program.write_text(DYING)
    monkeypatch.setattr(drawing, "_PROGRAM", program)


def test_it_draws_and_converts(drawer: Drawer) -> None:
    figure = drawer.svg(BAR)
    assert figure.startswith("<svg")
    assert drawer.convert(figure, "png").startswith(b"\x89PNG")
    assert drawer.convert(figure, "pdf").startswith(b"%PDF")
    assert drawer.missing == 0


def test_what_the_library_refuses_is_said_and_the_process_goes_on(drawer: Drawer) -> None:
    with pytest.raises(DrawingError, match="Error"):
        drawer.svg({"mark": 3})
    assert drawer.svg(BAR).startswith("<svg")


def test_the_library_is_found_where_this_process_found_it(
    drawer: Drawer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in PYTHONPATH and among the packages of the user, which Python's -I leaves out."""
    (tmp_path / "vl_convert.py").write_text("def vegalite_to_svg(specification): return '<svg mine/>'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert drawer.svg(BAR) == "<svg mine/>"


@pytest.mark.usefixtures("dying")
def test_a_death_is_named_and_after_some_no_further_process_is_started(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(MOST_DEATHS):
        with pytest.raises(DrawingError, match="ended by SIGABRT"):
            drawer.svg(BAR)

    def refuse() -> None:
        raise AssertionError("one more process")

    monkeypatch.setattr(drawer, "_started", refuse)
    with pytest.raises(DrawingError, match="ended by SIGABRT"):
        drawer.svg(BAR)
    assert drawer.missing == MOST_DEATHS + 1


def test_after_a_death_the_next_figure_is_drawn(
    drawer: Drawer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = drawing._PROGRAM
    broken = tmp_path / "draw.py"
    broken.write_text(DYING)
    monkeypatch.setattr(drawing, "_PROGRAM", broken)
    with pytest.raises(DrawingError):
        drawer.svg(BAR)
    monkeypatch.setattr(drawing, "_PROGRAM", program)
    assert drawer.svg(BAR).startswith("<svg")


@pytest.mark.usefixtures("dying")
def test_a_process_that_does_not_answer_is_ended(
    drawer: Drawer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "draw.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(drawing, "DEADLINE_S", 0.2)
    with pytest.raises(DrawingError, match=r"did not answer within 0\.2 s"):
        drawer.svg(BAR)


@pytest.mark.usefixtures("dying")
def test_a_figure_that_is_missing_says_so_in_its_place(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svg, "drawer", lambda: drawer)
    shown = svg.draw(BAR, 'A <bar> & "one"')
    assert "could not be drawn: the drawing process was ended by SIGABRT" in shown
    assert 'aria-label="A &lt;bar&gt; &amp; &quot;one&quot;"' in shown

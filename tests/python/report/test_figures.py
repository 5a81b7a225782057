"""Figures draw the right things: axes from zero with units, one line per interface, whiskers as described."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from strider.report.figures import rate_by_interface, rate_by_transfer, svg
from strider.report.figures.points import Point, whiskers_of
from strider.report.figures.style import Ends, legend_columns, styles
from strider.statistics.distribution import describe

SERIES = ["posix", "posix direct", "mpiio"]
LOOK = styles(SERIES)
ENDS = Ends(100, 250)


def point(series: str, transfer: int, mean: float = 100.0, group: str = "segmented") -> Point:
    return Point(
        series, group, transfer, mean, mean - 10, mean + 10, "95 % interval", f"{series} at {transfer}"
    )


def points() -> list[Point]:
    return [point(series, 1 << power) for series in SERIES for power in (12, 16, 20)]


def encodings(specification: Any, channel: str) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """All definitions of a channel in a specification."""
    found = []
    if isinstance(specification, dict):
        found += [specification["encoding"][channel]] if channel in specification.get("encoding", {}) else []
        found += [one for value in specification.values() for one in encodings(value, channel)]
    elif isinstance(specification, list):
        found += [one for value in specification for one in encodings(value, channel)]
    return found


def test_lines_have_a_logarithmic_size_axis_and_a_rate_axis_from_zero() -> None:
    figure = rate_by_transfer.figure(points(), LOOK, ENDS)
    x = encodings(figure, "x")[0]
    assert x["scale"]["type"] == "log"
    assert x["scale"]["base"] == 2
    assert x["axis"]["values"] == [4096, 65536, 1 << 20]
    rates = [y for y in encodings(figure, "y") if "scale" in y]
    assert {(y["title"], tuple(y["scale"]["domain"])) for y in rates} == {("rate [MiB/s]", (0, 250))}


@pytest.mark.parametrize("make", [rate_by_transfer.figure, rate_by_interface.figure])
def test_rates_that_differ_tenfold_have_a_logarithmic_axis(make: Any) -> None:  # noqa: ANN401 - two figures
    channel = "x" if make is rate_by_interface.figure else "y"
    figure = make(points(), LOOK, Ends(100, 1000))
    (rate, *_) = (one for one in encodings(figure, channel) if "rate" in str(one.get("title")))
    assert (rate["title"], rate["scale"]["type"]) == ("rate [MiB/s], logarithmic", "log")
    low, high = rate["scale"]["domain"]
    assert all(low <= value <= high for value in rate["axis"]["values"])
    (rate, *_) = (
        one
        for one in encodings(make(points(), LOOK, Ends(0, 1000)), channel)
        if "rate" in str(one.get("title"))
    )
    assert rate["scale"]["domain"] == [0, 1000]


def test_each_series_has_its_own_colour_mark_and_dash() -> None:
    for property_ in ("colour", "shape", "dash"):
        assert len({getattr(style, property_) for style in LOOK.values()}) == len(SERIES)
    many = styles([str(number) for number in range(200)])
    assert len(set(many.values())) == 200


def test_a_series_looks_the_same_in_a_chart_that_lacks_the_others() -> None:
    figure = rate_by_transfer.figure([point("mpiio", 4096), point("mpiio", 8192)], LOOK, ENDS)
    colour = encodings(figure, "color")[0]["scale"]
    assert (colour["domain"], colour["range"]) == (["mpiio"], [LOOK["mpiio"].colour])


def test_points_of_one_size_stand_apart_by_little() -> None:
    rows = rate_by_transfer.figure(points(), LOOK, ENDS)["data"]["values"]
    at_64_kib = [row["x"] for row in rows if 40000 < row["x"] < 100000]
    assert len(set(at_64_kib)) == 3
    assert max(at_64_kib) / min(at_64_kib) < 1.2


def test_many_sizes_are_thinned_to_few_ticks_with_the_largest_kept() -> None:
    many = [point("posix", 1 << power) for power in range(9, 31)]
    ticks = encodings(rate_by_transfer.figure(many, LOOK, ENDS), "x")[0]["axis"]["values"]
    assert len(ticks) <= 8
    assert ticks[-1] == 1 << 30


@pytest.mark.parametrize("make", [rate_by_transfer.figure, rate_by_interface.figure])
def test_figures_draw_to_svg_that_names_every_point(make: Any) -> None:  # noqa: ANN401 - two figures
    drawn = svg.draw(make(points(), LOOK, ENDS), "three lines")
    root = ElementTree.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("role"), root.get("aria-label")) == ("img", "three lines")
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert sorted(set(titles) & {p.label for p in points()}) == sorted({p.label for p in points()})


def test_texts_of_the_user_stay_texts() -> None:
    nasty = "</svg><script>alert(1)</script>"
    look = styles([nasty])
    figure = rate_by_transfer.figure([point(nasty, 4096), point(nasty, 8192)], look, ENDS)
    drawn = svg.draw(figure, nasty)
    assert "<script" not in drawn
    assert nasty in "".join(ElementTree.fromstring(drawn).itertext())


def test_bars_stand_in_a_block_for_each_group() -> None:
    figure = rate_by_interface.figure(
        [point("posix", 4096), point("posix", 4096, group="strided")], LOOK, ENDS
    )
    assert figure["facet"]["row"]["sort"] == ["segmented", "strided"]


def test_long_labels_are_wrapped_and_never_cut() -> None:
    words = "listio gather registration none holes 10 unmapped calibrate runs 64 threshold 4 KiB"
    figure = rate_by_interface.figure([point(words, 4096)], styles([words]), ENDS)
    drawn = "".join(ElementTree.fromstring(svg.draw(figure, "one bar")).itertext())
    assert "…" not in drawn
    texts = [element.text for element in ElementTree.fromstring(svg.draw(figure, "one bar")).iter()]
    assert all(word in " ".join(filter(None, texts)) for word in words.split())
    assert words not in texts
    assert figure["config"]["padding"]["left"] > styles_padding()


def styles_padding() -> float:
    """Room to the left of a figure whose labels are short."""
    figure = rate_by_interface.figure([point("posix", 4096)], LOOK, ENDS)
    return float(figure["config"]["padding"]["left"])


def test_a_legend_of_long_names_has_fewer_columns() -> None:
    assert [legend_columns(["x" * length]) for length in (5, 30, 60, 200)] == [3, 2, 1, 1]


@pytest.mark.parametrize(("count", "whiskers"), [(2, "minimum and maximum"), (3, "minimum and maximum")])
def test_few_repetitions_have_their_extremes_for_whiskers(count: int, whiskers: str) -> None:
    values = [100.0, 300.0, 110.0][:count]
    rate = describe(values)
    assert rate is not None
    assert whiskers_of(rate) == (whiskers, 100, 300)


def test_whiskers_of_four_repetitions_are_the_interval_of_the_mean() -> None:
    rate = describe([100.0, 110.0, 105.0, 102.0])
    assert rate is not None
    assert rate.interval is not None
    assert whiskers_of(rate) == ("95 % interval", rate.interval.low, rate.interval.high)

"""Vega-Lite specifications drawn as SVG for an HTML page, without a browser."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from strider.report.figures.drawing import DrawingError, drawer
from strider.report.figures.style import FONT

_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("role", "aria-roledescription", "aria-hidden", "aria-label", "class", "pointer-events")
#: Defaults, and attributes that are set once at the root.
_IMPLIED = {"opacity": "1", "font-family": FONT, "transform": "translate(0,0)"}
_GEOMETRY = ("d", "transform", "x", "y", "x2", "y2", "width", "height")
_TOO_EXACT = re.compile(r"(\.\d\d)\d+")
#: A figure that is narrower than this grows no further than that: its letters would be larger than others.
_NARROW, _MAXIMUM_SCALE = 400.0, 1.2
#: Paths that draw nothing.
_NOTHING = ("", "M0,0h0v0h0Z")


def draw(specification: dict[str, Any], description: str) -> str:
    """Draws a figure.

    Args:
        specification: Vega-Lite.
        description: Content of the figure, for readers who do not see it.

    Returns:
        An `<svg>` element that scales with the page. Marks with a description show it when pointed at. Where
        the figure could not be drawn, the element says so and why.
    """
    try:
        drawn = drawer().svg(specification)
    except DrawingError as error:
        return _missing(description, str(error))
    root = ElementTree.fromstring(drawn)  # noqa: S314 - made here
    for element in list(root.iter()):
        label = element.get("aria-label")
        for name in _DROPPED:
            element.attrib.pop(name, None)
        for name, value in _IMPLIED.items():
            if element.get(name) == value:
                del element.attrib[name]
        for name in _GEOMETRY:
            if name in element.attrib:
                element.set(name, _TOO_EXACT.sub(r"\1", element.attrib[name]))
        if label and len(element) == 0:
            ElementTree.SubElement(element, f"{{{_SVG}}}title").text = label
    _thin_out(root)
    root.attrib.pop("height", None)
    width = float(root.get("width", _NARROW))
    if width < _NARROW:
        root.set("style", f"max-width: {_MAXIMUM_SCALE * width:.0f}px")
    root.set("font-family", FONT)
    root.set("role", "img")
    root.set("aria-label", description)
    text = ElementTree.tostring(root, encoding="unicode", default_namespace=None)
    return text.replace("ns0:", "").replace("xmlns:ns0", "xmlns")


def _missing(description: str, reason: str) -> str:
    """A figure that says why another one is not there."""
    said = html.escape(f"This figure could not be drawn: {reason}.")
    return (
        f'<svg xmlns="{_SVG}" viewBox="0 0 640 40" width="640" role="img" font-family="{html.escape(FONT)}" '
        f'aria-label="{html.escape(description)}">'
        f'<text x="4" y="24" font-size="13" fill="#666">{said}</text></svg>'
    )


def _thin_out(element: ElementTree.Element) -> None:
    """Removes what draws nothing, and groups that only hold others: half of a figure's text."""
    children: list[ElementTree.Element] = []
    for child in list(element):
        _thin_out(child)
        if child.tag == f"{{{_SVG}}}path" and child.get("d") in _NOTHING:
            continue
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            children.extend(child)
        elif child.tag != f"{{{_SVG}}}g" or len(child):
            children.append(child)
    element[:] = children

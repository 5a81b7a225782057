"""Vega-Lite specifications drawn as SVG for an HTML page, without a browser."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("role", "aria-roledescription", "aria-hidden", "aria-label", "class", "pointer-events")


def draw(specification: dict[str, Any], description: str) -> str:
    """Draws a figure.

    Args:
        specification: Vega-Lite.
        description: What the figure shows, for readers who do not see it.

    Returns:
        An `<svg>` element that scales with the page. Marks with a description show it when pointed at.
    """
    import vl_convert

    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(specification))  # noqa: S314 - made here
    for element in list(root.iter()):
        label = element.get("aria-label")
        for name in _DROPPED:
            element.attrib.pop(name, None)
        if label and len(element) == 0:
            ElementTree.SubElement(element, f"{{{_SVG}}}title").text = label
    root.attrib.pop("height", None)
    root.set("role", "img")
    root.set("aria-label", description)
    text = ElementTree.tostring(root, encoding="unicode", default_namespace=None)
    return text.replace("ns0:", "").replace("xmlns:ns0", "xmlns")

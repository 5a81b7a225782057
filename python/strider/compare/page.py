"""A comparison as a page: one self-contained HTML file in the manner of the report."""

from __future__ import annotations

from pathlib import Path

from strider.compare.model import Comparison
from strider.compare.sections import SECTIONS
from strider.compare.wording import title
from strider.report.output.page import parts_of, rendered, write_page


def write_html(comparison: Comparison, out: Path) -> Path:
    """Writes a comparison as a page.

    Args:
        comparison: The comparison.
        out: The HTML file; an existing one is replaced as a whole.

    Returns:
        `out`.

    Raises:
        StriderError: The file cannot be written.
    """
    return write_page(as_html(comparison), out)


def as_html(comparison: Comparison) -> str:
    """The page's text."""
    parts = parts_of(SECTIONS, comparison)
    return rendered("compare.html.j2", "strider.compare", title=title(comparison), parts=parts)

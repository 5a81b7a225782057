"""Templates, and what all pages have in common."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from strider.engine import Json
from strider.units import grouped

if TYPE_CHECKING:
    from jinja2 import Environment

STATIC = Path(__file__).parent / "static"


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("strider.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = grouped
    return environment


def load_templates() -> None:
    """Reads all templates, so that the first request does not wait for it."""
    for name in _templates().list_templates():
        _templates().get_template(name)


def page(name: str, status: int = 200, /, **values: Json) -> Response:
    """A page from its template."""
    return HTMLResponse(_templates().get_template(f"{name}.html.j2").render(page=name, **values), status)

"""Settings of Sphinx: the manual is made of the Markdown files beside this one (`make manual`)."""

from pathlib import Path

import strider

project = "Strider"
author = "the developers of Strider"
project_copyright = author
release = strider.__version__
html_title = f"Strider {release}"

extensions = ["myst_parser"]
root_doc = "index"
nitpicky = True
smartquotes = False  # --store is an option, and no dash
myst_heading_anchors = 4  # links such as formats.md#7-counters, as they work where Markdown is read as it is
highlight_language = "text"
suppress_warnings = [
    "misc.highlighting_failure"
]  # formats.md shows shapes of JSON: ellipses and alternatives

html_theme = "furo"
html_baseurl = ""
html_copy_source = False
html_static_path: list[str] = []
html_favicon = str(Path(strider.__file__).parent / "web" / "static" / "icon.svg")
html_css_files: list[str] = []

"""One figure per file: each makes a Vega-Lite specification from plain points; `svg` draws it."""

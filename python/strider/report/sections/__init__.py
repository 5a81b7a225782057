"""The sections of a report, one file each.

The page, `strider show`, files and JSON documents walk this list. A new section is a file here that defines
`SECTION`, and its name in the list.
"""

from importlib import import_module

from strider.report.blocks import Section
from strider.report.results.results import Results

#: In the order of the page.
NAMES = (
    "simulated",
    "card",
    "findings",
    "summary",
    "starts",
    "data_sets",
    "groups",
    "rates",
    "latency",
    "costs",
    "counters",
    "metadata",
    "listio",
    "ratios",
    "processes",
    "ranks",
    "limits",
    "verification",
    "values",
    "errors",
    "environment",
)
SECTIONS: list[Section[Results]] = [import_module(f"{__name__}.{name}").SECTION for name in NAMES]

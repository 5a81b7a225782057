"""mdtest: its command line, alone or in a file, and the summary in which it reports.

`options` lists every option with what becomes of it, `command_line` and `script` read them, `workload` gives
them mdtest's defaults and formulas, `checks` objects, `suite` makes cases, and `summary` prints results.
"""

from strider.importers.mdtest.command_line import read_command
from strider.importers.mdtest.script import read_script, recognises
from strider.importers.options import Surroundings

__all__ = ["Surroundings", "read_command", "read_script", "recognises"]

"""IOR: its command line and its scripts, and the tables in which it reports.

`options` lists every option with what becomes of it, `command_line` and `script` read them, `workload` gives
them IOR's defaults, `checks` objects, `suite` makes cases, and `table` prints results.
"""

from strider.importers.ior.command_line import read_command
from strider.importers.ior.script import read_script, recognises
from strider.importers.options import Surroundings

__all__ = ["Surroundings", "read_command", "read_script", "recognises"]

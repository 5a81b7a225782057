"""From a plan to a finished run: pre-flight checks, the engine on N ranks, and a run directory.

`execute` is the whole of it. The engine writes its events straight into the run directory; this side follows
them for the progress display, passes interruptions on, and cleans up after an engine that could not do so.
"""

from strider.launch.confinement import wish_of
from strider.launch.display import Display, choose_display
from strider.launch.observers import Observing
from strider.launch.preflight import Finding, check_target
from strider.launch.process import Interruptions, interruptions
from strider.launch.remount import remount_words
from strider.launch.runner import Bounds, Outcome, execute
from strider.launch.watching import Watching, watching

__all__ = [
    "Bounds",
    "Display",
    "Finding",
    "Interruptions",
    "Observing",
    "Outcome",
    "Watching",
    "check_target",
    "choose_display",
    "execute",
    "interruptions",
    "remount_words",
    "watching",
    "wish_of",
]

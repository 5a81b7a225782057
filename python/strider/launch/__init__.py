"""Runs a plan: pre-flight checks, the engine on N ranks, and a run directory.

The entry point is `execute`. The engine writes its events into the run directory. The launcher follows them
to show progress, forwards interruptions, and cleans up if the engine could not.
"""

from strider.launch.confinement import parse_confine_mode
from strider.launch.display import Display, choose_display
from strider.launch.inputs import Bounds, RunInputs
from strider.launch.observers import Observing
from strider.launch.preflight import Finding, check_target
from strider.launch.process import Interruptions, interruptions
from strider.launch.remount import remount_words
from strider.launch.resume import Resumption
from strider.launch.runner import Outcome, execute
from strider.launch.simulation import simulate, with_simulated_ranks
from strider.launch.target import open_target
from strider.launch.watching import Watching, watching

__all__ = [
    "Bounds",
    "Display",
    "Finding",
    "Interruptions",
    "Observing",
    "Outcome",
    "Resumption",
    "RunInputs",
    "Watching",
    "check_target",
    "choose_display",
    "execute",
    "interruptions",
    "open_target",
    "parse_confine_mode",
    "remount_words",
    "simulate",
    "watching",
    "with_simulated_ranks",
]

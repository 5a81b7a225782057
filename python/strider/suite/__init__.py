"""From a suite file to a plan: every case spelled out, every mistake named with its line.

`load` reads a suite, applies changes of the command line and expands it; `check` asks the engine what the
plan means and brings its objections back to the lines of the suite. docs/suites.md describes the language.
"""

from strider.suite.changes import Changes
from strider.suite.checked import CheckedPlan, check
from strider.suite.load import Suite, load
from strider.suite.plan import Plan, PlannedCase, Repetitions
from strider.suite.ready_made import locate, ready_made

__all__ = [
    "Changes",
    "CheckedPlan",
    "Plan",
    "PlannedCase",
    "Repetitions",
    "Suite",
    "check",
    "load",
    "locate",
    "ready_made",
]

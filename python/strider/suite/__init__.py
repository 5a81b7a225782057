"""Expands a suite file into a plan with all cases; reports every mistake with its line.

`load` reads a suite, applies changes of the command line and expands it; `check` lets the engine check the
plan and maps its errors to the lines of the suite. docs/suites.md describes the language.
"""

from strider.suite.changes import Changes
from strider.suite.checked import CheckedPlan, check, turns
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
    "turns",
]

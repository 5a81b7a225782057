"""Limits of a case: its rate compared with the machine's ceilings, and counters of the nodes.

The rules are in `rules`, one file each; docs/limits.md has them as a table.
"""

from strider.limits.analysis import Analysis
from strider.limits.evidence import Evidence
from strider.limits.findings import UNEXPLAINED, Finding, Verdict, common_rules, find
from strider.limits.movers import Move, move_sentences, moves
from strider.limits.rule import Rule
from strider.limits.rules import RULES
from strider.limits.wording import Said, said, sentences

__all__ = [
    "RULES",
    "UNEXPLAINED",
    "Analysis",
    "Evidence",
    "Finding",
    "Move",
    "Rule",
    "Said",
    "Verdict",
    "common_rules",
    "find",
    "move_sentences",
    "moves",
    "said",
    "sentences",
]

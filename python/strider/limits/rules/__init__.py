"""The rules by which something is said to limit a rate, one file each.

A rule *explains* where its cause alone accounts for most of the time or nearly all of what is possible; else
it *adds* information. Every rule only repeats a measurement with its number, and leaves
out unknown numbers. Fewer than three repetitions, or a result below grade B, give no finding.

A new rule is a file here that defines `RULE`, and its name in the list.
"""

from importlib import import_module

from strider.limits.rule import Rule

#: In the order in which they are reported.
NAMES = (
    "null_interface",
    "think",
    "rate_limit",
    "cache",
    "faster_than_storage",
    "memory_copy",
    "memory",
    "data",
    "target_in_memory",
    "request_rate",
    "device",
    "target_stream",
    "busy_device",
    "sync",
    "opening",
    "link",
    "network",
    "processors",
    "ranks",
    "io_wait",
    "steal",
    "retransmits",
)
RULES: tuple[Rule, ...] = tuple(import_module(f"{__name__}.{name}").RULE for name in NAMES)

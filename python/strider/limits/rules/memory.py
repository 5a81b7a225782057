"""Memory copy takes a large part of the time."""

from strider.limits.rule import Rule, always
from strider.limits.rules.memory_copy import share_of_memory
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES

RULE = Rule(
    name="memory",
    weight="adds",
    threshold=0.5,
    share=share_of_memory,
    words=always("at {share} of memory copy, which takes a large part of the time"),
    why="At 50 %, one copy at full speed takes half of the time.",
    measures="rate ÷ `memory_copy`",
    below=0.9,
    despite=OF_SOURCES,
    scene=Scene(absent=0.45, present=0.65, by_rate=True, of_clients={"memory_copy": 1000.0}),
)

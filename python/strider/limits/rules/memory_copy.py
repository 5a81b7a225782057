"""The rate is near that of memory copy."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES


def share_of_memory(evidence: Evidence) -> float | None:
    """Returns rate ÷ memory copy, if anything is copied."""
    return None if evidence.interface == "null" else evidence.share_of_memory


RULE = Rule(
    name="memory copy",
    weight="explains",
    threshold=0.9,
    share=share_of_memory,
    words=always("at {share} of memory copy: this measures memory, not storage"),
    why="Data that is copied once can hardly move faster. Measurements of a ceiling differ by up to 10 %.",
    measures="rate ÷ `memory_copy`",
    test="reaches",
    despite=OF_SOURCES,
    scene=Scene(absent=0.75, present=1.0, by_rate=True, of_clients={"memory_copy": 1000.0}),
)

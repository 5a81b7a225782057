"""The processors of the nodes are busy."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, processor_time


def _busy_processors(evidence: Evidence) -> float | None:
    idle = evidence.processors("idle_s", "iowait_s")
    return 1.0 - idle if idle is not None else None


RULE = Rule(
    name="processors",
    weight="adds",
    threshold=0.9,
    share=_busy_processors,
    words=always("the nodes' processors are {share} busy, with all programs on them"),
    why="Above 90 %, some process is almost always waiting for a processor. It need not be a rank: other "
    "programs count as well.",
    measures="processor time of the nodes that is not idle or I/O wait",
    scene=Scene(absent=0.8, present=0.98, groups=processor_time("user_s")),
)

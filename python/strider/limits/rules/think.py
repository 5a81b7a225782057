"""The ranks compute between requests."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, spend
from strider.statistics.trust import OF_SOURCES


def _thinking(evidence: Evidence) -> float | None:
    return evidence.share_of_time("compute_s")


RULE = Rule(
    name="think",
    weight="explains",
    threshold=0.3,
    share=_thinking,
    words=always("computing between requests (think) takes {share} of the time"),
    why="Below 30 %, the rate depends mainly on storage.",
    measures="`compute_s` ÷ `elapsed_s`",
    despite=OF_SOURCES,
    scene=Scene(absent=0.27, present=0.45, fields=spend("compute_s")),
)

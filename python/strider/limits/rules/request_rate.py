"""The request loop takes a large part of the time."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES


def _requests(evidence: Evidence) -> float | None:
    return None if evidence.interface == "null" else evidence.share_of_requests


RULE = Rule(
    name="request rate",
    weight="explains",
    threshold=0.5,
    share=_requests,
    words=always("{share} of the bare request loop's rate: the software of each request dominates"),
    why="At 50 %, half of the time is spent in Strider's own request loop.",
    measures="`requests_s` ÷ `null_requests`",
    despite=OF_SOURCES,
    scene=Scene(absent=0.45, present=0.7, by_rate=True, of_clients={"null_requests": 1000.0}),
)

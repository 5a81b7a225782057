"""The ranks need their processors nearly all of the time."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES


def _cost_of_request(evidence: Evidence) -> str:
    time_s = (evidence.mean("user_s") or 0.0) + (evidence.mean("system_s") or 0.0)
    requests = evidence.mean("requests")
    if not requests:
        return ""
    cost_s = time_s / requests
    cost = f"{1e3 * cost_s:.3g} ms" if cost_s >= 1e-3 else f"{1e6 * cost_s:.3g} µs"
    return f"{cost} of processor time for each request"


RULE = Rule(
    name="ranks",
    weight="explains",
    threshold=0.8,
    share=lambda evidence: evidence.share_of_ranks("user_s", "system_s"),
    words=always("the ranks are on a processor {share} of the time: software and copying, not waiting"),
    why="The ranks can wait for storage only in the remaining time, 20 % or less.",
    measures="(`user_s` + `system_s`) ÷ clients ÷ `elapsed_s`",
    test="beyond",
    detail=_cost_of_request,
    despite=OF_SOURCES,
    scene=Scene(absent=0.7, present=0.95, fields=lambda share: {"user_s": 4.0 * share}),
)

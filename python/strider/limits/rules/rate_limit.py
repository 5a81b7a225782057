"""The case limits its own rate."""

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES
from strider.units import MIB


def _pace(evidence: Evidence) -> float | None:
    load = evidence.summary.load
    if load is not None:
        return None if load.saturated else ratio(load.achieved, load.offered)
    limit = evidence.summary.case.common_parameters.get("rate_limit")
    if not isinstance(limit, int | float) or limit <= 0:
        return None
    if evidence.summary.case.is_metadata:
        return ratio(evidence.requests_s, float(limit))
    return ratio(evidence.rate_mib_s, limit / MIB)


RULE = Rule(
    name="rate limit",
    weight="explains",
    threshold=0.95,
    share=_pace,
    words=always("the case asks for no more: its own rate limit or arrival rate is reached ({share} of it)"),
    why="If storage is fast enough, Strider reaches the requested rate to within a few percent.",
    measures="rate ÷ `rate_limit` or `arrival_rate`",
    test="reaches",
    despite=OF_SOURCES,
    scene=Scene(absent=0.85, present=0.99, keys={"keys": {"rate_limit": 1000 * MIB}}, by_rate=True),
)

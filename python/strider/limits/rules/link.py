"""The links of the nodes are nearly full."""

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, sent
from strider.units import format_rate


def _link(evidence: Evidence) -> float | None:
    """What left or reached the nodes over their networks ÷ what their links carry each way."""
    return ratio(evidence.outside_mib_s, evidence.ceilings.of_nodes("link", evidence.nodes))


def _link_detail(evidence: Evidence) -> str:
    limit = evidence.ceilings.of_nodes("link", evidence.nodes)
    return f"of {format_rate(limit)} each way" if limit else ""


RULE = Rule(
    name="link",
    weight="explains",
    threshold=0.8,
    share=_link,
    words=always("the nodes' network links are {share} full"),
    why="Headers and acknowledgements take 5 to 10 %, and links are rarely used to more than 90 %.",
    measures="bytes of the nodes' networks in the busier direction ÷ `link`",
    test="beyond",
    detail=_link_detail,
    scene=Scene(absent=0.7, present=0.95, groups=sent, of_node={"link": 1000.0}),
)

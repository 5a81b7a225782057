"""The nodes exchange nearly as much as MPI can."""

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, sent

_BEYOND_MESSAGES = 1.2
"""With so many times what MPI moved, the network is faster than that, and not full."""


def _messages(evidence: Evidence) -> float | None:
    """Bytes of the nodes' networks ÷ what MPI moved between them, if the speed of the links is unknown."""
    if evidence.ceilings.of_nodes("link", evidence.nodes) is not None:
        return None
    return ratio(evidence.outside_mib_s, evidence.ceilings.of_nodes("network", evidence.nodes))


RULE = Rule(
    name="network",
    weight="explains",
    threshold=0.8,
    share=_messages,
    words=always("the nodes' network carries {share} of the rate of MPI between the nodes"),
    why="Same threshold as for *link*; applies if the speed of the links is unknown. More than 120 % shows "
    "that the ceiling is wrong.",
    measures="bytes of the nodes' networks in the busier direction ÷ `network`",
    below=_BEYOND_MESSAGES,
    scene=Scene(absent=0.7, present=0.95, groups=sent, of_node={"network": 1000.0}),
)

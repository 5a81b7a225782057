"""The rate is that of one sequential stream from each node."""

from strider.limits.rule import Rule, always
from strider.limits.rules.device import stream_detail
from strider.limits.scene import Scene

RULE = Rule(
    name="target stream",
    weight="adds",
    threshold=0.9,
    share=lambda evidence: evidence.share_of_storage("target"),
    words=always("as fast as one sequential stream per node to the target ({share})"),
    why="Same threshold as for *device*. It does not explain the rate, because more streams may be faster.",
    measures="rate ÷ `target_*`",
    test="reaches",
    detail=stream_detail("target"),
    scene=Scene(absent=0.75, present=1.0, by_rate=True, of_node={"target_write": 1000.0}),
)

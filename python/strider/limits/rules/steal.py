"""The hypervisor gives processor time to other machines."""

from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, processor_time

RULE = Rule(
    name="steal",
    weight="adds",
    threshold=0.1,
    share=lambda evidence: evidence.processors("steal_s"),
    words=always("the hypervisor gave {share} of the processors' time to others"),
    why="10 % is more than most differences of interest.",
    measures="`steal_s` of the nodes ÷ their processor time",
    scene=Scene(absent=0.08, present=0.2, groups=processor_time("steal_s")),
)

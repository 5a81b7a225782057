"""Making data persistent takes most of the time."""

from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, spend

RULE = Rule(
    name="sync",
    weight="explains",
    threshold=0.5,
    share=lambda evidence: evidence.share_of_time("sync_s"),
    words=always("making data persistent (fsync) takes {share} of the time"),
    why="Sync takes more than half of the time.",
    measures="`sync_s` ÷ `elapsed_s`",
    scene=Scene(absent=0.45, present=0.75, fields=spend("sync_s")),
)

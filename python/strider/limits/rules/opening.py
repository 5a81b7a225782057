"""Opening and closing files takes a large part of the time."""

from strider.limits.rule import Rule, always
from strider.limits.scene import Scene, spend

RULE = Rule(
    name="opening",
    weight="explains",
    threshold=0.3,
    share=lambda evidence: evidence.share_of_time("open_s", "close_s"),
    words=always("opening and closing files take {share} of the time"),
    why="Without opening and closing, the rate would be at least 40 % higher.",
    measures="(`open_s` + `close_s`) ÷ `elapsed_s`",
    scene=Scene(absent=0.27, present=0.45, fields=spend("open_s")),
)

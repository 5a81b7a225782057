"""The ranks generate and check data."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule
from strider.limits.scene import Scene, spend
from strider.statistics.trust import OF_SOURCES


def _data(evidence: Evidence) -> float | None:
    return evidence.share_of_time("prepare_s")


def _data_words(evidence: Evidence) -> str:
    work = {"write": "generating data takes", "read": "checking what was read takes"}
    what = work.get(evidence.direction or "", "generating and checking data take")
    return f'{what} {{share}} of the time: verify = "off" leaves it out'


RULE = Rule(
    name="data",
    weight="explains",
    threshold=0.25,
    share=_data,
    words=_data_words,
    why="Without this work, the rate would be at least a third higher.",
    measures="`prepare_s` ÷ `elapsed_s`",
    despite=OF_SOURCES | {"verified"},
    scene=Scene(absent=0.22, present=0.4, fields=spend("prepare_s")),
)

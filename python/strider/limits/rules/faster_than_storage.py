"""The rate is higher than storage can reach."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule
from strider.limits.scene import Scene
from strider.statistics.trust import OF_SOURCES


def _exceeding(evidence: Evidence) -> float | None:
    found = evidence.summary.exceeding
    return found.factor if found else None


def _is_faster(evidence: Evidence) -> bool:
    return evidence.summary.exceeding is not None and evidence.may_be_judged(OF_SOURCES)


def _exceeding_words(evidence: Evidence) -> str:
    found = evidence.summary.exceeding
    return f"{{share}} the rate of the {found.what if found else 'device'}: this is a cache"


RULE = Rule(
    name="faster than storage",
    weight="explains",
    threshold=1.0,
    share=_exceeding,
    words=_exceeding_words,
    why="The rate is above 1.1 × that of the device, and nothing shows that the bytes reached the device; or "
    "it is above the speed of the links, and the servers are on other nodes.",
    measures="rate ÷ `device_*` or `link`",
    test="own",
    holds=_is_faster,
    unit="×",
    described="lower end of the 95 % interval of the rate above 1.1 × the device or the links' speed",
    despite=OF_SOURCES,
    scene=Scene(
        absent=1.0,
        present=1.6,
        keys={"operation": "read"},
        by_rate=True,
        of_node={"device_read": 1000.0},
        is_served=False,
    ),
)

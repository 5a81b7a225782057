"""Reads are not served by storage."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.trust import HARDLY_SERVED, OF_SOURCES


def _from_cache(evidence: Evidence) -> float | None:
    known = [sample for sample in evidence.samples if sample.served_bytes is not None and sample.bytes]
    served = sum(sample.served_bytes or 0 for sample in known)
    return max(0.0, 1.0 - served / sum(sample.bytes for sample in known)) if known else None


RULE = Rule(
    name="cache",
    weight="explains",
    threshold=1.0 - HARDLY_SERVED,
    share=_from_cache,
    words=always("{share} of what was read came from a cache"),
    why="Same threshold as for the note `from cache`: storage served less than 10 % of the bytes.",
    measures="1 − `served_bytes` ÷ bytes read",
    despite=OF_SOURCES,
    scene=Scene(
        absent=0.8, present=0.98, keys={"operation": "read"}, fields=lambda share: {"served_share": 1 - share}
    ),
)

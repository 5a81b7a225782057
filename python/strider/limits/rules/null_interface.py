"""The interface moves nothing."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule


def _null(evidence: Evidence) -> float | None:
    return evidence.share_of_requests if evidence.interface == "null" else None


def _null_words(evidence: Evidence) -> str:
    beside = " ({share} of the bare request loop)" if evidence.share_of_requests is not None else ""
    return f"nothing is moved{beside}: this is Strider's own cost"


RULE = Rule(
    name="null interface",
    weight="explains",
    threshold=0.0,
    share=_null,
    words=_null_words,
    why="The interface is `null`.",
    measures="the case",
    test="definition",
    holds=lambda evidence: evidence.interface == "null",
    counts="none",
)

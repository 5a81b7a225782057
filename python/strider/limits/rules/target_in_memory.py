"""The target is a file system in memory."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule


def _in_memory(evidence: Evidence) -> float | None:
    return evidence.share_of_memory if evidence.in_memory else None


def _in_memory_words(evidence: Evidence) -> str:
    beside = ", at {share} of memory copy" if evidence.share_of_memory is not None else ""
    return f"the target is in memory ({evidence.file_system}){beside}: no storage takes part"


RULE = Rule(
    name="target in memory",
    weight="explains",
    threshold=0.0,
    share=_in_memory,
    words=_in_memory_words,
    why="The target is in tmpfs or ramfs.",
    measures="the file system of the target",
    test="definition",
    holds=lambda evidence: evidence.in_memory,
    counts="none",
)

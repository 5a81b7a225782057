"""The ranks wait for block devices."""

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene


def _waiting(evidence: Evidence) -> float | None:
    elapsed_s = evidence.mean("elapsed_s")
    waited = ratio(evidence.counted("cpu", "iowait_s"), elapsed_s * evidence.clients if elapsed_s else None)
    return min(1.0, waited) if waited is not None else None


RULE = Rule(
    name="I/O wait",
    weight="adds",
    threshold=0.5,
    share=_waiting,
    words=always("the ranks wait for block devices {share} of the time (I/O wait)"),
    why="On average, more than half of the ranks wait.",
    measures="`iowait_s` of the nodes ÷ clients ÷ `elapsed_s`",
    scene=Scene(
        absent=0.45,
        present=0.75,
        groups=lambda s: [("cpu", "", {"iowait_s": 4.0 * s, "idle_s": 16.0 - 4.0 * s})],
    ),
)

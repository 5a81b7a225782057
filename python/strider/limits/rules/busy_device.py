"""A block device is hardly ever idle."""

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene

_SEVERAL = 2.0
"""A device is asked for all it can do by at least so many requests at a time."""


def _busy_device(evidence: Evidence) -> float | None:
    nodes = evidence.summary.counters.nodes if evidence.summary.counters else 0
    busy = evidence.counted_per_second("block", "busy_s")
    return min(1.0, busy / nodes) if busy is not None and nodes and not evidence.in_memory else None


def _is_queued(evidence: Evidence) -> bool:
    """Whether a device had several requests at a time: with one, it waits for the program between them."""
    flying = evidence.in_flight
    return flying is not None and flying >= _SEVERAL


def _in_flight_detail(evidence: Evidence) -> str:
    flying = evidence.in_flight
    return f"with {flying:.2g} requests in flight" if flying else ""


RULE = Rule(
    name="busy device",
    weight="explains",
    threshold=0.9,
    share=_busy_device,
    words=always("a block device was busy {share} of the time"),
    why="The device was hardly ever idle. With one request in flight this is true of any device, and shows "
    "no limit.",
    measures="`busy_s` of the busiest device ÷ time; its requests in flight, or clients × `depth`",
    test="beyond",
    detail=_in_flight_detail,
    holds=_is_queued,
    counts="3 repetitions, 2 requests in flight",
    scene=Scene(
        absent=0.8,
        present=0.98,
        keys={"keys": {"depth": 4}},
        groups=lambda s: [("block", "sda", {"busy_s": 2.0 * s})],
    ),
)

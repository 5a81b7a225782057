"""The rate is that of the block device."""

from collections.abc import Callable

from strider.limits.evidence import Evidence
from strider.limits.rule import Rule, always
from strider.limits.scene import Scene
from strider.statistics.exceeding import BEYOND_DEVICE
from strider.units import format_rate


def _device(evidence: Evidence) -> float | None:
    return None if evidence.summary.exceeding else evidence.share_of_storage("device")


def stream_detail(kind: str) -> Callable[[Evidence], str]:
    """Returns words with the rate of a sequential stream; `kind` is `device` or `target`."""

    def detail(evidence: Evidence) -> str:
        limit = evidence.ceilings.of_nodes(f"{kind}_{evidence.direction}", evidence.nodes)
        return f"of {format_rate(limit)}" if limit else ""

    return detail


RULE = Rule(
    name="device",
    weight="explains",
    threshold=0.9,
    share=_device,
    words=always("the device's sequential rate is reached ({share})"),
    why="Measurements of a device differ by up to 10 %. A rate above 110 % shows that the ceiling is wrong.",
    measures="rate ÷ `device_*`",
    test="reaches",
    detail=stream_detail("device"),
    below=BEYOND_DEVICE,
    scene=Scene(absent=0.75, present=1.0, by_rate=True, of_node={"device_write": 1000.0}),
)

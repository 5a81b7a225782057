"""TCP retransmits segments."""

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule, always
from strider.limits.scene import Groups, Scene
from strider.statistics.rule import lower_share
from strider.units import MIB

_FEWEST_RESENT, _RESENT = 5, 0.001
"""Fewer segments may be a single event; the share must surely be larger than this."""


def _resent(evidence: Evidence) -> float | None:
    resent, sent = _segments(evidence)
    return ratio(float(resent), float(sent))


def _segments(evidence: Evidence) -> tuple[int, int]:
    """Segments of all repetitions: retransmitted and sent."""
    resent, sent = (evidence.counted("tcp", f"{name}_segments") for name in ("retransmitted", "sent"))
    n = len(evidence.samples)
    return round(n * (resent or 0.0)), round(n * (sent or 0.0))


def _is_resent(evidence: Evidence) -> bool:
    """More than a thousandth, beyond chance, where the bytes of the result travel over TCP."""
    resent, sent = _segments(evidence)
    return (
        resent >= _FEWEST_RESENT
        and evidence.may_be_judged()
        and evidence.is_over_tcp
        and lower_share(resent, sent) > _RESENT
    )


def _resent_detail(evidence: Evidence) -> str:
    resent, sent = _segments(evidence)
    return f" ({resent} of {sent})"


def _segments_of(resent: float) -> Groups:
    """Returns counters with retransmitted ones of 20 000 segments, by chance."""
    import numpy as np

    count = float(np.random.default_rng(int(1e9 * resent)).poisson(20000 * resent))
    return [
        ("tcp", "", {"retransmitted_segments": count, "sent_segments": 20000.0}),
        ("network", "eth0", {"sent_bytes": 4000.0 * MIB}),
    ]


RULE = Rule(
    name="retransmits",
    weight="adds",
    threshold=_RESENT,
    share=_resent,
    words=always("{share} of TCP segments were retransmitted"),
    why="With about one segment in a thousand or more, connections with long round trips lose rate. The "
    "number does not show the cause.",
    measures="`retransmitted_segments` ÷ `sent_segments` of the nodes, where the bytes travel over TCP",
    test="own",
    detail=_resent_detail,
    holds=_is_resent,
    counts="3 repetitions, 5 retransmitted segments",
    described="lower 99 % bound (Clopper–Pearson) above the threshold",
    scene=Scene(
        absent=0.0005,
        present=0.004,
        keys={"interface": {"name": "nfs"}},
        groups=_segments_of,
        cause="0.4 % of 20 000 segments a repetition (0.05 % without a cause), noise of the rate 3 %",
        is_exact=True,
    ),
)

"""The rules by which something is said to limit a rate: a number, a threshold, and why it is there.

A rule *explains* where its cause alone accounts for most of the time or nearly all of what is possible; else
it *adds* what a reader should know. Every rule only repeats what was measured: it says how much, and leaves
out what is not known. What rests on fewer than three repetitions, or on a result below grade B, says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from strider.limits.evidence import Evidence, ratio
from strider.limits.rule import Rule
from strider.statistics.exceeding import BEYOND_DEVICE
from strider.statistics.rule import lower_share
from strider.statistics.trust import HARDLY_SERVED, OF_SOURCES
from strider.units import MIB, format_rate

_SEVERAL = 2.0
"""A device is asked for all it can do by at least so many requests at a time."""
_FEWEST_RESENT, _RESENT = 5, 0.001
"""Fewer segments may be a single event; the share must surely be larger than this."""
_BEYOND_MESSAGES = 1.2
"""With so many times what MPI moved, the network is faster than that, and not full."""


def _always(text: str) -> Callable[[Evidence], str]:
    return lambda _: text


def _thinking(evidence: Evidence) -> float | None:
    return evidence.share_of_time("compute_s")


def _pace(evidence: Evidence) -> float | None:
    load = evidence.summary.load
    if load is not None:
        return None if load.saturated else ratio(load.achieved, load.offered)
    limit = evidence.summary.case.common_parameters.get("rate_limit")
    if not isinstance(limit, int | float) or limit <= 0:
        return None
    if evidence.summary.case.is_metadata:
        return ratio(evidence.requests_s, float(limit))
    return ratio(evidence.rate_mib_s, limit / MIB)


def _is_null(evidence: Evidence) -> bool:
    return evidence.interface == "null"


def _null(evidence: Evidence) -> float | None:
    return evidence.share_of_requests if _is_null(evidence) else None


def _null_words(evidence: Evidence) -> str:
    beside = " ({share} of the bare request loop)" if evidence.share_of_requests is not None else ""
    return f"nothing is moved{beside}: this is Strider's own cost"


def _requests(evidence: Evidence) -> float | None:
    return None if _is_null(evidence) else evidence.share_of_requests


def _data(evidence: Evidence) -> float | None:
    return evidence.share_of_time("prepare_s")


def _data_words(evidence: Evidence) -> str:
    work = {"write": "generating data takes", "read": "checking what was read takes"}
    what = work.get(evidence.direction or "", "generating and checking data take")
    return f'{what} {{share}} of the time: verify = "off" leaves it out'


def _from_cache(evidence: Evidence) -> float | None:
    known = [sample for sample in evidence.samples if sample.served_bytes is not None and sample.bytes]
    served = sum(sample.served_bytes or 0 for sample in known)
    return max(0.0, 1.0 - served / sum(sample.bytes for sample in known)) if known else None


def _exceeding(evidence: Evidence) -> float | None:
    found = evidence.summary.exceeding
    return found.factor if found else None


def _is_faster(evidence: Evidence) -> bool:
    return evidence.summary.exceeding is not None and evidence.may_be_judged(OF_SOURCES)


def _exceeding_words(evidence: Evidence) -> str:
    found = evidence.summary.exceeding
    return f"{{share}} the rate of the {found.what if found else 'device'}: this is a cache"


def _memory(evidence: Evidence) -> float | None:
    return None if _is_null(evidence) else evidence.share_of_memory


def _in_memory(evidence: Evidence) -> float | None:
    return evidence.share_of_memory if evidence.in_memory else None


def _in_memory_words(evidence: Evidence) -> str:
    beside = ", at {share} of memory copy" if evidence.share_of_memory is not None else ""
    return f"the target is in memory ({evidence.file_system}){beside}: no storage takes part"


def _device(evidence: Evidence) -> float | None:
    return None if evidence.summary.exceeding else evidence.share_of_storage("device")


def _stream_detail(kind: str) -> Callable[[Evidence], str]:
    def detail(evidence: Evidence) -> str:
        limit = evidence.ceilings.of_nodes(f"{kind}_{evidence.direction}", evidence.nodes)
        return f"of {format_rate(limit)}" if limit else ""

    return detail


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


def _link(evidence: Evidence) -> float | None:
    """What left or reached the nodes over their networks ÷ what their links carry each way."""
    return ratio(evidence.outside_mib_s, evidence.ceilings.of_nodes("link", evidence.nodes))


def _link_detail(evidence: Evidence) -> str:
    limit = evidence.ceilings.of_nodes("link", evidence.nodes)
    return f"of {format_rate(limit)} each way" if limit else ""


def _messages(evidence: Evidence) -> float | None:
    """The same ÷ what MPI moved between the nodes, which is asked where the links' speed is not known."""
    if evidence.ceilings.of_nodes("link", evidence.nodes) is not None:
        return None
    return ratio(evidence.outside_mib_s, evidence.ceilings.of_nodes("network", evidence.nodes))


def _busy_processors(evidence: Evidence) -> float | None:
    idle = evidence.processors("idle_s", "iowait_s")
    return 1.0 - idle if idle is not None else None


def _cost_of_request(evidence: Evidence) -> str:
    time_s = (evidence.mean("user_s") or 0.0) + (evidence.mean("system_s") or 0.0)
    requests = evidence.mean("requests")
    if not requests:
        return ""
    cost_s = time_s / requests
    cost = f"{1e3 * cost_s:.3g} ms" if cost_s >= 1e-3 else f"{1e6 * cost_s:.3g} µs"
    return f"{cost} of processor time for each request"


def _waiting(evidence: Evidence) -> float | None:
    elapsed_s = evidence.mean("elapsed_s")
    waited = ratio(evidence.counted("cpu", "iowait_s"), elapsed_s * evidence.clients if elapsed_s else None)
    return min(1.0, waited) if waited is not None else None


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


RULES: tuple[Rule, ...] = (
    Rule(
        "null interface",
        "explains",
        0.0,
        _null,
        _null_words,
        "The interface is `null`.",
        "the case",
        "definition",
        holds=_is_null,
        counts="none",
    ),
    Rule(
        "think",
        "explains",
        0.3,
        _thinking,
        _always("computing between requests (think) takes {share} of the time"),
        "Below 30 %, the rate depends mainly on storage.",
        "`compute_s` ÷ `elapsed_s`",
        despite=OF_SOURCES,
    ),
    Rule(
        "rate limit",
        "explains",
        0.95,
        _pace,
        _always("the case asks for no more: its own rate limit or arrival rate is reached ({share} of it)"),
        "If storage is fast enough, Strider reaches the requested rate to within a few percent.",
        "rate ÷ `rate_limit` or `arrival_rate`",
        "reaches",
        despite=OF_SOURCES,
    ),
    Rule(
        "cache",
        "explains",
        1.0 - HARDLY_SERVED,
        _from_cache,
        _always("{share} of what was read came from a cache"),
        "Same threshold as for the note `from cache`: storage served less than 10 % of the bytes.",
        "1 − `served_bytes` ÷ bytes read",
        despite=OF_SOURCES,
    ),
    Rule(
        "faster than storage",
        "explains",
        1.0,
        _exceeding,
        _exceeding_words,
        "The rate is above 1.1 × that of the device, and nothing shows that the bytes reached the device; or "
        "it is above the speed of the links, and the servers are on other nodes.",
        "rate ÷ `device_*` or `link`",
        "own",
        holds=_is_faster,
        unit="×",
        described="lower end of the 95 % interval of the rate above 1.1 × the device or the links' speed",
        despite=OF_SOURCES,
    ),
    Rule(
        "memory copy",
        "explains",
        0.9,
        _memory,
        _always("at {share} of memory copy: this measures memory, not storage"),
        "Data that is copied once can hardly move faster. Measurements of a ceiling differ by up to 10 %.",
        "rate ÷ `memory_copy`",
        "reaches",
        despite=OF_SOURCES,
    ),
    Rule(
        "memory",
        "adds",
        0.5,
        _memory,
        _always("at {share} of memory copy, which takes a large part of the time"),
        "At 50 %, one copy at full speed takes half of the time.",
        "rate ÷ `memory_copy`",
        below=0.9,
        despite=OF_SOURCES,
    ),
    Rule(
        "data",
        "explains",
        0.25,
        _data,
        _data_words,
        "Without this work, the rate would be at least a third higher.",
        "`prepare_s` ÷ `elapsed_s`",
        despite=OF_SOURCES | {"verified"},
    ),
    Rule(
        "target in memory",
        "explains",
        0.0,
        _in_memory,
        _in_memory_words,
        "The target is in tmpfs or ramfs.",
        "the file system of the target",
        "definition",
        holds=lambda evidence: evidence.in_memory,
        counts="none",
    ),
    Rule(
        "request rate",
        "explains",
        0.5,
        _requests,
        _always("{share} of the bare request loop's rate: the software of each request dominates"),
        "At 50 %, half of the time is spent in Strider's own request loop.",
        "`requests_s` ÷ `null_requests`",
        despite=OF_SOURCES,
    ),
    Rule(
        "device",
        "explains",
        0.9,
        _device,
        _always("the device's sequential rate is reached ({share})"),
        "Measurements of a device differ by up to 10 %. A rate above 110 % shows that the ceiling is wrong.",
        "rate ÷ `device_*`",
        "reaches",
        _stream_detail("device"),
        below=BEYOND_DEVICE,
    ),
    Rule(
        "target stream",
        "adds",
        0.9,
        lambda evidence: evidence.share_of_storage("target"),
        _always("as fast as one sequential stream per node to the target ({share})"),
        "Same threshold as for *device*. It does not explain the rate, because more streams may be faster.",
        "rate ÷ `target_*`",
        "reaches",
        _stream_detail("target"),
    ),
    Rule(
        "busy device",
        "explains",
        0.9,
        _busy_device,
        _always("a block device was busy {share} of the time"),
        "The device was hardly ever idle. With one request in flight this is true of any device, and shows "
        "no limit.",
        "`busy_s` of the busiest device ÷ time; its requests in flight, or clients × `depth`",
        "beyond",
        _in_flight_detail,
        holds=_is_queued,
        counts="3 repetitions, 2 requests in flight",
    ),
    Rule(
        "sync",
        "explains",
        0.5,
        lambda evidence: evidence.share_of_time("sync_s"),
        _always("making data persistent (fsync) takes {share} of the time"),
        "Sync takes more than half of the time.",
        "`sync_s` ÷ `elapsed_s`",
    ),
    Rule(
        "opening",
        "explains",
        0.3,
        lambda evidence: evidence.share_of_time("open_s", "close_s"),
        _always("opening and closing files take {share} of the time"),
        "Without opening and closing, the rate would be at least 40 % higher.",
        "(`open_s` + `close_s`) ÷ `elapsed_s`",
    ),
    Rule(
        "link",
        "explains",
        0.8,
        _link,
        _always("the nodes' network links are {share} full"),
        "Headers and acknowledgements take 5 to 10 %, and links are rarely used to more than 90 %.",
        "bytes of the nodes' networks in the busier direction ÷ `link`",
        "beyond",
        _link_detail,
    ),
    Rule(
        "network",
        "explains",
        0.8,
        _messages,
        _always("the nodes' network carries {share} of the rate of MPI between the nodes"),
        "Same threshold as for *link*; applies if the speed of the links is unknown. More than 120 % shows "
        "that the ceiling is wrong.",
        "bytes of the nodes' networks in the busier direction ÷ `network`",
        below=_BEYOND_MESSAGES,
    ),
    Rule(
        "processors",
        "adds",
        0.9,
        _busy_processors,
        _always("the nodes' processors are {share} busy, with all programs on them"),
        "Above 90 %, some process is almost always waiting for a processor. It need not be a rank: other "
        "programs count as well.",
        "processor time of the nodes that is not idle or I/O wait",
    ),
    Rule(
        "ranks",
        "explains",
        0.8,
        lambda evidence: evidence.share_of_ranks("user_s", "system_s"),
        _always("the ranks are on a processor {share} of the time: software and copying, not waiting"),
        "The ranks can wait for storage only in the remaining time, 20 % or less.",
        "(`user_s` + `system_s`) ÷ clients ÷ `elapsed_s`",
        "beyond",
        _cost_of_request,
        despite=OF_SOURCES,
    ),
    Rule(
        "I/O wait",
        "adds",
        0.5,
        _waiting,
        _always("the ranks wait for block devices {share} of the time (I/O wait)"),
        "On average, more than half of the ranks wait.",
        "`iowait_s` of the nodes ÷ clients ÷ `elapsed_s`",
    ),
    Rule(
        "steal",
        "adds",
        0.1,
        lambda evidence: evidence.processors("steal_s"),
        _always("the hypervisor gave {share} of the processors' time to others"),
        "10 % is more than most differences of interest.",
        "`steal_s` of the nodes ÷ their processor time",
    ),
    Rule(
        "retransmits",
        "adds",
        _RESENT,
        _resent,
        _always("{share} of TCP segments were retransmitted"),
        "With about one segment in a thousand or more, connections with long round trips lose rate. The "
        "number does not show the cause.",
        "`retransmitted_segments` ÷ `sent_segments` of the nodes, where the bytes travel over TCP",
        "own",
        _resent_detail,
        holds=_is_resent,
        counts="3 repetitions, 5 retransmitted segments",
        described="lower 99 % bound (Clopper–Pearson) above the threshold",
    ),
)
"""In the order in which they are reported."""

"""Each rule speaks from its threshold on, and is silent below it and where nothing is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from limits_builders import Result, analysis_of, of_clients, of_node
from strider.limits import RULES, UNEXPLAINED, Analysis
from strider.report.sections.limits import as_json
from strider.store.model import CeilingReport
from strider.units import MIB

PAGE = Path(__file__).parents[3] / "docs" / "limits.md"
#: Processors of a node that are hardly busy.
IDLE = ("cpu", "", {"user_s": 0.1, "idle_s": 3.9})


def said(analysis: Analysis) -> dict[str, str]:
    """Rules and words of the only result."""
    (verdict,) = analysis.verdicts
    return {finding.rule.name: finding.text for finding in verdict.findings}


def times(**fields: float) -> dict[str, Any]:
    return {"times": fields}


def counters(source: str, **values: float) -> dict[str, Any]:
    return {"counters": [(source, "eth0" if source == "network" else "", values)]}


BY_SHARE = [
    (
        "think",
        times(compute_s=0.31),
        times(compute_s=0.29),
        (),
        "computing between requests (think) takes 31 %",
    ),
    (
        "data",
        times(prepare_s=0.26),
        times(prepare_s=0.24),
        (),
        'generating data takes 26 % of the time: verify = "off"',
    ),
    ("sync", times(sync_s=0.51), times(sync_s=0.49), (), "making data persistent (fsync) takes 51 %"),
    (
        "opening",
        times(open_s=0.2, close_s=0.11),
        times(open_s=0.2, close_s=0.09),
        (),
        "opening and closing files take 31 %",
    ),
    (
        "rate limit",
        {"keys": {"rate_limit": 1050 * MIB}},
        {"keys": {"rate_limit": 1060 * MIB}},
        (),
        "its own rate limit or arrival rate is reached (95 %",
    ),
    (
        "memory copy",
        {"rates": [910]},
        {"rates": [890]},
        (of_clients(memory_copy=1000),),
        "at 91 % of memory copy: this",
    ),
    (
        "memory",
        {"rates": [510]},
        {"rates": [490]},
        (of_clients(memory_copy=1000),),
        "at 51 % of memory copy, which",
    ),
    (
        "request rate",
        {"rates": [51]},
        {"rates": [49]},
        (of_clients(null_requests=100),),
        "51 % of the bare request loop",
    ),
    (
        "device",
        {"rates": [910]},
        {"rates": [890]},
        (of_node(device_write=1000),),
        "the device's sequential rate is reached (91 %), of 1000 MiB/s",
    ),
    (
        "target stream",
        {"rates": [910]},
        {"rates": [890]},
        (of_node(target_write=1000),),
        "as fast as one sequential stream per node to the target (91 %)",
    ),
    (
        "busy device",
        counters("block", busy_s=0.91),
        counters("block", busy_s=0.89),
        (),
        "requests at work 91 %",
    ),
    (
        "link",
        counters("network", sent_bytes=810 * MIB),
        counters("network", sent_bytes=790 * MIB),
        (of_node(link=1000),),
        "the nodes' network links are 81 % full, of 1000 MiB/s each way",
    ),
    (
        "network",
        counters("network", received_bytes=810 * MIB),
        counters("network", received_bytes=790 * MIB),
        (of_node(network=1000),),
        "81 % of what MPI moves between the nodes",
    ),
    (
        "processors",
        counters("cpu", user_s=3.0, system_s=0.7, idle_s=0.2, iowait_s=0.1),
        counters("cpu", user_s=3.0, system_s=0.5, idle_s=0.4, iowait_s=0.1),
        (),
        "the nodes' processors are 92 % busy",
    ),
    (
        "ranks",
        times(user_s=0.6, system_s=1.02, requests=1000),
        times(user_s=0.6, system_s=0.98),
        (),
        "the ranks are on a processor 81 % of the time: software and copying, not waiting, 1.62 ms",
    ),
    (
        "I/O wait",
        counters("cpu", iowait_s=1.02, idle_s=3.0),
        counters("cpu", iowait_s=0.98, idle_s=3.0),
        (),
        "wait for block devices 51 %",
    ),
    (
        "steal",
        counters("cpu", steal_s=0.44, idle_s=3.56),
        counters("cpu", steal_s=0.36, idle_s=3.64),
        (),
        "the hypervisor gave 11 %",
    ),
    (
        "retransmits",
        counters("tcp", retransmitted_segments=12, sent_segments=10000),
        counters("tcp", retransmitted_segments=8, sent_segments=10000),
        (),
        "0.1 % of the TCP segments were sent again",
    ),
    (
        "cache",
        {"operation": "read", **times(served_by_storage=0.09, served_bytes=90 * MIB)},
        {"operation": "read", **times(served_by_storage=0.11, served_bytes=110 * MIB)},
        (),
        "91 % of what was read came from a cache",
    ),
]


@pytest.mark.parametrize(
    ("rule", "beyond", "below", "ceilings", "words"), BY_SHARE, ids=[one[0] for one in BY_SHARE]
)
def test_a_rule_speaks_from_its_threshold_on(
    rule: str, beyond: dict[str, Any], below: dict[str, Any], ceilings: Sequence[CeilingReport], words: str
) -> None:
    found = said(analysis_of(Result(**beyond), ceilings=ceilings))
    assert words in found[rule]
    assert rule not in said(analysis_of(Result(**below), ceilings=ceilings))


def test_every_rule_has_a_test() -> None:
    tested = {one[0] for one in BY_SHARE} | {"null interface", "target in memory", "faster than storage"}
    assert tested == {rule.name for rule in RULES}


def test_what_is_not_known_is_not_said() -> None:
    analysis = analysis_of(Result())
    (verdict,) = analysis.verdicts
    assert verdict.findings == []
    assert not verdict.explained
    assert analysis.text(verdict) == UNEXPLAINED
    assert analysis.sentences == [f"posix write (segmented, 1 MiB, 2 clients): {UNEXPLAINED}."]


def test_null_is_striders_own_cost_and_nothing_else_of_it_is_said() -> None:
    ceilings = [of_clients(null_requests=2000.0, memory_copy=500.0)]
    found = said(analysis_of(Result(interface={"name": "null"}), ceilings=ceilings))
    assert found == {
        "null interface": "nothing is moved (50 % of the bare request loop): this is Strider's own cost"
    }
    assert list(said(analysis_of(Result(interface={"name": "null"})))) == ["null interface"]


def test_a_rate_limit_of_metadata_is_one_of_operations() -> None:
    def creating(limit: int) -> Result:
        return Result("create", keys={"tree": {"name": "tree"}, "rate_limit": limit}, rates=[1000.0])

    assert "95 % of it" in said(analysis_of(creating(1050)))["rate limit"]
    assert "rate limit" not in said(analysis_of(creating(1060)))


def test_a_target_in_memory_is_named_at_any_rate() -> None:
    found = said(
        analysis_of(Result(rates=[100]), ceilings=[of_clients(memory_copy=1000)], file_system="tmpfs")
    )
    assert found == {
        "target in memory": "the target is in memory (tmpfs), at 10 % of memory copy: no storage takes part"
    }
    assert (
        "at" not in said(analysis_of(Result(), file_system="tmpfs"))["target in memory"].split("(tmpfs)")[1]
    )


def test_an_unknown_share_is_not_reported() -> None:
    nothing = analysis_of(Result(interface={"name": "null"}), Result(interface={"name": "null"}))
    assert nothing.sentences == ["All results: nothing is moved: this is Strider's own cost."]
    stored = analysis_of(Result(), file_system="tmpfs")
    assert stored.sentences == [
        "posix write (segmented, 1 MiB, 2 clients): the target is in memory (tmpfs): no storage takes part."
    ]
    for analysis in (nothing, stored):
        row = as_json(analysis)["limits"][0]
        assert row["shares"] == {}
        assert [finding["share"] for finding in row["findings"]] == [None]


def test_ranks_are_on_a_processor_all_of_the_time_at_most() -> None:
    assert "processor 100 % of" in said(analysis_of(Result(**times(user_s=2.03, system_s=0.1))))["ranks"]


def test_the_work_on_data_is_called_what_it_is() -> None:
    spent = times(prepare_s=0.5)
    assert said(analysis_of(Result("read", **spent)))["data"].startswith("checking what was read takes 50 %")
    assert said(analysis_of(Result("read-modify-write", **spent)))["data"].startswith(
        "generating and checking data take"
    )


def test_something_that_only_adds_explains_nothing() -> None:
    analysis = analysis_of(Result(rates=[600]), ceilings=[of_clients(memory_copy=1000)])
    assert analysis.text(analysis.verdicts[0]) == (
        f"{UNEXPLAINED}; at 60 % of memory copy, which takes a good part of the time"
    )


def test_a_rate_beyond_the_device_is_not_explained_by_it() -> None:
    direct = Result(rates=[3330.0], interface={"name": "posix", "direct": True})
    analysis = analysis_of(direct, ceilings=[of_node(device_write=1000.0)])
    assert said(analysis) == {}
    assert analysis.verdicts[0].shares["device"] == pytest.approx(3.33)
    assert "device" in said(analysis_of(Result(rates=[1090.0]), ceilings=[of_node(device_write=1000.0)]))


@pytest.mark.parametrize("interface", ["null", "listio", "cephfs", "gfapi", "nfs", "pvfs2", "xrootd"])
def test_what_does_not_go_through_the_target_is_not_measured_by_it(interface: str) -> None:
    result = Result(rates=[1000.0], interface={"name": interface})
    node = of_node(device_write=1000.0, target_write=1000.0)
    shares = analysis_of(result, ceilings=[node], file_system="tmpfs").verdicts[0].shares
    assert not {"device", "target stream", "target in memory"} & set(shares)


def test_loopback_is_no_link() -> None:
    through = [("network", "lo", {"sent_bytes": 2000 * MIB, "received_bytes": 2000 * MIB})]
    assert "link" not in said(analysis_of(Result(counters=through), ceilings=[of_node(link=1000)]))


def test_messages_speak_only_where_the_speed_of_the_link_is_not_known() -> None:
    sent = counters("network", sent_bytes=900 * MIB)
    assert list(said(analysis_of(Result(**sent), ceilings=[of_node(network=1000, link=10000)]))) == []
    unknown = [of_node(network=1000, link=None)]
    assert list(said(analysis_of(Result(**sent), ceilings=unknown))) == ["network"]
    more = counters("network", sent_bytes=1250 * MIB)
    assert list(said(analysis_of(Result(**more), ceilings=unknown))) == []


def test_the_page_has_the_rules() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| (explains|adds) \| ([^|]+) \| ([^|]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert [(name, weight, why) for name, weight, _, why in rows] == [
        (r.name, r.weight, r.why) for r in RULES
    ]
    for (_, _, threshold, _), rule in zip(rows, RULES, strict=True):
        scale = 100 if rule.unit == "%" else 1
        first, _, end = threshold.replace("any", "0").partition(" to ")
        assert float(first.split()[0]) == pytest.approx(rule.threshold * scale)
        assert float(end.split()[0] if end else "inf") == pytest.approx(rule.below * scale)


def test_a_number_is_printed_as_it_is_read() -> None:
    rule = RULES[0]
    assert rule.number(0.41, 0.41) == "41 %"
    assert rule.number(0.081, 0.63) == "8.1–63 %"
    assert rule.number(0.0012, 0.0012) == "0.1 %"

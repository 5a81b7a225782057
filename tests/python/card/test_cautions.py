"""Reservations of a card."""

import pytest

from card_builders import GB, append, card, line, place
from strider.card.cautions import cautions
from strider.card.model import Budget, Card, Latency, Machine, Round
from strider.units import MIB


def ids(made: Card) -> list[str]:
    return [one.id for one in cautions(made)]


def test_a_card_without_evidence_has_none() -> None:
    assert ids(card(append(), line("read.sequential"), line("write.sequential"))) == []


LISTIO = 'list I/O with cma accesses the servers\' memory: set listio.transport = "tcp"'


def test_ranks_that_were_not_confined_are_named_first_with_the_reason_and_a_remedy() -> None:
    lost, *rest = cautions(card(kind="memory", confinement={"state": "none", "missing": LISTIO}))
    assert lost.id == "confinement"
    assert lost.text == (
        "ranks were not confined: list I/O with cma accesses the servers' memory; "
        "--confine require prevents this"
    )
    assert [one.id for one in rest] == ["memory"]
    (some,) = cautions(card(confinement={"state": "partly", "missing": "2 of 4 ranks are not confined"}))
    assert some.text.startswith("ranks were partly confined: 2 of 4 ranks are not confined;")


@pytest.mark.parametrize(
    "confinement", [None, {"state": "full"}, {"state": "none", "missing": "--confine off"}]
)
def test_full_confinement_and_one_given_up_by_the_user_are_no_caution(
    confinement: dict[str, str] | None,
) -> None:
    assert ids(card(confinement=confinement)) == []


def test_memory_and_servers_are_always_named() -> None:
    assert ids(card(kind="memory")) == ["memory"]
    assert ids(card(kind="network")) == ids(card(kind="fuse")) == ["servers"]


def test_space_is_one_from_nine_tenths_on() -> None:
    assert ids(card(place=place(size=100, free=11))) == []
    (full,) = cautions(card(place=place(size=100, free=9)))
    assert full.id == "full"
    assert full.evidence == {"used": 0.91, "free": 9}


def test_writes_are_called_faster_only_beyond_both_intervals() -> None:
    read = line("read.sequential", 1e9, half=0.1)
    assert ids(card(read, line("write.sequential", 2e9, half=0.1))) == ["write-cache"]
    assert ids(card(read, line("write.sequential", 2e9, half=0.5))) == []
    assert ids(card(read, line("write.sequential", 1.3e9, half=0.1))) == []


def test_a_stall_is_a_hundred_medians() -> None:
    assert ids(card(append(latency_us=Latency(p50=100, p999=10_100)))) == ["stalls"]
    assert ids(card(append(latency_us=Latency(p50=100, p999=9_900)))) == []
    (worst,) = cautions(
        card(
            append(latency_us=Latency(p50=100, p99=20_000)),
            line("read.random.deep", latency_us=Latency(p50=33, p99=98_000, p999=99_000)),
        )
    )
    assert worst.evidence == {"p50_us": 33, "tail_us": 99_000, "one_in": 1000}
    assert "1 in 1000 takes 99 ms, half take 33 us" in worst.text


def test_a_change_of_level_has_its_ends() -> None:
    rounds = [Round(at_s=n, seconds=1, requests=9, rate=rate) for n, rate in enumerate((1e9, 3e9, 2e9))]
    (change,) = cautions(card(line("read.sequential", grade="C", reasons=["level"], rounds=rounds)))
    assert change.evidence == {"low": 1e9, "high": 3e9}
    assert "between 1.0 GB/s and 3.0 GB/s" in change.text


def test_mostly_uncertain_numbers_ask_for_more_time() -> None:
    wide = [line(name, grade="C", reasons=["spread"]) for name in ("read.random", "write.random")]
    assert ids(card(*wide, line("read.sequential"))) == ["uncertain"]
    assert ids(card(wide[0], line("read.sequential"))) == []


@pytest.mark.parametrize(("touch_us", "found"), [(None, []), (1.0, []), (2.5, ["first-touch"])])
def test_slow_new_memory_is_one_with_its_time(touch_us: float | None, found: list[str]) -> None:
    made = card(machine=Machine(cores=2, memory=GB, first_touch_us=touch_us))
    assert ids(made) == found
    for one in cautions(made):
        assert one.evidence == {"first_touch_us": 2.5}
        assert "2.5 us a page" in one.text


@pytest.mark.parametrize(("share", "found"), [(None, []), (0.29, []), (0.62, ["busy"])])
def test_a_busy_machine_is_named_with_its_share(share: float | None, found: list[str]) -> None:
    made = card(machine=Machine(cores=2, memory=GB, others_share=share))
    assert ids(made) == found
    for one in cautions(made):
        assert one.evidence == {"others_share": 0.62}
        assert "used 62% of the processors" in one.text


@pytest.mark.parametrize(("share", "remedy"), [(0.1, "longer with --budget"), (0.9, "the machine is quiet")])
def test_uncertain_numbers_of_a_busy_machine_need_a_quiet_one(share: float, remedy: str) -> None:
    wide = [line(name, grade="C", reasons=["spread"]) for name in ("read.random", "write.random")]
    made = card(*wide, machine=Machine(cores=2, memory=GB, others_share=share))
    assert remedy in cautions(made)[-1].text


@pytest.mark.parametrize("share", [0.0, 0.9])
@pytest.mark.parametrize(("asked_s", "is_short"), [(5, True), (44, True), (45, False)])
def test_a_budget_without_room_for_phases_of_a_second_asks_for_one_with_it(
    asked_s: float, is_short: bool, share: float
) -> None:
    brief = [line(name, grade="C", reasons=["short"]) for name in ("read.random", "write.random")]
    machine = Machine(cores=2, memory=GB, others_share=share)
    made = card(*brief, machine=machine, budget=Budget(asked_s=asked_s, took_s=asked_s, rounds=3))
    remedy = "below grade B: measure longer, with --budget 45s or more"
    assert cautions(made)[-1].text.endswith(remedy) is is_short


def test_the_same_bytes_by_small_and_large_requests_show_what_is_limited() -> None:
    large, small = line("read.sequential", 20e6, request=MIB), line("read.random.deep", 4900, request=4096)
    assert ids(card(large, small)) == ["bytes"]
    assert ids(card(large)) == ids(card(large, small.model_copy(update={"grade": "C"}))) == []
    assert ids(card(line("read.sequential", 25e6, request=MIB), small)) == []

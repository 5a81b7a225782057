"""Reservations of a card."""

from card_builders import append, card, line, place
from strider.card.cautions import cautions
from strider.card.model import Card, Latency, Round


def ids(made: Card) -> list[str]:
    return [one.id for one in cautions(made)]


def test_a_card_without_evidence_has_none() -> None:
    assert ids(card(append(), line("read.sequential"), line("write.sequential"))) == []


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
    assert "1 request in 1000 takes 99 ms, half take 33 us" in worst.text


def test_a_change_of_level_has_its_ends() -> None:
    rounds = [Round(at_s=n, seconds=1, requests=9, rate=rate) for n, rate in enumerate((1e9, 3e9, 2e9))]
    (change,) = cautions(card(line("read.sequential", grade="C", reasons=["level"], rounds=rounds)))
    assert change.evidence == {"low": 1e9, "high": 3e9}
    assert "1.0 GB/s to 3.0 GB/s" in change.text


def test_mostly_uncertain_numbers_ask_for_more_time() -> None:
    wide = [line(name, grade="C", reasons=["spread"]) for name in ("read.random", "write.random")]
    assert ids(card(*wide, line("read.sequential"))) == ["uncertain"]
    assert ids(card(wide[0], line("read.sequential"))) == []

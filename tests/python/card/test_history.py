"""Intervals of a card that count how far earlier cards of the directory differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CaseSpec, RunBuilder
from card_builders import GB, append, card, line, place, ratio
from strider.card import Budget, Card, Machine, earlier_cards, write_card
from strider.card.history import MOST_EARLIER, half_width_between, with_earlier
from strider.card.layout import card_lines
from strider.card.model import Line, Round
from strider.card.verdict import verdict
from strider.statistics.grades import reason_of


def sequential(value: float, **more: object) -> Line:
    return line("write.sequential", value, **more)  # type: ignore[arg-type]


def cards(*values: float) -> list[Card]:
    return [card(sequential(value)) for value in values]


def rounds(*rates: float) -> list[Round]:
    return [Round(at_s=n, seconds=1.1, requests=1000, rate=rate) for n, rate in enumerate(rates)]


def line_of(found: Card) -> Line:
    shown = found.line("write.sequential")
    assert shown
    assert shown.rate
    return shown


def test_two_cards_show_no_spread() -> None:
    own = card(sequential(1.0e9))
    assert with_earlier(own, cards(2.0e9)).document() == own.document()
    assert half_width_between([1.0, 2.0]) is None


def test_cards_that_differ_widen_the_interval_and_lower_the_grade() -> None:
    # Logarithms with a standard deviation of 0.1: Student's t of three is 4.30.
    own = line_of(with_earlier(card(sequential(1.0e9)), cards(1.0e9 * np.exp(0.1), 1.0e9 * np.exp(-0.1))))
    assert own.rate
    assert own.rate.half_width == pytest.approx(np.expm1(0.4303), rel=1e-3)
    assert own.rate.value == 1.0e9
    assert own.rate.cards == 3
    assert (own.grade, own.reasons) == ("C", ["cards"])
    assert reason_of("cards")


def test_cards_that_agree_keep_the_interval_of_the_rounds() -> None:
    own = line_of(with_earlier(card(sequential(1.0e9)), cards(1.0e9, 1.001e9, 0.999e9)))
    assert own.rate
    assert own.rate.half_width == pytest.approx(0.03)
    assert own.rate.cards == 4
    assert own.grade == "A"


def test_a_worse_grade_keeps_its_reason() -> None:
    own = card(sequential(1.0e9, grade="C", reasons=["short"]))
    assert line_of(with_earlier(own, cards(2.0e9, 0.5e9))).reasons == ["short"]


@given(st.lists(st.floats(1e6, 1e10), max_size=12))
def test_earlier_cards_never_narrow_an_interval_nor_raise_a_grade(values: list[float]) -> None:
    own = card(sequential(1.0e9, grade="B", reasons=["spread"], half=0.1))
    found = line_of(with_earlier(own, cards(*values)))
    assert found.rate
    assert (found.rate.half_width or 0.0) >= 0.1 - 1e-9
    assert found.grade >= "B"
    assert found.rate.cards <= MOST_EARLIER + 1


@pytest.mark.parametrize(
    "other",
    [
        {"target": "/elsewhere"},
        {"place": place(fs="xfs")},
        {"place": place(device="vdb")},
        {"place": place(direct=False)},
        {"budget": Budget(asked_s=120, took_s=20, rounds=1, cut=True)},
        {"lines": [sequential(2.0e9, request=4096)]},
        {"lines": [sequential(2.0e9, depth=8)]},
        {"lines": [sequential(2.0e9, grade="D")]},
        {"lines": [sequential(2.0e9, grade="")]},
        {"lines": [sequential(2.0e9, rounds=rounds(2.0e9, 0.2e9, 9.0e9))]},
        {"lines": [sequential(2.0e9, rounds=rounds(2.0e9, 2.0e9))]},
        {"lines": []},
    ],
)
def test_cards_of_other_places_or_work_do_not_count(other: dict[str, object]) -> None:
    own = card(sequential(1.0e9))
    unlike = [card(**{"lines": [sequential(value)], **other}) for value in (1.5e9, 2.0e9, 3.0e9)]  # type: ignore[arg-type]
    assert with_earlier(own, unlike).document() == own.document()


def test_cards_with_other_client_counts_count_for_numbers_and_not_for_ratios() -> None:
    alone = Machine(cores=2, memory=24 * GB, clients=1)
    rates, ratios = cards(1.0e9, 1.001e9), [ratio("clients.write", 1.5)]
    past = [one.model_copy(update={"machine": alone, "ratios": ratios}) for one in rates]
    own = card(sequential(1.0e9), ratios=[ratio("clients.write", 0.5)])
    found = with_earlier(own, past)
    assert found.cards == 3
    assert found.ratios == own.ratios


def test_ratios_lose_their_word_where_cards_disagree() -> None:
    own = card(ratios=[ratio("clients.write", 1.5)])
    past = [card(ratios=[ratio("clients.write", value)]) for value in (0.7, 1.0, 1.9)]
    (found,) = with_earlier(own, past).ratios
    assert found.word is None
    assert found.low
    assert found.low < 0.7


def test_what_an_interval_covers_stands_on_the_card() -> None:
    alone = [one.text for one in card_lines(card(append(), verdict="One."))]
    assert "(±: of these rounds; the next card can differ by more)" in alone
    assert any(one.startswith("5 rounds, 118 s; ± of rounds ") for one in alone)
    shown = card(append(), verdict="One.")
    many = with_earlier(shown, [card(append()), card(append())])
    texts = [one.text for one in card_lines(many)]
    assert any(one.startswith("5 rounds, 118 s; ± of 3 cards ") for one in texts)
    assert not any("the next card" in one for one in texts)


def test_the_sentence_has_no_number_that_cards_contradict() -> None:
    found = with_earlier(card(sequential(1.0e9)), cards(2.0e9, 0.5e9))
    assert "rates differ from card to card" in verdict(found)


def test_cards_of_the_week_before_are_read_latest_first(tmp_path: Path) -> None:
    store = tmp_path / "store"
    days = {"own": "2026-11-24", "before": "2026-11-23", "first": "2026-11-18", "old": "2026-11-10"}
    for name, day in {**days, "later": "2026-11-25"}.items():
        made = RunBuilder([CaseSpec()]).write(store / f"{day}-150000-quick-{name[:4]:_<4}")
        info = json.loads((made / "run.json").read_text(encoding="utf-8"))
        changed = {**info, "started": f"{day}T15:00:00+00:00"}
        (made / "run.json").write_text(json.dumps(changed), encoding="utf-8")
        write_card(card(report=name), made)
    (own,) = store.glob("*-own_")
    assert [one.report for one in earlier_cards(store, own)] == ["before", "first"]
    shutil.rmtree(own)
    assert earlier_cards(store, own) == []

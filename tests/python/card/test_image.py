"""A card as an image."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from card_builders import append, card, line, place, ratio
from strider.card import IMAGE_FILE, card_svg, write_image
from strider.card.image import WIDTH
from strider.card.model import Budget, Card

SVG = "{http://www.w3.org/2000/svg}"


def texts(made: Card) -> list[str]:
    return [one.text or "" for one in ET.fromstring(card_svg(made)).iter(f"{SVG}text")]


def test_it_has_the_place_the_sentence_and_the_trusted_numbers_alone() -> None:
    low = line("read.random", 777.0, grade="C", reasons=["spread"])
    cached = line("read.cached", 25e9, grade="")
    shown = texts(card(append(grade="B"), low, cached, verdict="One sentence."))
    assert shown[:2] == ["/scratch: ext4 on vda, 252 GB, 72 GB free", "One sentence."]
    assert shown[7:13] == ["append.fsync", "4.90 k/s", "3%", "198 us", "271 us", "B"]
    assert "1 of 2 numbers are below grade B and left out." in shown
    assert not any("777" in one or "25" in one for one in shown[7:-1])


@pytest.mark.parametrize(("word", "count"), [("faster", 1), ("same", 1), (None, 0)])
def test_ratios_need_a_word(word: str | None, count: int) -> None:
    shown = texts(card(append(), verdict="One.", ratios=[ratio("clients.read", 1.6, word=word)]))
    assert sum(one.startswith("2 clients / 1: read x1.6 [") for one in shown) == count


def test_without_a_trusted_number_there_is_no_table() -> None:
    assert "grade" not in texts(card(line("read.random", grade="D"), verdict="Nothing."))


def test_a_cut_card_says_so() -> None:
    shown = texts(card(append(), verdict="One.", budget=Budget(asked_s=120, took_s=31, rounds=2, cut=True)))
    assert any("2 rounds, 31 of 120 s: cut" in one for one in shown)


@given(target=st.text(max_size=300), fs=st.text(max_size=40))
def test_any_path_gives_a_whole_image_without_references(target: str, fs: str) -> None:
    made = card(append(), verdict=f"In {target}.", target=target, place=place(fs=fs))
    drawn = card_svg(made)
    names = {one.tag.removeprefix(SVG) for one in ET.fromstring(drawn).iter()}
    assert names == {"svg", "title", "style", "rect", "text", "path"}
    assert drawn.count("http") == 1 + target.count("http") * 3 + fs.count("http")
    assert all(len(one) <= WIDTH / 7 for one in texts(made))


def test_it_lies_beside_the_report(tmp_path: Path) -> None:
    made = card(append(), verdict="One.")
    write_image(made, tmp_path)
    assert (tmp_path / IMAGE_FILE).read_text(encoding="utf-8") == card_svg(made)

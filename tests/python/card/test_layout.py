"""A card as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from card_builders import GB, append, card, line, place, ratio
from strider.card.cautions import cautions
from strider.card.layout import HEIGHT, MOST_CAUTIONS, WIDTH, card_lines
from strider.card.make import WANTED
from strider.card.model import Budget, Card, Caution, Latency, Limit, NotMeasured, Rate, Round
from strider.card.verdict import verdict


def text(made: Card) -> list[str]:
    return [one.text for one in card_lines(made)]


def full(value: float, kind: str, warned: int, path: str) -> Card:
    lines = [
        line(
            wanted.id,
            value,
            label=wanted.label.format(stable=", stable", cold=", client cold", depth=16, interface="uring"),
            latency_us=Latency(p50=value, p99=value * 10),
            reasons=["servers?", "spread"],
            grade="C",
        )
        for wanted in WANTED
    ]
    names = ("clients.write", "clients.read", "shared.write", "shared.read")
    ratios = [ratio(name, 123.4) for name in (*names, "pieces.MPI-IO", "pieces.list I/O", "large.io_uring")]
    made = card(
        *lines,
        line("read.cached", 25e9, grade=""),
        kind=kind,
        ratios=ratios,
        target=path,
        not_measured=[NotMeasured(id="a part", why="no time")],
        cautions=[Caution(id=str(n), text="word " * 40, evidence={}) for n in range(warned)],
    )
    return made.model_copy(update={"verdict": verdict(made)})


@given(
    value=st.floats(1e-3, 1e14),
    kind=st.sampled_from(["local", "memory", "network", "fuse"]),
    warned=st.integers(0, 5),
    path=st.text("abc/", min_size=1, max_size=200),
)
def test_it_fits_a_screen(value: float, kind: str, warned: int, path: str) -> None:
    lines = text(full(value, kind, warned, path))
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH


def test_a_row_has_the_rate_its_interval_percentiles_and_grade() -> None:
    shown = text(card(append(half=0.14, grade="B", reasons=["spread"]), verdict="One."))
    (row,) = (one for one in shown if one.startswith("append.fsync"))
    assert row.split() == ["append.fsync", "4.90", "k/s", "14%", "198", "us", "271", "us", "B", "spread"]


def test_an_interval_beyond_twice_the_rate_is_a_factor() -> None:
    (row,) = (
        one for one in text(card(line("read.random", half=1.2), verdict="One.")) if "read.random" in one
    )
    assert " x2.2 " in row


def test_an_interval_below_a_thousandth_is_not_rounded_to_nothing() -> None:
    (row,) = (
        one for one in text(card(line("read.random", half=4e-4), verdict="One.")) if "read.random" in one
    )
    assert " <0.1% " in row


def test_what_was_not_measured_says_why() -> None:
    missing = line("read.random", why="no space (12 MB left)").model_copy(update={"rate": None})
    assert any("not measured: no space (12 MB left)" in one for one in text(card(missing, verdict="One.")))


def test_rates_of_the_cache_stand_apart_without_a_grade() -> None:
    lines = card_lines(card(append(), line("read.cached", 25e9, grade=""), verdict="One."))
    (cached,) = (one for one in lines if "page cache" in one.text)
    assert cached.text == "(from the page cache: read 25 GB/s: not storage)"
    assert cached.style == "dim"


@pytest.mark.parametrize(("word", "ends"), [("faster", "x1.6 [1.5-1.7] faster"), (None, "x1.6 [1.5-1.7] ?")])
def test_a_ratio_has_its_interval_and_a_word_or_a_question_mark(word: str | None, ends: str) -> None:
    shown = text(card(verdict="One.", ratios=[ratio("clients.read", 1.6, word=word)]))
    assert any(one.endswith(f"read {ends}") for one in shown)


def test_the_sign_of_a_ratio_without_a_word_is_explained_where_there_is_room() -> None:
    meaning = "(?: neither a difference of 10 % nor equality within 10 % is shown)"
    named, unknown = ratio("clients.write", 1.6), ratio("clients.read", 1.01, word=None)
    shown = text(card(append(), verdict="One.", ratios=[named, unknown]))
    assert shown[shown.index(meaning) - 1].endswith(" ?")
    assert meaning not in text(card(append(), verdict="One.", ratios=[named]))
    assert meaning not in text(card(append(reasons=["source?"]), verdict="One.", ratios=[named]))
    free = HEIGHT - len(shown) + 2
    caution = Caution(id="note", text="\n".join(["word " * 15] * (free + 1)), evidence={})
    full_card = text(card(append(), verdict="One.", ratios=[named, unknown], cautions=[caution]))
    assert len(full_card) == HEIGHT
    assert meaning not in full_card


def test_the_place_is_named_on_the_first_line() -> None:
    first = text(card(verdict="One.", place=place(virtual=True)))[0]
    assert first.startswith("/scratch: ext4 on vda (virtual), 252 GB, 72 GB free ")
    assert first.endswith(" 2 cores, 24 GB memory")


def test_the_report_keeps_its_whole_path() -> None:
    path = f"/{'long/' * 30}report.html"
    assert text(card(verdict="One.", report=path))[-1] == f"report: {path}"


def test_the_image_has_its_path_where_a_line_is_free() -> None:
    shown = text(card(append(), verdict="One.", report="/runs/one/report.html"))
    assert shown[-2:] == ["image: /runs/one/card.svg", "report: /runs/one/report.html"]
    cut = Budget(asked_s=120, took_s=31, rounds=2, cut=True)
    shown = text(card(append(), verdict="One.", report="/runs/one/report.html", budget=cut))
    assert shown[-2] == "image: /runs/one/card.svg"


def test_the_image_is_named_beside_the_report_where_no_line_is_free() -> None:
    made = full(1e9, "local", 0, "/scratch").model_copy(update={"report": "/runs/one/report.html"})
    free = HEIGHT - len(text(made)) + 1
    note = Caution(id="note", text="\n".join(["word " * 15] * free), evidence={})
    shown = text(made.model_copy(update={"cautions": [note]}))
    assert len(shown) == HEIGHT
    assert shown[-1] == "report: /runs/one/report.html (image: card.svg)"


@pytest.mark.parametrize("length", [60, 90])
def test_the_image_without_room_is_left_out(length: int) -> None:
    crowded = full(1e9, "local", 5, "/scratch")
    path = f"/{'r' * length}/report.html"
    shown = text(crowded.model_copy(update={"report": path}))
    assert len(shown) <= HEIGHT
    assert shown[-1] == f"report: {path}"


def test_without_an_interval_there_is_a_dash() -> None:
    single = line("read.random").model_copy(update={"rate": Rate(value=1000, unit="1/s")})
    (row,) = (one for one in text(card(single, verdict="One.")) if "read.random" in one)
    assert row.split()[3] == "-"


def test_a_cut_card_says_so_and_how_to_write_the_report() -> None:
    budget = Budget(asked_s=120, took_s=31, rounds=2, cut=True)
    made = card(append(), budget=budget, report="/runs/one/report.html")
    shown = text(made.model_copy(update={"verdict": verdict(made.model_copy(update={"lines": []}))}))
    assert shown[1] == "The run was cut after 31 s: too few rounds for a sentence."
    assert shown[2].startswith("2 rounds, 31 of 120 s: cut  ")
    assert shown[-1] == "to write the report: strider report /runs/one"


def test_a_library_is_named_in_the_place_the_sentence_and_its_ratio() -> None:
    facts = place("network", fs="ext4", interface="nfs", native="nfs")
    made = card(line("write.sequential", 5e8), place=facts, ratios=[ratio("native.1 MiB", 2.0)])
    shown = text(made.model_copy(update={"verdict": verdict(made)}))
    assert shown[0].startswith("/scratch: through nfs (ext4), 252 GB")
    assert shown[1] == "Through nfs (ext4): 500 MB/s synced writes."
    assert any(one.startswith("nfs / POSIX     1 MiB x2.0 [") for one in shown)


@given(
    label=st.sampled_from([wanted.label for wanted in WANTED]),
    low=st.floats(1, 1e13),
    times=st.tuples(st.floats(0.1, 1e4), st.floats(1e6, 1e8)),
)
def test_cautions_are_never_cut(label: str, low: float, times: tuple[float, float]) -> None:
    full_label = label.format(stable=", stable", cold=", client cold", depth=16, interface="listio")
    rounds = [Round(at_s=n, seconds=1, requests=9, rate=rate) for n, rate in enumerate((low, 9 * low))]
    p50, p99 = times
    stalling = line(
        "read.random",
        label=full_label,
        grade="C",
        reasons=["level"],
        rounds=rounds,
        latency_us=Latency(p50=p50, p99=p99),
    )
    made = card(stalling, place=place(free=9 * GB), verdict="One.")
    found = cautions(made)
    shown = " ".join(one.text.strip() for one in card_lines(made.model_copy(update={"cautions": found})))
    assert {one.id for one in found} >= {"full", "unsteady", "stalls"}
    for one in found[:MOST_CAUTIONS]:
        assert one.text in shown.replace("! ", "")


def test_a_caution_without_room_is_left_out_whole() -> None:
    made = full(1e9, "local", 0, "/a").model_copy(
        update={"cautions": [Caution(id="long", text="word " * 160, evidence={})]}
    )
    assert not any("word" in one for one in text(made))


def test_ratios_that_are_too_long_take_two_lines() -> None:
    ratios = [ratio(f"pieces.{name}", 0.0123, half=0.9) for name in ("MPI-IO", "list I/O")]
    wide = [one.model_copy(update={"low": 0.00123, "high": 0.0456, "word": "slower"}) for one in ratios]
    found = [one for one in text(card(verdict="One.", ratios=wide)) if "x0.012" in one]
    assert len(found) == 2
    assert found[1].startswith(" " * 16)
    assert not any("..." in one for one in found)


def test_long_reasons_why_lines_are_missing_stand_below_once() -> None:
    why = "the directory does not allow files of this size to anyone"
    names = ("read.random", "write.random")
    lines = [line(name, why=why).model_copy(update={"rate": None}) for name in names]
    missing = [NotMeasured(id=name, why=why) for name in names]
    shown = text(card(*lines, verdict="One.", not_measured=missing))
    (first,) = (number for number, one in enumerate(shown) if one.startswith("(not measured"))
    assert " ".join(shown[first : first + 2]) == f"(not measured, {why}:  read.random, write.random)"


def test_a_limit_has_a_column_only_where_there_is_one() -> None:
    reading = line("read.random", 2e5, grade="B", reasons=["4 repetitions"], limit=0.42)
    assert "limit" not in " ".join(text(card(reading, verdict="One.")))
    shown = text(card(reading, append(), verdict="One.", limit=Limit(what="memory copy", rate=2e9)))
    assert shown[2].split()[-2:] == ["limit", "grade"]
    (row,) = (one for one in shown if one.startswith("read.random"))
    assert row.endswith(" 42% B 4 rounds")
    (other,) = (one for one in shown if one.startswith("append"))
    assert other.endswith("    - A")
    assert "(limit: memory copy, 2.0 GB/s)" in shown

"""Findings of many results as few sentences."""

from __future__ import annotations

from limits_builders import Result, analysis_of
from strider.units import MIB


def test_one_sentence_for_a_rule_with_its_range_and_what_it_is_about() -> None:
    busy = [Result("write", times={"prepare_s": share}) for share in (0.3, 0.4)]
    served = {"served_by_storage": 1.0, "served_bytes": 1000 * MIB}
    idle = [Result("read", times={"prepare_s": 0.1, **served})]
    assert analysis_of(*busy, *idle).sentences == [
        '2 of 3 results (write): generating data takes 30–40 % of the time: verify = "off" leaves it out.',
        "posix read (segmented, 1 MiB, 2 clients): nothing measured here explains it.",
    ]


def test_what_holds_of_all_is_said_of_all() -> None:
    results = [Result(times={"sync_s": 0.6}), Result(times={"sync_s": 0.6}, clients=4)]
    assert analysis_of(*results).sentences == [
        "All results: making data persistent (fsync) takes 60 % of the time."
    ]


def test_the_same_rule_in_other_words_is_another_sentence() -> None:
    results = [Result(operation, times={"prepare_s": 0.5}) for operation in ("write", "read")]
    assert [sentence.split(":")[0] for sentence in analysis_of(*results).sentences] == [
        "posix write (segmented, 1 MiB, 2 clients)",
        "posix read (segmented, 1 MiB, 2 clients)",
    ]


def test_what_is_said_elsewhere_is_not_said_again() -> None:
    analysis = analysis_of(Result(times={"open_s": 0.6}), Result(times={"open_s": 0.7, "sync_s": 0.6}))
    opening, syncing = analysis.sentences
    assert "opening and closing files take" in opening or "opening and closing files take" in syncing
    (left,) = analysis.sentences_without({"opening"})
    assert "fsync" in left

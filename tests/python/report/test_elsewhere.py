"""Reads of data that another node wrote: the report names both nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from builders import CaseSpec, RunBuilder
from strider.report.blocks import Text
from strider.report.results.results import Results
from strider.report.sections import ranks
from strider.store import load

SEGMENTED = "Read back, posix, segmented, 1 MiB, "


def said(directory: Path, *cases: CaseSpec) -> list[str]:
    """The sentences of the page, which the terminal has too."""
    results = Results(load(RunBuilder(cases, repetitions=1).write(directory / "run")))
    sentences = [block.text for block in ranks.SECTION.terminal(results) if isinstance(block, Text)]
    assert [block for block in ranks.SECTION.page(results) if isinstance(block, Text)] == [
        Text(sentence) for sentence in sentences
    ]
    return sentences


def on_two_nodes(clients: int = 4, **common: object) -> CaseSpec:
    return CaseSpec(clients=clients, ranks_per_node=2, common={"readback": "shift", "shift": 2, **common})


def test_each_node_reads_what_the_next_one_wrote(tmp_path: Path) -> None:
    assert said(tmp_path, on_two_nodes(6)) == [
        f"{SEGMENTED}6 clients: n000 read what n001 wrote; n001 read what n002 wrote; "
        "n002 read what n000 wrote."
    ]


def test_a_shift_within_a_node_reads_half_of_the_data_on_the_node_that_wrote_it(tmp_path: Path) -> None:
    assert said(tmp_path, on_two_nodes(shift=1)) == [
        f"{SEGMENTED}4 clients: n000 read what n000 and n001 wrote; n001 read what n000 and n001 wrote."
    ]


def test_cases_whose_nodes_read_alike_have_one_sentence(tmp_path: Path) -> None:
    (sentence,) = said(tmp_path, on_two_nodes(), on_two_nodes(order="random"))
    assert sentence.startswith(f"{SEGMENTED}4 clients and 1 further case: n000 read what n001 wrote")


def test_nothing_is_said_where_no_other_node_is_known_to_have_written(tmp_path: Path) -> None:
    silent = {
        "own data": on_two_nodes(readback="same"),
        "another rank each time": on_two_nodes(readback="shuffle"),
        "one node used": on_two_nodes(clients=2, shift=1),
        "no writes of its own": replace(on_two_nodes(), operations=("read",)),
        "no reads": replace(on_two_nodes(), operations=("write",)),
    }
    assert said(tmp_path / "two nodes", *silent.values()) == []
    assert said(tmp_path / "one node", replace(on_two_nodes(), ranks_per_node=0)) == []

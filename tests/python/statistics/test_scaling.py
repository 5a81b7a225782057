"""Growth in proportion to a count, the knee, and their sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.scaling import scaling
from strider.statistics import summarize
from strider.statistics.scaling import Scaling, scaling_of, scalings
from strider.store import Run, load

SCATTER = (0.99, 1.0, 1.01)


def found(rates: dict[int, float]) -> Scaling:
    each = {count: [rate * factor for factor in SCATTER] for count, rate in rates.items()}
    return Scaling(None, "servers", min(rates), scaling_of(each))  # type: ignore[arg-type]


# proves limits: efficiency
def test_efficiency_is_growth_beside_growth_in_proportion() -> None:
    (two, four) = found({1: 100, 2: 196, 4: 250}).points
    assert (two.count, four.count) == (2, 4)
    assert two.value == pytest.approx(0.98)
    assert four.value == pytest.approx(0.625)
    assert two.low < two.value < two.high < 1.05


@pytest.mark.parametrize(
    ("rates", "linear", "below"),
    [
        ({1: 100, 2: 196, 4: 250}, 2, 4),
        ({1: 100, 2: 196, 3: 250, 4: 250}, 2, 3),
        ({2: 100, 4: 110, 8: 120}, 2, 4),  # from the lowest on
        ({1: 100, 2: 198, 3: 270, 4: 250}, 2, 4),  # 90 % at 3 is neither
        ({1: 100, 2: 198, 4: 396}, 4, None),
        ({1: 100, 2: 150, 4: 400}, 1, None),  # low between, not at the end
        ({1: 100, 2: 250, 4: 500}, 4, None),  # more than in proportion
    ],
)
# proves limits: knee, between-counts
def test_the_knee_is_between_what_is_surely_linear_and_what_surely_is_not(
    rates: dict[int, float], linear: int, below: int | None
) -> None:
    scaling = found(rates)
    assert (scaling.linear, scaling.below) == (linear, below)


def run_of(
    folder: Path, seconds: dict[int, float], noun: str = "clients", n: int = 4, interface: str = "posix"
) -> Run:
    """A run of direct writes whose phases take so long at each count."""
    specs = []
    for count in seconds:
        keys = {"name": interface, "direct": True} | ({"servers": count} if noun == "servers" else {})
        common = {"verify": "off"} | ({"nodes": count, "per_node": 2} if noun == "nodes" else {})
        clients = {"clients": count, "nodes": 2 * count, "servers": 2}[noun]
        specs.append(CaseSpec(interface=keys, operations=("write",), clients=clients, common=common))
    run = load(RunBuilder(specs, repetitions=n).write(folder / "run"))
    samples = []
    for sample in run.samples:
        elapsed_s = list(seconds.values())[sample.case - 1] * (1 + 0.01 * (sample.repetition % 3))
        rate = sample.bytes / elapsed_s / (1 << 20)
        samples.append(sample.model_copy(update={"elapsed_s": elapsed_s, "rate_mib_s": rate}))
    return run.model_copy(update={"samples": samples})


@pytest.mark.parametrize("noun", ["clients", "nodes"])
# proves limits: scaling
def test_a_knee_is_said_of_what_is_counted(tmp_path: Path, noun: str) -> None:
    # Each client writes as much, so that equal times are growth in proportion.
    (sentence,) = scaling(summarize(run_of(tmp_path, {1: 2.0, 2: 2.0, 4: 3.0}, noun)))
    assert sentence == (
        f"Scaling of write through posix direct (segmented): the knee is between 2 and 4 {noun}; of linear "
        f"growth from 1 {noun[:-1]}, 2 reach 100 % (99 % interval 98–103) "
        "and 4 reach 67 % (99 % interval 65–68)."
    )


# proves limits: scaling, knee-or-highest
def test_servers_of_an_interface_are_counted(tmp_path: Path) -> None:
    (sentence,) = scaling(summarize(run_of(tmp_path, {1: 8.0, 2: 4.0, 4: 2.0}, "servers")))
    assert sentence.startswith("Scaling of write through posix direct (segmented): no knee")
    assert (
        ": no knee up to 4 servers, which reach 100 % (99 % interval 98–103) of linear growth from 1"
        in sentence
    )


@pytest.mark.parametrize(
    ("seconds", "n"),
    [({1: 2.0, 2: 2.0, 4: 3.0}, 2), ({1: 0.1, 2: 0.1, 4: 0.2}, 4), ({1: 2.0, 4: 3.0}, 4)],
    ids=["two repetitions", "short phases", "two counts"],
)
# proves limits: knee-or-highest
def test_nothing_is_said_without_enough(tmp_path: Path, seconds: dict[int, float], n: int) -> None:
    assert scalings(summarize(run_of(tmp_path, seconds, n=n))) == []


# proves limits: scaling
def test_other_work_is_not_compared(tmp_path: Path) -> None:
    run = run_of(tmp_path, {1: 2.0, 2: 2.0, 4: 3.0})
    last = run.cases[3]
    cases = {**run.cases, 3: last.model_copy(update={"order": "random"})}
    assert scalings(summarize(run.model_copy(update={"cases": cases}))) == []

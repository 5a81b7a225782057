"""Distributions over ranks in the events of real phases: the rows of ranks, in a constant size."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine, tree_case
from strider.engine import Engine

QUANTITIES = ["open_s", "transfer_s", "close_s", "io_s", "user_s", "system_s", "bytes", "requests"]
MANY = 66


def values(quantity: str, ranks: Sequence[Json], start_s: float) -> list[float]:
    """A quantity of each rank; instants count from the start of the phase."""
    return [rank[quantity] - (start_s if quantity in ("start_s", "end_s") else 0) for rank in ranks]


def of_ranks(done: EngineRun, sample: Json) -> list[Json]:
    phase = {key: sample[key] for key in ("case", "repetition", "operation")}
    return done.of("rank", **phase)


@pytest.mark.parametrize(
    ("one", "rate"),
    [
        (case("segmented", clients=3, operations=["write", "read"]), "rate_mib_s"),
        (tree_case(["create", "stat"], tree_items=300, clients=3), "rate_requests_s"),
    ],
    ids=["data", "metadata"],
)
def test_they_agree_with_the_rows_of_ranks(engine: Engine, tmp_path: Path, one: Json, rate: str) -> None:
    done = run_engine(engine, plan([one]), tmp_path)
    for sample in done.of("sample", measured=True):
        found = {each["quantity"]: each for each in sample["rank_distributions"]}
        assert list(found) == ["start_s", "end_s", *QUANTITIES, rate]
        ranks = of_ranks(done, sample)
        for quantity in ("start_s", "end_s", *QUANTITIES):
            own, expected = found[quantity], values(quantity, ranks, sample["start_s"])
            assert own["ranks"] == 3
            assert own["min"] == pytest.approx(min(expected), abs=1e-9)
            assert own["max"] == pytest.approx(max(expected), abs=1e-9)
            assert own["mean"] == pytest.approx(sum(expected) / 3, abs=1e-9)
            assert expected[own["max_rank"]] == pytest.approx(max(expected), abs=1e-9)
            assert own["p50"] == pytest.approx(sorted(expected)[1], rel=0.01, abs=max(expected) / 65536)
        assert found[rate]["max"] == sample[rate.replace("rate", "rank_rate")]["max"]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "rows"), [([], 0), (["--timeline", "rank"], MANY)], ids=["auto", "rank"])
# proves limits: above-64
def test_many_ranks_have_rows_only_on_request(
    engine: Engine, tmp_path: Path, options: list[str], rows: int
) -> None:
    one = case(
        "segmented", "null", pattern_transfer=4096, pattern_block=4096, clients=MANY, operations=["write"]
    )
    done = run_engine(engine, plan([one]), tmp_path, options=options)
    assert done.returncode == 0, done.stderr
    assert {each["ranks"] for each in done.sample()["rank_distributions"]} == {MANY}
    assert len(done.of("rank")) == rows

"""Each field of a sample is seen in the report, or a sentence says where else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import report_runs
from builders import CaseSpec, RunBuilder
from strider.report.figures import svg
from strider.report.results.results import Results
from strider.report.sections import SECTIONS
from strider.store import Run, load
from strider.store.model import Arrivals, Record, Sample
from strider.store.schema import results_schema

TABLES = "in the tables of strider export alone"
ELSEWHERE = {
    "call_read_bytes": TABLES,
    "call_write_bytes": TABLES,
    "clients": "the number of clients is that of the case",
    "compute_s": "only beside a case without think time, with which it is compared",
    "digest": "digests are compared, and here all of them change alike",
    "end_skew_s": TABLES,
    "files": TABLES,
    "first_done_s": "the rate until then is shown",
    "involuntary_switches": "those of the nodes are shown",
    "nodes": "a column where they differ, and here all of them change alike",
    "ranks_per_node_max": TABLES,
    "ranks_per_node_min": TABLES,
    "served_by_storage": "the bytes that storage served are shown, and their share",
    "served_source": TABLES,
    "start_s": TABLES,
    "start_skew_s": TABLES,
    "storage_read_bytes": "what storage served is shown instead",
    "storage_write_bytes": TABLES,
    "voluntary_switches": "those of the nodes are shown",
}
"""Fields that no section shows by themselves, and why."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Runs that have a value for each field."""
    folder = tmp_path_factory.mktemp("runs")
    cold = {"policy": "cold", "action": "fsync", "cached_share": 0.5, "examined_by": "cachestat"}
    common = {"deadline": 1.0, "runtime": 2.0, "arrivals": "poisson", "arrival_rate": 1000}
    case = CaseSpec(served=0.5, prepared=cold, clock_error_s=0.5, common=common)
    run = load(RunBuilder([case]).write(folder / "data"))
    came = Arrivals(
        kind="poisson",
        rate_requests_s=1000.0,
        offered_requests_s=990.0,
        achieved_requests_s=300.0,
        late_requests=3,
        latest_s=5.0,
    )
    samples = [sample.model_copy(update={"arrivals": came}) for sample in run.samples]
    return [
        run.model_copy(update={"samples": samples}),
        *(report_runs.make(kind, folder) for kind in ("metadata", "many ranks")),
    ]


def other(value: Any) -> Any:  # noqa: ANN401 - of a field of any type
    """A value of the same type that is not the same; None where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 3 + 7
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, Record):
        # Words that a reader has to know.
        inner = {name: other(each) for name, each in value if name not in ("scheme", "unit", "kind")}
        return value.model_copy(update={name: each for name, each in inner.items() if each is not None})
    if isinstance(value, tuple):
        return (value[0], value[1] + 7)
    if isinstance(value, list):
        return [*value[1:], *(other(each) for each in value[:1])]
    if isinstance(value, dict):
        return {**value, "name": "fact"}
    return None


def shown(run: Run) -> str:
    """All blocks of all sections, of the page and of the terminal."""
    results = Results(run)
    applying = [section for section in SECTIONS if section.applies(results)]
    return repr([[*section.page(results), *section.terminal(results)] for section in applying])


def changed(run: Run, name: str) -> Iterator[Sample]:
    """The samples of a run, with another value of a field in the measured ones."""
    for sample in run.samples:
        value = other(getattr(sample, name)) if sample.measured else None
        yield sample if value is None else sample.model_copy(update={name: value})


@pytest.mark.slow
def test_each_field_changes_what_is_shown(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "draw", lambda specification, description: repr((specification, description)))
    before = [shown(run) for run in runs]
    unseen = {
        field.name
        for field in results_schema().records["Sample"].fields
        if not any(
            shown(run.model_copy(update={"samples": list(changed(run, field.name))})) != text
            for run, text in zip(runs, before, strict=True)
        )
    }
    assert unseen == set(ELSEWHERE)

"""Runs in several targets become one run."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from builders import LONG, CaseSpec, RunBuilder
from strider.compare import compare_within
from strider.statistics import summarize
from strider.statistics.exceeding import file_system_of
from strider.store import load
from strider.store.join import Joined, Part, join

TARGETS = ["/mnt/old", "/mnt/new"]


def parts_in(
    folder: Path, rounds: int = 3, warmup: int = 0, systems: tuple[str, str] = ("ext4", "xfs")
) -> list[Part]:
    """Alternating runs of two cases, a minute apart; the second target is twice as fast."""
    parts = []
    for number in range(2 * rounds):
        target = number % 2
        cases = [CaseSpec(clients=count, common={"warmup": warmup}) for count in (1, 2)]
        builder = RunBuilder(cases, repetitions=1, warmup=warmup, seed=number)
        builder.client_bytes = LONG
        drawn, factor = builder.random, 1000 * (target + 1)
        builder.rate = lambda *_, drawn=drawn, factor=factor: factor * drawn.gauss(1, 0.01)  # type: ignore[method-assign]
        path = builder.write(folder / f"2026-11-21-04{number:02d}00-both-aaaa")
        (path / "description.json").write_text(DESCRIPTION.read_text(encoding="utf-8"), encoding="utf-8")
        info = json.loads((path / "run.json").read_text())
        info["started"] = f"2026-11-21T04:{number:02d}:00Z"
        info["environment"]["target"] = {"path": TARGETS[target], "file_system": systems[target]}
        (path / "run.json").write_text(json.dumps(info))
        parts.append(Part(path, target, number // 2))
    return parts


DESCRIPTION = Path(__file__).parents[1] / "description.json"
COMMON = Joined(TARGETS, "suite", ["case.transfer=1MiB"], "complete", 0)


def test_chosen_sizes_name_the_cases_of_all_targets(tmp_path: Path) -> None:
    parts = parts_in(tmp_path)
    size = {"cases": [2], "key": "block", "word": "auto", "bytes": 4096, "reason": "about 1.6 s"}
    for part in parts:
        info = json.loads((part.directory / "run.json").read_text())
        (part.directory / "run.json").write_text(json.dumps({**info, "sizes": [size]}))
    run = load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts, COMMON))
    assert [one.cases for one in run.info.sizes] == [[3, 4]]


def test_the_target_is_a_key_of_the_cases(tmp_path: Path) -> None:
    run = load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts_in(tmp_path), COMMON))
    assert [(case.clients, case.common_parameters["target"]) for case in run.cases.values()] == [
        (1, "/mnt/old"),
        (1, "/mnt/new"),
        (2, "/mnt/old"),
        (2, "/mnt/new"),
    ]
    assert run.plan.target == "/mnt/old, /mnt/new"
    assert run.status == "complete"
    assert run.info.set == ["case.transfer=1MiB"]
    assert {summary.n for summary in summarize(run)} == {3}
    assert [file_system_of(run, case) for case in run.cases.values()] == ["ext4", "xfs"] * 2
    assert file_system_of(run) == ""
    (clients_one, *_) = summarize(run)
    assert [sample.repetition for sample in clients_one.samples] == [0, 1, 2]
    starts = [sample.start_s for sample in clients_one.samples]
    assert [round(b - a) for a, b in itertools.pairwise(starts)] == [120, 120]


def test_targets_are_compared_by_rounds(tmp_path: Path) -> None:
    run = load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts_in(tmp_path, 6), COMMON))
    found = compare_within(run, "target")
    assert [side.label for side in found.sides] == TARGETS
    assert {row.verdict for row in found.rows} == {"faster"}
    assert {row.change.method for row in found.rows if row.change} == {"paired by round"}


# proves comparing: memory-and-storage
def test_memory_is_not_compared_with_storage(tmp_path: Path) -> None:
    parts = parts_in(tmp_path, systems=("ext4", "tmpfs"))
    found = compare_within(load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts, COMMON)), "target")
    assert {row.verdict for row in found.rows} == {"not comparable"}
    assert {row.reason for row in found.rows} == {"/mnt/new in memory, /mnt/old on storage"}


def test_warm_ups_stay_warm_ups(tmp_path: Path) -> None:
    run = load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts_in(tmp_path, 2, warmup=1), COMMON))
    writes = [one for one in run.samples if one.case == 1 and one.operation == "write"]
    assert [(one.repetition, one.warmup) for one in writes] == [(0, True), (1, False), (2, True), (3, False)]


def test_a_round_without_one_target_keeps_the_other(tmp_path: Path) -> None:
    parts = parts_in(tmp_path)[:-1]
    common = Joined(TARGETS, "suite", [], "interrupted", 1)
    run = load(join(tmp_path / "2026-11-21-050000-both-bbbb", parts, common))
    assert run.status == "interrupted"
    assert [summary.n for summary in summarize(run) if summary.operation == "write"] == [3, 2, 3, 2]


def test_the_parts_are_joined_in_the_order_of_time(tmp_path: Path) -> None:
    parts = parts_in(tmp_path)
    forwards, backwards = (
        join(tmp_path / folder / "2026-11-21-050000-both-bbbb", given, COMMON)
        for folder, given in (("a", parts), ("b", parts[::-1]))
    )
    for name in ("plan.json", "run.json", "events.jsonl"):
        assert (forwards / name).read_text() == (backwards / name).read_text()
    assert load(backwards).info.started == "2026-11-21T04:00:00Z"

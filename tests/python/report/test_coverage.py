"""A phase after one that time cut short covers less than its pattern, and the report has the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder
from strider.report.words.coverage import coverage_remark
from strider.report.words.remarks import remarks, result_remarks
from strider.statistics import summarize
from strider.statistics.coverage import coverages
from strider.store import Run, load
from strider.store.records import Runtime

#: Work of the pattern: 2 ranks with 512 requests of 1 MiB.
RANKS, REQUESTS = 2, 512


def run_of(
    folder: Path,
    done: dict[str, list[int]],
    at_deadline: int | None = None,
    common: dict[str, object] | None = None,
) -> Run:
    """A run of one case, whose phases are as long as a deadline of 0.1 s allows.

    Args:
        folder: Where the run directory is written.
        done: By operation, the requests of both ranks together in each repetition.
        at_deadline: Requests of the slowest rank at the deadline; None for half of those done.
        common: Further keys of the case.
    """
    case = CaseSpec(operations=tuple(done), common={"deadline": 0.1, **(common or {})})
    directory = RunBuilder([case], repetitions=len(next(iter(done.values())))).write(folder / "run")
    file = directory / "run.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    work = {"bytes": RANKS * REQUESTS * MIB, "requests": RANKS * REQUESTS, "ranks": RANKS}
    document["check"]["cases"][0]["phases"] = [{"operation": name, **work} for name in done]
    file.write_text(json.dumps(document), encoding="utf-8")
    run = load(directory)
    samples = []
    for sample in run.samples:
        requests = done[sample.operation][sample.repetition]
        fewest = requests // RANKS if at_deadline is None else at_deadline
        deadline = sample.deadline and sample.deadline.model_copy(update={"requests_per_rank_min": fewest})
        update = {"requests": requests, "bytes": requests * MIB, "deadline": deadline}
        samples.append(sample.model_copy(update=update))
    return run.model_copy(update={"samples": samples})


def covered(run: Run) -> list[tuple[str, str, int, int]]:
    """Operation, cut operation, MiB that it covers and MiB of the pattern."""
    return [
        (one.summary.operation, one.cut, one.least_bytes // MIB, one.bytes // MIB)
        for one in coverages(run, summarize(run))
    ]


# proves measuring: reread-remark
def test_a_read_covers_what_the_write_before_it_completed(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"write": [124, 346], "read": [124, 346]}, at_deadline=11)
    # With wear-out every rank has come as far as the fastest.
    assert covered(run) == [("read", "write", 124, 1024)]
    sentence = coverage_remark(run, summarize(run))
    assert sentence == (
        "1 result covers only the data that all ranks completed in an earlier phase, at the least 124 MiB of "
        "1 GiB (read through posix (segmented, 1 MiB, 2 clients) after write). Caches hold a part of the "
        "data more easily: raise the deadline, or make the file smaller."
    )
    assert sentence in remarks(run, summarize(run), [])
    assert (sentence, True) in result_remarks(run, summarize(run), None)


def test_whole_phases_need_no_words(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"write": [1024, 1024], "read": [1024, 1024]})
    assert coverage_remark(run, summarize(run)) == ""
    assert "" not in [sentence for sentence, _ in result_remarks(run, summarize(run), None)]


# proves measuring: reread-remark
def test_a_read_that_its_own_deadline_ends_limits_the_reread_alone(tmp_path: Path) -> None:
    done = {"write": [1024], "read": [600], "reread": [600]}
    assert covered(run_of(tmp_path, done)) == [("reread", "read", 600, 1024)]


def test_without_wear_out_the_slowest_rank_limits_what_is_read(tmp_path: Path) -> None:
    done = {"write": [300], "read": [120]}
    run = run_of(tmp_path, done, at_deadline=60, common={"wear_out": False})
    assert covered(run) == [("read", "write", 2 * 60, 1024)]


@pytest.mark.parametrize(("passes", "found"), [(0.25, [("read", "write", 256, 1024)]), (1.5, [])])
def test_with_a_runtime_the_passes_of_the_write_limit_what_is_read(
    tmp_path: Path, passes: float, found: list[tuple[str, str, int, int]]
) -> None:
    run = run_of(tmp_path, {"write": [300], "read": [9000]}, common={"runtime": 0.1, "wear_out": False})
    write, read = run.samples
    assert isinstance(write.runtime, Runtime)
    written = write.runtime.model_copy(update={"passes_min": passes})
    samples = [
        write.model_copy(update={"deadline": None, "runtime": written}),
        read.model_copy(update={"deadline": None}),
    ]
    run = run.model_copy(update={"samples": samples})
    assert covered(run) == found
    assert ("raise the runtime" in coverage_remark(run, summarize(run))) == bool(found)


def test_runs_without_the_work_of_phases_show_nothing(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(common={"deadline": 0.1})]).write(tmp_path / "run"))
    assert covered(run) == []

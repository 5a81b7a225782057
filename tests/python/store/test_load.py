"""A run directory is read back whole, also where the run was killed; a damaged or unknown one is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders import MIB, CaseSpec, RunBuilder, sweep
from strider.cli import main
from strider.errors import DamagedRunError, StriderError
from strider.launch.earlier import read_earlier
from strider.store import RankRow, list_runs, load, load_events, query
from strider.store.load import load_end

RUN = "2026-11-21-101112-synthetic-abcd"


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return RunBuilder([CaseSpec(), CaseSpec(clients=3)], repetitions=2, warmup=1).write(tmp_path / RUN)


def test_cases_know_what_the_check_found(run_dir: Path) -> None:
    assert {case.own_client for case in load(run_dir).cases.values()} == {None}, "an older engine"
    document = json.loads((run_dir / "run.json").read_text())
    for case in document["check"]["cases"]:
        case.update(own_client=case["case"] == 2, request_bytes=4096)
    (run_dir / "run.json").write_text(json.dumps(document))
    found = load(run_dir).cases
    assert [(found[number].own_client, found[number].request_bytes) for number in (1, 2)] == [
        (False, 4096),
        (True, 4096),
    ]


def test_everything_that_was_written_is_there(run_dir: Path) -> None:
    run = load(run_dir)
    assert (run.id, run.status, run.plan.suite.name) == (RUN, "complete", "synthetic")
    assert list(run.cases) == [1, 2]
    assert len(run.samples) == 2 * 2 * 3, "cases, operations, repetitions and a warm-up"
    assert len(load_events(run_dir, RankRow)) == 2 * 3 * (2 + 3)
    assert sum(sample.counts for sample in run.samples) == 2 * 2 * 2, "warm-ups do not count"
    assert run.start is not None
    assert run.start.data_seed == "123"


def test_a_case_knows_its_transfer_size_from_the_check_where_the_pattern_has_none(tmp_path: Path) -> None:
    case = CaseSpec(pattern={"name": "vector", "pieces": 4, "piece": 256})
    assert load(RunBuilder([case]).write(tmp_path / RUN)).cases[1].transfer_bytes == MIB


def test_parameters_of_all_cases_are_kept_whatever_their_name(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(common={"shift": 2, "novelty": "x"})]).write(tmp_path / RUN))
    parameters = run.cases[1].common_parameters
    assert parameters["novelty"] == "x"
    assert (parameters["shift"], parameters["order"], parameters["clients"]) == (2, "forward", 2)


def test_a_killed_run_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / RUN, status=None)
    events = directory / "events.jsonl"
    whole = len(load(directory).samples)
    events.write_text(events.read_text() + '{"event":"sample","case":1,"repe')
    run = load(directory)
    assert (len(run.samples), run.status, run.end) == (whole, "unfinished", None)


@pytest.mark.parametrize("separator", ["\n", ""])
def test_the_launcher_may_seal_a_torn_stream(tmp_path: Path, separator: str) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / RUN, status=None)
    end = '{"event":"end","time_s":1,"status":"failed","samples":6,"errors":0,"by":"launcher"}\n'
    with (directory / "events.jsonl").open("a") as events:
        events.write('{"event":"sample","ca' + separator + end)
    run = load(directory)
    assert len(run.samples) == 6
    assert run.status == ("failed" if separator else "unfinished")


def test_a_run_whose_engine_never_started_has_no_samples(run_dir: Path) -> None:
    (run_dir / "events.jsonl").unlink()
    run = load(run_dir)
    assert (run.samples, run.start, run.end) == ([], None, None)


def test_numbers_that_the_engine_could_not_compute_are_nan(run_dir: Path) -> None:
    change_events(run_dir, lambda event: event.update(rate_mib_s=None))
    assert all(sample.rate_mib_s != sample.rate_mib_s for sample in load(run_dir).samples)


def test_events_and_fields_of_a_later_strider_are_passed_over(run_dir: Path) -> None:
    change_events(run_dir, lambda event: event.update(novelty=1))
    with (run_dir / "events.jsonl").open("a") as events:
        events.write('{"event":"timeline","time_s":3}\n')
    assert len(load(run_dir).samples) == 12


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("repetitions", {"until": []}),
        ("repetitions", {"min": "2"}),
        ("turn", {"number": {}}),
        ("turn", {"alone": -1}),
        ("clients", "2"),
        ("clients", -1),
        ("sharing", [1]),
        ("operations", "write"),
        ("case", 1.5),
    ],
)
def test_a_case_with_a_value_that_it_cannot_have_is_named(run_dir: Path, field: str, value: object) -> None:
    document = json.loads((run_dir / "plan.json").read_text())
    document["cases"][0][field] = value
    (run_dir / "plan.json").write_text(json.dumps(document))
    with pytest.raises(DamagedRunError, match=rf"plan\.json: document with an invalid cases\.0\.{field}"):
        load(run_dir)


@pytest.mark.parametrize("name", ["run.json", "plan.json", "events.jsonl"])
def test_an_unknown_version_is_refused(run_dir: Path, name: str) -> None:
    path = run_dir / name
    path.write_text(path.read_text().replace('"version": 1', '"version": 7', 1))
    with pytest.raises(StriderError, match=rf"{name}: .* of version 7, but this Strider reads version 1"):
        load(run_dir)


def test_options_are_described_by_the_engine_of_the_run(run_dir: Path) -> None:
    parameter = {"name": "direct", "kind": "of a later Strider", "default": True, "novelty": 1}
    document = {"format": "strider-description", "version": 1, "engine": "9"}
    interfaces = [{"name": "posix", "parameters": [parameter]}]
    (run_dir / "description.json").write_text(json.dumps({**document, "interfaces": interfaces}))
    option = load(run_dir).cases[1].interface_options["direct"]
    assert (option.kind, option.parameter and option.parameter.default) == ("of a later Strider", True)


def test_a_run_without_a_description_has_that_of_the_engines_of_its_time(run_dir: Path) -> None:
    assert load(run_dir).cases[1].shape_options["transfer"].kind == "bytes"


def test_another_document_is_refused(run_dir: Path) -> None:
    (run_dir / "run.json").write_text('{"format": "other"}')
    with pytest.raises(StriderError, match='"format" should be "strider-run"'):
        load(run_dir)


def test_a_damaged_line_in_the_middle_is_named(run_dir: Path) -> None:
    lines = (run_dir / "events.jsonl").read_text().splitlines()
    lines[4] = lines[4][:30]
    (run_dir / "events.jsonl").write_text("\n".join(lines))
    with pytest.raises(StriderError, match=r"events.jsonl line 5 is not an event"):
        load(run_dir)


def test_a_sample_without_its_case_is_named(run_dir: Path) -> None:
    change_events(run_dir, lambda event: event.pop("case"))
    with pytest.raises(StriderError, match="sample with an invalid case"):
        load(run_dir)


def test_a_folder_without_run_json_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StriderError, match=r"is not a run directory: it has no run\.json"):
        load(tmp_path)


def test_sweeps_keep_their_order(tmp_path: Path) -> None:
    run = load(RunBuilder(sweep(transfers=(4096, 8192)), repetitions=1).write(tmp_path / RUN))
    assert [(case.interface_name, case.transfer_bytes) for case in run.cases.values()] == [
        ("posix", 4096),
        ("posix", 8192),
        ("mpiio", 4096),
        ("mpiio", 8192),
    ]


def change_events(run_dir: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Rewrites the sample events of a run."""
    path = run_dir / "events.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        if event["event"] == "sample":
            change(event)
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def test_events_that_are_a_directory_are_damage(run_dir: Path) -> None:
    (run_dir / "events.jsonl").unlink()
    (run_dir / "events.jsonl").mkdir()
    with pytest.raises(StriderError, match=r"events.jsonl: Is a directory: the run directory is damaged"):
        load(run_dir)


@pytest.mark.parametrize("key", ["elapsed_s", "transfer_s", "bytes", "requests"])
def test_what_cannot_be_negative_is_damage(run_dir: Path, key: str) -> None:
    events = run_dir / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    next(line for line in lines if line["event"] == "sample")[key] = -1
    events.write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8"
    )
    with pytest.raises(StriderError, match=rf"sample with an invalid {key}: .*: the file is damaged"):
        load(run_dir)


def test_a_name_that_would_change_a_terminal_is_read_as_it_is_printed(run_dir: Path) -> None:
    info = json.loads((run_dir / "run.json").read_text(encoding="utf-8"))
    (run_dir / "run.json").write_text(json.dumps({**info, "run": "\x1b[2J"}), encoding="utf-8")
    assert load(run_dir).id == r"\u001b[2J"
    assert [run.run for run in list_runs(run_dir.parent)] == [run_dir.name]


@pytest.mark.parametrize("name", ["run.json", "plan.json", "events.jsonl"])
def test_deep_nesting_damages_one_run_of_a_list(tmp_path: Path, name: str) -> None:
    """One run directory of another user must not hide all others of a store."""
    for run in (RUN, RUN.replace("11-21", "11-22")):
        RunBuilder([CaseSpec()]).write(tmp_path / run)
    (tmp_path / RUN / name).write_text("[" * 200_000)
    damaged, whole = list_runs(tmp_path)
    assert (damaged.run, whole.status) == (RUN, "complete")
    if name == "run.json":
        assert damaged.status == "unreadable"
        assert "nested too deeply" in damaged.damage
    if name == "plan.json":
        with pytest.raises(StriderError, match="nested too deeply"):
            load(tmp_path / RUN)


def _with_orphans(run_dir: Path) -> int:
    """Adds what ranks write that did not learn of the end of their run; returns the number of lines."""
    file = run_dir / "events.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["event"] for line in lines]
    sample, rank = lines[kinds.index("sample")], lines[kinds.index("rank")]
    error = {
        "event": "error",
        "time_s": 99.0,
        "case": 1,
        "repetition": 9,
        "warmup": False,
        "operation": "write",
    }
    error |= {"kind": "io", "rank": 1, "message": "No such file or directory", "count": 1}
    end = {"event": "end", "time_s": 100.0, "status": "interrupted", "samples": 99, "errors": 7}
    more = [sample.replace('"repetition": 0', '"repetition": 9'), rank, json.dumps(error), json.dumps(end)]
    with file.open("a", encoding="utf-8") as added:
        added.write("\n".join(more) + "\n")
        added.write(sample[:40])
    return len(more) + 1


def test_what_follows_the_end_of_a_run_is_no_part_of_it(run_dir: Path, tmp_path: Path) -> None:
    before, end, rows = load(run_dir), load_end(run_dir), load_events(run_dir, RankRow)
    questions = [f"SELECT count(*) AS n FROM {table}" for table in ("samples", "ranks", "errors")]
    counted = [query([run_dir], question) for question in questions]
    assert before.ignored_events == 0
    added = _with_orphans(run_dir)
    after = load(run_dir)
    assert after.ignored_events == added
    assert (after.samples, after.errors, after.end) == (before.samples, before.errors, before.end)
    assert load_end(run_dir) == end
    assert load_events(run_dir, RankRow) == rows
    assert [query([run_dir], question) for question in questions] == counted
    other = RunBuilder([CaseSpec()]).write(tmp_path / "whole")
    (both,), (one,) = query([run_dir, other], questions[0]), query([other], questions[0])
    assert both["n"] == counted[0][0]["n"] + one["n"]
    earlier = read_earlier(run_dir / "events.jsonl")
    assert earlier.end is not None
    assert end is not None
    assert (earlier.end["status"], earlier.errors) == (end.status, 0)
    assert earlier.last_s < 99


def test_ignored_events_are_said(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    added = _with_orphans(run_dir)
    assert main(["show", str(run_dir)]) == 0
    assert f"note: {added} events after the end of the run are ignored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("started", "x"),
        ("started", "2026-11-21T04:05:06"),
        ("started", "9999-12-31T23:59:59-12:00"),
        ("ended", "2026-11-21"),
        ("exit_code", 10**30),
        ("exit_code", -1),
        ("time_limit_s", -1e308),
    ],
)
def test_what_a_run_cannot_be_sealed_with_is_damage(run_dir: Path, field: str, value: object) -> None:
    info = json.loads((run_dir / "run.json").read_text())
    (run_dir / "run.json").write_text(json.dumps({**info, field: value}))
    with pytest.raises(DamagedRunError, match=rf"run\.json: document with an invalid {field}: "):
        load(run_dir)

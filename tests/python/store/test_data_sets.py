"""The content of a data set before and after each case of a run."""

import json
from pathlib import Path

from builders import MIB, CaseSpec, RunBuilder
from continued_builders import program, write_events
from strider.statistics.digest import data_keys
from strider.store import load
from strider.store.data_sets import Content, is_program, sets_of

FIRST, SECOND = Content(1, 4, 4 * MIB), Content(2, 4, 4 * MIB)


def test_steps_hand_the_state_on(tmp_path: Path) -> None:
    run = load(program(tmp_path / "run"))
    (kept,) = sets_of(run)
    assert [(step.action, step.found, step.left) for step in kept.steps] == [
        ("made", Content(0), FIRST),
        ("read", FIRST, FIRST),
        ("updated", FIRST, SECOND),
    ]
    assert (kept.action, kept.found, kept.left) == ("made", Content(0), SECOND)
    assert kept.path == f"{run.info.directory}/strider-data-kept"
    assert is_program(run)


def test_a_set_of_an_earlier_run_names_that_run(tmp_path: Path) -> None:
    (kept,) = sets_of(load(program(tmp_path / "run", cases=1, found=7)))
    assert (kept.action, kept.found.generation, kept.left.generation) == ("updated", 7, 8)
    assert (kept.run, kept.at) == ("2026-11-01-000000-earlier-abcd", "2026-11-01T00:00:00Z")


def test_a_write_that_did_not_end_leaves_an_incomplete_set(tmp_path: Path) -> None:
    (kept,) = sets_of(load(program(tmp_path / "run", torn=True)))
    assert (kept.left.generation, kept.left.is_whole) == (2, False)


def test_a_case_that_did_not_run_is_not_reached(tmp_path: Path) -> None:
    path = program(tmp_path / "run")
    events = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    write_events(path, [event for event in events if event.get("case") != 3])
    (kept,) = sets_of(load(path))
    assert [step.action for step in kept.steps] == ["made", "read", "not reached"]
    assert kept.left == FIRST


def test_sets_of_one_name_in_two_targets_are_two(tmp_path: Path) -> None:
    path = program(tmp_path / "run", cases=2)
    plan = json.loads((path / "plan.json").read_text())
    plan["cases"][0]["target"], plan["cases"][1]["target"] = "/mnt/a", "/mnt/b"
    (path / "plan.json").write_text(json.dumps(plan))
    assert [one.path for one in sets_of(load(path))] == [
        "/mnt/a/strider-data-kept",
        "/mnt/b/strider-data-kept",
    ]


def test_a_run_without_data_sets_has_none(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec()]).write(tmp_path / "run"))
    assert sets_of(run) == []
    assert not is_program(run)


def test_files_of_the_user_have_their_own_name_if_they_stay(tmp_path: Path) -> None:
    path = program(tmp_path / "run", cases=1, name=".kept-0-new")
    for keeps, titles in (("always", ["Kept files testfile"]), ("never", [])):
        plan = json.loads((path / "plan.json").read_text())
        plan["cases"][0]["manifest"] = {"kept": {"base": "testfile", "keeps": keeps}}
        (path / "plan.json").write_text(json.dumps(plan))
        run = load(path)
        found = sets_of(run)
        assert [one.title for one in found] == titles
        assert [one.path for one in found] == [f"{run.info.directory}/testfile"] * len(titles)
        assert run.cases[1].common_parameters["dataset"] == ""


def test_files_of_the_user_are_not_compared_with_other_files_of_the_user(tmp_path: Path) -> None:
    specs = [CaseSpec(common={"dataset": name}) for name in (".kept-0-1", ".kept-1-1", ".kept-1-1")]
    keys = data_keys(load(RunBuilder(specs).write(tmp_path / "run")))
    assert keys[1] != keys[2] == keys[3]

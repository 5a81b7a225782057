"""The results of a run that its time limit ended."""

import json
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli import main
from strider.report import write_html
from strider.report.words.time_limit import time_limit_sentence
from strider.store import load

SENTENCE = "3 of 50 repetitions: the time limit of 8 s ended the run."


def cut_run(tmp_path: Path, limit_s: float = 8) -> Path:
    """Writes a run with 3 repetitions of 50 planned ones."""
    path = RunBuilder([CaseSpec()], repetitions=3).write(tmp_path / "2026-11-21-101112-long-abcd")
    plan = json.loads((path / "plan.json").read_text())
    plan["time_limit_s"] = limit_s
    plan["cases"][0]["repetitions"] = {"min": 50, "max": 50, "until": 0.0}
    (path / "plan.json").write_text(json.dumps(plan))
    return path


def test_the_page_states_it_on_its_first_screen(tmp_path: Path) -> None:
    path = cut_run(tmp_path)
    write_html([load(path)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.index(SENTENCE) < page.index("What was measured")


def test_the_results_state_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cut_run(tmp_path)
    assert main(["show", str(path)]) == 0
    assert SENTENCE in capsys.readouterr().out
    assert main(["show", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["time_limit"]
    assert (shown["fewest"], shown["most"], shown["planned"]) == (3, 3, 50)


def test_a_run_without_a_limit_has_no_such_sentence(tmp_path: Path) -> None:
    assert time_limit_sentence(load(cut_run(tmp_path, limit_s=0))) == ""


def test_cases_that_differ_have_a_range_and_cases_without_a_result_are_counted(tmp_path: Path) -> None:
    path = RunBuilder([CaseSpec()] * 2, repetitions=3).write(tmp_path / "2026-11-21-101112-long-abcd")
    plan = json.loads((path / "plan.json").read_text())
    plan["time_limit_s"] = 8
    for case in plan["cases"]:
        case["repetitions"] = {"min": 50, "max": 50, "until": 0.0}
    (path / "plan.json").write_text(json.dumps(plan))
    events = (path / "events.jsonl").read_text().splitlines()
    kept = [line for line in events if json.loads(line).get("case") != 2]
    (path / "events.jsonl").write_text("\n".join([*kept, ""]))
    assert time_limit_sentence(load(path)) == (
        "0–3 of 50 repetitions: the time limit of 8 s ended the run. Cases without a result: 1."
    )


def test_the_budget_of_a_storage_card_cuts_nothing(tmp_path: Path) -> None:
    path = cut_run(tmp_path)
    (path / "card.json").write_text("{}")
    assert time_limit_sentence(load(path)) == ""

"""What runs all tests: results and time of steps, and the order of files by their last durations."""

import json
import sys
import threading
from pathlib import Path

import pytest

import all_tests
import durations
from all_tests import ROOT, Done, Pool, Step
from sanitizers import SANITIZERS

WORK = "import sys; sum(range(3_000_000)); print('said'); sys.exit(4)"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A pool whose logs are in a folder of the test."""
    monkeypatch.setattr(all_tests, "LOGS", tmp_path)
    return Pool()


def test_a_step_has_its_status_its_processor_time_and_its_output(pool: Pool, tmp_path: Path) -> None:
    step = Step("work", [sys.executable, "-c", WORK])
    failed, passed = pool.run_in_turn([step, Step("next", ["true"])])
    assert (failed.status, passed.status) == (4, 0)
    assert 0 < failed.processor_s <= failed.seconds + 1
    assert (tmp_path / "work.log").read_text() == "said\n"


def test_an_end_ends_the_step_under_way_and_begins_no_other(pool: Pool, tmp_path: Path) -> None:
    found: list[Done] = []
    words = ["sh", "-c", f"echo begun; touch {tmp_path}/begun; exec sleep 1000"]
    steps = [Step("long", words), Step("next", ["touch", str(tmp_path / "next")])]
    thread = threading.Thread(target=lambda: found.extend(pool.run_in_turn(steps)))
    thread.start()
    while not (tmp_path / "begun").exists():
        assert thread.is_alive()
        threading.Event().wait(0.01)
    pool.end()
    thread.join()
    assert [done.status for done in found] == [-15]
    assert not (tmp_path / "next").exists()


def test_a_seed_chooses_a_sanitizer_which_is_built_before_it_runs() -> None:
    chosen = [all_tests.steps_beside(ROOT, seed)[1][:2] for seed in range(20)]
    assert {built.words[-1] for built, _ in chosen} == set(SANITIZERS)
    assert all(built.words[-1] == run.words[-1] for built, run in chosen)


def test_the_table_names_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    all_tests.print_table([Done("lint", 0, 25.4, 40.2), Done("python", 1, 900.0, 1200.0)])
    assert capsys.readouterr().out == (
        "\n seconds processor  step\n      25        40  lint\n     900      1200  python  FAILED (1)\n"
    )


@pytest.mark.parametrize(
    ("alone", "failed"),
    [
        ([], ["python"]),
        ([Done(all_tests.AGAIN, 0, 1, 1)], []),
        ([Done(all_tests.AGAIN, 1, 1, 1)], ["python", all_tests.AGAIN]),
    ],
)
def test_a_python_test_that_passes_alone_fails_no_run(alone: list[Done], failed: list[str]) -> None:
    found = [Done("python", 1, 900, 900), *alone, Done("mutants", 1, 1, 1)]
    assert all_tests.failures(found) == [*failed, "mutants"]


def test_the_longest_files_come_first_and_are_shown(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durations, "KEPT", tmp_path / "build" / "durations.json")
    for name in ("short", "long", "new"):
        pytester.makepyfile(**{f"test_{name}": f"import sys\ndef test_it(): print('ran {name}')"})
    monkeypatch.setattr(durations, "LONG", tmp_path / "long.json")
    durations.LONG.write_text(json.dumps({"test_short.py": 1.0, "test_long.py": 2.0, "gone.py": 9.0}))
    shown = pytester.runpytest_inprocess("-p", "durations", "-p", "no:cacheprovider", "-s", "-v")
    lines = [line.partition("::")[0] for line in shown.outlines if "::test_it" in line]
    assert [line for line in lines if line.startswith("test_")] == [
        "test_long.py",
        "test_short.py",
        "test_new.py",
    ]
    shown.stdout.fnmatch_lines(["*time by file*", " seconds processor  file", "*test_*.py", "*all 3"])
    assert max(len(line) for line in shown.outlines if "test_" in line and ".py" in line) <= 80
    assert set(json.loads(durations.KEPT.read_text())) == {
        *("gone.py", "test_long.py", "test_new.py", "test_short.py")
    }

"""`strider compare` as a user types it, and its exit codes."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from builders import LONG, CaseSpec, RunBuilder, sweep
from comparison_builders import in_turns
from strider.cli import main
from strider.compare import compare
from strider.running.conclusion import conclude, failures
from strider.running.options import FailOn


class Rated(RunBuilder):
    """Rates of 1000 MiB/s times a factor, with a spread of 1 %."""

    factor = 1.0
    client_bytes = LONG

    def rate(self, case: CaseSpec, operation: str) -> float:
        return 1000 * self.factor * self.random.gauss(1, 0.01)


def write(store: Path, name: str, factor: float, seed: int, repetitions: int = 8) -> None:
    builder = Rated(sweep(transfers=[65536]), repetitions=repetitions, seed=seed)
    builder.factor = factor
    builder.write(store / name)


PAIRS = 6


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with six runs of a side, of one like it, and of one that is 8 % slower, alternately."""
    folder = tmp_path_factory.mktemp("measured")
    for pair in range(PAIRS):
        write(folder, f"2026-11-21-04{pair}506-base-aaa{pair}", 1.0, 10 + pair, repetitions=3)
        write(folder, f"2026-11-21-05{pair}506-same-bbb{pair}", 1.0, 20 + pair, repetitions=3)
        write(folder, f"2026-11-21-06{pair}506-slow-ccc{pair}", 0.92, 30 + pair, repetitions=8)
    return folder


@pytest.fixture
def store(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that store, the usual one."""
    folder = tmp_path / "store"
    shutil.copytree(measured, folder)
    monkeypatch.setenv("STRIDER_STORE", str(folder))
    return folder


def side(hour: str) -> str:
    return ",".join(f"2026-11-21-{hour}{pair}" for pair in range(PAIRS))


BASE, SAME, SLOW = side("04"), side("05"), side("06")
ONE, TWO = "2026-11-21-040", "2026-11-21-065"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([BASE, SAME], 0),
        ([BASE, SLOW], 0),
        ([BASE, SAME, "--fail-on", "slower"], 0),
        ([BASE, SLOW, "--fail-on", "slower"], 1),
        ([ONE, TWO], 0),
        ([ONE, TWO, "--fail-on", "incomparable"], 0),
        ([SLOW, BASE, "--fail-on", "slower"], 0),
        ([SLOW, BASE, "--fail-on", "different"], 1),
        ([BASE, SLOW, "--fail-on", "slower", "--threshold", "20%"], 0),
        ([BASE, SAME, "--fail-on", "unproven", "--threshold", "5%"], 0),
        ([BASE, SLOW, "--fail-on", "unproven", "--threshold", "5%"], 1),
        ([BASE, SAME, "--fail-on", "incomparable"], 0),
        ([TWO, "--by", "interface=posix,mpiio", "--fail-on", "different"], 0),
    ],
)
# proves comparing: fail-on, on-slower, on-different, on-unproven, on-incomparable
def test_the_exit_code_is_that_of_an_acceptance_test(store: Path, arguments: list[str], code: int) -> None:
    assert main(["compare", *arguments]) == code


@pytest.mark.parametrize("condition", ["slower", "different", "unproven"])
# proves comparing: exit-of-a-and-b, no-verdict-exit
def test_single_runs_have_no_verdict_to_fail_on(
    store: Path, capsys: pytest.CaptureFixture[str], condition: str
) -> None:
    """Neither 1, as if it were slower, nor 0, as if it were equal."""
    for run in list(store.iterdir()):
        if run.name[11:14] not in ("040", "065"):
            shutil.rmtree(run)
    assert main(["compare", ONE, TWO, "--threshold", "5%", "--fail-on", condition]) == 2
    captured = capsys.readouterr()
    assert f"--fail-on {condition} needs verdicts, and no operation has one" in captured.err
    assert "strider run SUITE --against BASELINE" in captured.err
    assert "4 no verdict" in captured.out


# proves comparing: exit-of-a-and-b
def test_five_earlier_runs_of_the_case_give_single_runs_a_verdict(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The later run is 8 % slower; runs before it varied by 1 %."""
    for index, run in enumerate(sorted(store.iterdir())):
        info = json.loads((run / "run.json").read_text())
        # The two that are compared follow on each other, so that all earlier runs count.
        info["started"] = f"2026-11-21T04:{16 if run.name.startswith(ONE) else index:02d}:00Z"
        (run / "run.json").write_text(json.dumps(info))
    for run in store.glob("*-slow-*"):
        if run.name[11:14] != "065":
            shutil.rmtree(run)
    assert main(["compare", ONE, TWO, "--json", "--fail-on", "slower"]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["verdict"] for row in rows} == {"slower"}
    assert {(row["trust"]["grade"], row["change"]["n"]) for row in rows} == {("B", 11)}
    assert {row["change"]["method"] for row in rows} == {"by history"}


# proves comparing: chances
def test_a_test_for_proof_prints_its_chances(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BASE, SAME, "--fail-on", "unproven", "--threshold", "5%"]) == 0
    assert "note: with 6 pairs and runs that vary by" in capsys.readouterr().err


def test_operations_that_a_condition_cannot_judge_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = compare(*in_turns(tmp_path, sweep(transfers=[4096, 8192]), pairs=6, factor=lambda *_: 1.0))
    first = replace(found.rows[0], verdict="no verdict", reason="too few earlier runs")
    mixed = replace(found, rows=[first, *found.rows[1:]])
    conclude(mixed, [FailOn.SLOWER], json=True, page=None)
    assert f"1 operation of {len(mixed.rows)} without: too few earlier runs" in capsys.readouterr().err
    for judged, wanted in ((found, [FailOn.SLOWER]), (mixed, []), (mixed, [FailOn.INCOMPARABLE])):
        conclude(judged, wanted, json=True, page=None)
        assert "without" not in capsys.readouterr().err


# proves comparing: on-slower, on-different
def test_a_suite_that_is_slower_as_a_whole_fails(tmp_path: Path) -> None:
    """No row shows the 2 % under its noise; the mean of all does."""
    cases = sweep(transfers=[2**k for k in range(12, 24)])
    comparison = compare(*in_turns(tmp_path, cases, pairs=6, factor=lambda *_: 0.98))
    rows = [replace(row, verdict="no difference shown") for row in comparison.rows]
    alone = replace(comparison, rows=rows)
    for condition in (FailOn.SLOWER, FailOn.DIFFERENT):
        assert failures(alone, [condition]) == [
            f"the suite as a whole is {condition.value} (--fail-on {condition.value})"
        ]


# proves comparing: nothing-transferred-exit
def test_repetitions_that_transferred_nothing_fail_every_condition(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(store, "2026-11-21-070506-zero-dddd", 1.0, 4)
    events = store / "2026-11-21-070506-zero-dddd" / "events.jsonl"
    events.write_text(re.sub(r'"rate_mib_s": ?[0-9.e+]+', '"rate_mib_s":0.0', events.read_text()))
    for condition in ("slower", "different", "incomparable"):
        assert main(["compare", ONE, "latest", "--fail-on", condition]) == 1
        captured = capsys.readouterr()
        assert "4 operations with repetitions that transferred nothing (--fail-on)" in captured.err
        assert "B: 8 of 8 repetitions transferred nothing" in " ".join(captured.out.split())


def test_a_failure_says_what_failed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", BASE, SLOW, "--fail-on", "slower", "--fail-on", "incomparable"])
    captured = capsys.readouterr()
    assert captured.err == "strider: 4 operations slower (--fail-on slower)\n"
    assert "4 slower" in captured.out


# proves comparing: nothing-compared-exit
def test_a_test_that_compares_nothing_fails(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(store, "2026-11-21-070506-once-dddd", 1.0, 4, repetitions=1)
    assert main(["compare", ONE, "latest"]) == 0
    assert main(["compare", ONE, "latest", "--fail-on", "slower"]) == 1
    assert "the runs have no comparable operation (--fail-on)" in capsys.readouterr().err
    assert main(["compare", ONE, "latest", "--fail-on", "incomparable"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([ONE], "two runs are needed, not 1"),
        ([BASE, SAME, SLOW], "two runs are needed, not 3"),
        ([BASE, SAME, "--by", "interface"], "--by compares within one run, but 2 are named"),
        ([BASE, SAME, "--threshold", "much"], '--threshold: "much" is not a share'),
        ([BASE, SAME, "--threshold", "100%"], "out of range: write a share from 0 to below 1"),
        ([BASE, SAME, "--metric", "speed"], 'no metric "speed": choose one of rate'),
        ([BASE, SAME, "--fail-on", "unproven"], "needs a threshold above 0"),
        ([f"{ONE},{TWO}", "latest"], "cannot compare 2 with 1 runs"),
        (["nothing", ONE], 'no run "nothing"'),
    ],
)
# proves comparing: exit-0, exit-2-and-3
def test_mistakes_get_one_message(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["compare", *arguments]) == 2
    assert message in capsys.readouterr().err


# proves comparing: alternate-yourself
def test_several_runs_of_a_side_are_joined_by_commas(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [",".join(side.split(",")[:3]) for side in (BASE, SLOW)]
    assert main(["compare", *sides, "--json", "--fail-on", "slower"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [len(side["runs"]) for side in document["sides"]] == [3, 3]
    assert {row["change"]["n"] for row in document["rows"]} == {3}


# proves comparing: json
def test_json_and_page_go_together(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert (
        main(
            ["compare", BASE, SLOW, "--metric", "rate", "--metric", "latency-p99", "--json", "-o", str(page)]
        )
        == 0
    )
    captured = capsys.readouterr()
    assert {row["metric"] for row in json.loads(captured.out)["rows"]} == {"rate", "latency-p99"}
    assert captured.err == f"page: {page}\n"
    assert "latency-p99" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["show", "export", "report"])
def test_without_a_name_the_latest_run_is_meant(
    store: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert main([verb]) == 0
    assert "2026-11-21-065506-slow-ccc5" in capsys.readouterr().out


@pytest.mark.parametrize("fmt", ["csv", "json"])
# proves measuring: summary-columns
def test_results_are_exported_with_their_statistics(
    store: Path, capsys: pytest.CaptureFixture[str], fmt: str
) -> None:
    assert main(["export", "--rows", "results", "--format", fmt]) == 0
    text = capsys.readouterr().out
    for name in (
        "rate_median_mib_s",
        "rate_mean_mib_s",
        "rate_deviation_mib_s",
        "rate_variation",
        "rate_min_mib_s",
    ):
        assert name in text
    if fmt == "json":
        assert len(json.loads(text)) == 4

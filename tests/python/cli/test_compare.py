"""`strider compare` as a user types it, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder, sweep
from strider.cli import main


class Rated(RunBuilder):
    """Rates of 1000 MiB/s times a factor, with a spread of 1 %."""

    factor = 1.0

    def rate(self, case: CaseSpec, operation: str) -> float:
        return 1000 * self.factor * self.random.gauss(1, 0.01)


def write(store: Path, name: str, factor: float, seed: int, repetitions: int = 8) -> None:
    builder = Rated(sweep(transfers=[65536]), repetitions=repetitions, seed=seed)
    builder.factor = factor
    builder.write(store / name)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a run, one like it, and one that is 8 % slower."""
    monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
    folder = tmp_path / "store"
    write(folder, "2026-11-21-040506-base-aaaa", 1.0, 1)
    write(folder, "2026-11-21-050506-same-bbbb", 1.0, 2)
    write(folder, "2026-11-21-060506-slow-cccc", 0.92, 3)
    return folder


BASE, SAME, SLOW = "2026-11-21-04", "2026-11-21-05", "2026-11-21-06"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([BASE, SAME], 0),
        ([BASE, SLOW], 0),
        ([BASE, SAME, "--fail-on", "slower"], 0),
        ([BASE, SLOW, "--fail-on", "slower"], 1),
        ([BASE, "latest", "--fail-on", "slower"], 1),
        ([SLOW, BASE, "--fail-on", "slower"], 0),
        ([SLOW, BASE, "--fail-on", "different"], 1),
        ([BASE, SLOW, "--fail-on", "slower", "--threshold", "20%"], 0),
        ([BASE, SAME, "--fail-on", "unproven", "--threshold", "5%"], 0),
        ([BASE, SLOW, "--fail-on", "unproven", "--threshold", "5%"], 1),
        ([BASE, SAME, "--fail-on", "incomparable"], 0),
        ([BASE, "--by", "interface=posix,mpiio", "--fail-on", "different"], 0),
    ],
)
def test_the_exit_code_is_that_of_an_acceptance_test(store: Path, arguments: list[str], code: int) -> None:
    assert main(["compare", *arguments]) == code


def test_a_failure_says_what_failed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", BASE, SLOW, "--fail-on", "slower", "--fail-on", "incomparable"])
    captured = capsys.readouterr()
    assert captured.err == "strider: 4 operations slower (--fail-on slower)\n"
    assert "4 slower" in captured.out


def test_a_test_that_compares_nothing_fails(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(store, "2026-11-21-070506-once-dddd", 1.0, 4, repetitions=1)
    assert main(["compare", BASE, "latest"]) == 0
    assert main(["compare", BASE, "latest", "--fail-on", "slower"]) == 1
    assert "the runs have no comparable operation (--fail-on)" in capsys.readouterr().err
    assert main(["compare", BASE, "latest", "--fail-on", "incomparable"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([BASE], "two runs are needed, not 1"),
        ([BASE, SAME, SLOW], "two runs are needed, not 3"),
        ([BASE, SAME, "--by", "interface"], "--by compares within one run, but 2 are named"),
        ([BASE, SAME, "--threshold", "much"], '--threshold: "much" is not a share'),
        ([BASE, SAME, "--threshold", "100%"], "out of range: write a share from 0 to below 1"),
        ([BASE, SAME, "--metric", "speed"], 'no metric "speed": choose one of rate'),
        ([BASE, SAME, "--fail-on", "unproven"], "needs a threshold above 0"),
        ([f"{BASE},{SAME}", SLOW], "cannot compare 2 with 1 runs"),
        (["nothing", SAME], 'no run "nothing"'),
    ],
)
def test_mistakes_get_one_message(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["compare", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_several_runs_of_a_side_are_joined_by_commas(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        write(store, f"2026-11-21-1{number}0506-a-aaa{number}", 1.0, 10 + number, repetitions=3)
        write(store, f"2026-11-21-1{number}3506-b-bbb{number}", 0.9, 20 + number, repetitions=3)
    sides = [",".join(f"2026-11-21-1{number}{tens}" for number in range(3)) for tens in (0, 3)]
    assert main(["compare", *sides, "--json", "--fail-on", "slower"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [len(side["runs"]) for side in document["sides"]] == [3, 3]
    assert {row["change"]["n"] for row in document["rows"]} == {3}


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
    assert "2026-11-21-060506-slow-cccc" in capsys.readouterr().out


@pytest.mark.parametrize("fmt", ["csv", "json"])
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

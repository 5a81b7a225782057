"""Sizes that a suite leaves open, on the command line: probed, printed, the same for all that is compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.running import probing
from strider.suite.estimate import AssumedRates

MIB = 1 << 20
SUITE = """\
[suite]
name = "open"
repetitions = 1
[[case]]
interface = ["posix", "null"]
pattern = "segmented"
transfer = "64KiB"
block = "auto"
operations = ["write", "read"]
"""
RUN = ["--ceilings", "none", "--quiet"]
Probes = Callable[..., list[tuple[str, int]]]


@pytest.fixture
def place(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a suite and two targets."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    (tmp_path / "open.toml").write_text(SUITE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Probes:
    """Stands for the probe: rates in MiB/s by the name of the target; returns the list of its calls."""

    def make(**mib_s: float) -> list[tuple[str, int]]:
        calls: list[tuple[str, int]] = []

        def rates(target: Path, _: object, __: object = None, clients: int = 1) -> AssumedRates:
            calls.append((target.name, clients))
            return AssumedRates(int(mib_s[target.name] * MIB), 1000)

        monkeypatch.setattr(probing, "rates_for", rates)
        return calls

    return make


def blocks(run: Path) -> list[int]:
    plan = json.loads((run / "plan.json").read_text(encoding="utf-8"))
    return [case["pattern"]["block"] for case in plan["cases"]]


def runs(place: Path) -> list[Path]:
    return sorted((place / "store").iterdir())


def test_a_plan_has_the_number_and_says_why(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = probes(old=10)
    words = [str(place / "open.toml"), "--target", str(place / "old")]
    assert main(["plan", *words, "--json", "--probe", "-n", "1,2"]) == 0
    plan = json.loads(capfd.readouterr().out)
    assert [case["pattern"]["block"] for case in plan["cases"]] == [16 * MIB, 8 * MIB, 16 * MIB, 8 * MIB]
    assert calls == [("old", 1), ("old", 2)]
    assert main(["plan", *words, "--probe"]) == 0
    assert "block = auto: 16 MiB a client, about 1.6 s at 10.0 MiB/s" in capfd.readouterr().out


def test_a_plan_without_a_probe_leaves_the_size_open(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = probes()
    words = ["plan", str(place / "open.toml"), "--target", str(place / "missing"), "-n", "1,2"]
    assert main(words) == 0
    shown = capfd.readouterr().out
    assert "block = auto: chosen by a probe when the run starts; to choose it now, add --probe" in shown
    assert "block auto" in shown
    assert "4 cases, 8 phases on 2 ranks\n" in shown
    # The needs and the time depend on the size.
    assert not {"needs", "takes", "MiB"} & set(shown.split())
    assert calls == []


@pytest.mark.parametrize("option", [["--json"], ["--extents", "1"]])
def test_output_that_needs_a_number_asks_for_a_probe(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str], option: list[str]
) -> None:
    probes()
    assert main(["plan", str(place / "open.toml"), "--target", str(place / "old"), *option]) == 2
    assert f'{option[0]} needs a number, but block = "auto" is chosen by a probe' in capfd.readouterr().err


def test_a_size_beyond_memory_needs_no_probe(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = probes()
    more = SUITE[SUITE.index("[[case]]") :].replace('"auto"', '"beyond-memory"')
    (place / "open.toml").write_text(SUITE + more, encoding="utf-8")
    assert main(["plan", str(place / "open.toml"), "--target", str(place / "missing")]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert (
        "block = auto: chosen by a probe when the run starts; to choose it now, add --probe (case 1 and"
        in "\n".join(lines)
    )
    assert any(line.startswith("block = beyond-memory: ") and "twice its memory" in line for line in lines)
    assert calls == []


def test_a_suite_with_sizes_is_not_probed(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = probes(old=10)
    words = ["plan", str(place / "open.toml"), "--target", str(place / "old")]
    assert main([*words, "--set", "case.block=1MiB"]) == 0
    assert calls == []
    assert "block =" not in capfd.readouterr().out
    assert main([*words, "--set", "case.block=auto"]) == 0
    assert calls == []


def test_a_size_without_space_ends_the_command(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    probes(old=2**30)
    assert main(["run", str(place / "open.toml"), "--target", str(place / "old"), *RUN]) == 2
    said = capfd.readouterr().err
    assert 'open.toml:8: block = "auto": 2 PiB a client need 2 PiB (case 1), but' in said
    assert "give a size such as block" in said


@pytest.mark.slow
@pytest.mark.usefixtures("whole_runs")
def test_a_run_keeps_the_reason_of_its_sizes_and_shows_it(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    probes(old=10)
    words = [str(place / "open.toml"), "--target", str(place / "old"), "--set", "case.interface=null"]
    assert main(["run", *words, "-n", "1,2", *RUN]) == 0
    (run,) = runs(place)
    one, two = json.loads((run / "run.json").read_text(encoding="utf-8"))["sizes"]
    assert one == {
        "cases": [1],
        "key": "block",
        "word": "auto",
        "bytes": 16 * MIB,
        "reason": "about 1.6 s at 10.0 MiB/s",
    }
    assert (two["cases"], two["bytes"]) == ([2], 8 * MIB)
    sentence = "Chosen by Strider: block = auto: 16 MiB a client, about 1.6 s at 10.0 MiB/s (case 1)."
    assert sentence not in capfd.readouterr().out  # printed before the run
    assert sentence in (run / "report.html").read_text(encoding="utf-8")
    assert main(["show", str(run)]) == 0
    assert sentence in " ".join(capfd.readouterr().out.split())


@pytest.mark.slow
def test_several_targets_get_the_same_size(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    probes(old=1, new=10)
    targets = ["--target", f"{place / 'old'},{place / 'new'}"]
    assert main(["run", str(place / "open.toml"), *targets, *RUN]) == 0
    assert "block = auto: 16 MiB a client, about 1.6 s at 10.0 MiB/s\n" in capfd.readouterr().err
    (run,) = runs(place)
    assert set(blocks(run)) == {16 * MIB}


@pytest.mark.slow
def test_both_sides_of_a_comparison_get_the_same_size(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    probes(old=1, new=10)
    words = ["run", str(place / "open.toml"), "--target", str(place / "old"), "--set", "case.interface=null"]
    assert main([*words, "--against", str(place / "new"), "--pairs", "3", *RUN]) == 0
    assert capfd.readouterr().err.count("block = auto: 16 MiB a client") == 1
    assert [blocks(run) for run in runs(place)] == [[16 * MIB]] * 6


@pytest.mark.slow
def test_a_comparison_with_an_earlier_run_takes_its_size(
    place: Path, probes: Probes, capfd: pytest.CaptureFixture[str]
) -> None:
    probes(old=1)
    words = ["run", str(place / "open.toml"), "--target", str(place / "old"), "--set", "case.interface=null"]
    assert main([*words, *RUN]) == 0
    (earlier,) = runs(place)
    calls = probes(old=10)
    assert main([*words, "--against", earlier.name, "--pairs", "3", *RUN]) == 0
    assert f"block = auto: 2 MiB a client, as in run {earlier.name}" in capfd.readouterr().err
    assert [blocks(run) for run in runs(place)] == [[2 * MIB]] * 7
    assert calls == []


@pytest.mark.slow
def test_a_real_probe_chooses_the_size_of_a_run(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(place / "open.toml"), "--target", str(place / "old"), *RUN]
    # A limit keeps the phases short where the page cache is fast.
    assert main([*words, "--set", "case.interface=posix", "--set", "case.deadline=1s"]) == 0
    shown, said = capfd.readouterr()
    assert said.count("block = auto: ") == 1
    (run,) = runs(place)
    (block,) = blocks(run)
    assert block % (16 * 64 * 1024) == 0
    assert "block = " in said
    assert "auto" not in shown
    assert not list((place / "old").iterdir())

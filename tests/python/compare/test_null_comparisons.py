"""benchmarks/null_comparisons.py compares runs of one target with each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from builders import CaseSpec, RunBuilder

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "null_comparisons.py"


def drifting(folder: Path, jump: float) -> None:
    """Sixteen runs that differ by the repetitions' noise; the last one is faster by a factor."""
    for number in range(16):
        name = f"2026-11-21-0405{number:02d}-ci-aaaa"
        run = RunBuilder([CaseSpec()], repetitions=3, seed=number).write(folder / name)
        info = json.loads((run / "run.json").read_text())
        info["started"] = f"2026-11-21T04:05:{number:02d}Z"
        (run / "run.json").write_text(json.dumps(info))
        events = run / "events.jsonl"
        text = events.read_text()
        if number == 15:
            text = re.sub(r'(?<="rate_mib_s": )[0-9.e+]+', lambda rate: f"{jump * float(rate[0])}", text)
        events.write_text(text)


def named(folder: Path) -> dict[str, int]:
    words = [sys.executable, str(SCRIPT), str(folder), "--trials", "8"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    found = re.findall(r"(.*): (\d+) of 8 tables name", done.stdout)
    return {way: int(count) for way, count in found}


# proves comparing: null-comparisons
def test_runs_that_are_alike_name_hardly_anything_and_a_jump_is_seen(tmp_path: Path) -> None:
    drifting(tmp_path / "alike", 1.0)
    drifting(tmp_path / "jump", 3.0)
    alike, jump = named(tmp_path / "alike"), named(tmp_path / "jump")
    assert len(alike) == 3
    assert sum(alike.values()) <= 3
    history = "two single runs with their history"
    assert jump[history] > alike[history]


def test_too_few_runs_are_refused(tmp_path: Path) -> None:
    RunBuilder([CaseSpec()]).write(tmp_path / "2026-11-21-040500-ci-aaaa")
    words = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "no target with 12 complete runs" in done.stderr

"""A rank that is slow because its file is: the report names it, and its node."""

import json
import subprocess
from pathlib import Path

from calibrate import Mount
from harness import read_events, strider_command

SUITE = """
[suite]
name = "straggler"
clients = 4
repetitions = 3

[[case]]
interface = "posix"
pattern = "segmented"
transfer = "4KiB"
block = "64KiB"
sharing = "per-rank"
operations = ["write", "read"]
"""
SLOW_RANK = 2


# proves measuring: known-slow-rank
def test_a_planted_slow_rank_is_named(tmp_path: Path, mount_delayfs: Mount) -> None:
    """Files of rank 2 take 20 ms for each request; those of the others none."""
    target = mount_delayfs(20_000, f"case1.{SLOW_RANK}")
    suite = tmp_path / "straggler.toml"
    suite.write_text(SUITE, encoding="utf-8")
    words = strider_command("run", suite, "--target", target, "--store", tmp_path / "runs", "--report")
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = [folder for folder in (tmp_path / "runs").iterdir() if (folder / "run.json").exists()]
    (node,) = read_events(run / "events.jsonl")[0]["nodes"]
    (sentence,) = [
        line
        for line in " ".join(done.stdout.split()).split("Straggler: ")
        if "in 6 phases of write and read through posix" in line
    ]
    assert sentence.startswith(f"rank {SLOW_RANK} on {node['name']} took")
    page = (run / "report.html").read_text(encoding="utf-8")
    assert f"rank {SLOW_RANK} on {node['name']}" in page
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["status"] == "complete"

"""Jobs on real Slurm: submitted, watched, cancelled; cut by the scheduler and resumed by the next one."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Json, read_events, strider_command, wait_for
from strider.engine import Engine
from strider.lab import Record

LIMIT_S = 300
NODES = 4
REPETITIONS = 8
SUITE = """
[suite]
name = "batch"
clients = 4
[[case]]
interface = "posix"
pattern = "segmented"
operations = ["write", "read"]
block = "256KiB"
transfer = "64KiB"
repetitions = {repetitions}
rate_limit = "1MiB"
"""
"""A repetition moves 2 MiB in all, which takes 2 s or more, however fast the machine is."""


class Cluster:
    """Strider's commands on the lab's Slurm, with a store and a target."""

    def __init__(self, slurm: Record, folder: Path, engine: Path) -> None:
        self.folder, self.store, self.target = folder, folder / "store", folder / "target"
        self.target.mkdir()
        settings = {"SLURM_CONF": slurm.endpoints[0].native["SLURM_CONF"], "STRIDER_ENGINE": str(engine)}
        self.environment = {**os.environ, **settings}

    def ask(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, words)),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env=self.environment,
        )

    def call(self, *words: object) -> str:
        done = self.ask(*words)
        assert done.returncode == 0, done.stdout + done.stderr + self.output()
        return done.stdout + done.stderr

    def strider(self, *words: str) -> str:
        return self.call(*strider_command(*words, "--store", self.store))

    def submit(self, repetitions: int, *words: str) -> Path:
        """The directory of the run that a job will have."""
        file = self.folder / "batch.toml"
        file.write_text(SUITE.format(repetitions=repetitions))
        place = ("--target", str(self.target), "--nodes", str(NODES), "--executor", "slurm")
        said = self.strider("submit", str(file), *place, *words)
        return self.store / said.split("run ")[1].split()[0]

    def output(self) -> str:
        return "".join(file.read_text() for file in self.store.glob(".batch/*/errors-*"))

    @property
    def numbers(self) -> list[str]:
        """Slurm's numbers of the only job."""
        (record,) = self.store.glob(".batch/*/job.json")
        return [str(number) for number in json.loads(record.read_text())["numbers"]]

    @property
    def queue(self) -> list[str]:
        return self.call("squeue", "--noheader", "--format=%i %t").splitlines()


def events_of(run: Path, kind: str) -> list[Json]:
    file = run / "events.jsonl"
    return [event for event in read_events(file) if event["event"] == kind] if file.is_file() else []


@pytest.fixture
def cluster(slurm: Record, tmp_path: Path, engine: Engine) -> Iterator[Cluster]:
    found = Cluster(slurm, tmp_path, engine.path)
    yield found
    # The remains of a failed test would disturb the next one.
    found.call("scancel", "--me")
    wait_for(lambda: found.queue == [], "an empty queue", LIMIT_S)


def test_a_job_is_submitted_and_followed_to_its_result(cluster: Cluster) -> None:
    run = cluster.submit(2, "--time", "5m", "--partition", "all", "--jobs", "2")
    said = cluster.strider("watch", run.name)
    assert f"run {run.name}: complete; " in said
    (started,) = events_of(run, "run")
    assert [node["ranks"] for node in started["nodes"]] == [1] * NODES
    assert not list(cluster.target.iterdir())
    (script,) = cluster.store.glob(".batch/*/job-1.sh")
    assert "#SBATCH --nodes=4" in script.read_text()
    # The second job is not needed, and is withdrawn.
    wait_for(lambda: cluster.queue == [], "an empty queue", LIMIT_S)
    assert not events_of(run, "cut")
    assert not list(cluster.store.glob(".batch/*/output-2"))


SWEEP = """
[suite]
name = "places"
[[case]]
interface = "posix"
pattern = "segmented"
operations = ["write"]
block = "64KiB"
transfer = "64KiB"
repetitions = 1
"""


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ("clients = 2", ["-N", "4", "--per-node", "2"]),
        ("clients = 1", ["-n", "1,2,8", "--nodes", "4", "--per-node", "2"]),
        ("nodes = [1, 2, 4]\nper_node = 2", []),
        ("nodes = [1, 2]\nper_node = 2", ["-N", "4"]),
        ("clients = 6", ["-N", "3"]),
        ("clients = 6", ["--per-node", "2"]),
    ],
)
def test_the_ranks_of_a_job_are_on_the_nodes_that_the_plan_shows(
    cluster: Cluster, keys: str, options: list[str]
) -> None:
    file = cluster.folder / "places.toml"
    file.write_text(f"{SWEEP}{keys}\n")
    words = [str(file), "--target", str(cluster.target), *options]
    plan = cluster.call(*strider_command("plan", *words, "--launcher", "srun", "--seats", "--json"))
    said = cluster.strider("submit", *words, "--executor", "slurm", "--time", "5m")
    run = cluster.store / said.split("run ")[1].split()[0]
    cluster.strider("watch", run.name, "-q")
    (started,) = events_of(run, "run")
    samples = {event["case"]: event for event in events_of(run, "sample")}
    for shown in json.loads(plan):
        ranks = [len(node["ranks"]) for node in shown["nodes"]]
        found = samples[shown["case"]]
        assert (found["clients"], found["nodes"]) == (sum(ranks), len(ranks)), shown
        assert found["ranks_per_node_max"] == max(ranks)
    (script,) = cluster.store.glob(".batch/*/job-1.sh")
    reserved = dict(re.findall("#SBATCH --(nodes|ntasks|ntasks-per-node)=([0-9]+)", script.read_text()))
    counts = [node["ranks"] for node in started["nodes"]]
    assert (int(reserved["nodes"]), int(reserved["ntasks"])) == (len(counts), sum(counts))


def test_a_run_cut_by_a_kill_and_by_its_time_equals_an_uninterrupted_one(cluster: Cluster) -> None:
    """The first job is killed with all its processes, the second ends by its time limit."""
    # A job has 6 s, 3 repetitions at most: two cannot complete the run, however fast the machine is.
    run = cluster.submit(REPETITIONS, "--time", "5m", "--margin", "294s", "--jobs", "2")
    wait_for(lambda: events_of(run, "repetition"), "a repetition", LIMIT_S)
    # On a slow machine its time has ended by now.
    cluster.ask("scancel", "--signal=KILL", "--full", cluster.numbers[0])
    said = cluster.strider("watch", run.name)
    assert f"repetitions are missing: strider submit --resume {run.name} " in said
    cluster.strider("submit", "--resume", run.name, "--nodes", str(NODES), "--time", "30m", "--jobs", "1")
    said = cluster.strider("watch", run.name)
    assert f"run {run.name}: complete, " in said
    first, second = (cut["status"] for cut in events_of(run, "cut"))
    assert first in ("killed", "interrupted", "time limit")  # ranks may see the end of srun before their own
    assert second == "time limit"
    measured = [(one["repetition"], one["operation"]) for one in events_of(run, "sample")]
    assert measured == [(number, name) for number in range(REPETITIONS) for name in ("write", "read")]
    assert not list(cluster.target.iterdir())
    refused = cluster.ask(*strider_command("submit", "--resume", run.name, "--store", cluster.store))
    assert refused.returncode == 2
    assert "is complete: nothing is missing" in refused.stderr


def test_jobs_that_run_and_wait_are_cancelled_together(cluster: Cluster) -> None:
    run = cluster.submit(1000, "--time", "5m", "--jobs", "2")
    wait_for(lambda: events_of(run, "sample"), "a sample", LIMIT_S)
    assert "runs" in cluster.strider("watch", run.name, "--once")
    said = cluster.strider("cancel", run.name)
    assert "taken from the queue: " in said
    assert "its results are kept, its files are removed" in said
    assert events_of(run, "end")[-1]["status"] == "interrupted"
    wait_for(lambda: cluster.queue == [], "an empty queue", LIMIT_S)
    assert not list(cluster.target.iterdir())


def test_an_edited_script_is_submitted_as_it_is(cluster: Cluster) -> None:
    options = ("--target", str(cluster.target), "--nodes", "2", "--time", "5m", "--executor", "slurm")
    file, script = cluster.folder / "batch.toml", cluster.folder / "job.sh"
    file.write_text(SUITE.format(repetitions=2))
    text = cluster.strider("submit", str(file), *options, "--show")
    text = text.replace("#SBATCH --nodes=2", "#SBATCH --nodes=4\n#SBATCH --comment=mine")
    script.write_text(text.replace(" --nodes 2 ", " --nodes 4 "))
    run = cluster.submit(2, "--time", "5m", "--script", str(script))
    cluster.strider("watch", run.name, "-q")
    assert len(events_of(run, "run")[0]["nodes"]) == 4
    (kept,) = cluster.store.glob(".batch/*/job-1.sh")
    assert "--comment=mine" in kept.read_text()
    assert "/.batch/JOB" not in kept.read_text()

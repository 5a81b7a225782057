"""Jobs: options for a scheduler, the scripts that PSI/J renders, and jobs of this machine."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.errors import StriderError
from strider.jobs import JobOptions, Order, example, find, jobs_needed, parse_options, reserve, submit
from strider.jobs.executors import COMMANDS
from strider.jobs.record import Job, Record, folder_of
from strider.jobs.schedulers import Seen, Slurm
from strider.launch.folder import this_process
from strider.launch.launchers import Places
from strider.launch.resume import CLAIM, is_held
from strider.launch.rundir import RunDirectory
from strider.processes import start_ticks
from strider.store import load
from strider.suite import Changes
from strider.suite.document import parse
from strider.suite.load import build

SUITE = """
[suite]
name = "small"
clients = 2
[[case]]
interface = "posix"
pattern = "segmented"
operations = ["write", "read"]
block = "64KiB"
transfer = "64KiB"
repetitions = 2
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of schedulers that are found, and refuse everything."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in [name for names in COMMANDS.values() for name in names]:
        (folder / name).write_text("#!/bin/sh\necho refused >&2\nexit 1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def order(options: JobOptions, **more: object) -> Order:
    return Order(**{"suite": "small", "text": SUITE, "ranks": 8, "options": options, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 5400), ("30m", 1800), ("2h", 7200), ("1:30:00", 5400), ("1-12:00:00", 129_600), ("90s", 90)],
)
def test_a_time_is_read_as_schedulers_write_it(text: str, seconds: float) -> None:
    assert parse_options(time=text).time_s == seconds


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"partition": "x --wrap=id"}, "--partition"),
        ({"partition": "-x"}, "--partition"),
        ({"account": "$(id)"}, "--account"),
        ({"account": "x\n#SBATCH --wrap=id"}, "--account"),
        ({"qos": "x y"}, "--qos"),
        ({"qos": "high", "executor": "pbs"}, "--qos is an option of Slurm"),
        ({"constraint": "a\n#SBATCH --wrap=id"}, "--constraint"),
        ({"constraint": 'a"'}, "--constraint"),
        ({"reservation": "-x"}, "--reservation"),
        ({"time": "1;id"}, "--time"),
        ({"time": "10s"}, "--time"),
        ({"nodes": 0}, "--nodes"),
        ({"executor": "cron"}, "--executor"),
        ({"time": "1m", "margin": "2m"}, "--margin"),
    ],
)
def test_an_option_that_is_none_is_refused_by_its_name(options: dict[str, str | int], named: str) -> None:
    with pytest.raises(StriderError, match=named):
        parse_options(**options)


def test_ranks_that_do_not_fit_the_nodes_are_refused() -> None:
    assert parse_options(nodes=4).on_each_node(10) == 3
    with pytest.raises(StriderError, match="10 ranks"):
        parse_options(nodes=4, per_node=2).on_each_node(10)


def test_a_suite_that_does_not_fit_takes_twice_the_estimated_jobs() -> None:
    hour = parse_options(time="1h")
    assert hour.usable_s == 3600 * 0.9
    assert jobs_needed(hour, 3000, None) == 1
    assert jobs_needed(hour, 7000, None) == 6
    assert jobs_needed(hour, 7000, 2) == 2
    with pytest.raises(StriderError, match="--jobs 28"):
        jobs_needed(hour, 90_000, None)
    with pytest.raises(StriderError, match="no dependencies for lsf"):
        jobs_needed(parse_options(time="1h", executor="lsf"), 7000, 2)


@pytest.mark.parametrize(
    ("executor", "lines"),
    [
        (
            "slurm",
            ["--nodes=4", "--ntasks=8", "--ntasks-per-node=2", '--partition="debug"', '--account="me"'],
        ),
        ("pbs", ["-l select=4:ncpus=2:mpiprocs=2", "-l walltime=0:30:0", "-q debug", "-A me"]),
        ("lsf", ["-nnodes 4", "-n 8", "-W 0:30", '-q "debug"', '-P "me"']),
    ],
)
def test_the_script_is_the_one_of_psij(
    commands: Path, tmp_path: Path, executor: str, lines: list[str]
) -> None:
    options = parse_options(executor=executor, nodes=4, time="30m", partition="debug", account="me")
    text = example(order(options, words=["--target", "/tmp/a b;id"]), tmp_path / "store", tmp_path / "psij")
    mark = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB"}[executor]
    for line in lines:
        assert f"{mark} {line}\n" in text
    assert "strider-small" in text
    assert "--target '/tmp/a b;id' " in text
    assert f"--job {tmp_path}/store/.batch/JOB --quiet" in text
    assert str(tmp_path / "psij") not in text
    assert not (tmp_path / "store").exists()


def test_qos_features_and_a_reservation_reach_slurm(commands: Path, tmp_path: Path) -> None:
    options = parse_options(qos="high", constraint="[rack1*2&rack2*2]|ssd", reservation="maint", nodes=4)
    text = example(order(options), tmp_path / "store", tmp_path / "psij")
    for line in ('qos="high"', 'constraint="[rack1*2&rack2*2]|ssd"', 'reservation="maint"'):
        assert f"#SBATCH --{line}\n" in text


def test_a_refused_job_leaves_nothing(commands: Path, tmp_path: Path) -> None:
    with pytest.raises(StriderError, match="not submitted: refused"):
        submit(order(parse_options(nodes=4)), tmp_path / "store")
    assert not list(folder_of(tmp_path / "store").iterdir())


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Invalid partition name specified", "--partition"),
        ("Invalid account or account/partition combination specified", "--account"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "--time"),
        ("Requested partition configuration not available now", "choose another one that sinfo lists"),
        ("Node count specification invalid", "--nodes"),
        (
            "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size "
            "and/or time limits)",
            "lower --nodes, --per-node or --time, wait for the end of other jobs, or choose another --qos",
        ),
        ("Invalid qos specification", "--qos"),
        ("Requested reservation is invalid", "--reservation"),
        ("Invalid feature specification", "--constraint"),
    ],
)
def test_a_refusal_names_the_option_to_change(commands: Path, tmp_path: Path, said: str, remedy: str) -> None:
    (commands / "sbatch").write_text(f"#!/bin/sh\necho {shlex.quote(f'sbatch: error: {said}')} >&2\nexit 1\n")
    with pytest.raises(StriderError, match=f"{re.escape(said)}: .*{remedy}"):
        submit(order(parse_options(nodes=4)), tmp_path / "store")


def test_a_refusal_that_is_about_no_option_names_none(commands: Path, tmp_path: Path) -> None:
    """ "account" is a part of "accounting"."""
    (commands / "sbatch").write_text("#!/bin/sh\necho sbatch: error: accounting is down >&2\nexit 1\n")
    with pytest.raises(StriderError, match="accounting is down") as refused:
        submit(order(parse_options(nodes=4)), tmp_path / "store")
    assert "--account" not in refused.value.message


@pytest.mark.parametrize("name", ["a b", "$(id)", "a'b"])
def test_a_store_whose_path_a_shell_would_read_is_refused(commands: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(StriderError, match="not safe in scripts"):
        submit(order(parse_options(nodes=4)), tmp_path / name)
    assert not (tmp_path / name).exists()


def test_the_state_of_a_job_does_not_depend_on_those_of_others(commands: Path, tmp_path: Path) -> None:
    """Also a reason of several words, and a state that PSI/J does not know."""
    (commands / "squeue").write_text(
        "#!/bin/sh\necho 'JOBID ST REASON'\necho '7 PD ReqNodeNotAvail, Unav'\necho '8 ZZ None'\n"
        "echo '9 R None'\necho '10 PD Some other reason'\necho '12 PD PartitionTimeLimit'\n"
    )
    from strider.jobs.executors import scheduler

    cluster = scheduler("slurm", tmp_path)
    assert isinstance(cluster, Slurm)
    assert cluster.look(["7", "9", "11"]) == {
        "7": Seen("waiting", "ReqNodeNotAvail, Unav"),
        "9": Seen("running"),
        "11": Seen("ended"),
    }
    assert cluster.look(["12"])["12"].reason.startswith("PartitionTimeLimit (the partition allows less time")
    assert cluster.look(["8"])["8"].state == "unknown"


def test_reasons_of_slurm_are_whole(commands: Path, tmp_path: Path) -> None:
    """By default `squeue` cuts a column after 20 characters."""
    reason = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    (commands / "squeue").write_text(
        "#!/bin/sh\nwidth=20\ncase $* in *Reason:256*) width=256;; esac\n"
        f"printf '%-20s%-20s%s\\n' JOBID ST REASON\nprintf '%-20s%-20s%.*s\\n' 7 PD $width '{reason}'\n"
        "printf '%-20s%-20s%.*s\\n' 8 PD $width QOSMaxNodePerUserLimit\n"
    )
    from strider.jobs.executors import scheduler

    found = scheduler("slurm", tmp_path).look(["7", "8"])
    assert found["7"].reason == reason
    assert found["8"].reason == "QOSMaxNodePerUserLimit (a limit of the QOS)"


def test_a_job_is_found_by_each_of_its_names(tmp_path: Path) -> None:
    jobs = []
    for name, number in (("aaaaaaaaaaaa", "41"), ("bbbbbbbbbbbb", "42")):
        folder = folder_of(tmp_path) / name
        folder.mkdir(parents=True)
        record = Record(
            suite="small",
            run=f"2026-01-01-0000{number}-small-abcd",
            submitted=datetime(2026, 1, 1, 0, int(number), tzinfo=UTC),
            options=JobOptions(),
            numbers=[number],
        )
        jobs.append(Job(folder, record))
        jobs[-1].keep()
    (folder_of(tmp_path) / "cccccccccccc").mkdir()
    for name in ("aaaaaaaaaaaa", "aaa", "41", "2026-01-01-000041"):
        assert find(tmp_path, name) == jobs[0]
    assert find(tmp_path, "latest") == jobs[1]
    assert find(tmp_path, "nosuch") is None
    with pytest.raises(StriderError, match="several jobs"):
        find(tmp_path, "2026-01")


def test_a_part_waits_for_the_process_of_an_earlier_one(tmp_path: Path) -> None:
    """It may outlive its job, as while it writes the report."""
    directory = RunDirectory("some-run", tmp_path)
    claim, info = tmp_path / CLAIM, tmp_path / "run.json"
    assert not is_held(directory)
    process = subprocess.Popen(["sleep", "1000"])
    try:
        marker = replace(this_process("some-run"), pid=process.pid, start=start_ticks(process.pid))
        claim.write_text(json.dumps(asdict(marker)))
        assert is_held(directory)
        claim.unlink()
        info.write_text(json.dumps({"process": asdict(replace(marker, host="other"))}))
        assert not is_held(directory)
        info.write_text(json.dumps({"process": asdict(marker)}))
        assert is_held(directory)
    finally:
        process.kill()
        process.wait()
    assert not is_held(directory)


@pytest.fixture
def place(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Words of a submission to this machine."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    (tmp_path / "target").mkdir()
    (tmp_path / "small.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return ["submit", "small.toml", "--target", "target", "--executor", "local", "--store", "store"]


def strider(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "strider", *words, "--store", "store"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_job_of_this_machine_is_the_run_that_was_announced(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Another process submits: the job must outlive it.
    said = strider(*place[:-2], "--time", "30m", "--set", "suite.time_limit=9min")
    assert said.returncode == 0, said.stderr
    run = said.stdout.split("run ")[1].split()[0]
    assert main(["watch", run, "--store", "store", "-q"]) == 0
    assert "complete" in capsys.readouterr().err
    assert [sample.repetition for sample in load(tmp_path / "store" / run).samples] == [0, 0, 1, 1]
    # The smaller one of the suite's own time and that of the job.
    assert load(tmp_path / "store" / run).time_limit_s == 9 * 60
    assert not list((tmp_path / "target").iterdir())
    assert main(["cancel", run, "--store", "store"]) == 0
    assert "has ended already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--resume", "latest", "small.toml", "--clients", "4"], "leave out a suite and --clients"),
        (["--resume", "latest", "--launcher", "srun"], "leave out --launcher"),
        ([], "--resume RUN"),
        (["--resume", "latest"], "no runs"),
    ],
)
def test_a_job_is_either_a_suite_or_the_rest_of_a_run(
    place: list[str], capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    assert main(["submit", *words, "--executor", "local", "--store", "store"]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.slow
def test_a_cancelled_job_keeps_its_results_and_removes_its_files(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--set", "case.repetitions=1000", "--set", "case.rate_limit=1MiB"]
    said = strider(*place[:-2], *more)
    assert said.returncode == 0, said.stderr
    (job,) = list(folder_of(tmp_path / "store").iterdir())
    from harness import wait_for

    wait_for(lambda: "sample" in _events(tmp_path / "store"), "a sample")
    assert main(["watch", job.name, "--once", "--store", "store"]) == 0
    assert "runs" in capsys.readouterr().out
    assert main(["cancel", job.name, "--store", "store"]) == 0
    assert "its results are kept, its files are removed" in capsys.readouterr().out
    (run,) = (path for path in (tmp_path / "store").iterdir() if (path / "run.json").is_file())
    assert load(run).status == "interrupted"
    assert load(run).samples
    assert not list((tmp_path / "target").iterdir())


def _events(store: Path) -> str:
    return "".join(file.read_text() for file in store.glob("*/events.jsonl"))


NODES = """
[suite]
name = "nodes"
target = "/data"
[[case]]
interface = "posix"
pattern = "segmented"
nodes = [1, 4]
per_node = 2
"""


def sized(
    engine: Engine, nodes: int | None = None, per_node: int | None = None, executor: str = "slurm"
) -> JobOptions:
    changes = Changes(nodes=nodes, per_node=per_node)
    suite = build(parse(NODES, "s.toml"), engine.description, changes)
    return reserve(suite, parse_options(executor=executor), Places(nodes=nodes, per_node=per_node)).options


def test_a_job_has_the_nodes_that_its_cases_need(engine: Engine) -> None:
    assert (sized(engine).nodes, sized(engine).per_node) == (4, 2)
    assert (sized(engine, 8).nodes, sized(engine, 8).per_node) == (8, 2)
    assert (sized(engine, per_node=4).nodes, sized(engine, per_node=4).per_node) == (4, 4)


@pytest.mark.parametrize(
    ("nodes", "typed", "message"),
    [
        (
            2,
            {},
            "s.toml:8: nodes = 4: case 2 needs 4 nodes, but the run has 2 (--nodes 2): raise --nodes to 4",
        ),
        (None, {"per_node": 1}, "s.toml:9: per_node = 2: case 1 needs 2 ranks on a node, but --per-node 1"),
        (
            None,
            {"executor": "local"},
            "(--executor local is this machine): choose a scheduler with --executor",
        ),
    ],
)
def test_a_job_that_is_too_small_for_a_case_is_refused(
    engine: Engine, nodes: int | None, typed: dict[str, Any], message: str
) -> None:
    with pytest.raises(StriderError) as error:
        sized(engine, nodes, **typed)
    assert message in str(error.value)


@pytest.fixture
def submission(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that submits NODES."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    file = tmp_path / "s.toml"
    file.write_text(NODES)
    return ["submit", str(file), "--target", str(tmp_path), "--store", str(tmp_path / "store")]


@pytest.mark.usefixtures("commands")
def test_submit_asks_for_the_nodes_of_the_cases(
    submission: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*submission, "--executor", "slurm", "--show"]) == 0
    assert "#SBATCH --nodes=4\n" in capfd.readouterr().out
    assert main([*submission, "--executor", "local"]) == 2
    assert "case 2 needs 4 nodes" in capfd.readouterr().err


@pytest.mark.usefixtures("commands")
def test_submit_passes_the_binding_to_the_run(
    submission: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    words = [*submission, "--executor", "slurm", "--show"]
    assert main(words) == 0
    assert "--bind" not in capfd.readouterr().out
    assert main([*words, "--bind", "core"]) == 0
    assert "--bind core --launcher srun" in capfd.readouterr().out
    assert main([*words, "--bind", "socket"]) == 2
    assert "--bind: socket is no binding: choose none, core or numa" in capfd.readouterr().err

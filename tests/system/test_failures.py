"""On any failure Strider names rank, file and error, continues, never hangs and leaves no files."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import (
    DEADLINE_S,
    EngineJob,
    Job,
    Json,
    Pause,
    after_samples,
    case,
    command_of,
    descendants,
    kill,
    plan,
    read_events,
    run_engine,
    run_with_pauses,
    strider_command,
    wait_for,
)
from strider.engine import Engine


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("machine: a small file system can only be mounted by root")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"depth": 8},
        {"interface": "mmap"},
        {"interface": "mpiio"},
        {"interface": "mpiio", "interface_access": "collective"},
    ],
)
def test_a_full_file_system_ends_the_case_and_not_the_run(
    engine: Engine, small_disk: Path, tmp_path: Path, keys: Json
) -> None:
    large = case(
        "segmented",
        pattern_transfer=65536,
        pattern_block=8 << 20,
        clients=2,
        operations=["write", "read"],
        **keys,
    )
    small = case("segmented", pattern_transfer=65536, pattern_block=1 << 20, clients=2, **keys)
    done = run_engine(engine, plan([large, small]), small_disk)
    assert done.returncode == 1, done.stderr
    errors = done.of("error", case=1)
    assert errors
    assert {error["operation"] for error in errors} == {"write"}
    for error in errors:
        assert error["errno"] == 28, error
        assert error["file"].endswith("/case1.0")
        assert error["host"]
        assert error["call"]
        assert "space" in error["remedy"]
    assert [s["operation"] for s in done.of("sample", case=2)] == ["write", "read"]
    assert done.of("end")[0]["status"] == "complete"
    assert not list(done.directory.iterdir())


def test_the_command_line_refuses_what_does_not_fit(small_disk: Path, tmp_path: Path) -> None:
    suite = tmp_path / "large.toml"
    suite.write_text(
        '[suite]\nname = "large"\n[[case]]\npattern = "segmented"\ninterface = "posix"\nblock = "64MiB"\n'
    )
    command = strider_command("run", suite, "--target", small_disk, "--store", tmp_path / "store")
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 2
    assert "has 8 MiB free, but case 1 needs" in done.stderr
    assert not list(small_disk.iterdir())


def test_a_missing_file_ends_the_phase_on_all_ranks(engine: Engine, tmp_path: Path) -> None:
    """Someone removes the file of one rank between write and read; the other ranks have plenty to do."""
    one = case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=32 << 20,
        clients=3,
        sharing="per-rank",
        settle=1.0,
        operations=["write", "read", "reread"],
    )
    remove = after_samples(1, lambda job: (job.directory / "case1.1").unlink())
    done = run_with_pauses(engine, plan([one]), tmp_path, remove)
    assert done.returncode == 1
    (error,) = done.of("error")
    assert (error["rank"], error["call"], error["errno"]) == (1, "open", 2)
    assert [s["operation"] for s in done.of("sample")] == ["write"]
    assert not list(done.directory.iterdir())


def test_a_short_file_is_an_error_that_names_the_offset(engine: Engine, tmp_path: Path) -> None:
    one = case(
        "segmented", pattern_transfer=4096, pattern_block=1 << 20, settle=1.0, operations=["write", "read"]
    )
    shorten = after_samples(1, lambda job: os.truncate(job.directory / "case1.0", 10_000))
    done = run_with_pauses(engine, plan([one]), tmp_path, shorten)
    (error,) = done.of("error")
    assert (error["call"], error["offset"]) == ("pread", 10_000)
    assert "ends" in error["message"]


LONG = """
[suite]
name = "long"
clients = 3
{suite}
[[case]]
name = "first"
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "1MiB"
repetitions = 1
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "4KiB"
block = "{block}"
sync = "each"
think = "4ms"
operations = ["write"]
repetitions = 1000
"""


class StriderJob(Job):
    """`strider run` of a suite that takes for ever: phases of a minute at least, but for smaller blocks."""

    def __init__(self, tmp_path: Path, suite_keys: str = "", block: str = "64MiB") -> None:
        self.target = tmp_path / "target"
        self.target.mkdir()
        (self.target / "mine.txt").write_text("not Strider's")
        self.store = tmp_path / "store"
        suite = tmp_path / "long.toml"
        suite.write_text(LONG.format(suite=f'interleave = "none"\n{suite_keys}', block=block))
        self.process = subprocess.Popen(
            strider_command("run", suite, "--target", self.target, "--store", self.store),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_for_second_case(self) -> list[int]:
        """The processes of the ranks, once the first case is measured and the second under way."""
        wait_for(
            lambda: any(e["event"] == "progress" and e["case"] == 2 for e in self.events()), "progress", 120
        )
        return [pid for pid in descendants(self.process.pid) if command_of(pid) == "strider-engine"]

    def events(self) -> list[Json]:
        """The samples so far."""
        return [event for path in self.store.glob("*/events.jsonl") for event in read_events(path)]

    def finish(self) -> str:
        """Waits for the end; returns the output."""
        output, _ = self.process.communicate(timeout=DEADLINE_S)
        return output

    def assert_clean(self) -> None:
        """Only the earlier files are left, and the samples can be read."""
        assert [path.name for path in self.target.iterdir()] == ["mine.txt"]
        assert [e["operation"] for e in self.events() if e["event"] == "sample"][:2] == ["write", "read"]
        show = subprocess.run(
            strider_command("show", "latest", "--store", self.store),
            capture_output=True,
            text=True,
            check=True,
        )
        assert "write" in show.stdout


def test_a_killed_rank_ends_the_run(tmp_path: Path) -> None:
    with StriderJob(tmp_path) as job:
        ranks = job.wait_for_second_case()
        assert len(ranks) == 3
        kill(ranks[1], signal.SIGKILL)
        output = job.finish()
        assert job.process.returncode in (1, 3), output
        (said,) = [line for line in output.splitlines() if line.startswith("error: ")]
        killed = (
            f"(process {ranks[1]}) was killed (signal 9) in case 2 write, possibly out of memory: check dmesg"
        )
        assert killed in said
        assert "BAD TERMINATION" not in output
        (run,) = job.store.iterdir()
        assert f"run: {run}" in output
        assert job.events()[-1]["event"] == "end"
        assert job.events()[-1]["status"] == "failed"
        job.assert_clean()
        show = subprocess.run(
            strider_command("show", "latest", "--store", job.store),
            capture_output=True,
            text=True,
            check=True,
        )
        shown = " ".join(show.stdout.split())
        assert "The run failed: " in shown
        assert f"(process {ranks[1]}) was killed (signal 9)" in shown
        assert not any(command_of(pid) == "strider-engine" for pid in ranks)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    with StriderJob(tmp_path) as job:
        ranks = job.wait_for_second_case()
        job.process.send_signal(number)
        output = job.finish()
        assert job.process.returncode == 1, output
        assert job.events()[-1]["status"] == "interrupted"
        assert re.search(r"^posix +write +\d", output, re.MULTILINE), "the table of what was measured"
        assert "to write the report: strider report" in output
        job.assert_clean()
        assert not any(command_of(pid) == "strider-engine" for pid in ranks)


def test_no_rank_outlives_a_front_end_that_was_killed(tmp_path: Path) -> None:
    with StriderJob(tmp_path) as job:
        ranks = job.wait_for_second_case()
        below = descendants(job.process.pid)
        kill(job.process.pid, signal.SIGKILL)
        job.process.wait()
        wait_for(lambda: not any(command_of(pid) for pid in below), "the end of launcher and ranks")
        assert len(ranks) == 3
        assert job.events()[-1]["event"] == "end"
        # The folder is left, as no process removed it; doctor reports it.
        (left,) = job.target.glob("strider-*")
        doctor = subprocess.run(
            strider_command("doctor", job.target), capture_output=True, text=True, check=False
        )
        assert left.name in "".join(doctor.stdout.split())


# proves measuring: stall
def test_a_hanging_rank_is_noticed(memory_folder: Path) -> None:
    """A stopped process stands for one that hangs in a call of the file system.

    The others see it at the end of their phase, a second or more after its beginning. All is in memory, as a
    disk that is busy for others may seem to hang, too.
    """
    with StriderJob(memory_folder, "stall_timeout = 5", block="1MiB") as job:
        ranks = job.wait_for_second_case()
        kill(ranks[2], signal.SIGSTOP)
        output = job.finish()
        assert job.process.returncode == 3, output
        assert job.events()[-1]["status"] == "failed"
        assert [path.name for path in job.target.iterdir()] == ["mine.txt"]


def test_a_plan_for_other_ranks_is_refused(engine: Engine, tmp_path: Path) -> None:
    document = plan([case("strided", clients=2)])
    with EngineJob(engine, {**document, "ranks": 3}, tmp_path) as job:
        assert job.finish().returncode == 0  # more ranks than clients: the third is idle
    document["cases"][0]["clients"] = 5
    done = run_engine(engine, document, tmp_path)
    assert done.returncode == 2
    assert "ranks" in done.stderr


def test_news_of_an_error_reach_ranks_that_were_in_more_cases(engine: Engine, tmp_path: Path) -> None:
    """Rank 0 was alone in cases before; now rank 1's file is gone, and rank 0 has very much to do."""
    alone = case("strided", pattern_transfer=512, pattern_count=1, clients=1)
    both = case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=64 << 20,
        clients=2,
        sharing="per-rank",
        think=0.02,  # 16384 requests of rank 0 take far longer than the test
        settle=1.0,
        operations=["rewrite"],
        deadline=0,
    )
    remove = Pause(
        lambda events: any(event.get("operation") == "prefill" for event in events),
        lambda job: (job.directory / "case3.1").unlink(),
    )
    done = run_with_pauses(engine, plan([alone, alone, both]), tmp_path, remove)
    (error,) = done.of("error")
    assert (error["rank"], error["call"]) == (1, "open")


# proves measuring: stall
def test_a_stall_is_reported_also_where_closing_is_collective(engine: Engine, memory_folder: Path) -> None:
    """Rank 1 freezes with the file open: rank 0 has reported progress, and still much to do."""
    one = case(
        "segmented",
        interface="mpiio",
        pattern_transfer=4096,
        pattern_block=4 << 20,
        clients=2,
        think=0.003,
        operations=["rewrite"],
    )

    def is_under_way(job: EngineJob) -> bool:
        return any(
            event["event"] == "progress" and event["operation"] == "rewrite"
            for event in read_events(job.events_file)
        )

    with EngineJob(engine, plan([one], stall_timeout_s=5.0), memory_folder) as job:
        wait_for(lambda: is_under_way(job), "progress of the rewrite")
        for pid in job.ranks()[1:]:
            kill(pid, signal.SIGSTOP)
        done = job.finish()
    assert done.returncode not in (0, 1)
    (error,) = done.of("error")
    assert (error["kind"], error["case"], error["operation"]) == ("stall", 1, "rewrite")
    assert done.of("end")[0]["status"] == "failed"


def test_an_error_of_storage_is_not_lost_among_wrong_data(engine: Engine, tmp_path: Path) -> None:
    """Five ranks read wrong data, the sixth a file that is too short."""
    one = case(
        "segmented",
        pattern_transfer=1024,
        pattern_block=16384,
        clients=6,
        sharing="per-rank",
        verify="full",
        settle=1.5,
        operations=["write", "read"],
    )

    def damage(job: EngineJob) -> None:
        for rank in range(5):
            (job.directory / f"case1.{rank}").write_bytes(bytes(16384))
        os.truncate(job.directory / "case1.5", 1000)

    done = run_with_pauses(engine, plan([one]), tmp_path, after_samples(1, damage))
    (io_error,) = done.of("error", kind="io")
    assert io_error["rank"] == 5
    assert sum(error["count"] for error in done.of("error", kind="verify")) > 16

"""Shared by the tests of the whole program: the real engine under the real mpiexec, on real file systems."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from strider.engine import Engine
from strider.processes import descendants as descendants

BUILD = Path(__file__).resolve().parents[2] / "build"

Json = Any
Found = TypeVar("Found")
DEADLINE_S = 120
"""No test waits longer for a process."""


@dataclass(frozen=True)
class EngineRun:
    """A finished run of the engine."""

    returncode: int
    stderr: str
    events: list[Json]
    directory: Path

    def of(self, kind: str, /, **wanted: Json) -> list[Json]:
        """The events of a kind whose fields have the given values."""
        return [
            event
            for event in self.events
            if event["event"] == kind and all(event.get(key) == value for key, value in wanted.items())
        ]

    def sample(self, **wanted: Json) -> Json:
        """The one sample with the given fields."""
        (found,) = self.of("sample", **wanted)
        return found


def plan(cases: Iterable[Json], **keys: Json) -> Json:
    """A plan; cases are numbered, omitted values are the engine's defaults, except for one repetition."""
    numbered = [{"case": number, "repetitions": 1, **case} for number, case in enumerate(cases, 1)]
    ranks = max(case.get("clients", 1) for case in numbered)
    return {
        "format": "strider-plan",
        "version": 1,
        "ranks": ranks,
        "interleave": "none",
        **keys,
        "cases": numbered,
    }


def case(pattern: str, interface: str = "posix", **keys: Json) -> Json:
    """A case with `pattern_KEY` and `interface_KEY` for the parameters of pattern and interface."""

    def part(prefix: str) -> Json:
        return {key.removeprefix(prefix): keys.pop(key) for key in list(keys) if key.startswith(prefix)}

    return {
        "pattern": {"name": pattern, **part("pattern_")},
        "interface": {"name": interface, **part("interface_")},
        **keys,
    }


def tree_case(operations: Iterable[str], interface: str = "posix", **keys: Json) -> Json:
    """A case of metadata, with `tree_KEY` for the parameters of its tree."""
    tree = {key.removeprefix("tree_"): keys.pop(key) for key in list(keys) if key.startswith("tree_")}
    return {
        "tree": {"name": "balanced", **tree},
        "interface": {"name": interface},
        "operations": list(operations),
        **keys,
    }


def read_events(path: Path) -> list[Json]:
    """The events of a file, as far as whole lines go."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n") and line.strip()]


@cache
def idle_wait() -> dict[str, str]:
    """Variables with which ranks of MPICH leave the processor to others while they wait; see idle_wait.c.

    Empty where there is no C compiler: tests take longer then.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return {}
    source = Path(__file__).with_name("idle_wait.c")
    library = BUILD / f"idle_wait-{zlib.crc32(source.read_bytes()):08x}.so"
    if not library.exists():
        BUILD.mkdir(exist_ok=True)
        own = library.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", own, source, "-ldl"], check=True)
        own.replace(library)
    return {"LD_PRELOAD": str(library)}


def other_clock(folder: Path) -> Path:
    """Compiles the library that gives ranks other clocks; see other_clock.c."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler (Debian package gcc)")
    library, source = folder / "other_clock.so", Path(__file__).with_name("other_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def _waits_in_mpi(document: Json) -> bool:
    """Whether ranks of a plan wait for others inside the MPI library; elsewhere the engine does it."""
    names = {case["interface"]["name"] for case in document["cases"]}
    return document["ranks"] > 1 and not names.isdisjoint(("mpiio", "hdf5", "pnetcdf"))


class Job:
    """A process that is under way; as a context manager, so that nothing it started outlives the test."""

    process: subprocess.Popen[str]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        below = descendants(self.process.pid)
        for pid in below:
            kill(pid, 9)
        self.process.kill()
        self.process.wait()
        # Until then they may write to folders that are about to be removed.
        wait_for(lambda: not any(map(command_of, below)), "the end of what was killed")


class EngineJob(Job):
    """A run of the engine that is under way."""

    def __init__(
        self,
        engine: Engine,
        document: Json,
        work: Path,
        wrap: Iterable[str] = (),
        directory: Path | None = None,
        options: Iterable[str] = (),
    ) -> None:
        self.work = work
        self.directory = directory or work / "target"
        self.directory.mkdir(exist_ok=True)
        self.events_file = work / "events.jsonl"
        plan_file = work / "plan.json"
        plan_file.write_text(json.dumps(document), encoding="utf-8")
        words = [
            "--directory",
            self.directory,
            "--run",
            "test",
            "--data-seed",
            "7",
            "--events",
            self.events_file,
            *options,
        ]
        launch = [engine.version.mpi.mpiexec, "-n", str(document["ranks"])]
        wrap = list(wrap)
        self.process = subprocess.Popen(
            [*wrap, *launch, *map(str, [engine.path, "run", plan_file, *words])],
            env=None if wrap or not _waits_in_mpi(document) else {**os.environ, **idle_wait()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self) -> EngineRun:
        """Waits for the end."""
        output, _ = self.process.communicate(timeout=DEADLINE_S)
        return EngineRun(self.process.returncode, output, read_events(self.events_file), self.directory)

    def ranks(self) -> list[int]:
        """The process numbers of the ranks, in no order."""
        return [pid for pid in descendants(self.process.pid) if command_of(pid) == "strider-engine"]


def run_engine(
    engine: Engine,
    document: Json,
    work: Path,
    wrap: Iterable[str] = (),
    directory: Path | None = None,
    options: Iterable[str] = (),
) -> EngineRun:
    """Runs a plan to its end, in a folder of `work` or in another directory; `options` are further ones."""
    with EngineJob(engine, document, work, wrap, directory, options) as job:
        return job.finish()


@dataclass(frozen=True)
class Pause:
    """Actions of a test in the idle time before a phase, the `settle` of a case.

    Attributes:
        begun: Whether that time has begun, by the events so far.
        act: The action.
    """

    begun: Callable[[list[Json]], bool]
    act: Callable[[EngineJob], object]

    def taken(self, job: EngineJob, settle_s: float) -> bool:
        """Waits for its time and acts; False where the time may have been over before that was done."""
        begin_s = time_before(lambda: self.begun(read_events(job.events_file)), "idle time before a phase")
        try:
            self.act(job)
        except OSError:  # such as a file that is there no more
            if time.monotonic() - begin_s < settle_s:
                raise
        return time.monotonic() - begin_s < settle_s


def after_samples(count: int, act: Callable[[EngineJob], object]) -> Pause:
    """Acts in the idle time that follows the first so many phases, those that are not measured among them."""
    return Pause(lambda events: sum(event["event"] == "sample" for event in events) >= count, act)


def run_with_pauses(engine: Engine, document: Json, work: Path, *pauses: Pause) -> EngineRun:
    """Runs a plan, and does something in the idle time of its cases with a `settle`.

    A machine that stalls may let that time pass: then it all happens again, with more of it.
    """
    for factor in (1, 5, 25):
        folder = work / f"settle-{factor}"
        folder.mkdir()
        cases = [
            {**one, "settle": factor * one["settle"]} if "settle" in one else one for one in document["cases"]
        ]
        settle_s = min(one["settle"] for one in cases if "settle" in one)
        with EngineJob(engine, {**document, "cases": cases}, folder) as job:
            if all(pause.taken(job, settle_s) for pause in pauses):
                return job.finish()
    raise AssertionError(f"{settle_s} s of idle time have passed before anything could be done")


def run_and_read(engine: Engine, document: Json, work: Path) -> tuple[EngineRun, bytes]:
    """Runs a plan of one case with a `settle`; also what another process reads after its first phase."""
    content = b""

    def read(job: EngineJob) -> None:
        nonlocal content
        content = (job.directory / "case1.0").read_bytes()

    done = run_with_pauses(engine, document, work, after_samples(1, read))
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    return done, content


def check(engine: Engine, document: Json, work: Path) -> Json:
    """The engine's report on a plan before it runs it."""
    plan_file = work / "check-plan.json"
    plan_file.write_text(json.dumps(document), encoding="utf-8")
    return json.loads(
        subprocess.run([engine.path, "check", plan_file], capture_output=True, text=True).stdout
    )


def extents_text(
    engine: Engine, document: Json, work: Path, rank: int, operation: str, number: int = 1
) -> str:
    """The engine's list of the requests of a rank."""
    plan_file = work / "extents-plan.json"
    plan_file.write_text(json.dumps(document), encoding="utf-8")
    words = ["extents", plan_file, "--case", number, "--rank", rank, "--operation", operation]
    return subprocess.run([engine.path, *map(str, words)], capture_output=True, text=True, check=True).stdout


def extents(
    engine: Engine, document: Json, work: Path, rank: int, operation: str, number: int = 1
) -> list[tuple[int, int]]:
    """(offset, length) of each request of a rank, in order, as the engine prints them."""
    printed = extents_text(engine, document, work, rank, operation, number)
    rows = csv.DictReader(line for line in io.StringIO(printed) if not line.startswith("#"))
    return [(int(row["file_offset"]), int(row["length"])) for row in rows]


def items(
    engine: Engine, document: Json, work: Path, rank: int, operation: str, number: int = 1
) -> list[str]:
    """The items of a rank in its order, as the engine prints them: paths below Strider's folder."""
    plan_file = work / "items-plan.json"
    plan_file.write_text(json.dumps(document), encoding="utf-8")
    words = ["items", plan_file, "--case", number, "--rank", rank, "--operation", operation]
    printed = subprocess.run(
        [engine.path, *map(str, words)], capture_output=True, text=True, check=True
    ).stdout
    rows = csv.DictReader(line for line in io.StringIO(printed) if not line.startswith("#"))
    return [row["path"] for row in rows]


def wait_for(condition: Callable[[], Found], what: str, deadline_s: float = 300) -> Found:
    """Polls until the condition holds and returns its value."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {deadline_s} s in vain for {what}")


def time_before(condition: Callable[[], object], what: str) -> float:
    """Waits until the condition holds; when it last was found not to, by the monotonic clock."""
    before_s = now_s = time.monotonic()

    def holds() -> bool:
        nonlocal before_s, now_s
        before_s, now_s = now_s, time.monotonic()
        return bool(condition())

    wait_for(holds, what)
    return before_s


def command_of(pid: int) -> str:
    """The name of a process' program, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def kill(pid: int, number: int) -> None:
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def strider_command(*words: object) -> list[str]:
    """The command line of Strider with the Python that runs the tests."""
    return [sys.executable, "-m", "strider", *map(str, words)]

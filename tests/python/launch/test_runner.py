"""Whole runs with the real engine: remaining files, and early ends of runs."""

import io
import json
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from strider.engine import Engine, Json, Mpi
from strider.errors import ExitCode, StriderError
from strider.launch import Bounds, Outcome, RunInputs, Watching, execute, folder
from strider.launch.confinement import ConfineMode
from strider.launch.display import Silent
from strider.launch.launchers import Launcher, choose
from strider.launch.process import EngineProcess, interruptions, start
from strider.launch.state import RunState
from strider.processes import descendants
from strider.suite import Changes, check
from strider.suite.document import parse
from strider.suite.load import build

SUITE = """\
[suite]
name = "trial"
clients = 2
repetitions = 2
[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
transfer = "64KiB"
block = "1MiB"
operations = ["write", "read"]
"""
ENDLESS = ("case.interface=posix", "case.repetitions=1000000")

Run = Callable[..., Outcome]
choose_launcher: Callable[[str, Mpi], Launcher] = choose


class Watcher(Silent):
    """Does something once the given number of phases is done, as if it were the display."""

    def __init__(self, samples: int, act: Callable[[], None]) -> None:
        self._samples, self._act, self._done = samples, act, False

    def show(self, state: RunState) -> None:
        if state.samples >= self._samples and not self._done:
            self._done = True
            self._act()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A directory with a file of another user in it."""
    path = tmp_path / "target"
    path.mkdir()
    (path / "precious").write_text("keep me", encoding="utf-8")
    return path


@pytest.fixture
def run(engine: Engine, target: Path, tmp_path: Path) -> Run:
    """Runs the suite above with changes."""

    def start(*settings: str, display: Silent | None = None, bounds: Bounds | None = None) -> Outcome:
        changes = Changes(list(settings), str(target))
        checked = check(build(parse(SUITE, "s.toml"), engine.description, changes), engine)
        launcher = choose_launcher("mpiexec", engine.version.mpi)
        with interruptions() as interrupted:
            inputs = RunInputs(
                checked=checked,
                engine=engine,
                launcher=launcher,
                store=tmp_path / "store",
                watching=Watching(ceilings="none"),
                bounds=bounds or Bounds(),
            )
            return execute(inputs, display or Silent(), Console(file=io.StringIO()), interrupted)

    return start


def events(outcome: Outcome) -> list[dict[str, Json]]:
    return [json.loads(line) for line in outcome.directory.events.read_text(encoding="utf-8").splitlines()]


def sealed(outcome: Outcome) -> dict[str, Json]:
    return dict(json.loads(outcome.directory.info.read_text(encoding="utf-8")))


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def no_process_left() -> Iterator[None]:
    """Fails if something that was started is still running."""
    before = set(descendants(os.getpid()))
    yield
    deadline = time.monotonic() + 60
    while running(set(descendants(os.getpid())) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(set(descendants(os.getpid())) - before)


def running(pids: set[int]) -> dict[int, str]:
    """The command lines of active processes; one that has ended and waits to be reaped has none."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            found[pid] = b" ".join(words).decode(errors="replace")
    return {pid: command for pid, command in found.items() if command}


def test_a_run_measures_everything_and_leaves_the_target_as_it_was(run: Run, target: Path) -> None:
    outcome = run()
    assert (outcome.status, outcome.exit_code, outcome.errors, outcome.leftover) == (
        "complete",
        ExitCode.OK,
        [],
        None,
    )
    assert outcome.samples == 2 * 2 * 2
    assert contents(target) == ["precious"]
    assert (target / "precious").read_text(encoding="utf-8") == "keep me"


@pytest.mark.parametrize("confine", ["auto", "off"])
@pytest.mark.parametrize("moment", ["before the ranks start", "while they work"])
def test_a_target_that_becomes_a_link_takes_nothing_elsewhere(
    run: Run, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, confine: ConfineMode, moment: str
) -> None:
    """Even to a folder of the same name; files are removed where they were made."""
    moved, outside = tmp_path / "moved", tmp_path / "outside"
    outside.mkdir()

    def swap() -> None:
        (own,) = target.glob("strider-*")
        (outside / own.name).mkdir()
        target.rename(moved)
        target.symlink_to(outside)

    def started(*words: Json) -> EngineProcess:
        swap()
        return start(*words)

    if moment == "before the ranks start":
        monkeypatch.setattr("strider.launch.runner.start", started)
        outcome = run(bounds=Bounds(confine))
        assert outcome.samples == 0
    else:
        settings = ("case.repetitions=50", "case.settle=0.1")
        outcome = run(*settings, display=Watcher(1, swap), bounds=Bounds(confine))
        assert 0 < outcome.samples < 200
    assert outcome.exit_code != ExitCode.OK
    assert any("outside of the folder of this run" in error["message"] for error in outcome.errors)
    (elsewhere,) = outside.iterdir()
    assert contents(elsewhere) == []
    assert contents(moved) == ["precious"]


def test_the_run_directory_holds_plan_suite_events_and_the_facts(run: Run, target: Path) -> None:
    outcome = run("case.transfer=128KiB")
    path = outcome.directory.path
    assert contents(path) == [
        "description.json",
        "engine.log",
        "events.jsonl",
        "plan.json",
        "run.json",
        "suite.toml",
    ]
    assert (path / "suite.toml").read_text(encoding="utf-8") == SUITE
    info = sealed(outcome)
    assert info["set"] == ["case.transfer=128KiB"]
    assert (info["status"], info["exit_code"], info["directory"]) == ("complete", 0, str(target))
    assert [case["case"] for case in info["check"]["cases"]] == [1, 2]
    assert info["environment"]["versions"]["mpi"]
    assert (events(outcome)[0]["event"], events(outcome)[-1]["event"]) == ("run", "end")


# proves measuring: noise, noise-not-unique, digest-within-run
def test_each_run_writes_data_of_its_own(run: Run) -> None:
    assert events(run())[0]["data_seed"] != events(run())[0]["data_seed"]


def test_a_time_limit_before_the_first_phase_is_no_success(run: Run, target: Path) -> None:
    outcome = run("suite.time_limit=1us")
    assert (outcome.status, outcome.exit_code) == ("complete", ExitCode.CANNOT_RUN)
    assert outcome.samples == 0
    assert contents(target) == ["precious"]


def test_the_next_run_removes_the_temporary_files_of_a_killed_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    left = folder.create(tmp_path / "tmp", "temporary-abcd")
    marker = json.loads((left.path / folder.MARKER).read_text())
    (left.path / folder.MARKER).write_text(json.dumps(marker | {"start": 1}), encoding="utf-8")
    run("case.interface=posix")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_display_knows_the_deadlines_of_the_phases(run: Run) -> None:
    class Seen(Silent):
        deadlines: Mapping[int, float] = {}

        def show(self, state: RunState) -> None:
            self.deadlines = state.deadlines

    display = Seen()
    run("case.interface=posix", "case.deadline=1s,0s", display=display)
    assert display.deadlines == {1: 1.0, 2: 0.0}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_keeps_what_was_measured(run: Run, target: Path, number: int) -> None:
    with no_process_left():
        outcome = run(*ENDLESS, display=Watcher(4, lambda: os.kill(os.getpid(), number)))
    assert (outcome.status, outcome.exit_code) == ("interrupted", ExitCode.CHECK_FAILED)
    assert outcome.samples >= 4
    assert events(outcome)[-1]["status"] == "interrupted"
    assert sealed(outcome)["status"] == "interrupted"
    assert sealed(outcome)["signal"] == signal.Signals(number).name
    assert contents(target) == ["precious"]


def test_a_signal_after_the_last_event_cuts_nothing_short(run: Run) -> None:
    class AtEnd(Silent):
        def show(self, state: RunState) -> None:
            if state.end and not seen:
                seen.append(state.end["status"])
                os.kill(os.getpid(), signal.SIGTERM)

        def close(self) -> None:
            # If the engine was gone before the check, it comes a little later.
            if not seen:
                os.kill(os.getpid(), signal.SIGTERM)

    seen: list[Json] = []
    outcome = run(display=AtEnd())
    assert (outcome.status, outcome.exit_code, outcome.samples) == ("complete", ExitCode.OK, 8)
    assert sealed(outcome)["status"] == "complete"


def test_the_handlers_of_signals_are_as_before(run: Run) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    run()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def ranks() -> list[int]:
    """Process numbers of the ranks that run below this process."""
    return [pid for pid in descendants(os.getpid()) if name_of(pid).startswith("strider-engine")]


def name_of(pid: int) -> str:
    """The name of a process, empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8")
    except OSError:
        return ""


def test_a_killed_rank_ends_the_run_with_its_samples_kept(run: Run, target: Path) -> None:
    with no_process_left():
        outcome = run(*ENDLESS, display=Watcher(4, lambda: os.kill(ranks()[-1], signal.SIGKILL)))
    assert (outcome.status, outcome.exit_code) == ("failed", ExitCode.CANNOT_RUN)
    assert re.fullmatch(
        r"(a )?rank (\d+ )?on (\S+) \(process \d+\) was killed \(signal 9\) in case 1( write| read)?, "
        r"possibly out of memory: check dmesg on \3\. The other rank could not continue without it",
        outcome.reason,
    )
    last = events(outcome)[-1]
    assert (last["event"], last["by"], last["status"]) == ("end", "launcher", "failed")
    assert sum(event["event"] == "sample" for event in events(outcome)) == outcome.samples >= 4
    assert contents(target) == ["precious"]


def test_a_complete_run_does_not_wait_for_ranks_that_do_not_exit(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in MPI_Finalize, which can hang."""

    def never_ending(name: str, mpi: Mpi) -> Launcher:
        usual = choose(name, mpi)
        script = ["sh", "-c", '"$@"; exec sleep 100000', "x"]
        return replace(usual, words=lambda mapping: [*script, *usual.words(mapping)])

    monkeypatch.setattr(f"{__name__}.choose_launcher", never_ending)
    monkeypatch.setattr("strider.launch.runner.END_GRACE_S", 0.5)
    with no_process_left():
        outcome = run()
    assert (outcome.status, outcome.exit_code) == ("complete", ExitCode.OK)
    assert contents(target) == ["precious"]


def test_the_folder_of_ranks_that_may_go_on_is_kept(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, they would meet errors that are none of the storage."""
    monkeypatch.setattr("strider.launch.runner.silent_nodes", lambda *_: ["n3", "n4"])
    outcome = run(*ENDLESS, display=Watcher(4, lambda: os.kill(ranks()[-1], signal.SIGKILL)))
    (kept,) = [name for name in contents(target) if name != "precious"]
    assert outcome.leftover == (
        f"ranks may still run on n3 and n4, so {target / kept} is kept: when strider-engine has ended there, "
        f"remove it with strider clean {target}"
    )
    assert sealed(outcome)["leftover"] == outcome.leftover
    outcome = run()
    assert (outcome.status, outcome.leftover) == ("complete", None)


def test_ranks_that_do_not_heed_the_interruption_are_killed(run: Run, target: Path) -> None:
    def freeze_and_interrupt() -> None:
        for pid in ranks():
            os.kill(pid, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGINT)

    with no_process_left():
        outcome = run(*ENDLESS, display=Watcher(4, freeze_and_interrupt))
    assert outcome.status == "interrupted"
    assert (events(outcome)[-1]["event"], events(outcome)[-1]["status"]) == ("end", "interrupted")
    assert contents(target) == ["precious"]


# proves measuring: collective-stall, launcher-stall
def test_an_engine_without_a_sign_of_life_is_killed(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strider.launch.runner.STALL_MARGIN_S", 0.5)

    def freeze() -> None:
        for pid in ranks():
            os.kill(pid, signal.SIGSTOP)

    with no_process_left():
        outcome = run(*ENDLESS, "suite.stall_timeout=3", display=Watcher(4, freeze))
    assert (outcome.status, outcome.exit_code) == ("failed", ExitCode.CANNOT_RUN)
    assert "the engine sends no events" in outcome.reason
    assert contents(target) == ["precious"]


def test_a_target_that_was_not_cleaned_fails_the_run_and_is_recorded(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strider.launch.folder.remove", lambda own: f"cannot remove {own.path}: busy")
    outcome = run()
    assert (outcome.status, outcome.exit_code) == ("complete", ExitCode.CHECK_FAILED)
    assert sealed(outcome)["exit_code"] == ExitCode.CHECK_FAILED
    assert str(sealed(outcome)["leftover"]).endswith("busy")


def test_a_terminal_that_is_gone_does_not_end_the_run(run: Run, target: Path) -> None:
    def fail() -> None:
        raise OSError(5, "Input/output error")

    outcome = run(display=Watcher(1, fail))
    assert (outcome.status, outcome.exit_code) == ("complete", ExitCode.OK)


def test_events_that_cannot_be_followed_end_the_engine_first_and_the_run_properly(
    run: Run, target: Path, tmp_path: Path
) -> None:
    def damage() -> None:
        (events_file,) = (tmp_path / "store").glob("*/events.jsonl")
        with events_file.open("a", encoding="utf-8") as file:
            file.write("no event\n")

    with no_process_left():
        outcome = run(*ENDLESS, display=Watcher(4, damage))
    assert (outcome.status, outcome.exit_code) == ("failed", ExitCode.CANNOT_RUN)
    assert "cannot read the events in" in outcome.reason
    assert sealed(outcome)["status"] == "failed"
    assert contents(target) == ["precious"]


def test_nothing_of_the_engine_is_left_where_the_front_end_breaks(run: Run, target: Path) -> None:
    def fail() -> None:
        raise RuntimeError("a mistake of ours")

    with no_process_left(), pytest.raises(RuntimeError):
        run(*ENDLESS, display=Watcher(4, fail))
    assert contents(target) == ["precious"]


def test_a_store_that_is_full_at_the_end_comes_with_a_remedy(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("strider.launch.rundir.seal", full)
    with pytest.raises(StriderError, match=r"store.*No space left on device: free space there") as caught:
        run()
    assert caught.value.exit_code == ExitCode.CANNOT_RUN
    assert contents(target) == ["precious"]


def test_a_program_that_is_no_engine_ends_the_run_with_a_clear_status(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strider.launch.runner._program", lambda *_: ["/bin/false"])
    outcome = run()
    assert (outcome.status, outcome.exit_code, outcome.samples) == ("failed", ExitCode.CANNOT_RUN, 0)
    assert [event["event"] for event in events(outcome)] == ["end"]
    assert contents(target) == ["precious"]


def test_nothing_is_made_where_the_target_is_too_small(run: Run, target: Path, tmp_path: Path) -> None:
    with pytest.raises(StriderError, match="free space"):
        run("case.block=100000GiB")
    assert contents(target) == ["precious"]
    assert not (tmp_path / "store").exists()


def test_nothing_stays_in_the_target_where_the_store_cannot_be_written(
    run: Run, target: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").touch()
    with pytest.raises(StriderError, match="cannot write results"):
        run()
    assert contents(target) == ["precious"]


def test_runs_beside_each_other_do_not_meet(run: Run, target: Path) -> None:
    outcomes: list[Outcome] = []
    # Signals are the main thread's, so the second run is started from within the first one.
    # Idle time before each phase keeps the first one running until it is looked at.
    outcomes.append(run("case.settle=500ms", display=Watcher(1, lambda: outcomes.append(run()))))
    assert [outcome.exit_code for outcome in outcomes] == [ExitCode.OK, ExitCode.OK]
    assert contents(target) == ["precious"]

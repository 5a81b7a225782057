"""Fuzzes suites: `make fuzz-suites`, or this file with options; see `--help`.

Every suite goes to what `strider plan` does and to the page, as root and as another user, in a world of its
own. Some of those that are accepted are run by `strider run`, under strace and without a network.
"""

import argparse
import ctypes
import fcntl
import os
import pickle
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from generator import Generator, Made, allowed_places
from judges import Tally, on_command_line, on_page
from strider import engine as engines
from strider.datasets.binding import names_of
from strider.datasets.folder import path_of
from strider.engine import Engine
from strider.suite import CheckedPlan
from strider.web.site import ENGINE_DEADLINE_S, Site
from traced import run_traced
from world import World

NOBODY = 65534
_RUN_LIMIT_S = 120.0
_MOST_BYTES, _MOST_REQUESTS, _MOST_PHASES, _MOST_IDLE_S = 1 << 24, 2000, 16, 3.0
_CLONE_NEWNET, _CLONE_NEWNS = 0x40000000, 0x00020000
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Task:
    """What one process does.

    Attributes:
        numbers: The suites.
        runs: How many of those accepted are run.
        seconds: After which no further suite is begun.
        user: As whom.
        seed: Of the suites.
    """

    numbers: range
    runs: int
    seconds: float
    user: int
    seed: int


def fuzz(task: Task) -> dict[str, Tally]:
    """Does a task in a process of its own: of its user, without a network, in a world of its own."""
    folder = Path(tempfile.mkdtemp(prefix="strider-fuzz-"))
    folder.chmod(0o755)
    result = folder / "tallies"
    try:
        World.make(folder / "world", task.user)
        result.touch()
        os.chown(result, task.user, task.user)
        child = os.fork()
        if child == 0:
            try:
                _become(task, folder)
            finally:
                os._exit(127)
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"the process of user {task.user} ended with status {status}")
        found: dict[str, Tally] = pickle.loads(result.read_bytes())
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _become(task: Task, folder: Path) -> None:
    """Leaves the network and the rights of root behind, and becomes the program of a task."""
    engine = engines.find().path.resolve()
    moved = {}
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET | _CLONE_NEWNS) == 0:
            _raise_loopback()
            subprocess.run(["mount", "--make-rslave", "/"], check=True)
            if task.user != os.getuid():
                moved = _show(folder, Path(sys.base_prefix), REPOSITORY, engine.parent)
    world = World(folder / "world")
    environment = {
        **os.environ,
        "STRIDER_ENGINE": _moved(str(engine), moved),
        "PYTHONPATH": os.pathsep.join(_moved(path, moved) for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(world.home),
        "TMPDIR": str(world.home),
        "XDG_CACHE_HOME": str(world.home),
    }
    if moved:
        environment["PYTHONHOME"] = _moved(sys.base_prefix, moved)
        environment["LD_LIBRARY_PATH"] = f"{environment['PYTHONHOME']}/lib"
        os.setgroups([])
        os.setgid(task.user)
        os.setuid(task.user)
    elif task.user != os.getuid():
        raise RuntimeError("another user would not reach the program: this needs a mount namespace")
    python = _moved(str(Path(sys.executable).resolve()) if moved else sys.executable, moved)
    numbers = task.numbers
    words = map(str, (numbers.start, numbers.stop, task.runs, task.seconds, task.seed))
    os.chdir(world.home)
    program = _moved(str(Path(__file__).resolve()), moved)
    os.execve(python, [python, program, "--child", str(folder), *words], environment)


def _raise_loopback() -> None:
    """Processes of one machine speak over it."""
    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up_and_running))


def _show(folder: Path, *hidden: Path) -> dict[str, str]:
    """Mounts folders where another user can go: a checkout or a Python may be in a home that is closed."""
    moved = {}
    for number, path in enumerate(hidden):
        shown = folder / f"shown{number}"
        shown.mkdir()
        subprocess.run(["mount", "--rbind", path, shown], check=True)
        moved[str(path)] = str(shown)
    return moved


def _moved(path: str, moved: dict[str, str]) -> str:
    for old in sorted(moved, key=len, reverse=True):
        if Path(path).is_relative_to(old):
            return str(Path(moved[old]) / Path(path).relative_to(old))
    return path


def _child(arguments: list[str]) -> None:
    """The process of a task."""
    folder, first, end, runs, seconds, seed = arguments
    task = Task(range(int(first), int(end)), int(runs), float(seconds), os.getuid(), int(seed))
    tallies = _fuzz(task, engines.find(), World(Path(folder) / "world"))
    (Path(folder) / "tallies").write_bytes(pickle.dumps(tallies))


def _fuzz(task: Task, engine: Engine, world: World) -> dict[str, Tally]:
    engine = Engine(engine.path, ENGINE_DEADLINE_S)
    generator = Generator(engine.description, world, task.seed)
    site = Site(engine, world.store, (world.target,), allowed_places=allowed_places(world))
    tallies = {"command line": Tally(), "page": Tally(), "runs": Tally()}
    before, end, runs = world.snapshot(), time.monotonic() + task.seconds, 0
    for number in task.numbers:
        if time.monotonic() > end:
            break
        made = generator.make(number)
        plan = on_command_line(made, engine, world, tallies["command line"])
        _judge_world(world, before, made, tallies["command line"])
        on_page(made, site, tallies["page"])
        _judge_world(world, before, made, tallies["page"])
        if plan and runs < task.runs and _is_short(plan, world):
            runs += 1
            _run(made, plan, world, tallies["runs"])
            _judge_world(world, before, made, tallies["runs"])
    return tallies


def _judge_world(world: World, before: dict[str, tuple[object, ...]], made: Made, tally: Tally) -> None:
    after = world.snapshot()
    if after != before:
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        tally.find(f"outside of the target changed: {changed}", made)
        before.clear()
        before.update(after)


def _is_short(plan: CheckedPlan, world: World) -> bool:
    """Whether a run of it is short, and in the world's target: users may name other targets."""
    if plan.suite.plan.target != str(world.target):
        return False
    for case, needs in plan.cases:
        if case.repetitions.max * max(1, len(case.operations)) > _MOST_PHASES or case.clients > 2:
            return False
        if needs.space_bytes > _MOST_BYTES or sum(phase.bytes for phase in needs.phases) > _MOST_BYTES:
            return False
        requests = sum(phase.requests for phase in needs.phases)
        idle = float(case.get("settle", 0)) * len(case.operations) + float(case.get("think", 0)) * requests
        slowed = any(float(case.get(key, 0)) for key in ("rate_limit", "arrival_rate", "warmup"))
        if requests > _MOST_REQUESTS or idle > _MOST_IDLE_S or slowed:
            return False
    return len(plan.cases) <= 2


def _run(made: Made, plan: CheckedPlan, world: World, tally: Tally) -> None:
    """Runs a suite as its owner would, on the command line."""
    command = [sys.executable, "-m", "strider", "run", str(world.home / "suite.toml"), "--quiet"]
    command += ["--store", str(world.store), "--counters", "none", "--ceilings", "none", "--timeline", "none"]
    traced = run_traced(command, world.home, dict(os.environ), world.home / "trace", _RUN_LIMIT_S)
    tally.counts[f"exit code {traced.returncode}"] += 1
    tally.keys.update(made.keys)
    if traced.returncode is None:
        tally.find(f"a run did not end within {_RUN_LIMIT_S:g} s", made)
    if "Traceback" in traced.output:
        tally.find(f"a traceback: {traced.output[-1500:]}", made)
    foreign = traced.addresses - made.hosts
    if foreign:
        tally.find(f"a run spoke to {sorted(foreign)}, which its suite does not name", made)
    allowed = tuple(f"{path}/" for path in (world.target, world.store, world.home, "/dev", "/proc"))
    outside = sorted(path for path in traced.changed if not f"{path}/".startswith(allowed))
    if outside:
        tally.find(f"a run changed {outside[:10]}", made)
    judge_target(made, plan, world, tally)
    shutil.rmtree(world.store, ignore_errors=True)
    world.store.mkdir()


def judge_target(made: Made, plan: CheckedPlan, world: World, tally: Tally) -> None:
    """Judges and removes leftovers in the target of a run; data sets of its suite are kept by design."""
    data_sets = [path_of(world.target, name) for name in names_of(plan.suite.plan.cases)]
    for left in world.target.glob("strider-*"):
        if left not in data_sets:
            tally.find(f"a run left {left.name}", made)
        shutil.rmtree(left, ignore_errors=True)


def report(tallies: dict[str, Tally], user: int) -> list[str]:
    """Numbers for people, then the findings."""
    lines = []
    for way, tally in tallies.items():
        counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items())) or "none"
        lines.append(f"user {user}, {way}: {counts}; slowest answer {tally.slowest_s:.1f} s")
        for what, text in tally.findings[:20]:
            lines.append(f"  finding: {what}\n{text}")
    return lines


def main() -> int:
    """Fuzzes and prints the findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000, help="suites for each user")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--runs", type=int, default=100, help="runs for each user, at most")
    parser.add_argument("--seconds", type=float, default=3600, help="for each user, at most")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    users = [os.getuid(), NOBODY] if os.getuid() == 0 else [os.getuid()]
    findings = 0
    for user in users:
        numbers = range(arguments.first, arguments.first + arguments.count)
        tallies = fuzz(Task(numbers, arguments.runs, arguments.seconds, user, arguments.seed))
        print("\n".join(report(tallies, user)), flush=True)
        findings += sum(len(tally.findings) for tally in tallies.values())
    return 1 if findings else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2:])
    else:
        sys.exit(main())

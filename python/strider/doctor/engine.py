"""The engine, its MPI library, its launchers, its interfaces."""

import os
import subprocess
from collections.abc import Iterator

from strider import engine as engines
from strider.doctor.diagnosis import Diagnosis, State
from strider.engine import Engine
from strider.errors import StriderError
from strider.launch.launchers import LAUNCHERS, Launcher, choose

TRIAL_RANKS = 2
TRIAL_TIMEOUT_S = 30.0


def check_engine() -> Iterator[Diagnosis]:
    """Checks the engine and starts it on several ranks."""
    try:
        engine = engines.find()
        version = engine.version
    except StriderError as error:
        yield Diagnosis("engine", "fails", error.message)
        return
    yield Diagnosis("engine", "works", f"{version.engine}, {engine.path}")
    yield Diagnosis("MPI", "works", " ".join(version.mpi.library.split("\n")[0].split()))
    yield from _launchers(engine)
    yield from _interfaces(engine)


def _launchers(engine: Engine) -> Iterator[Diagnosis]:
    for name in LAUNCHERS:
        # The default launcher is required, the others only if installed.
        without: State = "fails" if name == "mpiexec" else "missing"
        try:
            launcher = choose(name, engine.version.mpi)
        except StriderError as error:
            yield Diagnosis(f"launcher {name}", without, error.message)
            continue
        problem = _try(launcher, engine)
        command = " ".join(launcher.command(TRIAL_RANKS))
        if problem:
            yield Diagnosis(f"launcher {name}", without, f"{command} strider-engine: {problem}")
        else:
            yield Diagnosis(f"launcher {name}", "works", command)


def _try(launcher: Launcher, engine: Engine) -> str:
    """Returns why a launcher does not start the engine; empty if it does."""
    command = [*launcher.command(TRIAL_RANKS), str(engine.path), "version"]
    environment = {**os.environ, **launcher.environment}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TRIAL_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"timed out after {TRIAL_TIMEOUT_S:.0f} s"
    started = done.stdout.count('"engine"')
    if started == TRIAL_RANKS:
        return ""
    return done.stderr.strip().split("\n")[0] or f"started {started} ranks instead of {TRIAL_RANKS}"


def _interfaces(engine: Engine) -> Iterator[Diagnosis]:
    for interface in engine.description.interfaces:
        subject = f"interface {interface.name}"
        if interface.available:
            yield Diagnosis(subject, "works", interface.doc)
        else:
            remedy = f"strider setup {interface.name}"
            yield Diagnosis(subject, "missing", interface.unavailable_reason, remedy)

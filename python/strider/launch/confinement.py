"""Confinement: the ranks can write only to the run's folder and to files that MPI needs.

`strider-confine` starts the launcher, so that all ranks of this host share one Landlock domain: with one
domain per rank, MPI libraries could not access the memory of other ranks. `strider-confine` itself is not
confined. It drops the page cache and runs the remount command, which a confined rank cannot.

`strider-confine` also ends the launcher and the ranks of this host if Strider dies, even by SIGKILL, and even
if they hang. It therefore starts unconfined launchers, too.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.launch.folder import Folder
from strider.launch.launchers import Launcher
from strider.launch.machine import mount_of
from strider.launch.temporary import cannot_create, temporary_folder

ConfineMode = Literal["auto", "require", "off"]
"""Value of `--confine`: if available, required, or off."""
Forbidden = Literal["", "memory of servers", "names of threads"]
PROGRAM = "strider-confine"
_DEADLINE_S = 20.0


@dataclass(frozen=True)
class Support:
    """Support for confinement on this machine.

    Attributes:
        program: `strider-confine` of the engine.
        abi: Landlock ABI version of the kernel; 0 if not available.
        reason: Why confinement is not available; empty if it is.
    """

    program: Path
    abi: int
    reason: str


@dataclass(frozen=True)
class Confinement:
    """Parameters to start the ranks of a run.

    Attributes:
        around: Command prefix before the launcher.
        options: Options of the engine.
        environment: Variables for the launcher and the ranks.
        descriptors: File descriptors that `around` inherits.
        reason: Why the ranks are not confined; empty if they are.
    """

    around: Sequence[str] = ()
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: Sequence[int] = ()
    reason: str = ""


@dataclass(frozen=True)
class Needs:
    """Resources that the ranks of a run need.

    Attributes:
        own: The run's folder.
        files: Other files that they write to.
        remount: The remount command; after it, the folder is on a new mount.
        forbidden: Required access that a confined process cannot have; empty if none.
        folders: Open folders of data sets, which they also write to.
    """

    own: Folder
    files: Sequence[Path]
    remount: Sequence[str] = ()
    forbidden: Forbidden = ""
    folders: Sequence[int] = ()


def parse_confine_mode(text: str) -> ConfineMode:
    """Parses the value of `--confine`.

    Raises:
        StriderError: It is not a valid value.
    """
    for known in get_args(ConfineMode):
        if text == known:
            mode: ConfineMode = known
            return mode
    raise StriderError(f'unknown --confine "{text}": choose one of {", ".join(get_args(ConfineMode))}')


def support(engine: Engine) -> Support:
    """Queries the kernel's support through `strider-confine`."""
    program = engine.path.resolve().parent / PROGRAM
    try:
        said = subprocess.run(
            [program, "query"], capture_output=True, text=True, check=True, timeout=_DEADLINE_S
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return Support(program, 0, f"cannot start {program}: rebuild the engine")
    answers = dict(line.partition(" ")[::2] for line in said.splitlines())
    return Support(program, int(answers.get("landlock_abi", 0)), answers.get("landlock_reason", ""))


def guard(engine: Path) -> list[str]:
    """Returns the command prefix that ends an unconfined launcher with this process; none if it is missing.

    Args:
        engine: Path of the engine.
    """
    program = engine.resolve().parent / PROGRAM
    return [str(program), "--confine", "off", "--"] if os.access(program, os.X_OK) else []


@contextmanager
def confinement(mode: ConfineMode, engine: Engine, launcher: Launcher, needs: Needs) -> Iterator[Confinement]:
    """Returns how to start the ranks of a run.

    Args:
        mode: Value of `--confine`.
        engine: The engine.
        launcher: Launcher of the ranks.
        needs: Resources that the ranks need.

    Raises:
        StriderError: Confinement is required but not available, or temporary files cannot be created.
    """
    found = support(engine) if mode != "off" else None
    top = _above_the_mount(needs.own.path) if needs.remount else None
    reason = _reason_against(found, launcher, needs, top)
    if reason and mode == "require":
        raise StriderError(
            f"cannot confine this run: {reason}: to run without confinement, use --confine auto",
            ExitCode.CANNOT_RUN,
        )
    if reason or found is None:
        yield Confinement(guard(engine.path), ["--unconfined", reason], reason=reason)
        return
    with ExitStack() as stack:
        session = _Session.make(stack)
        words = [str(found.program), "--errands", str(session.errands)]
        words += [word for part in needs.remount for word in ("--remount", part)]
        writable = [session.temporary, *needs.files, *([top] if top else [])]
        words += [word for path in writable for word in ("--write", str(path))]
        descriptors = [*needs.folders]
        if top is None:
            own = needs.own.open()
            stack.callback(os.close, own)
            descriptors.append(own)
        words += [word for one in descriptors for word in ("--write-descriptor", str(one))]
        options = ["--confinement-probe", str(session.probe), "--errands", str(session.errands)]
        options += ["--confinement", "required"] if mode == "require" else []
        options += (
            ["--wider", f"the target is remounted, so everything below {top} is writable"] if top else []
        )
        yield Confinement([*words, "--"], options, {"TMPDIR": str(session.temporary)}, descriptors)


def _reason_against(found: Support | None, launcher: Launcher, needs: Needs, top: Path | None) -> str:
    if found is None:
        return "--confine off"
    if found.abi <= 0:
        return found.reason
    if launcher.starts_ranks == "by a daemon":
        return f"{launcher.name} starts the ranks through a daemon, which Strider cannot confine"
    if needs.forbidden == "memory of servers":
        return 'list I/O with cma accesses the servers\' memory: set listio.transport = "tcp"'
    if needs.forbidden == "names of threads":
        return "libgfapi names its threads in /proc, and crashes where it may not"
    if top == Path("/"):
        return "the target is remounted and mounted directly below /, so all files would have to be writable"
    return ""


def _above_the_mount(path: Path) -> Path | None:
    """Returns the directory above the mount, for a rule that also holds after a remount."""
    mount = mount_of(path)
    return Path(mount.point).parent if mount else Path("/")


@dataclass(frozen=True)
class _Session:
    """A private directory for the processes of a run.

    Attributes:
        temporary: Writable directory for MPI's temporary files.
        probe: A file that a confined rank cannot open for writing, to verify the confinement.
        errands: Path of the socket of `strider-confine`.
    """

    temporary: Path
    probe: Path
    errands: Path

    @classmethod
    def make(cls, stack: ExitStack) -> "_Session":
        """Creates one that `stack` removes.

        Raises:
            StriderError: It cannot be created.
        """
        made = stack.enter_context(temporary_folder())
        try:
            (made / "tmp").mkdir(mode=0o700)
            (made / "probe").touch(mode=0o600)
        except OSError as error:
            raise cannot_create(error) from error
        return cls(made / "tmp", made / "probe", made / "errands")

"""Confinement: the ranks may write to the run's folder and to what MPI needs, and nowhere else.

`strider-confine` of the engine stands around the launcher, so that all ranks of this host are in one domain
of Landlock: with a domain for each rank, MPI libraries could not reach another rank's memory. It stays
outside itself and does what a confined rank may not: drop the page cache, and run the remount command.
"""

import os
import subprocess
import tempfile
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

Wish = Literal["auto", "require", "off"]
"""What a user wants: confinement where the machine has it, no run without it, or none."""
PROGRAM = "strider-confine"
_DEADLINE_S = 20.0


@dataclass(frozen=True)
class Support:
    """What this machine has.

    Attributes:
        program: `strider-confine` of the engine.
        abi: Version of the kernel's Landlock; 0 where there is none.
        reason: Why nothing can be confined here; empty where it can.
    """

    program: Path
    abi: int
    reason: str


@dataclass(frozen=True)
class Confinement:
    """How the ranks of a run are started.

    Attributes:
        around: Words before those of the launcher.
        options: Options of the engine.
        environment: Variables for the launcher and the ranks.
        descriptors: Descriptors that `around` takes over.
        reason: Why the ranks are not confined; empty where they are.
    """

    around: Sequence[str] = ()
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: Sequence[int] = ()
    reason: str = ""


@dataclass(frozen=True)
class Needs:
    """What the ranks of a run need.

    Attributes:
        own: The run's folder.
        files: What else they write to.
        remount: The remount command; with one, the folder is reached by another mount later.
        forbidden: What no confined process can do; empty: nothing.
    """

    own: Folder
    files: Sequence[Path]
    remount: Sequence[str] = ()
    forbidden: Literal["", "memory of servers"] = ""


def wish_of(text: str) -> Wish:
    """What `--confine` was given.

    Raises:
        StriderError: It is none of the words.
    """
    for known in get_args(Wish):
        if text == known:
            wish: Wish = known
            return wish
    raise StriderError(f'unknown --confine "{text}": choose one of {", ".join(get_args(Wish))}')


def support(engine: Engine) -> Support:
    """Asks the engine's program what this kernel can do."""
    program = engine.path.resolve().parent / PROGRAM
    try:
        said = subprocess.run(
            [program, "query"], capture_output=True, text=True, check=True, timeout=_DEADLINE_S
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return Support(program, 0, f"{program} cannot be started: build the engine again")
    answers = dict(line.partition(" ")[::2] for line in said.splitlines())
    return Support(program, int(answers.get("landlock_abi", 0)), answers.get("landlock_reason", ""))


@contextmanager
def confinement(wish: Wish, engine: Engine, launcher: Launcher, needs: Needs) -> Iterator[Confinement]:
    """How the ranks of a run are to be started.

    Args:
        wish: What the user wants.
        engine: The engine.
        launcher: What starts the ranks.
        needs: What the ranks need.

    Raises:
        StriderError: It is required, and cannot be had; or this host has no room for temporary files.
    """
    found = support(engine) if wish != "off" else None
    top = _above_the_mount(needs.own.path) if needs.remount else None
    reason = _reason_against(found, launcher, needs, top)
    if reason and wish == "require":
        raise StriderError(
            f"this run cannot be confined: {reason}: --confine auto runs nevertheless", ExitCode.CANNOT_RUN
        )
    if reason or found is None:
        yield Confinement(options=["--unconfined", reason], reason=reason)
        return
    with ExitStack() as stack:
        session = _Session.make(stack)
        words = [str(found.program), "--errands", str(session.errands)]
        words += [word for part in needs.remount for word in ("--remount", part)]
        writable = [session.temporary, *needs.files, *([top] if top else [])]
        words += [word for path in writable for word in ("--write", str(path))]
        descriptors: list[int] = []
        if top is None:
            descriptors.append(needs.own.open())
            stack.callback(os.close, descriptors[0])
            words += ["--write-descriptor", str(descriptors[0])]
        options = ["--confinement-probe", str(session.probe), "--errands", str(session.errands)]
        options += ["--confinement", "required"] if wish == "require" else []
        options += (
            ["--wider", f"everything below {top} may be written, as the target is remounted"] if top else []
        )
        yield Confinement([*words, "--"], options, {"TMPDIR": str(session.temporary)}, descriptors)


def _reason_against(found: Support | None, launcher: Launcher, needs: Needs, top: Path | None) -> str:
    if found is None:
        return "--confine off"
    if found.abi <= 0:
        return found.reason
    if launcher.starts_ranks == "by a daemon":
        return f"{launcher.name} has a daemon start the ranks, which nothing of this run stands around"
    if needs.forbidden == "memory of servers":
        return 'list I/O by cma reaches into the servers\' memory: listio.transport = "tcp" does not'
    if top == Path("/"):
        return "the target is mounted directly below /, and is remounted: everything would have to be allowed"
    return ""


def _above_the_mount(path: Path) -> Path | None:
    """What a rule has to name so that it holds for what is mounted anew: the directory above the mount."""
    mount = mount_of(path)
    return Path(mount.point).parent if mount else Path("/")


@dataclass(frozen=True)
class _Session:
    """A directory of the user's own for what belongs to the processes of a run.

    Attributes:
        temporary: For temporary files of MPI; may be written.
        probe: A file that a confined rank cannot open for writing, which shows that it is confined.
        errands: Where the socket of `strider-confine` will be.
    """

    temporary: Path
    probe: Path
    errands: Path

    @classmethod
    def make(cls, stack: ExitStack) -> "_Session":
        """Makes one that is gone with `stack`.

        Raises:
            StriderError: It cannot be made.
        """
        try:
            folder = tempfile.TemporaryDirectory(prefix="strider-", ignore_cleanup_errors=True)
            made = Path(stack.enter_context(folder))
            (made / "tmp").mkdir(mode=0o700)
            (made / "probe").touch(mode=0o600)
        except OSError as error:
            where = tempfile.gettempdir()
            raise StriderError(
                f"cannot make temporary files in {where}: {error.strerror}: make room there, or set TMPDIR",
                ExitCode.CANNOT_RUN,
            ) from error
        return cls(made / "tmp", made / "probe", made / "errands")

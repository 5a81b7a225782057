"""Shared by the tests on real parallel file systems: labs, and checks that must hold on every mount."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import (
    EngineJob,
    Json,
    case,
    kill,
    plan,
    read_events,
    run_engine,
    strider_command,
    tree_case,
    wait_for,
)
from strider import lab
from strider.engine import Engine, Interface
from strider.lab import Endpoint, Record, System

METHODS: dict[str, Json] = {
    "posix multiple": {"interface": "posix"},
    "posix vectored": {"interface": "posix", "interface_method": "vectored"},
    "mpiio multiple": {"interface": "mpiio", "interface_method": "multiple"},
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
}

PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 256 * 1024, "pattern_block": 1024 * 1024},
    {"pattern": "strided", "pattern_transfer": 100_000, "pattern_count": 12},
    {"pattern": "vector", "pattern_pieces": 9, "pattern_piece": 5000, "pattern_count": 4},
]


def system_or_skip(name: str) -> System:
    """A file system of the lab, if it can be started here."""
    system = lab.find(name)
    if obstacle := system.obstacle():
        pytest.skip(f"machine: {name}: {obstacle}")
    if missing := system.missing_packages():
        pytest.skip(f"needs {name} (Debian packages {' '.join(missing)})")
    return system


@contextmanager
def running(name: str, above: Path | None = None, options: Iterable[str] = ()) -> Iterator[Record]:
    """A file system of the lab, up until the end; skips where it cannot be started.

    Args:
        name: Of the file system.
        above: Where its data is to lie, if that matters.
        options: Options of the system, `KEY=VALUE` each.
    """
    system_or_skip(name)
    # Not a folder of pytest's: those are closed to the users that some servers run as.
    prefix = "" if above else "strider-"  # a path of a lab has a limit
    parent = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
    parent.chmod(0o755)
    with _taken_down(name, parent):
        words = strider_command("lab", "up", name, "--at", parent, "--json")
        words += [word for option in options for word in ("--set", option)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        yield Record.model_validate_json(done.stdout)


@contextmanager
def _taken_down(name: str, parent: Path) -> Iterator[None]:
    """Takes a lab down at the end, even if that is the end of this process: its pipe closes.

    Fails if anything is left in the folder.
    """
    script = 'cat; "$@" && rmdir "$0"'
    words = ["sh", "-c", script, str(parent), *strider_command("lab", "down", name, "--at", parent)]
    keeper = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield
    finally:
        said, _ = keeper.communicate()
        assert keeper.returncode == 0, said


@dataclass(frozen=True)
class Native:
    """A file system's own library: an interface of the engine, and its settings.

    Attributes:
        interface: Its name.
        options: Its parameters, as far as they are not found out.
        methods: What data is moved by: further parameters, and keys of the case.
        folder: Where its files are seen, if the file system is not mounted.
    """

    interface: str
    options: Json = field(default_factory=dict)
    methods: list[Json] = field(default_factory=lambda: [{}])
    folder: Path | None = None

    def keys(self) -> Json:
        """Interface and parameters, as `case` takes them."""
        return {"interface": self.interface, **{f"interface_{key}": v for key, v in self.options.items()}}

    def require(self, engine: Engine) -> Interface:
        """The interface; skips where it was not built."""
        (found,) = [each for each in engine.description.interfaces if each.name == self.interface]
        if not found.available:
            pytest.skip(f"needs {found.unavailable_reason}")
        return found


def mount(record: Record) -> Path:
    """Where the first file system of a lab is mounted."""
    found = record.endpoints[0].mount
    assert found is not None
    return found


@contextmanager
def own_directory(parent: Path) -> Iterator[Path]:
    """A directory for one test; its content is removed at the end."""
    directory = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def check_mount(
    engine: Engine,
    work: Path,
    endpoint: Endpoint,
    pattern: Json,
    wrap: Iterable[str] = (),
    native: Native | None = None,
) -> None:
    """Two ranks write a file by every method and read each other's data: it is right, no file stays.

    Args:
        engine: The engine.
        work: A folder for plan and events.
        endpoint: The mounted file system.
        pattern: The access pattern.
        wrap: Words to put before the command.
        native: Its own library, in the same run.
    """
    parent = endpoint.mount or (native.folder if native is not None else None)
    assert parent is not None
    methods = list(METHODS.values())
    if native is not None:
        native.require(engine)
        methods += [{**native.keys(), **method} for method in native.methods]
    keys: Json = {
        "clients": 2,
        "verify": "full",
        "readback": "shift",
        "operations": ["write", "read", "rewrite", "reread"],
    }
    document = plan([case(**pattern, **method, **keys) for method in methods])
    with own_directory(parent) as directory:
        done = run_engine(engine, document, work, wrap, directory)

        assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
        assert not done.of("error")
        for operation in ("read", "reread"):
            samples = done.of("sample", operation=operation)
            assert len(samples) == len(methods)
            assert len({sample["digest"] for sample in samples}) == 1
        assert not list(directory.iterdir())


OPERATIONS = (
    *("make-tree", "create", "open", "lseek", "close", "open-close", "stat", "access", "chmod", "utime"),
    *("truncate", "expand", "small-write", "small-read", "setxattr", "getxattr", "readdir", "readdir-stat"),
    *("rename", "link", "symlink", "readlink", "unlink"),
    *("mkdir", "stat-directory", "chdir", "rename-directory", "rmdir", "remove-tree"),
)
"""All of metadata but the mix, in an order in which each finds its items."""


def check_metadata(
    engine: Engine, work: Path, parent: Path, native: Native, wrap: Iterable[str] = ()
) -> None:
    """Two ranks execute all operations of a library, on each other's items: all is right, no file stays."""
    offered = native.require(engine).metadata
    wanted = [operation for operation in OPERATIONS if operation in offered]
    assert wanted
    tree: Json = {"tree_items": 6, "tree_depth": 1, "tree_fanout": 2, "tree_file_size": 3000}
    keys: Json = {"clients": 2, "readback": "shift", "verify": "full"}
    options: Json = {"name": native.interface, **native.options}
    document = plan([{**tree_case(wanted, **tree, **keys), "interface": options}])
    with own_directory(parent) as directory:
        done = run_engine(engine, document, work, wrap, directory)

        assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
        done_operations = [sample["operation"] for sample in done.of("sample", measured=True)]
        assert done_operations == wanted
        assert not list(directory.iterdir())


def check_refusal(
    engine: Engine, work: Path, parent: Path, native: Native, wrap: Iterable[str] = (), **wrong: Json
) -> Json:
    """A case with a wrong address: one error with a remedy, and the next case runs. Returns the error."""
    native.require(engine)
    bad = Native(native.interface, {**native.options, **wrong})
    document = plan(
        [case(**PATTERNS[0], **keys, clients=2) for keys in (bad.keys(), native.keys())], stall_timeout_s=60
    )
    with own_directory(parent) as directory:
        done = run_engine(engine, document, work, wrap, directory)

        assert done.returncode == 1, done.stderr
        (error,) = done.of("error")
        assert error["case"] == 1
        assert error["operation"] == "connect"
        assert error["remedy"]
        assert done.of("sample", case=2)
        assert not list(directory.iterdir())
        return error


def check_interruption(
    engine: Engine, work: Path, parent: Path, native: Native, wrap: Iterable[str] = ()
) -> None:
    """Ctrl-C reaches the engine with any threads of the library: results stay, files do not."""
    native.require(engine)
    endless = case(**PATTERNS[0], **native.keys(), clients=2, repetitions=100_000)
    with own_directory(parent) as directory:
        with EngineJob(engine, plan([endless]), work, wrap, directory) as job:
            wait_for(
                lambda: "sample" in {event["event"] for event in read_events(job.events_file)}, "a sample"
            )
            for pid in job.ranks():
                kill(pid, signal.SIGINT)
            done = job.finish()
        assert done.events[-1].get("status") == "interrupted", done.stderr
        assert not list(directory.iterdir())

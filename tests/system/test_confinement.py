"""Confined runs measure the same, and write nowhere else."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from harness import EngineRun, Json, case, plan, read_events, run_engine, strider_command, tree_case, wait_for
from strider.engine import Engine
from strider.launch.confinement import PROGRAM, support

OUTSIDE = "outside of the folder of this run"
PATTERN: dict[str, Json] = {
    "pattern_transfer": 65536,
    "pattern_block": 1 << 18,
    "clients": 2,
    "verify": "full",
}


@pytest.fixture(autouse=True)
def _landlock(engine: Engine) -> None:
    found = support(engine)
    if found.reason:
        pytest.skip(f"machine: {found.reason}")


def wrap(engine: Engine, *writable: Path) -> list[str]:
    """`strider-confine` around a launcher."""
    program = engine.path.resolve().parent / PROGRAM
    return [str(program), *(word for path in writable for word in ("--write", str(path))), "--"]


def confined(engine: Engine, document: Json, work: Path, directory: Path | None = None) -> EngineRun:
    """A run of the engine in a domain that may write to its folder and its events."""
    directory = directory or work / "target"
    directory.mkdir(exist_ok=True)
    (work / "events.jsonl").touch()
    (work / "probe").touch()
    words = wrap(engine, directory, work / "events.jsonl")
    options = ["--confinement-probe", str(work / "probe"), "--confinement", "required"]
    done = run_engine(engine, document, work, wrap=words, directory=directory, options=options)
    (started,) = done.of("run")
    assert started["confinement"] == {"state": "full", "missing": ""}
    return done


def kernel_interfaces(engine: Engine) -> list[str]:
    """Interfaces that use the kernel's file system and work here."""
    return [
        interface.name
        for interface in engine.description.interfaces
        if interface.available
        and interface.capabilities.get("storage", True)
        and not interface.capabilities.get("own_client")
        and interface.name != "listio"
    ]


def test_confined_interfaces_read_and_write_what_they_do_otherwise(engine: Engine, tmp_path: Path) -> None:
    """All that work here, in one run each way: the same digests of the same bytes."""
    names = kernel_interfaces(engine)
    assert {"posix", "mmap", "mpiio"} <= set(names)
    document = plan([case("segmented", name, operations=["write", "read"], **PATTERN) for name in names])
    digests = []
    for folder, start in (("bare", run_engine), ("confined", confined)):
        (tmp_path / folder).mkdir()
        done = start(engine, document, tmp_path / folder)
        assert done.returncode == 0, done.stderr
        digests.append([sample["digest"] for sample in done.of("sample", operation="read")])
        assert list(done.directory.iterdir()) == []
    assert digests[0] == digests[1]
    assert len(digests[0]) == len(names)
    assert all(digests[0])


def test_every_operation_of_metadata_works_confined(engine: Engine, tmp_path: Path) -> None:
    """Renames, links and attributes too; on a tree with directories in directories."""
    names = next(entry for entry in engine.description.interfaces if entry.name == "posix").metadata
    groups = [[name] for name in names if name not in ("make-tree", "remove-tree", "mix")]
    groups += [["make-tree", "remove-tree"], ["rename", "unlink"], ["rename-directory", "rmdir"]]
    shape: dict[str, Json] = {
        "tree_items": 6,
        "tree_file_size": 1000,
        "tree_depth": 1,
        "tree_fanout": 2,
        "clients": 2,
    }
    cases = [tree_case(group, **shape) for group in groups]
    done = confined(engine, plan(cases), tmp_path)
    assert done.returncode == 0, done.stderr + str(done.of("error"))
    assert list(done.directory.iterdir()) == []


@pytest.mark.parametrize("interface", ["posix", "mmap", "uring", "mpiio", "hdf5"])
def test_a_link_in_the_place_of_a_file_leads_nowhere(engine: Engine, tmp_path: Path, interface: str) -> None:
    """Out of the target: refused by how it is opened, or by the kernel's domain; the message says so."""
    if interface not in kernel_interfaces(engine):
        pytest.skip(f"needs the interface {interface}")
    precious = tmp_path / "precious"
    precious.write_text("keep me", encoding="utf-8")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "case1.0").symlink_to(precious)
    done = confined(engine, plan([case("segmented", interface, operations=["write"], **PATTERN)]), tmp_path)
    assert done.returncode == 1
    assert precious.read_text(encoding="utf-8") == "keep me"
    errors = done.of("error", operation="write")
    assert errors
    assert all(OUTSIDE in error["message"] and error["remedy"] for error in errors), errors


def test_a_driver_of_mpi_io_writes_nowhere_else_either(engine: Engine, tmp_path: Path) -> None:
    """Whatever name a library is given: the kernel keeps it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "case1.0").symlink_to(tmp_path / "elsewhere" / "new")
    document = plan([case("segmented", "mpiio", interface_prefix="ufs:", operations=["write"], **PATTERN)])
    done = confined(engine, document, tmp_path)
    assert done.returncode == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


@contextmanager
def bound(what: Path, where: Path) -> Iterator[None]:
    """A bind mount; skips where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("machine: only root may mount")
    done = subprocess.run(["mount", "--bind", what, where], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"machine: no bind mounts: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", where], check=True)


@pytest.mark.parametrize("interface", ["posix", "mmap", "uring"])
def test_a_mount_below_the_folder_is_not_crossed(engine: Engine, tmp_path: Path, interface: str) -> None:
    """Landlock would allow that: its rules follow the tree of mounts."""
    if interface not in kernel_interfaces(engine):
        pytest.skip(f"needs the interface {interface}")
    precious = tmp_path / "precious"
    precious.write_text("keep me", encoding="utf-8")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "case1.0").touch()
    with bound(precious, tmp_path / "target" / "case1.0"):
        done = confined(
            engine, plan([case("segmented", interface, operations=["write"], **PATTERN)]), tmp_path
        )
        assert precious.read_text(encoding="utf-8") == "keep me"
    assert done.returncode == 1
    assert all(OUTSIDE in error["message"] for error in done.of("error", operation="write"))


def test_an_engine_that_is_not_confined_refuses_where_it_has_to_be(engine: Engine, tmp_path: Path) -> None:
    """By its own trial, whatever its starter believes; nothing is touched before."""
    (tmp_path / "probe").touch()
    options = ["--confinement-probe", str(tmp_path / "probe"), "--confinement", "required"]
    document = plan([case("segmented", operations=["write"], **PATTERN)])
    done = run_engine(engine, document, tmp_path, options=options)
    assert done.returncode == 3
    assert done.of("sample") == done.of("case") == []
    (error,) = done.of("error")
    assert "the confinement that this run requires is not in force" in error["message"]


SUITE = """\
[suite]
name = "c"
clients = 2
repetitions = 1
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "128KiB"
operations = ["write", "read"]
verify = "full"
"""


def run_suite(tmp_path: Path, target: Path, *words: object, **variables: str) -> tuple[Any, Json, Json]:
    """`strider run`: the process, the `run` event and `run.json`."""
    (tmp_path / "s.toml").write_text(SUITE, encoding="utf-8")
    store = tmp_path / "runs"
    fixed = (
        "run",
        tmp_path / "s.toml",
        "--target",
        target,
        "--store",
        store,
        "--quiet",
        "--ceilings",
        "none",
    )
    done = subprocess.run(
        strider_command(*fixed, *words),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    runs = [entry for entry in store.iterdir() if (entry / "run.json").exists()] if store.exists() else []
    if not runs:
        return done, None, None
    (run,) = runs
    events = read_events(run / "events.jsonl")
    return done, events[0] if events else None, json.loads((run / "run.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("abi", "options", "state", "said"),
    [
        ("9", ["--confine", "require"], "full", ""),
        ("2", [], "partly", "files outside of the run's folder can be truncated by path (Landlock ABI 2"),
        ("0", [], "none", "not confined: STRIDER_LANDLOCK_ABI is 0"),
        ("9", ["--confine", "off"], "none", ""),
    ],
)
# proves measuring: confine-off
def test_a_run_says_how_it_was_confined(
    tmp_path: Path, abi: str, options: list[str], state: str, said: str
) -> None:
    """In its first event and in run.json, on the error stream where it is less than full, and in show."""
    target = tmp_path / "target"
    target.mkdir()
    done, started, info = run_suite(tmp_path, target, *options, STRIDER_LANDLOCK_ABI=abi)
    assert done.returncode == 0, done.stderr
    assert started["confinement"]["state"] == info["confinement"]["state"] == state
    assert said in " ".join(done.stderr.split())
    assert (state == "full") == (started["confinement"]["missing"] == "")
    assert list(target.iterdir()) == []
    shown = strider_command("show", info["run"], "--store", tmp_path / "runs")
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    assert f"confinement: {state}" in text


def test_no_run_starts_where_confinement_is_required_and_missing(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    done, _, _ = run_suite(tmp_path, target, "--confine", "require", STRIDER_LANDLOCK_ABI="0")
    assert done.returncode == 3
    assert "cannot confine this run: STRIDER_LANDLOCK_ABI is 0" in " ".join(done.stderr.split())
    assert list(target.iterdir()) == []


def test_caches_are_dropped_for_a_confined_run(tmp_path: Path, memory_folder: Path) -> None:
    """By the process outside of the domain: on tmpfs nothing less than drop_caches is tried in the end."""
    if os.geteuid() != 0:
        pytest.skip("machine: only root may drop caches")
    if memory_folder == tmp_path:
        pytest.skip("machine: needs /dev/shm")
    settings = ("--set", "case.cache=cold", "--confine", "require")
    done, started, _ = run_suite(tmp_path, memory_folder, *settings)
    assert done.returncode == 0, done.stderr
    (run,) = (entry for entry in (tmp_path / "runs").iterdir() if (entry / "run.json").exists())
    (read,) = (
        event
        for event in read_events(run / "events.jsonl")
        if event.get("operation") == "read" and "cache" in event
    )
    assert read["cache"]["action"].endswith("drop_caches")
    assert started["confinement"]["state"] == "full"


@pytest.mark.parametrize(
    "interface", [["case.interface=listio"], ["case.interface=mpiio", "case.mpiio.prefix=listio:"]]
)
def test_a_list_io_volume_of_a_confined_run_reaches_its_clients(
    engine: Engine, tmp_path: Path, interface: list[str]
) -> None:
    """The servers are outside of the domain: they read the memory of clients, which may not read theirs."""
    if "listio" not in [entry.name for entry in engine.description.interfaces if entry.available]:
        pytest.skip("needs the interface listio")
    target = tmp_path / "target"
    target.mkdir()
    settings = [word for setting in interface for word in ("--set", setting)]
    done, started, _ = run_suite(tmp_path, target, *settings, "--confine", "require")
    assert done.returncode == 0, done.stderr
    assert started["confinement"]["state"] == "full"
    assert list(target.iterdir()) == []


def test_the_program_ends_as_its_command_does(engine: Engine, tmp_path: Path) -> None:
    """Exit status and signals are passed on, and ignored signals stay ignored."""
    start = wrap(engine, tmp_path)

    def code(script: str) -> int:
        return subprocess.run([*start, "sh", "-c", script], check=False, timeout=60).returncode

    assert code("exit 7") == 7
    assert code("kill -9 $$") == -9
    with subprocess.Popen(
        [*start, "sh", "-c", "trap 'exit 5' TERM; echo; while :; do sleep 0.1; done"], stdout=-1
    ) as passing:
        assert passing.stdout
        passing.stdout.readline()
        passing.send_signal(signal.SIGTERM)
        assert passing.wait(60) == 5
    ignored = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    words = ["sh", "-c", 'trap \'\' HUP; exec "$0" "$@"', *start, sys.executable, "-c", ignored]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_command_truncates_links_and_signals_nothing_outside(engine: Engine, tmp_path: Path) -> None:
    """What only newer kernels govern. Within its folder a command may rename between directories."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside / "a", inside / "b", outside):
        folder.mkdir(parents=True)
    (inside / "a/file").write_text("here")
    (outside / "file").write_text("there")
    attempts = {
        "rename within": f"os.rename({str(inside / 'a/file')!r}, {str(inside / 'b/file')!r})",
        "truncate": f"os.truncate({str(outside / 'file')!r}, 0)",
        "signal": f"os.kill({os.getpid()}, 0)",
    }
    results = {}
    for name, attempt in attempts.items():
        script = f"import os\ntry: {attempt}\nexcept OSError as error: print(error.errno)\nelse: print(0)"
        done = subprocess.run(
            [*wrap(engine, inside), sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        results[name] = int(done.stdout)
    abi = support(engine).abi
    assert results == {
        "rename within": 0 if abi >= 2 else errno.EXDEV,
        "truncate": errno.EACCES if abi >= 3 else 0,
        "signal": errno.EPERM if abi >= 6 else 0,
    }
    assert (outside / "file").read_text() == ("there" if abi >= 3 else "")


def test_a_command_has_the_signal_mask_of_its_caller(engine: Engine, tmp_path: Path) -> None:
    mask = "import signal; print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
    words = [*wrap(engine, tmp_path), sys.executable, "-c", mask]
    bare = subprocess.run(words[words.index("--") + 1 :], capture_output=True, text=True, check=True)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == bare.stdout


def test_only_the_errands_on_the_list_are_done(engine: Engine, tmp_path: Path) -> None:
    """No input of a confined process causes other actions outside."""
    socket, made = tmp_path / "errands", tmp_path / "made"
    ask = (
        "import socket, sys\n"
        f"for text in (b'touch {made}', b'remount 1; touch {made}', b'', b'x' * 500):\n"
        "    with socket.socket(socket.AF_UNIX) as s:\n"
        f"        s.connect({str(socket)!r}); s.send(text); s.shutdown(1)\n"
        "        print(s.recv(100).split(b'\\n')[0].decode())\n"
    )
    start = [*wrap(engine, tmp_path)[:-1], "--errands", str(socket), "--"]
    done = subprocess.run(
        [*start, sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["refused"] * 4
    assert not made.exists()


def test_errands_of_other_users_are_refused_without_an_answer(engine: Engine) -> None:
    """The right to connect is not enough: the socket may have been opened to all by mistake."""
    if os.geteuid() != 0:
        pytest.skip("machine: only root may become another user")

    def answer(user: int, path: Path) -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            os.seteuid(user)
            try:
                connection.connect(str(path))
            finally:
                os.seteuid(0)
            with suppress(ConnectionError):  # closed by the other side
                connection.send(b"touch")
                connection.shutdown(socket.SHUT_WR)
                return connection.recv(100).split(b"\n")[0]
            return b""

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "errands"
        start = [*wrap(engine, Path(folder))[:-1], "--errands", str(path), "--"]
        with subprocess.Popen([*start, "cat"], stdin=subprocess.PIPE) as confined:
            wait_for(path.is_socket, "the socket of errands")
            path.chmod(0o777)
            answers = [answer(0, path), answer(65534, path)]
            confined.communicate()
    assert answers == [b"refused", b""]

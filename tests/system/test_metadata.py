"""Metadata from outside: the promised system calls and no others, whose items, and wrong results found."""

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import (
    EngineJob,
    Job,
    Json,
    command_of,
    descendants,
    items,
    plan,
    read_events,
    run_engine,
    strider_command,
    tree_case,
    wait_for,
)
from strider.engine import Engine

RANKS = 2
DIRECTORIES = 3
"""Of the tree: one, and two below it."""
ITEMS = 4
"""Of each rank in each directory."""
ALL = RANKS * DIRECTORIES * ITEMS
FILE_BYTES = 1000

CALL = re.compile(r"^(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
QUALIFIERS = ("O_CREAT", "O_DIRECTORY", "AT_REMOVEDIR", "O_WRONLY")
"""Flags that make a call another one."""

Counts = Counter[str]


def calls_of(trace: str) -> Counts:
    """The calls on Strider's trees, by name and by the first qualifier that is among the flags.

    At the end all is removed that may have been made: what turns out not to be there counts nothing.
    """
    counts: Counts = Counter()
    for line in trace.splitlines():
        found = CALL.match(line)
        if found is None or "case1." not in line:
            continue
        if found["call"] == "unlinkat" and "ENOENT" in line:
            continue
        assert int(found["result"]) >= 0, line
        # The C library has the one call made by the other where the kernel has it.
        call = found["call"].replace("faccessat2", "faccessat")
        flag = next((flag for flag in QUALIFIERS if flag in found["arguments"]), "")
        counts[f"{call} {flag}".strip()] += 1
    return counts


def trace(engine: Engine, document: Json, work: Path, strace: str) -> dict[int, Counts]:
    """Runs a plan under strace; the calls of each process that makes some."""
    log = work / "trace"
    wrap = [strace, "-ff", "-y", "-s", "200", "-e", "signal=none", "-e", "trace=%file,%desc", "-o", str(log)]
    done = run_engine(engine, document, work, wrap)
    assert done.returncode == 0, done.stderr
    assert not list(done.directory.iterdir())
    texts = {int(path.suffix[1:]): path.read_text(errors="replace") for path in work.glob("trace.*")}
    found = {pid: calls_of(text) for pid, text in texts.items()}
    return {pid: counts for pid, counts in found.items() if counts}


TREE = {"mkdirat": DIRECTORIES, "unlinkat AT_REMOVEDIR": DIRECTORIES}
FILES = {"openat O_CREAT": ALL, "write": ALL, "close": ALL, "unlinkat": ALL}
ITEM_DIRECTORIES = {"mkdirat": ALL, "unlinkat AT_REMOVEDIR": ALL}
OPENED = {"openat": ALL, "close": ALL}
REWRITTEN = {"openat O_WRONLY": ALL, "write": ALL, "close": ALL}
LISTED = {"openat O_DIRECTORY": DIRECTORIES, "getdents64": 2 * DIRECTORIES, "close": DIRECTORIES}


@dataclass(frozen=True)
class Promise:
    """What operations make of a repetition.

    Attributes:
        operations: The operations; what they need is made before, and what is left is removed, each by the
            calls of TREE, FILES and ITEM_DIRECTORIES.
        calls: All calls of both ranks.
        of_each_item: Those of which each rank makes one on each item that it visits.
        keys: Keys of the case.
    """

    operations: tuple[str, ...]
    calls: tuple[dict[str, int], ...]
    of_each_item: tuple[str, ...] = ()
    keys: dict[str, Json] = field(default_factory=dict)


def on_files(operation: str, calls: dict[str, int], *each: str, **keys: Json) -> Promise:
    return Promise((operation,), (TREE, FILES, calls), each, keys)


def on_directories(operation: str, calls: dict[str, int], *each: str) -> Promise:
    return Promise((operation,), (TREE, ITEM_DIRECTORIES, calls), each)


PROMISES = [
    Promise(("make-tree",), (TREE,)),
    Promise(("make-tree", "remove-tree"), (TREE,)),
    on_files("create", {}, "openat O_CREAT", "write"),
    on_files("create", {"fsync": ALL}, "fsync", sync="each"),
    Promise(("mknod",), (TREE, {"mknodat": ALL, "unlinkat": ALL}), ("mknodat",)),
    on_files("open", OPENED, "openat"),
    on_files("lseek", OPENED | {"lseek": ALL}, "lseek"),
    on_files("close", OPENED),
    on_files("open-close", OPENED, "openat"),
    on_files("stat", {"newfstatat": ALL}, "newfstatat"),
    on_files("access", {"faccessat": ALL}, "faccessat"),
    on_files("chmod", {"fchmodat": ALL}, "fchmodat"),
    on_files("utime", {"utimensat": ALL}, "utimensat"),
    on_files("truncate", {"truncate": ALL}, "truncate"),
    on_files("expand", {"truncate": ALL}, "truncate"),
    on_files("small-write", REWRITTEN, "openat O_WRONLY", "write"),
    on_files("small-write", REWRITTEN | {"fsync": 2 * ALL}, sync="each"),
    on_files("small-read", OPENED | {"read": ALL}, "openat", "read"),
    on_files("setxattr", {"lsetxattr": ALL}, "lsetxattr"),
    on_files("getxattr", {"lsetxattr": ALL, "lgetxattr": ALL}, "lgetxattr"),
    Promise(("rename", "unlink"), (TREE, FILES, {"renameat": ALL}), ("renameat",)),
    Promise(("rename", "rename", "unlink"), (TREE, FILES, {"renameat": 2 * ALL})),
    on_files("link", {"linkat": ALL, "unlinkat": ALL}, "linkat"),
    on_files("symlink", {"symlinkat": ALL, "unlinkat": ALL}, "symlinkat"),
    on_files("readlink", {"symlinkat": ALL, "unlinkat": ALL, "readlinkat": ALL}, "readlinkat"),
    on_files("unlink", {}, "unlinkat"),
    on_directories("mkdir", {}),
    on_directories("stat-directory", {"newfstatat": ALL}, "newfstatat"),
    on_directories("chdir", {"chdir": ALL}, "chdir"),
    Promise(("rename-directory", "rmdir"), (TREE, ITEM_DIRECTORIES, {"renameat": ALL}), ("renameat",)),
    on_directories("rmdir", {}),
    Promise(("readdir",), (TREE, LISTED)),
    Promise(("create", "readdir"), (TREE, FILES, LISTED)),
    Promise(("create", "readdir-stat"), (TREE, FILES, LISTED, {"newfstatat": ALL + DIRECTORIES - 1})),
]


@pytest.mark.parametrize("sharing", ["shared", "per-rank"])
@pytest.mark.parametrize(
    "promise", PROMISES, ids=lambda promise: "-".join([*promise.operations, *promise.keys])
)
def test_an_operation_makes_exactly_the_promised_calls(
    engine: Engine, tmp_path: Path, strace: str, promise: Promise, sharing: str
) -> None:
    keys: Json = {"tree_depth": 1, "tree_fanout": 2, "tree_items": ITEMS, "tree_file_size": FILE_BYTES}
    document = plan([tree_case(promise.operations, clients=RANKS, sharing=sharing, **keys, **promise.keys)])

    counts = trace(engine, document, tmp_path, strace)

    expected: Counts = Counter()
    for calls in promise.calls:
        expected.update(calls)
    if sharing == "per-rank":
        expected.update(_of_another_tree(promise))
    assert sum(counts.values(), Counter()) == expected
    assert len(counts) == RANKS
    for call in promise.of_each_item:
        assert [own[call] for own in counts.values()] == [expected[call] // RANKS] * RANKS


def _of_another_tree(promise: Promise) -> Counts:
    """What the directories of a second tree cost."""
    more: Counts = Counter()
    for calls in promise.calls:
        if calls in (TREE, LISTED):
            more.update(calls)
    # Each directory but the top one of the second tree is an entry in it.
    if "readdir-stat" in promise.operations:
        more["newfstatat"] += DIRECTORIES - 1
    return more


def test_the_operations_of_the_manual_are_those_that_are_promised(engine: Engine) -> None:
    promised = {operation for promise in PROMISES for operation in promise.operations}
    metadata = {o.name for o in engine.description.operations if o.direction == "metadata"}
    assert promised == metadata - {"mix"}


def test_a_mix_makes_the_calls_of_its_parts(engine: Engine, tmp_path: Path, strace: str) -> None:
    weights = {"stat": 60, "small-read": 25, "create": 10, "unlink": 5}
    keys: Json = {"tree_items": 20, "tree_file_size": FILE_BYTES, "mix": weights, "mix_operations": 300}
    document = plan([tree_case(["mix"], clients=RANKS, **keys)])
    counts = sum(trace(engine, document, tmp_path, strace).values(), Counter())
    events = read_events(tmp_path / "events.jsonl")
    (sample,) = [e for e in events if e["event"] == "sample" and e["measured"]]
    parts = {part["operation"]: part["requests"] for part in sample["parts"]}
    assert sum(parts.values()) == sample["requests"] == RANKS * 300
    assert set(parts) == set(weights)
    assert counts["newfstatat"] == parts["stat"]
    assert counts["read"] == counts["openat"] == parts["small-read"]
    assert counts["openat O_CREAT"] == counts["write"] == parts["create"] + RANKS * 20
    # Whatever is made is removed, in the mix or after it.
    assert counts["unlinkat"] == counts["openat O_CREAT"]


@pytest.mark.parametrize("readback", ["same", "shift", "shuffle"])
def test_ranks_work_on_whose_items_they_are_told(
    engine: Engine, tmp_path: Path, strace: str, readback: str
) -> None:
    document = plan(
        [tree_case(["create", "stat"], clients=3, tree_items=5, readback=readback, interface="posix")]
    )
    wrap = [strace, "-ff", "-y", "-e", "signal=none", "-e", "trace=%file", "-o", str(tmp_path / "trace")]
    assert run_engine(engine, document, tmp_path, wrap).returncode == 0
    owners = {}
    for path in tmp_path.glob("trace.*"):
        text = path.read_text(errors="replace")
        made = {found[1] for found in re.finditer(r"openat\(.*/f(\d+)\.\d+\", .*O_CREAT", text)}
        looked_at = {found[1] for found in re.finditer(r"newfstatat\(.*/f(\d+)\.\d+\"", text)}
        if made:
            ((maker,), (owner,)) = made, looked_at
            owners[int(maker)] = int(owner)
    assert sorted(owners) == sorted(owners.values()) == [0, 1, 2]
    match readback:
        case "same":
            assert owners == {0: 0, 1: 1, 2: 2}
        case "shift":
            assert owners == {0: 1, 1: 2, 2: 0}
        case "shuffle":
            assert all(maker != owner for maker, owner in owners.items())


def test_what_a_rank_visits_is_what_the_engine_prints(engine: Engine, tmp_path: Path, strace: str) -> None:
    document = plan(
        [tree_case(["create", "stat"], clients=2, order="random", tree_items=6, tree_depth=1, tree_fanout=2)]
    )
    printed = {tuple(items(engine, document, tmp_path, rank, "stat")) for rank in range(2)}
    wrap = [strace, "-ff", "-e", "signal=none", "-e", "trace=newfstatat", "-o", str(tmp_path / "trace")]
    assert run_engine(engine, document, tmp_path, wrap).returncode == 0
    seen = {
        tuple(re.findall(r'newfstatat\(\d+, "(case1[^"]*)"', path.read_text(errors="replace")))
        for path in tmp_path.glob("trace.*")
    }
    assert {len(paths) for paths in printed} == {18}
    assert printed <= seen


def test_100_000_files_are_made_checked_by_another_rank_and_removed(
    engine: Engine, memory_folder: Path
) -> None:
    operations = ["create", "stat", "small-read", "unlink"]
    keys: Json = {"tree_items": 25_000, "tree_file_size": 64, "readback": "shift", "verify": "full"}
    done = run_engine(engine, plan([tree_case(operations, clients=4, **keys)]), memory_folder)
    assert done.returncode == 0, done.stderr
    samples = done.of("sample", measured=True)
    assert [(s["operation"], s["requests"], s["valid"]) for s in samples] == [
        (operation, 100_000, True) for operation in operations
    ]
    assert done.sample(operation="small-read")["bytes"] == 6_400_000
    assert not list(done.directory.iterdir())


MANY = """
[suite]
name = "many"
clients = 2
[[case]]
interface = "posix"
tree = "balanced"
depth = 1
fanout = 10
items = 20000
operations = ["mkdir", "create", "link", "symlink", "unlink"]
"""


class ManyFiles(Job):
    """`strider run` with so many files that it takes a while."""

    def __init__(self, work: Path) -> None:
        self.target = work / "target"
        self.target.mkdir()
        suite = work / "many.toml"
        suite.write_text(MANY)
        self.process = subprocess.Popen(
            strider_command("run", suite, "--target", self.target, "--store", work / "store"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_for_files(self) -> None:
        """Returns once there are hundreds of items."""
        wait_for(lambda: sum(len(names) for _, _, names in os.walk(self.target)) > 500, "files", 60)

    def ranks(self) -> list[int]:
        return [pid for pid in descendants(self.process.pid) if command_of(pid) == "strider-engine"]


def test_an_interruption_in_the_middle_leaves_nothing(memory_folder: Path) -> None:
    with ManyFiles(memory_folder) as job:
        job.wait_for_files()
        job.process.send_signal(signal.SIGINT)
        output, _ = job.process.communicate(timeout=60)
    assert "interrupted" in output
    assert list(job.target.iterdir()) == []


def test_what_a_killed_front_end_leaves_is_found_and_removed(memory_folder: Path) -> None:
    with ManyFiles(memory_folder) as job:
        job.wait_for_files()
        ranks = job.ranks()
        job.process.kill()
        job.process.wait()
        wait_for(lambda: not any(command_of(pid) == "strider-engine" for pid in ranks), "the ranks' end")
    (left,) = job.target.iterdir()
    cleaned = subprocess.run(
        strider_command("clean", job.target), capture_output=True, text=True, check=True
    ).stdout
    assert cleaned.startswith(f"{left}: removed (")
    assert list(job.target.iterdir()) == []


def damaged(
    engine: Engine, work: Path, operations: list[str], damage: Callable[[Path], None], **keys: Json
) -> list[Json]:
    """The errors of a run in which something happens to the tree's top directory before the last phase."""
    document = plan(
        [
            tree_case(
                operations,
                clients=2,
                settle=1.0,
                readback="shift",
                **{"tree_items": 10, "tree_file_size": 100, **keys},
            )
        ]
    )
    with EngineJob(engine, document, work) as job:

        def waits() -> bool:
            samples = [e for e in read_events(job.events_file) if e["event"] == "sample" and e["measured"]]
            return len(samples) == len(operations) - 1

        wait_for(waits, "all phases but one")
        damage(job.directory / "case1.0")
        done = job.finish()
    assert done.returncode == 1, done.stderr
    # What is not Strider's stays, and is told.
    left = {path.name for path in done.directory.rglob("*") if path.is_file()}
    assert left <= {"another"}
    assert bool(left) == bool(done.of("error", operation="remove"))
    assert done.of("end")[0]["status"] == "complete"
    return [error for error in done.of("error") if error["operation"] != "remove"]


def replace_link(top: Path) -> None:
    (top / "s1.3").unlink()
    (top / "s1.3").symlink_to("elsewhere")


def change_byte(top: Path) -> None:
    content = bytearray((top / "f1.3").read_bytes())
    content[50] ^= 1
    (top / "f1.3").write_bytes(content)


@pytest.mark.parametrize(
    ("operations", "damage", "name", "message"),
    [
        (
            ["create", "stat"],
            lambda top: os.truncate(top / "f1.3", 7),
            "f1.3",
            "size is 7 instead of 100",
        ),
        (
            ["create", "stat"],
            lambda top: os.link(top / "f1.3", top / "another"),
            "f1.3",
            "the number of links is 2 instead of 1",
        ),
        (
            ["create", "small-read"],
            lambda top: os.truncate(top / "f1.3", 7),
            "f1.3",
            "what can be read is 7 instead of 100",
        ),
        (["create", "small-read"], change_byte, "f1.3", "the contents are wrong from byte"),
        (["symlink", "readlink"], replace_link, "s1.3", 'the link leads to "elsewhere"'),
        (
            ["setxattr", "getxattr"],
            lambda top: os.setxattr(top / "f1.3", "user.strider", b"other"),
            "f1.3",
            "the attribute has another value",
        ),
        (
            ["open", "lseek"],
            lambda top: os.truncate(top / "f1.3", 7),
            "f1.3",
            "the end of the file is 7 instead of 100",
        ),
    ],
    ids=["size", "links", "length", "contents", "link", "attribute", "end"],
)
def test_what_is_wrong_is_told_with_its_path_and_rank(
    engine: Engine,
    tmp_path: Path,
    operations: list[str],
    damage: Callable[[Path], None],
    name: str,
    message: str,
) -> None:
    (error,) = damaged(engine, tmp_path, operations, damage, verify="full")
    # Rank 0 works on what rank 1 has made.
    assert (error["kind"], error["rank"], error["operation"]) == ("verify", 0, operations[-1])
    assert error["file"].endswith(f"/case1.0/{name}")
    assert message in error["message"]


@pytest.mark.parametrize(
    ("operations", "damage"),
    [
        (["create", "stat"], lambda top: (top / "f1.3").unlink()),
        (["create", "small-read"], lambda top: (top / "f1.3").unlink()),
        (["create", "unlink"], lambda top: (top / "f1.3").unlink()),
    ],
    ids=["stat", "small-read", "unlink"],
)
def test_a_file_that_is_missing_ends_the_case(
    engine: Engine, tmp_path: Path, operations: list[str], damage: Callable[[Path], None]
) -> None:
    (error,) = damaged(engine, tmp_path, operations, damage)
    assert (error["kind"], error["rank"], error["operation"]) == ("io", 0, operations[-1])
    assert error["file"].endswith("/case1.0/f1.3")
    assert error["errno"] == 2


@pytest.mark.parametrize(
    ("damage", "found"),
    [(lambda top: (top / "f1.3").unlink(), 19), (lambda top: (top / "another").touch(), 21)],
    ids=["fewer", "more"],
)
@pytest.mark.parametrize("operation", ["readdir", "readdir-stat"])
def test_another_number_of_entries_is_told_with_the_directory(
    engine: Engine, tmp_path: Path, operation: str, damage: Callable[[Path], None], found: int
) -> None:
    (error,) = damaged(engine, tmp_path, ["create", operation], damage)
    assert error["file"].endswith("/case1.0")
    # The directory falls to the first rank, in whose place the second one works.
    assert (error["kind"], error["rank"]) == ("verify", 1)
    assert f"the number of entries is {found} instead of 20" in error["message"]

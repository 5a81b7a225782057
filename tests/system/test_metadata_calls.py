"""The system calls of metadata, seen from outside by strace: the promised ones and no others."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import Json, items, plan, read_events, run_engine, tree_case
from strider.engine import Engine

RANKS = 2
DIRECTORIES = 3
"""Of the tree: one, and two below it."""
ITEMS = 4
"""Of each rank in each directory."""
ALL = RANKS * DIRECTORIES * ITEMS
FILE_BYTES = 1000

CALL = re.compile(r"^(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
CASE = re.compile(r"\bcase(\d+)\.")
QUALIFIERS = ("O_CREAT", "O_DIRECTORY", "AT_REMOVEDIR", "O_WRONLY")
"""Flags that make a call another one."""

Counts = Counter[str]


Calls = dict[int, dict[int, Counts]]
"""By case and process."""


def calls_of(trace: str) -> dict[int, Counts]:
    """The calls on the trees of each case, by name and by the first qualifier that is among the flags.

    At the end all is removed that may have been made: what turns out not to be there counts nothing.
    """
    counts: dict[int, Counts] = defaultdict(Counter)
    for line in trace.splitlines():
        found, case = CALL.match(line), CASE.search(line)
        if found is None or case is None or (found["call"] == "unlinkat" and "ENOENT" in line):
            continue
        assert int(found["result"]) >= 0, line
        # The C library has the one call made by the other where the kernel has it.
        call = found["call"].replace("faccessat2", "faccessat")
        flag = next((flag for flag in QUALIFIERS if flag in found["arguments"]), "")
        counts[int(case[1])][f"{call} {flag}".strip()] += 1
    return counts


def trace(engine: Engine, document: Json, work: Path, strace: str) -> Calls:
    """Runs a plan under strace; the calls of each process in each case."""
    log = work / "trace"
    wrap = [strace, "-ff", "-y", "-s", "200", "-e", "signal=none", "-e", "trace=%file,%desc", "-o", str(log)]
    done = run_engine(engine, document, work, wrap)
    assert done.returncode == 0, done.stderr
    assert not list(done.directory.iterdir())
    calls: Calls = defaultdict(dict)
    for path in work.glob("trace.*"):
        for case, counts in calls_of(path.read_text(errors="replace")).items():
            calls[case][int(path.suffix[1:])] = counts
    return calls


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
        operations: The operations; their items are made before, and remaining ones are removed, each by the
            calls of TREE, FILES and ITEM_DIRECTORIES.
        calls: All calls of both ranks.
        of_each_item: Calls of which each rank makes one for each of its items.
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


@pytest.fixture(scope="module", params=["shared", "per-rank"])
def sharing(request: pytest.FixtureRequest) -> str:
    """Whether the ranks share a tree."""
    return str(request.param)


@pytest.fixture(scope="module")
def traced(engine: Engine, tmp_path_factory: pytest.TempPathFactory, strace: str, sharing: str) -> Calls:
    """The calls of all promises, each a case of one run."""
    keys: Json = {"tree_depth": 1, "tree_fanout": 2, "tree_items": ITEMS, "tree_file_size": FILE_BYTES}
    cases = [tree_case(p.operations, clients=RANKS, sharing=sharing, **keys, **p.keys) for p in PROMISES]
    return trace(engine, plan(cases), tmp_path_factory.mktemp(f"traced-{sharing}"), strace)


@pytest.mark.parametrize(
    "promise", PROMISES, ids=lambda promise: "-".join([*promise.operations, *promise.keys])
)
def test_an_operation_makes_exactly_the_promised_calls(traced: Calls, promise: Promise, sharing: str) -> None:
    counts = traced[PROMISES.index(promise) + 1]
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
    """The calls for the directories of a second tree."""
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
    counts = sum(trace(engine, document, tmp_path, strace)[1].values(), Counter())
    events = read_events(tmp_path / "events.jsonl")
    (sample,) = [e for e in events if e["event"] == "sample" and e["measured"]]
    parts = {part["operation"]: part["requests"] for part in sample["parts"]}
    assert sum(parts.values()) == sample["requests"] == RANKS * 300
    assert set(parts) == set(weights)
    assert counts["newfstatat"] == parts["stat"]
    assert counts["read"] == counts["openat"] == parts["small-read"]
    assert counts["openat O_CREAT"] == counts["write"] == parts["create"] + RANKS * 20
    # All items are removed, in the mix or after it.
    assert counts["unlinkat"] == counts["openat O_CREAT"]


@pytest.mark.parametrize("readback", ["same", "shift", "shuffle"])
def test_ranks_work_on_the_items_that_the_plan_assigns(
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


def test_a_growing_shift_is_further_on_in_each_kind_of_operation(
    engine: Engine, tmp_path: Path, strace: str
) -> None:
    """As with mdtest's -N: a rank stats the files of the next, opens those of the next but one, and so on."""
    operations = ["create", "stat", "open-close", "unlink"]
    document = plan([tree_case(operations, clients=4, tree_items=5, readback="growing-shift")])
    wrap = [strace, "-ff", "-e", "signal=none", "-e", "trace=%file", "-o", str(tmp_path / "trace")]
    assert run_engine(engine, document, tmp_path, wrap).returncode == 0
    calls = (r"openat\(.*O_CREAT", "newfstatat", r"openat\(.*O_RDONLY", "unlinkat")
    owners = set()
    for path in tmp_path.glob("trace.*"):
        lines = [line for line in path.read_text(errors="replace").splitlines() if re.search(r"/f\d", line)]
        found = [
            {int(*re.findall(r"/f(\d)\.", line)) for line in lines if re.match(call, line)} for call in calls
        ]
        if any(found):
            owners.add(tuple(owner for (owner,) in found))
    assert owners == {(rank, (rank + 1) % 4, (rank + 2) % 4, (rank + 3) % 4) for rank in range(4)}


def test_each_rank_flushes_its_node_in_the_time_of_each_phase_on_items(
    engine: Engine, tmp_path: Path, strace: str
) -> None:
    operations = ["make-tree", "create", "stat", "mkdir", "rmdir", "unlink", "remove-tree"]
    document = plan([tree_case(operations, clients=2, tree_items=5, sync="node")])
    wrap = [strace, "-ff", "-e", "signal=none", "-e", "trace=sync", "-o", str(tmp_path / "trace")]
    done = run_engine(engine, document, tmp_path, wrap)
    assert done.returncode == 0, done.stderr
    syncs = [path.read_text(errors="replace").count("sync()") for path in tmp_path.glob("trace.*")]
    assert sorted(syncs)[-2:] == [5, 5], "one for each phase but those on the tree"
    for sample in done.of("sample", measured=True):
        assert (0 < sample["sync_s"] <= sample["elapsed_s"]) == ("tree" not in sample["operation"])


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

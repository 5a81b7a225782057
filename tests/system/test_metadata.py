"""Metadata at scale, interrupted, and with wrong results behind Strider's back."""

import os
import signal
import subprocess
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest

from harness import (
    DEADLINE_S,
    Job,
    Json,
    Pause,
    command_of,
    descendants,
    plan,
    run_engine,
    run_with_pauses,
    strider_command,
    tree_case,
    wait_for,
)
from strider.engine import Engine


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


def test_what_phases_did_not_come_to_before_their_deadline_is_removed(
    engine: Engine, memory_folder: Path
) -> None:
    operations = ["make-tree", "create", "link", "symlink", "rename", "unlink", "remove-tree"]
    keys: Json = {
        "tree_items": 4000,
        "tree_depth": 1,
        "tree_fanout": 4,
        "deadline": 0.01,
        "readback": "shift",
    }
    cases = [
        tree_case(operations, clients=2, sharing=sharing, repetitions=3, **keys)
        for sharing in ("shared", "per-rank")
    ]
    done = run_engine(engine, plan(cases), memory_folder)
    assert done.of("error") == []
    assert any(sample["requests"] < 2 * 5 * 4000 for sample in done.of("sample", operation="create"))
    assert not list(done.directory.iterdir())


@pytest.mark.parametrize(
    ("deadline_of", "ended"), [("all", {"create", "stat", "unlink"}), ("creation", {"create"})]
)
def test_a_deadline_of_creation_ends_no_other_phase(
    engine: Engine, memory_folder: Path, deadline_of: str, ended: set[str]
) -> None:
    keys: Json = {"tree_items": 100, "deadline": 60, "deadline_of": deadline_of}
    done = run_engine(engine, plan([tree_case(["create", "stat", "unlink"], **keys)]), memory_folder)
    limited = {s["operation"] for s in done.of("sample", measured=True) if s["deadline"] is not None}
    assert limited == ended


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

    def has_files(self) -> bool:
        """Whether there are hundreds of items; looks at no more of them, for their number grows."""
        counts = accumulate(len(names) for _, _, names in os.walk(self.target))
        return any(count > 500 for count in counts)

    def wait_for_files(self) -> None:
        """Returns once there are hundreds of items."""
        wait_for(self.has_files, "files")

    def ranks(self) -> list[int]:
        return [pid for pid in descendants(self.process.pid) if command_of(pid) == "strider-engine"]


def test_an_interruption_in_the_middle_leaves_nothing(memory_folder: Path) -> None:
    with ManyFiles(memory_folder) as job:
        job.wait_for_files()
        job.process.send_signal(signal.SIGINT)
        output, _ = job.process.communicate(timeout=DEADLINE_S)
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

    def last_phase_is_next(events: list[Json]) -> bool:
        samples = [event for event in events if event["event"] == "sample" and event["measured"]]
        return len(samples) >= len(operations) - 1

    pause = Pause(last_phase_is_next, lambda job: damage(job.directory / "case1.0"))
    done = run_with_pauses(engine, document, work, pause)
    assert done.returncode == 1, done.stderr
    # Files that are not Strider's stay, and are reported.
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
            "the readable length is 7 instead of 100",
        ),
        (["create", "small-read"], change_byte, "f1.3", "the contents are wrong from byte"),
        (["symlink", "readlink"], replace_link, "s1.3", 'the link points to "elsewhere"'),
        (
            ["setxattr", "getxattr"],
            lambda top: os.setxattr(top / "f1.3", "user.strider", b"other"),
            "f1.3",
            "the extended attribute has another value than the one that was set",
        ),
        (
            ["open", "lseek"],
            lambda top: os.truncate(top / "f1.3", 7),
            "f1.3",
            "the offset that lseek returned is 7 instead of 100",
        ),
    ],
    ids=["size", "links", "length", "contents", "link", "attribute", "end"],
)
def test_what_is_wrong_is_reported_with_its_path_and_rank(
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
def test_another_number_of_entries_is_reported_with_the_directory(
    engine: Engine, tmp_path: Path, operation: str, damage: Callable[[Path], None], found: int
) -> None:
    (error,) = damaged(engine, tmp_path, ["create", operation], damage)
    assert error["file"].endswith("/case1.0")
    # The directory falls to the first rank, in whose place the second one works.
    assert (error["kind"], error["rank"]) == ("verify", 1)
    assert f"the number of entries is {found} instead of 20" in error["message"]


def test_a_rank_without_requests_has_no_say_in_the_least_latency(engine: Engine, memory_folder: Path) -> None:
    # One directory for two ranks: one of them has nothing to make or to read.
    case = tree_case(["make-tree", "create", "readdir"], clients=2, readback="shift", tree_items=20)
    done = run_engine(engine, plan([case]), memory_folder)
    assert done.returncode == 0, done.stderr
    for sample in done.of("sample"):
        latency = sample["latency"]
        assert 0 < latency["min_s"] <= latency["p50_s"] <= latency["max_s"] < sample["elapsed_s"]

"""Counters and the honesty about caches, of the whole program and beside tools that count by themselves."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness import EngineJob, EngineRun, Json, case, plan, read_events, run_engine, time_before
from strider.engine import Engine

MIB = 1 << 20
CALLS = "read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2"
MOVED = re.compile(r"^(?P<call>\w+)\(\d+<(?P<path>[^>]*)>.*= (?P<moved>\d+)$")


def group_of(event: Json, source: str, instance: str = "") -> Json:
    """The values of a source in a `counters` event."""
    (values,) = (
        group["values"]
        for group in event["counters"]
        if (group["source"], group["instance"]) == (source, instance)
    )
    return values


def file_system_of(path: Path) -> str:
    """Type of the file system, as the kernel's table of mounts has it."""
    words = ["stat", "-f", "-c", "%T", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def disk_folder() -> Iterator[Path]:
    """A folder on a file system that keeps its data on a disk: that of the checkout, or the temporary one."""
    for parent in (Path(__file__).parents[2] / "build", Path(tempfile.gettempdir())):
        if parent.is_dir() and file_system_of(parent) in ("ext2/ext3", "xfs", "btrfs", "ext4"):
            folder = Path(tempfile.mkdtemp(prefix="strider-disk-", dir=parent))
            yield folder
            shutil.rmtree(folder)
            return
    pytest.skip("machine: neither the checkout nor the temporary folder is on a disk's file system")


def moved_bytes(work: Path, directory: Path) -> dict[bool, int]:
    """Bytes that traced calls moved from (True) and to (False) files of a directory."""
    moved = {True: 0, False: 0}
    for log in work.glob("trace.*"):
        for call in filter(None, map(MOVED.match, log.read_text(errors="replace").splitlines())):
            if Path(call["path"]).parent == directory:
                moved["read" in call["call"]] += int(call["moved"])
    return moved


@pytest.mark.parametrize("method", ["multiple", "sieve"])
# proves measuring: call-bytes, storage-bytes, same-moments
def test_bytes_of_calls_are_those_of_strace(engine: Engine, tmp_path: Path, strace: str, method: str) -> None:
    """Requests exactly, bytes exactly: the kernel's counts are the observed ones."""
    keys: Json = {"pattern_transfer": 3000, "pattern_count": 50, "clients": 2, "sharing": "per-rank"}
    document = plan([case("strided", **keys, interface_method=method, operations=["write", "read"])])
    wrap = [strace, "-ff", "-y", "-s", "0", "-e", "signal=none", "-e", f"trace={CALLS}"]
    done = run_engine(engine, document, tmp_path, [*wrap, "-o", str(tmp_path / "trace")])
    assert done.returncode == 0, done.stderr
    seen = moved_bytes(tmp_path, done.directory)
    write, read = done.sample(operation="write"), done.sample(operation="read")
    assert seen[False] == write["call_write_bytes"]
    assert seen[True] == read["call_read_bytes"] + write["call_read_bytes"]
    for sample in (write, read):
        for field in ("call_read_bytes", "call_write_bytes", "storage_read_bytes", "storage_write_bytes"):
            rows = done.of("rank", operation=sample["operation"])
            assert sample[field] == sum(row[field] for row in rows)


# proves measuring: call-counts
def test_requests_are_those_that_strace_counts(engine: Engine, tmp_path: Path, strace: str) -> None:
    """strace -c adds up calls by name: three times the requests are that many calls more."""

    def counted(count: int) -> tuple[int, int]:
        work = tmp_path / str(count)
        work.mkdir()
        keys: Json = {"pattern_transfer": 512, "pattern_count": count, "operations": ["write", "read"]}
        wrap = [strace, "-c", "-f", "-o", str(work / "summary")]
        done = run_engine(engine, plan([case("strided", **keys)]), work, wrap)
        assert done.returncode == 0, done.stderr
        assert done.sample(operation="write")["write_calls"] == count
        assert done.sample(operation="read")["read_calls"] == count
        # % time, seconds, usecs/call, calls, errors (often blank), syscall
        lines = [line.split() for line in (work / "summary").read_text().splitlines()]
        found = {words[-1]: int(words[3]) for words in lines if words and words[-1].startswith("p")}
        return found["pread64"], found["pwrite64"]

    few, many = counted(1000), counted(3000)
    assert many[1] - few[1] == 2000
    assert many[0] - few[0] == 2000


def gnu_time() -> str:
    """GNU time, which prints the context switches of its command."""
    found = shutil.which("time")
    if found is None:
        pytest.skip("needs GNU time (Debian package time)")
    return found


# proves measuring: user-and-system, all-included, switches-of-ranks
def test_context_switches_are_those_of_gnu_time(engine: Engine, disk_folder: Path) -> None:
    """Runs that wait for the disk at each request: a longer run has more of it in its phase."""

    def counted(requests: int) -> tuple[int, int]:
        work = disk_folder / str(requests)
        work.mkdir()
        keys: Json = {"pattern_transfer": 4096, "pattern_block": 4096 * requests, "operations": ["write"]}
        report = work / "time"
        wrap = [gnu_time(), "-v", "-o", str(report)]
        done = run_engine(engine, plan([case("segmented", **keys, sync="each")]), work, wrap)
        assert done.returncode == 0, done.stderr
        kinds = ("Voluntary context switches", "Involuntary context switches")
        text = report.read_text()
        theirs = sum(int(re.findall(rf"{kind}: (\d+)", text)[0]) for kind in kinds)
        sample = done.sample(operation="write")
        return theirs, sample["voluntary_switches"] + sample["involuntary_switches"]

    few, many = counted(300), counted(3300)
    theirs, ours = many[0] - few[0], many[1] - few[1]
    assert many[1] <= many[0]
    assert few[1] <= few[0]
    assert theirs > 1000
    # Start and end have some hundred switches, more and others when the machine is busy.
    assert 0.8 * theirs <= ours <= 1.2 * theirs


# proves measuring: counters, counters-kinds, all-programs, counters-elapsed
def test_switches_of_the_node_hold_those_of_the_ranks(engine: Engine, disk_folder: Path) -> None:
    keys: Json = {"pattern_transfer": 4096, "pattern_block": 4096 * 500, "operations": ["write"]}
    done = run_engine(engine, plan([case("segmented", **keys, sync="each", clients=2)]), disk_folder)
    (event,), sample = done.of("counters"), done.sample(operation="write")
    kernel = group_of(event, "kernel")
    assert kernel["context_switches"] >= sample["voluntary_switches"] + sample["involuntary_switches"] > 0
    assert kernel["interrupts"] > 0
    cpu = group_of(event, "cpu")
    spent = sum(seconds for name, seconds in cpu.items() if name.endswith("_s"))
    # Clocks tick every 10 ms, and not on an idle processor.
    assert spent == pytest.approx(cpu["cores"] * event["elapsed_s"], rel=0.5, abs=0.1)
    assert event["elapsed_s"] >= sample["elapsed_s"]
    assert event["sampling_s"] > 0
    memory = group_of(event, "memory")
    assert 0 < memory["available_bytes"] <= memory["total_bytes"]


# proves measuring: counters, counters-kinds
def test_one_event_for_each_machine(engine: Engine, tmp_path: Path) -> None:
    """Nodes that one machine stands in for are not counted twice; cases of fewer ranks are counted too."""
    keys: Json = {"pattern_transfer": 512, "pattern_count": 2, "operations": ["write"]}
    cases = [case("strided", clients=clients, **keys) for clients in (1, 4)]
    done = run_engine(engine, plan(cases, ranks_per_node=2), tmp_path)
    assert [(event["case"], event["node"]) for event in done.of("counters")] == [(1, 0), (2, 0)]


def send_to_oneself(size: int) -> None:
    """Sends so many bytes over the loopback interface."""
    with ExitStack() as sockets:
        listening = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
        sender = sockets.enter_context(socket.create_connection(listening.getsockname()))
        receiver = sockets.enter_context(listening.accept()[0])
        for _ in range(size // 65536):
            sender.sendall(bytes(65536))
            receiver.recv(65536, socket.MSG_WAITALL)


def run_while_sending(engine: Engine, work: Path, deadline_s: float) -> EngineRun | None:
    """A phase of so many seconds in which 32 MiB are sent; None where it may have been over before."""
    one = case("strided", "null", pattern_transfer=4096, pattern_count=1 << 40, wear_out=False)
    document = plan([{**one, "deadline": deadline_s, "operations": ["read"]}])
    work.mkdir()
    with EngineJob(engine, document, work) as job:

        def progress() -> list[Json]:
            return [event for event in read_events(job.events_file) if event["event"] == "progress"]

        before_s = time_before(progress, "progress of the phase")
        elapsed_s = progress()[0]["elapsed_s"]
        send_to_oneself(32 * MIB)
        in_time = elapsed_s + time.monotonic() - before_s < deadline_s
        done = job.finish()
    return done if in_time else None


# proves measuring: all-programs, counters-elapsed
def test_network_counters_see_what_goes_over_the_loopback(engine: Engine, tmp_path: Path) -> None:
    """Bytes that are sent during a phase are among the interface's."""
    runs = (run_while_sending(engine, tmp_path / str(deadline_s), deadline_s) for deadline_s in (2, 10, 50))
    (event,) = next(filter(None, runs)).of("counters")
    loopback = group_of(event, "network", "lo")
    assert loopback["sent_bytes"] > 32 * MIB
    assert loopback["sent_packets"] > 0


def reading(policy: str, **keys: Json) -> Json:
    """A case that writes 32 MiB and reads them."""
    segmented: Json = {"pattern_transfer": MIB, "pattern_block": 16 * MIB, "clients": 2}
    return case("segmented", **segmented, cache=policy, operations=["write", "read"], **keys)


# proves measuring: served-by-storage, served-source, served-process, as-is, read-own-data, cold, cold-dropped
# proves measuring: cache-field, warm, claims-cache
def test_a_read_of_what_was_just_written_is_known_to_be_served_by_the_cache(
    engine: Engine, disk_folder: Path
) -> None:
    cases = [
        reading("as-is"),
        reading("cold"),
        reading("as-is", interface_direct=True),
        reading("warm"),
        reading("cold", sync="none"),
        reading("cold", sharing="per-rank", readback="shift"),
        reading("cold", interface="mmap"),
    ]
    done = run_engine(engine, plan(cases), disk_folder)
    assert done.returncode == 0, done.stderr
    as_is, cold, direct, warm, unsynced, shifted, mapped = (
        done.sample(case=number, operation="read") for number in range(1, 8)
    )
    assert as_is["served_by_storage"] < 0.1
    assert as_is["cache"] is None
    for sample in (cold, direct, unsynced, shifted, mapped):
        assert sample["served_by_storage"] > 0.9, sample
        assert sample["served_source"] == "process"
        assert sample["served_bytes"] == sample["storage_read_bytes"]
    for sample in (cold, unsynced, shifted, mapped):
        assert sample["cache"]["policy"] == "cold"
        assert sample["cache"]["action"].startswith("fsync, posix_fadvise")
        assert sample["cache"]["cached_share"] == pytest.approx(0, abs=0.01)
        assert sample["cache"]["examined_by"] in ("cachestat", "mincore")
    assert warm["served_by_storage"] < 0.1
    assert warm["cache"]["cached_share"] > 0.99
    assert [s["measured"] for s in done.of("sample", case=4)] == [True, False, True]
    assert done.sample(case=4, operation="preread")["bytes"] == 32 * MIB
    for write in done.of("sample", operation="write"):
        assert write["served_by_storage"] is None
        assert write["cache"] is None


# proves measuring: shown-counters
def test_counters_that_missed_a_third_of_the_write_do_not_tell_what_a_read_came_from(
    engine: Engine, disk_folder: Path
) -> None:
    """Of random writes that hit some places twice, the processes' counters see each place once."""
    keys: Json = {"cache": "cold", "operations": ["write", "read"]}
    places: Json = {"pattern_size": 32 * MIB, "pattern_count": 512, "pattern_align": 64 << 10}
    one = case("random", pattern_transfer=64 << 10, pattern_replacement=True, **places, **keys)
    done = run_engine(engine, plan([one]), disk_folder)
    assert done.returncode == 0, done.stderr
    write, read = done.sample(operation="write"), done.sample(operation="read")
    assert 0.5 < write["storage_write_bytes"] / write["bytes"] < 0.8
    assert read["served_by_storage"] is None


# proves measuring: call-bytes, storage-bytes, same-moments
def test_the_device_confirms_what_the_processes_read(engine: Engine, disk_folder: Path) -> None:
    """The disk's own counters, which know nothing of processes."""
    done = run_engine(engine, plan([reading("cold")]), disk_folder)
    (event,) = done.of("counters", operation="read")
    blocks = [group["values"]["read_bytes"] for group in event["counters"] if group["source"] == "block"]
    if not blocks:
        pytest.skip("machine: the kernel shows no block devices here")
    assert max(blocks) >= 0.9 * 32 * MIB


# proves measuring: served-unknown, drop-caches
def test_in_memory_it_is_unknown(engine: Engine, memory_folder: Path) -> None:
    done = run_engine(engine, plan([reading("cold")]), memory_folder)
    sample = done.sample(operation="read")
    assert sample["served_by_storage"] is sample["served_bytes"] is sample["served_source"] is None
    # Nothing can be dropped there, and the result says so.
    assert sample["cache"]["cached_share"] == 1
    # All attempts were made: the rest after the calls on the files is more than 1 %.
    assert sample["cache"]["action"].endswith("drop_caches") == os.access("/proc/sys/vm/drop_caches", os.W_OK)


def test_digests_do_not_depend_on_the_policy(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(
        engine, plan([reading("as-is", verify="full"), reading("cold", verify="full")]), tmp_path
    )
    digests = {sample["digest"] for sample in done.of("sample", operation="read")}
    assert len(digests) == 1


@pytest.mark.parametrize(("scope", "sources"), [("none", 0), ("basic", 3), ("all", 3)])
# proves measuring: counters-basic
def test_what_is_counted_can_be_chosen(engine: Engine, tmp_path: Path, scope: str, sources: int) -> None:
    one = case("strided", pattern_transfer=512, pattern_count=2, operations=["write"])
    done = run_engine(engine, plan([one]), tmp_path, options=["--counters", scope])
    found = {group["source"] for event in done.of("counters") for group in event["counters"]}
    assert len(found) >= sources
    assert bool(found) == (scope != "none")
    assert done.sample(operation="write")["write_calls"] == 2


def test_an_unknown_choice_is_refused(engine: Engine, tmp_path: Path) -> None:
    one = case("strided", pattern_transfer=512, pattern_count=2, operations=["write"])
    done = run_engine(engine, plan([one]), tmp_path, options=["--counters", "some"])
    assert done.returncode == 2
    assert "one of none, basic, all" in done.stderr

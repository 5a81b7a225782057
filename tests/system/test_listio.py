"""The list-I/O service: real servers, the interface that uses them, and runs that bring their own."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import (
    DEADLINE_S,
    EngineJob,
    Json,
    case,
    descendants,
    kill,
    plan,
    read_events,
    run_engine,
    strider_command,
    wait_for,
)
from labs import PATTERNS, Native, check_interruption, check_metadata, check_mount, check_refusal
from strider.engine import Engine
from strider.lab import Endpoint
from strider.listio import VOLUME_FILE, ServerOptions, check, processes_of, serve, status, stop
from strider.processes import command_lines

METHODS: list[Json] = [
    *({"interface_method": method} for method in ("multiple", "pack", "gather", "hybrid")),
    *({"interface_calls": calls} for calls in ("each", "sieve")),
    {"interface_calls": "sieve", "interface_sieve_buffer": 5000},
    {"interface_threshold": 4096, "interface_strip": 1000, "interface_servers": 3},
    {"interface_transport": "tcp"},
    {"depth": 4},
    {"depth": 3, "interface_transport": "tcp", "interface_method": "gather"},
]
REGISTRATIONS: list[Json] = [
    {"interface_registration": domain, "interface_strategy": strategy, "interface_calibrate": False, **more}
    for domain, strategy, more in (
        ("uring", "ogr", {}),
        ("mlock", "individual", {}),
        ("model", "single", {}),
        ("model", "ogr", {"interface_cache_bytes": 1 << 20, "depth": 2}),
    )
]
BTIO: Json = {"pattern": "btio", "pattern_class": "A", "pattern_dumps": 2}
"""Two of the 40 dumps of class A: a client of 4 has 2048 pieces of 1280 bytes in each."""


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A volume of four servers."""
    Native("listio").require(engine)
    directory = tmp_path_factory.mktemp("listio") / "volume"
    serve(engine, directory, ServerOptions(servers=4))
    yield directory
    stop(directory)


def native(volume: Path, methods: list[Json]) -> Native:
    return Native("listio", {"volume": str(volume / VOLUME_FILE)}, methods, volume.parent)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
# proves listio: multiple, pack, gather
def test_every_method_moves_the_same_bytes_as_posix(
    engine: Engine, tmp_path: Path, volume: Path, pattern: Json
) -> None:
    check_mount(engine, tmp_path, Endpoint(name="volume"), pattern, native=native(volume, METHODS))
    assert check(engine, volume)["data_files"] == 0


def test_every_registration_moves_the_same_bytes_as_posix(
    engine: Engine, tmp_path: Path, volume: Path
) -> None:
    pattern: Json = {**PATTERNS[2], "pattern_memory_gap": 5000}
    check_mount(engine, tmp_path, Endpoint(name="volume"), pattern, native=native(volume, REGISTRATIONS))


def test_metadata(engine: Engine, tmp_path: Path, volume: Path) -> None:
    check_metadata(engine, tmp_path, tmp_path, native(volume, []))
    found = check(engine, volume)
    assert (found["files"], found["directories"], found["data_files"]) == (0, 0, 0)


def test_ctrl_c_leaves_nothing_in_the_volume(engine: Engine, tmp_path: Path, volume: Path) -> None:
    check_interruption(engine, tmp_path, tmp_path, native(volume, []))
    assert check(engine, volume)["files"] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"volume": "/nowhere/listio-volume.json"}, "No such file"),
        ({"servers": 9}, "listio.servers is 9, but the volume has 4"),
        ({"transport": "pigeon"}, "pigeon"),
        ({"server_rate": 1000}, "is 1000 B/s, but the servers of this volume have no limit"),
    ],
)
def test_what_cannot_be_is_one_error(
    engine: Engine, tmp_path: Path, volume: Path, wrong: Json, said: str
) -> None:
    assert said in check_refusal(engine, tmp_path, tmp_path, native(volume, []), **wrong)["message"]


def test_another_rate_is_refused_with_units_and_the_commands_for_this_volume(
    engine: Engine, tmp_path: Path
) -> None:
    Native("listio").require(engine)
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=2, bytes_per_s=24 << 20))
    try:
        wrong: Json = {"server_rate": 48 << 20}
        error = check_refusal(engine, tmp_path, tmp_path, native(directory, []), **wrong)
    finally:
        stop(directory)
    assert "is 48 MiB/s, but the servers of this volume are limited to 24 MiB/s" in error["message"]
    restart = f"strider listio stop {directory}, then strider listio serve {directory} --rate 48MiB"
    assert restart in error["remedy"]


def test_without_a_volume_the_error_says_how_to_start_one(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    done = run_engine(engine, plan([case(**PATTERNS[0], interface="listio")]), tmp_path)
    (error,) = done.of("error")
    assert (error["operation"], done.returncode) == ("connect", 1)
    assert "strider listio serve" in error["remedy"]


def test_a_server_that_dies_is_named_and_others_go_on(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=2))
    own = native(directory, [])
    endless = case(**PATTERNS[0], **own.keys(), clients=2, repetitions=100_000)
    try:
        document = plan([endless, case(**PATTERNS[0])])
        with EngineJob(engine, document, tmp_path) as job:
            wait_for(lambda: [e for e in read_events(job.events_file) if e["event"] == "sample"], "a sample")
            kill(processes_of(directory)[1].pid, signal.SIGKILL)
            done = job.finish()
        assert done.returncode == 1
        assert any("server 1 (127.0.0.1:" in error["message"] for error in done.of("error", case=1))
        assert done.of("sample", case=2)
    finally:
        stop(directory)


# proves listio: btio-requests, sieve-calls, multiple, pack, gather
def test_requests_are_counted(engine: Engine, tmp_path: Path, volume: Path) -> None:
    """A client asks for a piece at a time, or for 128 pieces at a time of each server."""
    pieces, dumps = 2048, 2
    cases = [
        case(**BTIO, **native(volume, []).keys(), interface_calls=calls, clients=4)
        for calls in ("each", "list")
    ]

    done = run_engine(engine, plan(cases), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    for operation in ("write", "read"):
        each, lists = (
            int(done.sample(case=number, operation=operation)["facts"]["requests"]) for number in (1, 2)
        )
        assert each >= pieces * dumps
        assert lists >= pieces * dumps // 128
        assert each >= 60 * lists


# proves listio: read-change-write
def test_sieving_writers_keep_the_bytes_of_others(engine: Engine, tmp_path: Path, volume: Path) -> None:
    """The buffers that a rank writes back have pieces of all other ranks between its own."""
    rows: Json = {"pattern": "vector", "pattern_pieces": 64, "pattern_piece": 100, "pattern_count": 100}
    keys: Json = {
        "interface_calls": "sieve",
        "interface_sieve_buffer": 10_000,
        "clients": 4,
        "verify": "full",
    }

    done = run_engine(engine, plan([case(**rows, **native(volume, []).keys(), **keys)]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    assert done.sample(operation="read")["verify"]["checked_bytes"] > 0
    assert all(server["locked_ranges"] == 0 for server in status(engine, volume))


# proves listio: counters
def test_facts_tell_what_the_client_did(engine: Engine, tmp_path: Path, volume: Path) -> None:
    keys: Json = {"interface_registration": "model", "interface_method": "gather"}
    test = case(**PATTERNS[2], pattern_memory_gap=5000, **native(volume, []).keys(), **keys)

    facts = run_engine(engine, plan([test]), tmp_path).sample(operation="write")["facts"]

    assert facts["servers"] == "4"
    assert (facts["calls"], facts["extents"], facts["lists_gathered"]) == ("4", "36", "4")
    assert facts["packed_bytes"] == "0"
    assert int(facts["wire_bytes"]) >= 36 * 5000
    assert int(facts["registrations"]) >= 4
    assert float(facts["register_us"].split(" ± ")[0]) == pytest.approx(7.42, rel=0.3)


@pytest.mark.parametrize(("hole", "groups"), [(None, 1), ("unmapped", 6), ("inaccessible", 6)])
# proves listio: ogr-on-fault, ogr-wrong-answer
def test_a_group_is_cut_at_each_hole(
    engine: Engine, tmp_path: Path, volume: Path, hole: str | None, groups: int
) -> None:
    keys: Json = {"interface_registration": "uring", "interface_method": "gather", "verify": "full"}
    if hole:
        keys |= {"interface_holes": 5, "interface_hole": hole}
    rows: Json = {
        "pattern": "vector",
        "pattern_pieces": 64,
        "pattern_piece": 4096,
        "pattern_memory_gap": 4096,
    }
    test = case(**rows, **native(volume, []).keys(), **keys)

    done = run_engine(engine, plan([test]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    for operation in ("write", "read"):
        facts = done.sample(operation=operation)["facts"]
        assert int(facts["registrations"]) == groups * int(facts["calls"])


# proves listio: single-fails
def test_one_region_cannot_span_a_hole(engine: Engine, tmp_path: Path, volume: Path) -> None:
    keys: Json = {
        "interface_registration": "model",
        "interface_method": "gather",
        "interface_strategy": "single",
    }
    rows: Json = {
        "pattern": "vector",
        "pattern_pieces": 64,
        "pattern_piece": 4096,
        "pattern_memory_gap": 4096,
    }
    test = case(**rows, **native(volume, []).keys(), **keys, interface_holes=1)

    done = run_engine(engine, plan([test]), tmp_path)

    assert (done.returncode, done.of("error")[0]["errno"]) == (1, 14)
    assert "registration strategy" in done.of("error")[0]["remedy"]


@pytest.mark.parametrize("hole", ["unmapped", "inaccessible"])
def test_what_one_region_cannot_span_is_packed_where_asked(
    engine: Engine, tmp_path: Path, volume: Path, hole: str
) -> None:
    keys: Json = {
        "interface_registration": "model",
        "interface_method": "gather",
        "interface_strategy": "single",
        "interface_unregistered": "pack",
        "interface_calibrate": False,
        "interface_hole": hole,
    }
    rows: Json = {
        "pattern": "vector",
        "pattern_pieces": 64,
        "pattern_piece": 4096,
        "pattern_memory_gap": 4096,
        "verify": "full",
    }
    test = case(**rows, **native(volume, []).keys(), **keys, interface_holes=1)

    done = run_engine(engine, plan([test]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    for operation in ("write", "read"):
        facts = done.sample(operation=operation)["facts"]
        calls = int(facts["calls"])
        assert calls > 0
        assert (int(facts["registration_failures"]), int(facts["lists_packed"])) == (calls, calls)
        assert int(facts["registrations"]) == 0
        assert "there are holes between the pieces" in facts["registration_problem"]


# proves listio: verbs-json, status
def test_the_command_line_serves_checks_and_stops(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    directory = tmp_path / "volume"

    def strider(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            strider_command("listio", *words), capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )

    try:
        served = strider("serve", directory, "--servers", "2", "--strip", "4KiB", "--json")
        assert served.returncode == 0, served.stderr
        report = json.loads(served.stdout)
        assert len(report["servers"]) == 2
        assert "secret" not in report
        up = strider("status", directory, "--json")
        assert (up.returncode, json.loads(up.stdout)["state"]) == (0, "up")
        assert strider("check", directory).returncode == 0
        twice = strider("serve", directory)
        assert (twice.returncode, "strider listio stop" in twice.stderr) == (3, True)
        kill(processes_of(directory)[0].pid, signal.SIGKILL)
        again = f"strider listio serve {directory}"
        half = strider("status", directory)
        assert f"server 0 does not answer: Connection refused: {again}\n" in half.stdout
        (tmp_path / "s.toml").write_text(SUITE.format(count=16))
        words = ("run", tmp_path / "s.toml", "--target", directory, "--store", tmp_path / "store", "--quiet")
        refused = subprocess.run(strider_command(*words), capture_output=True, text=True, check=False)
        assert (refused.returncode, refused.stdout) == (3, "")
        assert refused.stderr.splitlines()[-1] == f"strider: server 0 of {directory} does not answer: {again}"
        assert not (tmp_path / "store").exists()
        stopped = strider("stop", directory)
        assert stopped.stdout == (
            f"{directory}: 1 server stopped; server 0 had already exited, "
            "see server-*.log in this directory\n"
        )
        asleep = strider("check", directory)
        message = f"strider: {directory} is stopped: start it with strider listio serve {directory}\n"
        assert (asleep.returncode, asleep.stderr) == (3, message)
        down = strider("status", directory, "--json")
        assert (down.returncode, json.loads(down.stdout)["state"]) == (3, "down")
        nothing = strider("stop", tmp_path)
        assert (nothing.returncode, "create one with" in nothing.stderr) == (2, False)
    finally:
        stop(directory)


# proves listio: status, check-and-remove
def test_what_a_killed_run_left_is_named_and_removed(engine: Engine, tmp_path: Path) -> None:
    Native("listio").require(engine)
    volume, run = tmp_path / "volume", "strider-killed"
    serve(engine, volume, ServerOptions(servers=2))

    def check(*words: str) -> subprocess.CompletedProcess[str]:
        command = strider_command("listio", "check", volume, "--json", *words)
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)

    try:
        thoughtful = case(**PATTERNS[0], **native(volume, []).keys(), think=600)
        with EngineJob(engine, plan([thoughtful]), tmp_path, directory=tmp_path / run) as job:
            wait_for(lambda: list(volume.glob(f"server-0/names/{run}.*")), "a file")
            for pid in job.ranks():
                kill(pid, signal.SIGKILL)
            job.finish()
        found = check()
        assert (found.returncode, json.loads(found.stdout)["runs"]) == (0, [{"run": run, "names": 1}])
        cleaned = check("--remove-run", run)
        report = json.loads(cleaned.stdout)
        assert (cleaned.returncode, report["removed_names"], report["runs"], report["data_files"]) == (
            0,
            1,
            [],
            0,
        )
        again = check("--remove-run", run)
        assert (again.returncode, f"no files of run '{run}'" in again.stderr) == (2, True)
    finally:
        stop(volume)


SUITE = """
[suite]
name = "own-volume"
repetitions = 1
clients = 2
[[case]]
interface = ["posix", "listio"]
pattern = "vector"
pieces = 128
piece = "1KiB"
count = {count}
verify = "full"
"""


@pytest.mark.parametrize("ending", ["itself", "ctrl-c", "killed"])
def test_a_run_brings_its_own_volume_and_removes_it(engine: Engine, tmp_path: Path, ending: str) -> None:
    Native("listio").require(engine)
    target = tmp_path / "target"
    target.mkdir()
    suite = tmp_path / "own.toml"
    suite.write_text(SUITE.format(count=16 if ending == "itself" else 65536))
    words = strider_command("run", suite, "--target", target, "--store", tmp_path / "store", "--quiet")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            if ending != "itself":
                wait_for(lambda: len(_servers_below(target)) == 4, "the servers")
                process.send_signal(signal.SIGINT if ending == "ctrl-c" else signal.SIGKILL)
            _, said = process.communicate(timeout=DEADLINE_S)
        finally:
            for pid in descendants(process.pid):
                kill(pid, signal.SIGKILL)
    wait_for(lambda: not _servers_below(target), "the servers to end")
    wait_for(lambda: not _ranks_below(target), "the ranks to end")
    if ending == "killed":
        # The run's folder is left, with everything in it: strider clean knows it by its marker.
        (folder,) = target.iterdir()
        shutil.rmtree(folder)
        return
    assert process.returncode in ((0,) if ending == "itself" else (1, 3)), said
    assert list(target.iterdir()) == []


def _servers_below(directory: Path) -> list[int]:
    """Servers that keep their files below a directory."""
    return _processes_below(directory, "strider-listio-server")


def _ranks_below(directory: Path) -> list[int]:
    """Ranks that measure below a directory."""
    return _processes_below(directory, "strider-engine")


def _processes_below(directory: Path, program: str) -> list[int]:
    """Processes of a program with a path below a directory on their command line."""
    return [
        pid
        for pid, words in command_lines()
        if words[0].endswith(program) and any(word.startswith(f"{directory}/") for word in words)
    ]

"""First, middle and last values of requests: the same through each interface, and a wrong byte is found."""

from __future__ import annotations

import csv
import io
import json
import struct
import subprocess
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from harness import (
    DEADLINE_S,
    EngineJob,
    EngineRun,
    Json,
    after_samples,
    case,
    plan,
    run_engine,
    run_with_pauses,
    strider_command,
)
from printed import printed
from strider.engine import Engine
from strider.running.presenting import _has_wrong_values
from strider.store import Run, load

TRANSFER, BLOCK = 4096, 16384
SEGMENTED: Json = {
    "pattern": "segmented",
    "pattern_transfer": TRANSFER,
    "pattern_block": BLOCK,
    "operations": ["read"],
    "clients": 2,
    "values": 4,
}


def run_of(done: EngineRun, folder: Path) -> Run:
    """Measurements of the engine through posix and mpiio, as a run directory."""
    specs = [
        CaseSpec(
            interface={"name": name},
            pattern={"name": "segmented", "transfer": TRANSFER, "block": BLOCK},
            operations=("read",),
            common={"verify": "off", "values": 4},
        )
        for name in ("posix", "mpiio")
    ]
    directory = RunBuilder(specs, repetitions=1).write(folder)
    (directory / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in done.events))
    return load(directory)


def test_values_are_those_of_the_file(engine: Engine, tmp_path: Path) -> None:
    content = b""

    def read(job: EngineJob) -> None:
        nonlocal content
        content = (job.directory / "case1.0").read_bytes()

    document = plan([case(**SEGMENTED, settle=0.6)])
    done = run_with_pauses(engine, document, tmp_path, after_samples(1, read))

    assert done.returncode == 0, done.stderr
    found = sorted(done.of("values"), key=lambda event: event["rank"])
    assert [event["rank"] for event in found] == [0, 1]
    for event in found:
        offsets = [event["rank"] * BLOCK + number * TRANSFER for number in range(4)]
        assert event["offset"] == offsets
        assert event["bytes"] == [TRANSFER] * 4
        for name, place in (("first", 0), ("middle", TRANSFER // 2), ("last", TRANSFER - 4)):
            assert event[name] == [struct.unpack_from("<I", content, at + place)[0] for at in offsets]
    # Verification is off, and yet no two values are equal: each shows where it belongs.
    assert done.sample(operation="read")["verify"] is None
    values = [value for event in found for name in ("first", "middle", "last") for value in event[name]]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize(
    "keys",
    [
        {"interface": "posix", "interface_direct": True},
        {"interface": "posix", "depth": 3},
        {"interface": "uring", "depth": 3},
        {"interface": "mmap"},
        {"interface": "mpiio"},
        {"interface": "mpiio", "interface_access": "collective"},
    ],
    ids=lambda keys: " ".join(map(str, keys.values())),
)
def test_each_interface_reads_the_same_values(engine: Engine, tmp_path: Path, keys: Json) -> None:
    name = keys["interface"]
    if not any(one.available for one in engine.description.interfaces if one.name == name):
        pytest.skip(f"{name} is not built")
    order: Json = {"order": "random"}
    done = run_engine(
        engine, plan([case(**SEGMENTED, **order), case(**SEGMENTED, **order, **keys)]), tmp_path
    )
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    names = ("rank", "offset", "bytes", "first", "middle", "last")
    by_case = {
        number: sorted([event[name] for name in names] for event in done.of("values", case=number))
        for number in (1, 2)
    }
    assert len(by_case[1]) == 2
    assert by_case[1] == by_case[2]


def test_a_wrong_byte_in_a_middle_value_is_found_without_verification(engine: Engine, tmp_path: Path) -> None:
    place = BLOCK + 2 * TRANSFER + TRANSFER // 2 + 1

    def damage(job: EngineJob) -> None:
        with (job.directory / "case2.0").open("r+b") as file:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1]))

    # Samples before the second case reads: both of the first one, and the preparation of its own file.
    cases = [case(**SEGMENTED), case(**SEGMENTED, interface="mpiio", settle=0.6)]
    done = run_with_pauses(engine, plan(cases), tmp_path, after_samples(3, damage))

    assert done.returncode == 0, "the engine itself cannot see it"
    run = run_of(done, tmp_path / "run")
    text = " ".join(printed(run, width=500).split())
    assert "WRONG VALUES: 1 of 8 requests of the same read have different values." in text
    place_of_request = f"rank 1, request 2, offset {BLOCK + 2 * TRANSFER}, repetition 1: the middle value is"
    assert place_of_request in text
    assert _has_wrong_values(run)


def test_equal_values_are_stated_as_equal(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(engine, plan([case(**SEGMENTED), case(**SEGMENTED, interface="mpiio")]), tmp_path)
    run = run_of(done, tmp_path / "run")
    assert "value of 8 requests compared between posix, mpiio: all equal." in printed(run, width=300)
    assert not _has_wrong_values(run)


def strider(*words: object) -> str:
    done = subprocess.run(
        strider_command(*words), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_column_compares_values_and_shows_those_of_each_process(tmp_path: Path) -> None:
    """The suite itself, small: its cases, tables and export."""
    target, store = tmp_path / "target", tmp_path / "store"
    target.mkdir()
    small = ("case.size=3000000", "case.transfer=80000", "case.count=6", "suite.repetitions=2")
    settings = [word for one in small for word in ("--set", one)]
    shown = strider("run", "clusters-2002", "--target", target, "--store", store, *settings)
    assert "all equal" in " ".join(shown.split())
    assert "DIFFERENT" not in shown
    rows = list(
        csv.DictReader(io.StringIO(strider("export", "latest", "--rows", "requests", "--store", store)))
    )
    ranks = {(row["case"], row["rank"]) for row in rows}
    assert {rank for _, rank in ranks} == {"0", "1"}
    for case_number, rank in ranks:
        own = [
            row for row in rows if (row["case"], row["rank"], row["repetition"]) == (case_number, rank, "0")
        ]
        assert [row["request"] for row in own] == [str(number) for number in range(6)]
        assert all(len(row[name]) == 8 for row in own for name in ("first", "middle", "last"))
    values = strider("show", "latest", "--values", "--store", store)
    assert "equal values" in values
    assert rows[0]["middle"] in values
    times = strider("show", "latest", "--processes", "--store", store)
    assert "published" in times
    assert "437" in times

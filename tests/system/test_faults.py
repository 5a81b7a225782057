"""Storage that damages, fails and hangs: it is found, has its right name, and ends the case, not the run."""

import re
import subprocess
from pathlib import Path

import pytest

import forgetfs
from fault_stages import stage
from faults import FAULTS, Way, read_results, run_row
from faults_page import ABSENT, PAGE, page, unexplained, unneeded
from harness import (
    DEADLINE_S,
    Json,
    descendants,
    plan,
    read_events,
    run_engine,
    strider_command,
    tree_case,
)
from labs import Native
from strider.engine import Engine

SUITE = """
[suite]
name = "faults"
clients = 2
interleave = "none"
stall_timeout = 4
[[case]]
name = "first"
interface = "posix"
pattern = "strided"
transfer = "4KiB"
count = 16
repetitions = 1
verify = "full"
operations = ["write", "read"]
[[case]]
name = "second"
interface = "posix"
pattern = "strided"
transfer = "4KiB"
count = 16
repetitions = 1
verify = "full"
operations = ["write", "read"]
"""


def run_suite(forgetful: forgetfs.ForgetFs, work: Path) -> tuple[int, str, list[Json]]:
    """`strider run` on the mount: exit code, output, events. Nothing is left, on the mount or running."""
    suite = work / "faults.toml"
    suite.write_text(SUITE)
    store = work / "store"
    command = strider_command(
        "run", suite, "--target", forgetful.mount, "--store", store, "--ceilings", "none"
    )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=work)
    try:
        output, _ = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    assert not descendants(process.pid)
    events = [event for path in store.glob("*/events.jsonl") for event in read_events(path)]
    return process.returncode, re.sub(r"\s+", " ", output), events


@pytest.mark.parametrize("op", ["read", "open"])
def test_what_hangs_ends_the_run_after_the_stall_timeout(engine: Engine, tmp_path: Path, op: str) -> None:
    with forgetfs.mounted(engine, "direct") as forgetful:
        # The last rank to come: rank 0 reports.
        forgetful.fault(op, "hang", call=17 if op == "read" else 2, name="/case1.0")

        code, output, events = run_suite(forgetful, tmp_path)

        assert code == 3, output
        assert "hangs in I/O" in output or "the file system hangs" in output
        assert "stall_timeout" in output or "the engine sends no events" in output
        assert events[-1]["event"] == "end"
        assert events[-1]["status"] == "failed"
        assert not list(forgetful.mount.iterdir())


def test_wrong_data_ends_the_case_and_not_the_run(engine: Engine, tmp_path: Path) -> None:
    with forgetfs.mounted(engine) as forgetful:
        forgetful.fault("write", "zero", span=(4096, 4196), name="/case1.0")

        code, output, events = run_suite(forgetful, tmp_path)

        assert code == 1, output
        (error,) = [event for event in events if event["event"] == "error"]
        assert (error["case"], error["class"]) == (1, "zero")
        assert 4096 <= error["offset"] < 4104  # bytes of the data may be zeros by chance
        assert "case1.0" in output
        assert [
            e["operation"] for e in events if e["event"] == "sample" and e["case"] == 2 and e["measured"]
        ] == [
            "write",
            "read",
        ]
        assert events[-1]["status"] == "complete"
        assert not list(forgetful.mount.iterdir())


def test_a_write_of_a_mix_that_is_lost_is_found(engine: Engine, tmp_path: Path) -> None:
    """The last one of three rewrites, after four files were created: each has contents of its own."""
    document = plan(
        [
            tree_case(
                ["create", "mix", "small-read"],
                tree_items=4,
                tree_file_size=4096,
                mix={"small-write": 1},
                mix_operations=3,
                verify="full",
            )
        ]
    )
    with forgetfs.mounted(engine, "direct") as forgetful:
        forgetful.fault("write", "dropped", call=4 + 3, name="/case1.0")
        done = run_engine(engine, document, tmp_path, directory=forgetful.mount)
        assert forgetful.hits() == [1]
    (error,) = done.of("error")
    assert (error["operation"], error["kind"]) == ("small-read", "verify")
    assert "the contents are wrong from byte 0 on" in error["message"]


FEW = ["write flip", "lost tail", "damaged gap", "write EDQUOT", "read zero", "read ESTALE", "sync EIO"]
"""Faults for each interface in every run of the tests; `make faults` tries all of them."""
SAMPLES: list[tuple[Way, str, list[str]]] = [
    (Way("posix"), "direct", [fault.name for fault in FAULTS]),
    (Way("posix", {"method": "sieve"}), "default", FEW),
    (Way("posix", {"direct": True}), "write-back", FEW),
    (Way("uring"), "default", FEW),
    (Way("mmap"), "default", FEW),
    (Way("mpiio"), "default", FEW),
    (Way("mpiio", {"preallocate": True}), "default", ["first write EIO"]),
    (Way("hdf5"), "default", [*FEW, "appended"]),
    (Way("listio"), "default", FEW),
    (Way("nfs"), "default", FEW),
    (Way("xrootd"), "default", FEW),
    (Way("gfapi"), "default", ["write flip", "lost tail", "damaged gap", "read zero"]),
]


@pytest.mark.parametrize(
    ("way", "mode", "names"), SAMPLES, ids=[f"{way.name} {mode}" for way, mode, _ in SAMPLES]
)
def test_a_sample_of_the_matrix_is_as_the_manual_says(
    engine: Engine, tmp_path: Path, way: Way, mode: str, names: list[str]
) -> None:
    """Neither less nor more: a fault found now, which had a reason when `make faults` ran, needs none."""
    interface = Native(way.interface).require(engine)
    faults = [fault for fault in FAULTS if fault.name in names]
    with stage(engine, interface, mode) as here:
        row = run_row(engine, tmp_path / "row", here, way, faults)

    assert not row.spoilt
    recorded = read_results()[way.interface][mode][way.name]
    assert row.texts() == {fault.name: recorded[fault.name] for fault in faults}


def test_the_sample_has_each_interface_and_each_fault() -> None:
    assert {way.interface for way, _, _ in SAMPLES} == set(read_results())
    assert {name for _, _, names in SAMPLES for name in names} == {fault.name for fault in FAULTS}


def test_each_cell_of_a_row_is_recorded() -> None:
    for interface, modes in read_results().items():
        for mode, rows in modes.items():
            for way, cells in rows.items():
                assert list(cells) == [fault.name for fault in FAULTS], (
                    f"make faults: {interface}, {mode}: {way}"
                )


def test_every_interface_has_its_place_in_the_matrix(engine: Engine) -> None:
    results = read_results()
    for interface in engine.description.interfaces:
        if interface.available and interface.capabilities["storage"]:
            modes = results.get(interface.name, {})
            assert modes or (interface.name, "") in ABSENT, f"make faults: {interface.name} has no results"


def test_no_cell_without_its_right_name_lacks_a_reason() -> None:
    assert unexplained(read_results()) == []


def test_no_reason_is_left_that_explains_nothing() -> None:
    assert unneeded(read_results()) == []


def test_the_page_is_what_was_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read_results()), "tools/fault_matrix.py --page"

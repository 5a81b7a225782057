"""Data sets: files that outlive a run are checked by other runs, and report the remains of a killed one."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness import (
    Json,
    case,
    command_of,
    descendants,
    plan,
    run_engine,
    strider_command,
    wait_for,
)
from sets import Place
from strider.datasets import find
from strider.engine import Engine

RANKS_4 = """
[suite]
name = "writer"
[[case]]
dataset = "kept"
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "1MiB"
clients = 4
operations = ["write"]
repetitions = 1
"""


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    """A target and a store of its own."""
    monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
    (tmp_path / "target").mkdir()
    return Place(tmp_path, capsys)


def test_a_set_of_four_ranks_is_verified_by_three_through_mpiio_and_read_by_two(place: Place) -> None:
    place.run(RANKS_4)
    marker = place.marker()
    assert (marker.state, marker.generation, marker.files) == ("complete", 1, [(1, 4 << 20)])
    code, found = place.verify("-n", 3, "--interface", "mpiio")
    assert (code, found["verified"], found["checked_bytes"]) == (0, True, 4 << 20)
    reader = RANKS_4.replace("clients = 4", 'clients = 2\nverify = "full"')
    reader = reader.replace('"write"', '"read", "reread"')
    place.run(reader)
    assert place.marker() == marker, "readers leave the marker as it was"


def test_rewriting_makes_a_new_generation_and_old_bytes_are_stale(place: Place) -> None:
    folder = place.folder
    place.make("--set", "block=1MiB", "-n", 2)
    old = (folder / "data.0").read_bytes()
    updater = RANKS_4.replace("clients = 4", "clients = 2").replace('"write"', '"rewrite", "read"')
    place.run(updater)
    marker = place.marker()
    assert (marker.state, marker.generation) == ("complete", 2)
    assert place.verify()[0] == 0
    with (folder / "data.0").open("r+b") as file:
        file.seek(1 << 20)
        file.write(old[1 << 20 : (1 << 20) + 4096])
    code, found = place.verify()
    assert code == 1
    assert [(error["class"], error["offset"]) for error in found["errors"]] == [("torn", 1 << 20)]


def test_each_damage_is_found_in_its_file_at_its_offset(place: Place) -> None:
    folder = place.folder
    place.make("--set", "block=1MiB", "--set", "sharing=per-rank", "-n", 5)
    with (folder / "data.0").open("r+b") as file:
        file.seek(70_000)
        (byte,) = file.read(1)
        file.seek(70_000)
        file.write(bytes([byte ^ 4]))
    os.truncate(folder / "data.1", 900_000)
    (folder / "data.2").rename(folder / "swapped")
    (folder / "data.3").rename(folder / "data.2")
    (folder / "swapped").rename(folder / "data.3")
    (folder / "data.4").unlink()
    (folder / "notes").write_text("mine", encoding="utf-8")
    code, found = place.verify("-n", 2)
    assert code == 1
    problems = "\n".join(found["problems"])
    assert f"{folder}/data.1: 900000 bytes, 1048576 were written" in problems
    assert f"{folder}/data.4: missing" in problems
    assert f"{folder}/notes: not a file of the data set" in problems
    wrong = {(Path(error["file"]).name, error["class"], error["offset"]) for error in found["errors"]}
    assert ("data.0", "flipped", 70_000) in wrong
    assert {("data.2", "misplaced", 0), ("data.3", "misplaced", 0)} <= wrong


def test_a_set_that_a_deadline_cut_is_read_by_its_pattern_only(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    segmented: Json = {"pattern_block": 1 << 20, "pattern_transfer": 1 << 16, "dataset": "kept", "clients": 2}
    slow: Json = {"deadline": 0.5, "wear_out": False, "rate_limit": 1 << 21, "operations": ["write"]}
    writer = case("segmented", **segmented, **slow, manifest={"seed": 3})
    reader: Json = {**segmented, "operations": ["read"], "verify": "full"}
    later = {"seed": 3, "made_before": True}
    fits = case("segmented", **reader, manifest=later)
    other = case("segmented", **{**reader, "pattern_transfer": 1 << 15}, manifest=later)
    found = run_engine(engine, plan([writer, fits, other]), tmp_path, options=["--dataset", f"kept={folder}"])
    (state,) = (event for event in found.of("data_set") if event["state"] == "written")
    assert state["generation"] == 1
    assert all(requests < 16 for requests, _ in state["parts"])
    assert found.sample(case=2, operation="read")["valid"] is True
    (error,) = found.of("error")
    assert (error["case"], error["kind"]) == (3, "plan")
    assert "never written" in error["message"]


def test_a_program_writes_and_reads_one_state_in_the_order_of_its_cases(place: Place) -> None:
    reader = RANKS_4.partition("[[case]]")[2].replace("posix", "mpiio").replace('"write"', '"read"')
    reader = reader.replace("clients = 4", 'clients = 3\nverify = "full"').replace('"1MiB"', '"512KiB"')
    program = RANKS_4.replace("[[case]]", 'interleave = "none"\n[[case]]') + "[[case]]" + reader
    assert 'interleave = "none"' in place.refusal_of(program.replace('interleave = "none"', ""))
    place.run(program)
    assert place.verify()[0] == 0


def test_what_does_not_fit_is_refused_before_the_run(place: Place) -> None:
    reader = RANKS_4.replace('"write"', '"read"')
    assert "strider data make kept" in place.refusal_of(reader)
    place.make("--set", "block=1MiB", "-n", 2)
    assert "4194304 bytes of data.0, which has 2097152" in place.refusal_of(reader)
    assert "it exists" in place.refusal_of(RANKS_4)
    assert "is not a name" in place.refusal_of(reader.replace('dataset = "kept"', 'dataset = "../kept"'))


@pytest.mark.parametrize("phase", ["making", "updating"])
def test_a_killed_writer_leaves_a_set_that_says_so_and_can_be_removed(place: Place, phase: str) -> None:
    if phase == "updating":
        place.make("--set", "block=1MiB", "-n", 4)
    operation = "write" if phase == "making" else "rewrite"
    suite = place.path / "slow.toml"
    slow = RANKS_4.replace('"write"', f'"{operation}"') + 'rate_limit = "16KiB"'
    suite.write_text(slow, encoding="utf-8")
    words = ("--target", place.target, "--quiet", "--ceilings", "none")
    killed = subprocess.Popen(strider_command("run", suite, *words), start_new_session=True)

    def is_writing() -> bool:
        events = "".join(file.read_text() for file in (place.path / "store").glob("*-writer-*/events.jsonl"))
        return '"state":"writing"' in events

    wait_for(is_writing, "the first bytes")
    assert "wait for its end" in place.data("remove")[2]
    ranks = descendants(killed.pid)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_for(lambda: not any(map(command_of, ranks)), "the end of the ranks")
    marker = place.marker()
    assert marker.state == phase
    code, found = place.verify()
    assert code == 1
    assert any("ended while it" in problem for problem in found["problems"])
    if phase == "updating":
        assert {error["class"] for error in found["errors"]} <= {"stale", "torn"}
        place.run(RANKS_4.replace('"write"', '"rewrite"'))
        assert place.verify()[0] == 0
    assert place.data("remove")[0] == 0
    assert find(place.target, "kept") is None

"""Files with data in IOR's form: Strider writes what IOR verifies, and verifies what IOR writes.

The forms of docs/measuring.md stand in for IOR; where this machine has IOR, it writes and verifies too.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine
from ior_packets import TYPES, Packets
from real_ior import run_ior
from strider.engine import Engine

TASKS, TRANSFER, BLOCK, SEGMENTS, SIGNATURE = 2, 8192, 16384, 3, 1234567
SHARINGS = ("shared", "per-rank")


def files_of(kind: str, sharing: str) -> dict[str, bytes]:
    """Returns the files that IOR writes, by name."""
    packets = Packets(kind, SIGNATURE, TRANSFER, BLOCK, SEGMENTS, TASKS)
    return packets.files(per_rank=sharing == "per-rank")


@dataclass(frozen=True)
class Place:
    """A folder with files of IOR's names, and runs of the engine on them."""

    engine: Engine
    path: Path

    @property
    def folder(self) -> Path:
        """The folder."""
        return self.path / "files"

    def run(self, kind: str, sharing: str, operations: list[str], **keys: Json) -> EngineRun:
        """Runs a case on the files."""
        names = {"prefix": "file", "digits": 0} if sharing == "shared" else {"prefix": "file.", "digits": 8}
        size = BLOCK * SEGMENTS * (TASKS if sharing == "shared" else 1)
        count = 1 if sharing == "shared" else TASKS
        there = {"generation": 1, "files": [[count, size]]} if operations[0] != "write" else {}
        packet = {"type": kind, "signature": SIGNATURE}
        document = case(
            "segmented",
            pattern_transfer=TRANSFER,
            pattern_block=BLOCK,
            pattern_segments=SEGMENTS,
            clients=TASKS,
            sharing=sharing,
            operations=operations,
            dataset="kept",
            manifest={**names, **there, "packet": packet},
            **{"verify": "full", **keys},
        )
        return self._run(document)

    def read_in_order(self, kind: str, signature: int) -> EngineRun:
        """Reads the shared file from end to end, in pieces that fit no transfer."""
        size = BLOCK * SEGMENTS * TASKS
        geometry = {"transfer": TRANSFER, "block": BLOCK, "tasks": TASKS}
        manifest = {
            "prefix": "file",
            "digits": 0,
            "generation": 1,
            "files": [[1, size]],
            "packet": {"type": kind, "signature": signature, **geometry},
        }
        keys: Json = {"operations": ["read"], "verify": "full", "dataset": "kept", "manifest": manifest}
        return self._run(case("sequential", pattern_size=size, pattern_transfer=10_001, **keys))

    def _run(self, document: Json) -> EngineRun:
        work = Path(tempfile.mkdtemp(dir=self.path))
        return run_engine(self.engine, plan([document]), work, options=["--dataset", f"kept={self.folder}"])

    def write(self, files: dict[str, bytes]) -> None:
        """Writes files."""
        for name, content in files.items():
            (self.folder / name).write_bytes(content)

    def ior(self, words: str) -> subprocess.CompletedProcess[str]:
        """Runs the real IOR with the same geometry and signature."""
        geometry = f"-t {TRANSFER} -b {BLOCK} -s {SEGMENTS} -G {SIGNATURE} -k -o {self.folder}/file"
        return run_ior(self.engine, f"{words} {geometry}", TASKS)


@pytest.fixture
def place(engine: Engine, tmp_path: Path) -> Place:
    """An empty folder."""
    (tmp_path / "files").mkdir()
    return Place(engine, tmp_path)


def flip(file: Path, offset: int) -> None:
    """Changes a bit of a byte of a file."""
    content = bytearray(file.read_bytes())
    content[offset] ^= 4
    file.write_bytes(content)


def check_reads(found: EngineRun) -> None:
    """Checks that a run verified all bytes of the files, and found none wrong."""
    assert found.returncode == 0, found.stderr
    assert found.of("error") == []
    sample = found.sample(operation="read")
    assert sample["valid"] is True
    assert sample["verify"]["checked_bytes"] == TASKS * SEGMENTS * BLOCK


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("kind", TYPES)
# proves measuring: packets, packet-words, packet-timestamp, packet-offset, packet-incompressible
# proves measuring: packet-random
def test_what_strider_writes_is_what_ior_would_write(place: Place, kind: str, sharing: str) -> None:
    found = place.run(kind, sharing, ["write", "read"], order="random")
    check_reads(found)
    assert {file.name: file.read_bytes() for file in place.folder.iterdir()} == files_of(kind, sharing)


@pytest.mark.parametrize("kind", TYPES)
# proves measuring: packets, packet-any-reader
def test_what_ior_writes_is_verified_by_another_rank_than_wrote_it(place: Place, kind: str) -> None:
    for sharing in SHARINGS:
        place.write(files_of(kind, sharing))
        check_reads(place.run(kind, sharing, ["read"], readback="shift"))


# proves measuring: packet-verified
def test_one_wrong_bit_is_found_in_its_file_at_its_offset(place: Place) -> None:
    place.write(files_of("offset", "per-rank"))
    flip(place.folder / "file.00000001", 20_001)
    found = place.run("offset", "per-rank", ["read"])
    (error,) = found.of("error")
    assert (Path(error["file"]).name, error["class"], error["offset"]) == ("file.00000001", "flipped", 20_001)
    assert found.sample(operation="read")["valid"] is False


def test_files_that_were_exchanged_are_found(place: Place) -> None:
    files = files_of("incompressible", "per-rank")
    place.write({"file.00000000": files["file.00000001"], "file.00000001": files["file.00000000"]})
    found = place.run("incompressible", "per-rank", ["read"])
    assert {error["class"] for error in found.of("error")} == {"misplaced"}


def test_any_pattern_reads_files_of_which_the_plan_says_how_they_were_written(place: Place) -> None:
    place.write(files_of("random", "shared"))
    check_reads(place.read_in_order("random", SIGNATURE))


# proves measuring: packet-foreign-1
def test_another_signature_is_data_of_another_run(place: Place) -> None:
    place.write(files_of("timestamp", "shared"))
    found = place.read_in_order("timestamp", SIGNATURE + 7)
    assert "of another run" in found.of("error")[0]["message"]


@pytest.mark.parametrize("sharing", SHARINGS)
def test_ior_and_strider_verify_each_other(place: Place, sharing: str) -> None:
    own = "-F" if sharing == "per-rank" else ""
    for kind in TYPES:
        done = place.ior(f"-w -l {kind[0]} {own}")
        assert done.returncode == 0, done.stdout + done.stderr
        check_reads(place.run(kind, sharing, ["read"], readback="shift"))
        for file in place.folder.iterdir():
            file.unlink()
        check_reads(place.run(kind, sharing, ["write", "read"]))
        assert "Incorrect data" not in place.ior(f"-R -C -l {kind[0]} {own}").stdout
        flip(min(place.folder.iterdir()), 20_000)
        assert "Incorrect data" in place.ior(f"-R -C -l {kind[0]} {own}").stdout

"""Files that stay from one `strider ior` to the next, under the user's names, and IOR's on the same files."""

import io
import json
import os
import shlex
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from harness import wait_for
from ior_packets import Packets
from real_ior import run_ior
from strider.engine import Engine
from strider.errors import StriderError
from strider.importers.imported import Imported
from strider.importers.ior import read_command
from strider.importers.options import Surroundings
from strider.launch import Outcome, interruptions
from strider.running.options import RunOptions
from strider.running.performing import display_of, perform
from strider.running.sizing import prepare
from strider.store import Run, load
from strider.suite.mistakes import SuiteError

SMALL = "-b 128k -t 32k"


@dataclass(frozen=True)
class Done:
    """A command line that was run."""

    imported: Imported
    outcome: Outcome
    said: str

    @property
    def run(self) -> Run:
        """Its results."""
        return load(self.outcome.directory.path)

    @property
    def rows(self) -> list[list[str]]:
        """IOR's rows of its accesses, in words."""
        lines = self.imported.render(self.run, {})
        words = [line.split() for line in lines]
        return [row for row in words if row and row[0] in ("write", "read") and len(row) == 11]

    @property
    def requests(self) -> list[int]:
        """Requests of its samples."""
        return [sample.requests for sample in self.run.samples if sample.measured]


@dataclass(frozen=True)
class Place:
    """A directory with test files, and command lines on it."""

    path: Path
    engine: Engine

    @property
    def target(self) -> Path:
        """The directory."""
        return self.path / "target"

    def read(self, arguments: str, tasks: int = 2, file: str = "file") -> Imported:
        """Reads a command line."""
        words = ["-o", str(self.target / file), *shlex.split(arguments)]
        return read_command(words, Surroundings(tasks, keeps_files=True))

    def ior(
        self, arguments: str, tasks: int = 2, exit_code: int = 0, meanwhile: Callable[[], None] = lambda: None
    ) -> Done:
        """Runs a command line without a report."""
        imported = self.read(arguments, tasks)
        for file in imported.files:
            assert file.check
            file.check()
        options = RunOptions(quiet=True, counters="none", ceilings="none", store=self.path / "store")
        prepared = prepare(imported.document, options, manifests=imported.manifests)
        meanwhile()
        console = Console(record=True, quiet=False, file=io.StringIO())
        with interruptions() as interrupted:
            outcome = perform(
                prepared, display_of(prepared, options, Console(quiet=True)), console, interrupted
            )
        said = console.export_text()
        assert outcome.exit_code == exit_code, said
        done = Done(imported, outcome, said)
        for file in imported.files:
            assert file.write
            file.write(done.run)
        return done

    def refusal_of(self, arguments: str, tasks: int = 2) -> str:
        """Returns why a command line is refused."""
        with pytest.raises(SuiteError) as refused:
            self.read(arguments, tasks)
        return refused.value.message

    def names(self) -> list[str]:
        """Returns the paths of all files in the directory, without markers."""
        found = (path for path in self.target.rglob("*") if not path.is_dir())
        names = sorted(str(path.relative_to(self.target)) for path in found)
        return [name for name in names if not name.startswith(".strider-data")]

    def markers(self) -> list[str]:
        """Returns the names of markers."""
        return sorted(path.name for path in self.target.iterdir() if path.name.startswith(".strider-data"))

    def real(self, arguments: str, tasks: int = 2, exit_code: int = 0) -> str:
        """Runs a command line with the real IOR; returns its output."""
        done = run_ior(self.engine, f"{arguments} -o {self.target}/file", tasks)
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def place(engine: Engine, tmp_path: Path) -> Place:
    """An empty directory."""
    (tmp_path / "target").mkdir()
    return Place(tmp_path, engine)


def test_a_file_stays_under_its_name_and_other_tasks_read_and_verify_it(place: Place) -> None:
    done = place.ior(f"-w -k {SMALL}")
    assert (place.names(), place.markers()) == (["file"], [".strider-data.file"])
    status = (place.target / "file").stat()
    assert (status.st_size, stat.S_IMODE(status.st_mode)) == (256 << 10, 0o664 & ~umask())
    assert [row[0] for row in done.rows] == ["write"]
    reader = place.ior("-r -R -k -b 64k -t 16k", tasks=4)
    assert [row[0] for row in reader.rows] == ["read"]
    verified = reader.run.samples[0].verify
    assert verified is not None
    assert (verified.checked_bytes, verified.wrong_bytes) == (256 << 10, 0)
    assert (place.target / "file").stat().st_mtime_ns == status.st_mtime_ns
    assert not list(place.target.glob("strider-*"))


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_flipped_byte_is_found_by_a_later_read_and_a_change_of_the_file_is_named(place: Place) -> None:
    place.ior(f"-w -k {SMALL}")
    file = place.target / "file"
    before = file.stat()
    with file.open("r+b") as opened:
        opened.seek(70_000)
        byte = opened.read(1)[0]
        opened.seek(70_000)
        opened.write(bytes([byte ^ 1]))
    assert "has changed since Strider wrote it" in place.refusal_of(f"-r -R -k {SMALL}")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as storage does that loses data
    done = place.ior(f"-r -R {SMALL} -K", exit_code=1)
    assert any(not sample.valid for sample in done.run.samples)
    assert place.names() == ["file"], "-K keeps what is wrong"


def test_a_read_without_k_removes_what_strider_wrote_and_nothing_else(place: Place) -> None:
    place.ior(f"-w -k -F {SMALL}")
    assert place.names() == ["file.00000000", "file.00000001"]
    assert place.markers() == [".strider-data.file.per-rank"]
    place.ior(f"-r -F {SMALL}", tasks=1)
    assert place.names() == ["file.00000001"], "a task removes its own file"
    place.ior("-r -b 8 -t 8 -F -k -N 1", tasks=1) if False else None
    (place.target / "file").write_bytes(bytes(256 << 10))
    done = place.ior(f"-r {SMALL}")
    assert "not made by Strider, or changed since, so not removed" in done.said
    assert place.names() == ["file", "file.00000001"]


def test_directories_of_tasks_and_files_of_repetitions_have_iors_names(place: Place) -> None:
    done = place.ior(f"-w -k -F -u -m -i 2 {SMALL}")
    assert [(row[0], row[-1]) for row in done.rows] == [("write", "0"), ("write", "1")]
    assert place.names() == [f"{task}/file.0000000{task}.{i}" for task in (0, 1) for i in (0, 1)]
    done = place.ior(f"-r -R -F -u -m -i 2 {SMALL}")
    assert [(row[0], row[-1]) for row in done.rows] == [("read", "0"), ("read", "1")]
    assert (place.names(), place.markers(), list(place.target.iterdir())) == ([], [], [])


def test_a_file_is_overwritten_in_place_also_in_part_and_a_foreign_one_stays(place: Place) -> None:
    file = place.target / "file"
    file.write_bytes(b"x" * (300 << 10))
    inode = file.stat().st_ino
    done = place.ior(f"-w -E {SMALL}")
    assert (file.stat().st_ino, file.stat().st_size) == (inode, 300 << 10)
    assert file.read_bytes()[256 << 10 :] == b"x" * (44 << 10)
    assert b"x" * 64 not in file.read_bytes()[: 256 << 10]
    assert "not made by Strider, or changed since, so not removed" in done.said
    assert "cannot be checked" in place.refusal_of(f"-r -R {SMALL}"), "it holds data of two writers"
    place.ior("-w -E -k -b 150k -t 50k -r -R")
    place.ior("-r -R -k -b 300k -t 50k", tasks=1)


def test_an_own_file_is_replaced_by_a_write_and_removed_by_one_without_k(place: Place) -> None:
    place.ior(f"-w -k {SMALL}")
    first = (place.target / "file").stat().st_ino
    place.ior(f"-w -k -r -R {SMALL} -i 2", tasks=1)
    assert (place.target / "file").stat().st_size == 128 << 10
    place.ior(f"-w {SMALL}")
    assert (place.names(), place.markers(), first > 0) == ([], [], True)


def test_a_deadline_leaves_its_count_and_a_read_does_exactly_as_much(place: Place) -> None:
    status = place.path / "status"
    limit = f"-O stoneWallingStatusFile={status}"
    block = "-b 1g -t 512 -F"  # more requests than any machine has in a second
    done = place.ior(f"-w -k {block} -D 1 -O stoneWallingWearOut=1 {limit}")
    count = int(status.read_bytes())
    assert 0 < count < 1 << 21
    assert done.requests == [2 * count]
    assert "has" in place.refusal_of(f"-r -k {block}")
    reader = place.ior(f"-r -R -k {block} {limit}")
    assert reader.requests == [2 * count]
    status.write_text(str(count // 2))
    assert place.ior(f"-r -k {block} {limit}").requests == [2 * (count // 2)]


def test_tests_of_a_script_follow_each_other_on_the_same_file(place: Place) -> None:
    script = place.path / "script"
    first = ["writeFile=1", "readFile=0", "keepFile=1", "RUN"]
    second = ["writeFile=0", "readFile=1", "checkRead=1", "keepFile=0", "RUN"]
    head = f"testFile={place.target}/file, blockSize=128k, transferSize=32k"
    script.write_text("\n".join(["IOR START", head, *first, *second, "IOR STOP"]))
    done = place.ior(f"-f {script}")
    assert [row[0] for row in done.rows] == ["write", "read"]
    assert (place.names(), place.markers()) == ([], [])


def test_a_file_that_a_later_test_of_a_script_overwrote_in_part_is_not_verified_as_one(place: Place) -> None:
    script = place.path / "script"
    head = (
        f"testFile={place.target}/file, blockSize=128k, transferSize=32k, keepFile=1, writeFile=1, readFile=0"
    )
    script.write_text(
        "\n".join(["IOR START", head, "RUN", "blockSize=64k", "useExistingTestFile=1", "RUN", "IOR STOP"])
    )
    place.ior(f"-f {script}")
    assert (place.target / "file").stat().st_size == 256 << 10
    assert "was written in several parts" in place.refusal_of(f"-r -R {SMALL}")


def test_files_of_others_are_never_replaced(place: Place) -> None:
    write = f"-w -k {SMALL}"
    file, precious = place.target / "file", place.target / "precious"
    precious.write_text("precious")
    file.write_text("precious")
    remedy = "remove it, choose another -o, or overwrite it in place with -E"
    assert f"{file} exists and was not written by Strider: {remedy}" in place.refusal_of(write)
    makers: dict[str, Callable[[], None]] = {
        "is a symbolic link": lambda: file.symlink_to("precious"),
        "is a directory": file.mkdir,
        "is not a regular file": lambda: os.mkfifo(file),
    }
    for why, make in makers.items():
        file.rmdir() if file.is_dir() else file.unlink()
        make()
        for arguments in (write, f"-w -E {SMALL}", "-r -b 8 -t 8"):
            assert why in place.refusal_of(arguments)
    file.unlink()
    os.link(precious, file)
    assert "has 2 names" in place.refusal_of("-w -E -b 8 -t 8")
    assert precious.read_text() == "precious"
    for name in ("..", "a/.."):
        with pytest.raises(SuiteError, match="is not the name of a file"):
            place.read(write, file=name)


def test_a_marker_that_does_not_fit_permits_nothing(place: Place) -> None:
    place.ior(f"-w -k {SMALL}")
    write = f"-w -k {SMALL}"
    file, marker = place.target / "file", place.target / ".strider-data.file"
    text = marker.read_text()
    document = json.loads(text)
    document["files"][0]["bytes"] += 1
    marker.write_text(json.dumps(document))
    assert "or is another file" in place.refusal_of(write)
    marker.write_text(text)
    os.link(file, place.target / "other")
    assert "or is another file" in place.refusal_of(write)
    (place.target / "other").unlink()
    marker.write_text("{")
    assert "was not written by Strider" in place.refusal_of(write)
    marker.unlink()
    marker.symlink_to(place.path / "elsewhere")
    assert "was not written by Strider" in place.refusal_of(write)
    marker.unlink()
    marker.write_text(text)
    os.chown(marker, 12345, -1)
    assert "was not written by Strider" in place.refusal_of(write)


def test_a_file_that_appears_during_the_run_is_not_replaced(place: Place) -> None:
    file = place.target / "file"

    def disturb() -> None:
        wait_for(lambda: list(place.target.glob("strider-*/kept-*")), "the run's folder")
        file.write_text("precious")

    disturber = threading.Thread(target=disturb)
    done = place.ior(f"-w -k {SMALL}", exit_code=1, meanwhile=disturber.start)
    disturber.join()
    assert f"{file} appeared during the run and was not replaced" in done.said
    assert file.read_text() == "precious"
    assert not list(place.target.glob("strider-*"))


def test_a_file_that_appears_before_the_run_is_not_replaced(place: Place) -> None:
    file = place.target / "file"
    with pytest.raises(StriderError, match="is a symbolic link"):
        place.ior(f"-w -k {SMALL}", meanwhile=lambda: file.symlink_to("precious"))
    assert place.names() == ["file"]
    assert not list(place.target.glob("strider-*"))


def test_a_missing_and_a_short_file_are_named_with_the_remedy(place: Place) -> None:
    assert f"{place.target}/file does not exist: write it first with -w -k" in place.refusal_of(f"-r {SMALL}")
    (place.target / "file").write_bytes(bytes(1000))
    said = place.refusal_of(f"-r {SMALL}")
    assert f"{place.target}/file has 1000 bytes, but the test reads 262144: write it with -w -k" in said
    assert "was not written by Strider, so its data cannot be checked" in place.refusal_of("-r -R -b 8 -t 8")


def verified_bytes(done: Done) -> int:
    """Returns the bytes that a read verified."""
    (sample,) = (sample for sample in done.run.samples if sample.operation == "read")
    assert sample.verify is not None
    return sample.verify.checked_bytes


def flip(file: Path, offset: int) -> None:
    """Changes a bit of a byte of a file."""
    content = file.read_bytes()
    file.write_bytes(content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :])


@pytest.mark.parametrize("kind", ["timestamp", "random"])
def test_with_a_signature_the_data_is_iors_and_the_marker_knows_it(place: Place, kind: str) -> None:
    place.ior(f"-w -k -F -s 2 -G 27 -l {kind} {SMALL}")
    packets = Packets(kind, 27, 32 << 10, 128 << 10, segments=2)
    assert {name: (place.target / name).read_bytes() for name in place.names()} == packets.files(
        per_rank=True
    )
    assert verified_bytes(place.ior("-r -R -k -F -b 16k -t 16k")) == 32 << 10


def test_a_wrong_byte_of_a_file_of_ior_is_located(place: Place) -> None:
    (content,) = Packets("offset", 27, 32 << 10, 128 << 10).files(per_rank=False).values()
    file = place.target / "file"
    file.write_bytes(content)
    assert verified_bytes(place.ior(f"-r -R -k -G 27 -l o -C {SMALL}")) == 256 << 10
    flip(file, 70_000)
    done = place.ior(f"-r -R -k -G 27 -l o {SMALL}", exit_code=1)
    assert [(error.offset, error.kind) for error in done.run.errors] == [(70_000, "verify")]


def test_the_data_of_ior_is_checked_also_without_a_marker(place: Place) -> None:
    signature = 27
    place.ior(f"-w -k -G {signature} {SMALL}")
    (content,) = Packets("timestamp", signature, 32 << 10, 128 << 10).files(per_rank=False).values()
    assert (place.target / "file").read_bytes() == content
    (place.target / ".strider-data.file").unlink()
    reader = place.ior(f"-r -R -k -G {signature} {SMALL}")
    assert reader.run.samples[0].valid
    other = place.ior(f"-r -R -k -G {signature + 1} {SMALL}", exit_code=1)
    assert not other.run.samples[0].valid
    assert "give -G and -l of the write" in place.refusal_of(f"-r -R -k {SMALL}")
    assert '"x" is not a type of data' in place.refusal_of(f"-w -k -l x {SMALL}")


def test_the_marker_knows_who_wrote_data_in_iors_form(place: Place) -> None:
    place.ior(f"-w -k -G 27 {SMALL}")
    assert verified_bytes(place.ior("-r -R -k -G 27 -b 256k -t 64k", tasks=1)) == 256 << 10


@pytest.mark.parametrize("form", ["-G 27", "-G 27 -l o -F", "-G 27 -l i -s 3", "-G 27 -l r -F -s 3"])
def test_the_real_ior_checks_data_of_strider_and_the_other_way_round(place: Place, form: str) -> None:
    place.ior(f"-w -k {form} {SMALL}")
    written = {name: (place.target / name).read_bytes() for name in place.names()}
    assert "Incorrect data" not in place.real(f"-r -R -E -C -k {form} {SMALL}")
    flip(place.target / min(written), 70_000)
    assert "(1 errors found)" in place.real(f"-r -R -E -k {form} {SMALL}", exit_code=2)
    place.real(f"-w -k {form} {SMALL}")
    assert {name: (place.target / name).read_bytes() for name in place.names()} == written
    assert verified_bytes(place.ior(f"-r -R -k -C {form} {SMALL}")) == sum(map(len, written.values()))
    other = form.replace("27", "28")
    assert not place.ior(f"-r -R -k {other} {SMALL}", exit_code=1).run.samples[0].valid


@pytest.mark.parametrize("arguments", ["", "-F", "-F -u", "-s 2 -C"])
def test_the_real_ior_reads_what_strider_wrote_and_the_other_way_round(place: Place, arguments: str) -> None:
    place.real(f"-w -k {SMALL} {arguments}")
    sizes = {name: (place.target / name).stat().st_size for name in place.names()}
    place.ior(f"-r -k {SMALL} {arguments}")
    assert "not made by Strider" in place.ior(f"-r {SMALL} {arguments}").said
    for name in place.names():
        (place.target / name).unlink()
    place.ior(f"-w -k {SMALL} {arguments}")
    assert {name: (place.target / name).stat().st_size for name in place.names()} == sizes
    assert "WARNING" not in place.real(f"-r -k {SMALL} {arguments}")
    place.real(f"-w -E -k {SMALL} {arguments}")
    place.ior(f"-w -E -k {SMALL} {arguments}")

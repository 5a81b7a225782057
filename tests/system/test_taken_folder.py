"""What another user puts in the place of a run's folder, or of its files, is not written."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import (
    EngineJob,
    EngineRun,
    Json,
    after_samples,
    case,
    plan,
    run_engine,
    run_with_pauses,
    strider_command,
    tree_case,
)
from strider.engine import Engine
from strider.launch import folder
from strider.launch.folder import Folder

TRANSFERS: dict[str, Json] = {"pattern_transfer": 65536, "pattern_block": 1 << 18, "clients": 2}
BY_PATH = ["posix", "mpiio", "hdf5"]
NOBODY = 65534


def needs(engine: Engine, interface: str) -> None:
    """Skips where the interface is missing."""
    if interface not in [entry.name for entry in engine.description.interfaces if entry.available]:
        pytest.skip(f"needs the interface {interface}")


def as_nobody(action: Callable[[], None]) -> None:
    """Does something as another user."""
    if os.geteuid() != 0:
        pytest.skip("machine: only root can be several users")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            action()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def take(own: Path, precious: Path) -> None:
    """Puts a directory with the same marker into the place of a run's folder, with a link to a file."""
    own.rename(own.with_name("moved"))
    own.mkdir()
    (own / folder.MARKER).write_text(json.dumps({"run": "test", "host": "h", "pid": 1}), encoding="utf-8")
    (own / "case1.0").symlink_to(precious)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user outside of the target."""
    file = tmp_path / "precious"
    file.write_text("keep me", encoding="utf-8")
    return file


@pytest.fixture
def own(tmp_path: Path) -> Folder:
    """The folder of a run in a target that others can write."""
    for directory in (*[one for one in tmp_path.parents if one.stat().st_uid == os.geteuid()], tmp_path):
        directory.chmod(directory.stat().st_mode | 0o055)
    target = tmp_path / "target"
    target.mkdir()
    target.chmod(0o777)
    return folder.create(target, "test")


def started(engine: Engine, own: Folder, work: Path, document: Json) -> EngineRun:
    """A run of the engine without confinement, as `strider run --confine off` starts it."""
    return run_engine(
        engine, document, work, directory=own.path, options=["--marker", "required", *own.words()]
    )


@pytest.mark.parametrize("who", ["another user", "the same user"])
@pytest.mark.parametrize("interface", BY_PATH)
def test_a_directory_with_the_marker_of_the_run_is_not_its_folder(
    engine: Engine, tmp_path: Path, own: Folder, precious: Path, interface: str, who: str
) -> None:
    needs(engine, interface)
    if who == "another user":
        as_nobody(lambda: take(own.path, precious))
    else:
        take(own.path, precious)
    document = plan([case("segmented", interface, operations=["write", "read"], **TRANSFERS)])
    done = started(engine, own, tmp_path, document)
    assert precious.read_text(encoding="utf-8") == "keep me"
    assert done.returncode == 1, done.stderr
    (error,) = done.of("error")
    assert "this directory is not the one that the run was given" in error["message"]
    assert error["file"] == str(own.path)
    assert not done.of("sample")


def test_nor_for_trees(engine: Engine, tmp_path: Path, own: Folder, precious: Path) -> None:
    take(own.path, precious)
    done = started(engine, own, tmp_path, plan([tree_case(["create"], "mpiio", tree_items=3)]))
    assert done.returncode == 1
    assert "this directory is not the one that the run was given" in done.of("error")[0]["message"]
    assert {entry.name for entry in own.path.iterdir()} == {folder.MARKER, "case1.0"}


@pytest.mark.parametrize("interface", BY_PATH)
def test_the_folder_of_the_run_is_accepted(
    engine: Engine, tmp_path: Path, own: Folder, interface: str
) -> None:
    needs(engine, interface)
    document = plan(
        [case("segmented", interface, operations=["write", "rewrite", "read"], verify="full", **TRANSFERS)]
    )
    done = started(engine, own, tmp_path, document)
    assert done.returncode == 0, done.of("error")
    assert [entry.name for entry in own.path.iterdir()] == [folder.MARKER]


@pytest.mark.parametrize("interface", ["posix", "mpiio"])
def test_a_folder_that_is_taken_during_the_run_is_seen_before_the_next_phase(
    engine: Engine, tmp_path: Path, precious: Path, interface: str
) -> None:
    document = plan([case("segmented", interface, operations=["write", "rewrite"], settle=1.0, **TRANSFERS)])

    def swap(job: EngineJob) -> None:
        job.directory.rename(job.work / "moved")
        job.directory.mkdir()
        (job.directory / "case1.0").symlink_to(precious)

    done = run_with_pauses(engine, document, tmp_path, after_samples(1, swap))
    assert precious.read_text(encoding="utf-8") == "keep me"
    errors = done.of("error", operation="rewrite")
    assert "no longer leads to the directory" in errors[0]["message"]
    assert not done.of("sample", operation="rewrite")


REWRITE = """
[suite]
name = "updater"
[[case]]
dataset = "kept"
interface = "INTERFACE"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
clients = 2
operations = ["OPERATION"]
repetitions = 1
"""


@pytest.mark.parametrize("interface", ["posix", "mmap", "mpiio"])
@pytest.mark.parametrize("link", ["hard", "symbolic"])
def test_a_rewrite_of_a_data_set_writes_through_no_link(
    engine: Engine, tmp_path: Path, precious: Path, interface: str, link: str
) -> None:
    needs(engine, interface)
    target = tmp_path / "target"
    target.mkdir()

    def run(operation: str) -> subprocess.CompletedProcess[str]:
        suite = REWRITE.replace("INTERFACE", interface).replace("OPERATION", operation)
        (tmp_path / "s.toml").write_text(suite, encoding="utf-8")
        fixed = ("--target", target, "--store", tmp_path / "runs", "--quiet", "--ceilings", "none")
        words = strider_command("run", tmp_path / "s.toml", *fixed, "--confine", "off")
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)

    assert run("write").returncode == 0
    file = target / "strider-data-kept" / "data.0"
    shutil.copyfile(file, precious)
    before = precious.read_bytes()
    file.unlink()
    if link == "hard":
        os.link(precious, file)
    else:
        file.symlink_to(precious)
    done = run("rewrite")
    said = " ".join(done.stderr.split()) + " ".join(done.stdout.split())
    assert done.returncode == 1, said
    assert precious.read_bytes() == before
    assert str(file) in said
    assert ("2 names (hard links)" if link == "hard" else "a symbolic link has replaced") in said
    shutil.copyfile(precious, target / "copy")
    (target / "copy").replace(file)
    assert run("rewrite").returncode == 0, "a copy in its place is a file of the set again"
    assert precious.read_bytes() == before

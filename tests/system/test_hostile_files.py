"""No file of another user ends a process, starts a program, changes a file or stops a list.

`STRIDER_HOSTILE=N` reads N of each kind.
"""

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from builders import CaseSpec, RunBuilder
from hostile import World, damage_run, ran
from serving import Server
from strider.cli import main
from strider.engine import Engine

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("STRIDER_HOSTILE", "60"))
RUN = "2026-11-21-101112-synthetic-abcd"
SUITE = """
[suite]
name = "s"
target = "{target}"
clients = [1, 2]
repetitions = 2
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "4KiB"
block = "16KiB"
operations = ["write", "read"]
verify = "full"
[[case]]
interface = "posix"
tree = "balanced"
items = 3
operations = ["create", "stat"]
"""


@pytest.fixture(scope="module")
def runs(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Run directories as engines write them."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "target").mkdir()
    (folder / "suite.toml").write_text(SUITE.format(target=folder / "target"))
    os.environ["STRIDER_ENGINE"] = str(engine.path)
    assert main(["run", str(folder / "suite.toml"), "--store", str(folder / "store"), "--quiet"]) == 0
    (made,) = (folder / "store").glob("*-s-*")
    older = RunBuilder([CaseSpec(), CaseSpec(clients=3)], repetitions=2).write(folder / RUN)
    return [made, made, older]


def verbs(run: Path, whole: Path, scratch: Path) -> list[list[str]]:
    store = str(run.parent)
    return [
        ["list", "--store", store],
        ["list", "--json", "--store", store],
        ["show", str(run)],
        ["show", "--json", str(run)],
        ["show", "--counters", str(run)],
        ["watch", "--store", store, run.name],
        ["report", str(run), "-o", str(scratch / "report.html")],
        ["compare", str(whole), str(run)],
        ["export", str(run), "--format", "csv", "-o", str(scratch / "table.csv")],
        ["rm", "--dry-run", "--store", store, run.name],
        ["rm", "--dry-run", "--keep", "0", "--store", store],
        ["resume", "--store", store, run.name],
    ]


def test_no_run_directory_stops_a_verb(runs: list[Path], tmp_path: Path) -> None:
    random = Random(7)
    complaints: list[str] = []
    for number in range(COUNT):
        whole = random.choice(runs)
        run = tmp_path / "store" / whole.name
        shutil.copytree(whole, run)
        where = damage_run(run, random)
        words = random.choice(verbs(run, whole, tmp_path))
        if number % 4 == 0:
            words = verbs(run, whole, tmp_path)[0]
        done = ran(words)
        complaints += [f"{where}\n{complaint}" for complaint in done.complaints()]
        # Without a file run.json it is no run (tests/python/store/test_runs.py).
        is_run = (run / "run.json").is_file()
        if is_run and words[0] == "list" and "--json" not in words and run.name not in done.printed:
            complaints.append(f"{where}: not listed: {done.printed}")
        shutil.rmtree(run.parent)
    assert not complaints, "\n".join(complaints[:5]) + f"\n{len(complaints)} of {COUNT}"


def test_no_run_directory_stops_a_page(engine: Engine, runs: list[Path], tmp_path: Path) -> None:
    random = Random(8)
    complaints: list[str] = []
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as server:
        assert server.enter().status == 200
        for number in range(max(1, COUNT // 3)):
            whole = random.choice(runs)
            run = server.store / f"2026-11-{1 + number % 28:02}-{number:06}-synthetic-abcd"
            shutil.copytree(whole, run)
            where = damage_run(run, random)
            for page in ("/runs", f"/runs/{run.name}", f"/?run={run.name}", "/runs?q=synthetic"):
                answer = server.ask("GET", page)
                if answer.status not in (200, 400, 404):
                    complaints.append(f"{where}\n{page}: {answer.status} {answer.body[:300]!r}")
            is_run = (run / "run.json").is_file()
            if is_run and run.name.encode() not in server.ask("GET", f"/runs?q={run.name}").body:
                complaints.append(f"{where}\nnot listed")
            shutil.rmtree(run)
    assert not complaints, "\n".join(complaints[:5]) + f"\n{len(complaints)} of {COUNT}"


def planted(folder: Path, count: int, seed: int) -> list[str]:
    """Lets verbs read state files of another user; returns what must not be."""
    world = World(folder, Random(seed))
    complaints: list[str] = []
    try:
        for _ in range(count):
            file, words, how = world.plant()
            done = ran(words)
            found = [*done.complaints(), *world.complaints()]
            if done.code not in (2, 3):
                found.append(f"exit code {done.code}")
            if str(file) not in done.printed and str(file.parent) not in done.printed:
                found.append("the file is not named")
            complaints += [f"{how} {file.name} {words[:2]}: {one}\n{done.printed}" for one in found]
    finally:
        world.close()
    return complaints


def test_a_folder_that_cannot_be_read_keeps_no_other_from_being_cleaned(open_folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("machine: only root makes folders of others")
    (open_folder / "strider-data-x").mkdir(0)
    (open_folder / "strider-y").mkdir()
    ran(["clean", "--dry-run", str(open_folder)])  # the other user may not be able to read Python's modules
    result = open_folder / "result"
    result.touch()
    os.chown(result, 65534, 65534)
    (printed,) = as_user(65534, lambda: [ran(["clean", "--dry-run", str(open_folder)]).printed], result)
    assert "strider-data-x: left: it cannot be read: Permission denied" in printed
    assert "strider-y: left: " in printed


def as_user(user: int, act: Callable[[], list[str]], result: Path) -> list[str]:
    """Returns the result of a function in a process of another user."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            result.write_text("\0".join(act()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    return [line for line in result.read_text().split("\0") if line]


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that another user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="strider-hostile-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("user", [0, 65534])
def test_no_state_file_of_another_user_is_obeyed(engine: Engine, open_folder: Path, user: int) -> None:
    os.environ["STRIDER_ENGINE"] = str(engine.path)
    if user and os.geteuid() != 0:
        pytest.skip("machine: only root becomes another user")
    planted(open_folder, 12, 0)  # the other user may not be able to read Python's modules
    for path in (open_folder, *open_folder.iterdir()):
        os.chown(path, user, user)
    shutil.rmtree(open_folder / "planted")
    complaints = as_user(user, lambda: planted(open_folder, COUNT, user + 1), open_folder / "result")
    assert not complaints, "\n".join(complaints[:5]) + f"\n{len(complaints)} of {COUNT}"

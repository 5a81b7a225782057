"""The index of a store shows the same as a scan of all runs, and reads no run that it knows."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import CaseSpec, RunBuilder
from strider.cli import main
from strider.listing import index
from strider.listing.index import Index
from strider.listing.names import run_directories
from strider.listing.summary import SEARCHED, RunSummary
from strider.store.labels import write_labels
from strider.store.runs import summarize

#: Longer than the clock of a file system takes to advance.
TICK_S = 0.02
#: Counts the files that a list opens in the store, and prints the slow modules that it imported.
COUNTING = """
import sys
opened = set()
sys.addaudithook(lambda event, words: event == "open" and opened.add(str(words[0])))
from strider.cli import main
main(["list", *sys.argv[2:], "--store", sys.argv[1]])
slow = {"rich.console", "duckdb", "scipy", "strider.launch", "strider.store"} & set(sys.modules)
print(sum(name.startswith(sys.argv[1]) for name in opened), sorted(slow), file=sys.stderr)
"""
#: Adds six runs to a store, and lists it after each.
ADDING = """
import sys
from pathlib import Path
import test_index as t
t.index.SETTLED_S, t.index.QUIET_S, t.index.FEWEST_RUNS = t.TICK_S, t.TICK_S, 1
store, template, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for number in range(first, first + 6):
    t.add(store, template, number)
    t.listed(store)
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are kept in the index as soon as that is safe, also of a small store."""
    monkeypatch.setattr(index, "SETTLED_S", TICK_S)
    monkeypatch.setattr(index, "QUIET_S", TICK_S)
    monkeypatch.setattr(index, "FEWEST_RUNS", 1)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to copy."""
    return RunBuilder([CaseSpec()], repetitions=1).write(tmp_path_factory.mktemp("template") / "run")


def name_of(number: int) -> str:
    return f"2026-11-{1 + number % 28:02d}-{number:06d}-quick-abcd"


def add(store: Path, template: Path, number: int) -> None:
    """Copies a run under another id, if it is not there."""
    copy = store / name_of(number)
    if not copy.exists():
        shutil.copytree(template, copy)
        edit(copy, "run", name_of(number))


def edit(run: Path, key: str, value: object) -> None:
    """Changes `run.json` in place, unless it is damaged."""
    with suppress(ValueError):
        document = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**document, key: value}))


def scanned(store: Path) -> list[RunSummary]:
    return [summarize(directory) for directory in run_directories(store)]


def listed(store: Path, read: Callable[[Path], RunSummary] = summarize) -> list[RunSummary]:
    """The list of a new process once the runs are settled."""
    time.sleep(2 * TICK_S)
    return [as_read(run) for run in Index(store, read).all()]


def as_read(run: RunSummary) -> RunSummary:
    """Lists of JSON as the tuples that they were."""
    lists = ("interfaces", "patterns", "operations", "tags")
    vars(run).update({name: tuple(vars(run)[name]) for name in lists})
    return run


def swap_status(run: Path) -> None:
    """Edits by hand without another size, and sets the time back."""
    before, text = (run / "run.json").stat(), (run / "run.json").read_text()
    new = text.replace('"exit_code": 0', '"exit_code": 1') if "exit_code" in text else text
    (run / "run.json").write_text(new)
    os.utime(run / "run.json", ns=(before.st_atime_ns, before.st_mtime_ns))


def tear(store: Path) -> None:
    """Cuts the file of the index in the middle of an entry."""
    file = Index(store, summarize).file
    if file.exists():
        os.truncate(file, file.stat().st_size // 2)


OF_RUNS: dict[str, Callable[[Path], object]] = {
    "edit": swap_status,
    "fail": lambda run: edit(run, "status", "failed"),
    "reopen": lambda run: edit(run, "ended", None),
    "seal": lambda run: edit(run, "ended", "2026-11-21T10:00:00Z"),
    "ruin": lambda run: (run / "run.json").write_text("{ torn"),
    "tag": lambda run: write_labels(run, "good", "a note"),
    "cut events": lambda run: os.truncate(run / "events.jsonl", 100),
    "limit": lambda run: edit(run, "time_limit_s", 8.0),
    "draw": lambda run: (run / "report.html").write_text('<meta name="description" content="fast">'),
    "remove": shutil.rmtree,
}
OF_STORES: dict[str, Callable[[Path], object]] = {
    "list": listed,
    "tear": tear,
    "forget": lambda store: Index(store, summarize).file.unlink(missing_ok=True),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["add", *OF_RUNS, *OF_STORES]), st.integers(0, 3)), max_size=12))
def test_after_any_changes_the_index_shows_what_a_scan_shows(
    template: Path, tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    store = tmp_path_factory.mktemp("store")
    for number in (0, 1):
        add(store, template, number)
    listed(store)
    for change, number in changes:
        run = store / name_of(number)
        if change in OF_STORES:
            OF_STORES[change](store)
        elif change == "add":
            add(store, template, number)
        elif run.exists():
            OF_RUNS[change](run)
    assert listed(store) == scanned(store)
    assert listed(store) == scanned(store)


def test_two_processes_that_list_and_add_at_the_same_time_leave_a_right_index(
    template: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    words = [sys.executable, "-c", ADDING, str(store), str(template)]
    both = [subprocess.Popen([*words, first], env=environment) for first in ("0", "50")]
    assert [process.wait(120) for process in both] == [0, 0]
    assert listed(store) == scanned(store)
    assert len(listed(store)) == 12


class Counted:
    """Summarizes runs, and notes which."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, directory: Path) -> RunSummary:
        self.read.append(directory.name)
        return summarize(directory)


@pytest.mark.parametrize("ended", ["2026-11-21T10:00:00Z", None])
def test_a_run_whose_files_stay_is_read_once_by_all_processes(
    template: Path, tmp_path: Path, ended: str | None
) -> None:
    counted = Counted()
    for number in range(3):
        add(tmp_path, template, number)
    edit(tmp_path / name_of(1), "ended", ended)
    for _ in range(3):
        listed(tmp_path, counted)
    assert sorted(counted.read) == sorted(map(name_of, range(3)))


def test_a_run_without_an_end_is_read_again_after_each_change(template: Path, tmp_path: Path) -> None:
    counted, run = Counted(), tmp_path / name_of(0)
    add(tmp_path, template, 0)
    edit(run, "ended", None)
    listed(tmp_path, counted)
    with (run / "events.jsonl").open("a") as events:
        events.write("{}\n")
    listed(tmp_path, counted)
    listed(tmp_path, counted)
    assert counted.read == [run.name] * 2


def test_a_run_that_goes_on_is_not_written_into_the_index(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "QUIET_S", 3600)
    counted = Counted()
    for number in range(2):
        add(tmp_path, template, number)
    edit(tmp_path / name_of(1), "ended", None)
    for _ in range(3):
        listed(tmp_path, counted)
    assert sorted(counted.read) == [name_of(0), *[name_of(1)] * 3]


def test_a_run_that_just_changed_is_not_kept(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SETTLED_S", 3600)
    add(tmp_path, template, 0)
    assert listed(tmp_path) == scanned(tmp_path)
    assert not Index(tmp_path, summarize).file.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text.replace('"complete"', '"complexe"'),
        lambda text: text.replace("strider-index 1", "strider-index 0"),
        lambda text: "strider-index 1 00000000\nnull\n",
        lambda text: "\0" * 50,
    ],
)
def test_a_damaged_index_is_not_used_and_replaced(
    template: Path, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    add(tmp_path, template, 0)
    right = listed(tmp_path)
    file = Index(tmp_path, summarize).file
    whole = file.read_text()
    file.write_text(damage(whole))
    assert listed(tmp_path) == right == scanned(tmp_path)
    assert file.read_text() == whole


def test_an_index_is_private_and_no_link_is_followed(template: Path, tmp_path: Path) -> None:
    store, other = tmp_path / "store", tmp_path / "other"
    add(store, template, 0)
    listed(store)
    file = Index(store, summarize).file
    assert file.stat().st_mode & 0o777 == 0o600
    file.replace(other)
    file.symlink_to(other)
    assert Index(store, summarize)._loaded() == {}


def test_where_the_index_cannot_be_written_runs_are_read(template: Path, tmp_path: Path) -> None:
    add(tmp_path, template, 0)
    Index(tmp_path, summarize).file.mkdir()
    assert listed(tmp_path) == scanned(tmp_path)


def test_a_small_store_gets_no_index(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FEWEST_RUNS", 2)
    for number, files in ((0, []), (1, [Index(tmp_path, summarize).file])):
        add(tmp_path, template, number)
        listed(tmp_path)
        assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == files


@pytest.mark.parametrize("words", [[], ["quick", "--json", "--newest", "1"]])
def test_a_list_opens_one_file_whatever_the_number_of_runs(
    template: Path, tmp_path: Path, words: list[str]
) -> None:
    found = []
    for runs in (2, 4):
        for number in range(runs):
            add(tmp_path, template, number)
        listed(tmp_path)
        code = [sys.executable, "-c", COUNTING, str(tmp_path), *words]
        found.append(subprocess.run(code, capture_output=True, text=True, check=True).stderr)
    # The store itself is opened by its descriptor, which counts as a file.
    assert found == ["2 []\n", "2 []\n"]


def test_words_and_a_number_choose_runs(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        add(tmp_path, template, number)
    write_labels(tmp_path / name_of(1), "new-firmware", "")
    write_labels(tmp_path / name_of(3), "new-firmware", "")

    def found(*words: str) -> list[str]:
        assert main(["list", "--json", "--store", str(tmp_path), *words]) == 0
        return [row["run"] for row in json.loads(capfd.readouterr().out)]

    assert found("--newest", "2") == [name_of(2), name_of(3)]
    assert found("FIRMWARE", "complete") == [name_of(1), name_of(3)]
    assert found("firmware", "--newest", "1") == [name_of(3)]
    assert main(["list", "--store", str(tmp_path), "firmware", "none-like-it"]) == 0
    assert "has firmware none-like-it" in capfd.readouterr().err


def test_patterns_and_operations_are_searched_and_an_empty_answer_names_what_was(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add(tmp_path, template, 0)
    run = summarize(tmp_path / name_of(0))
    assert run.patterns
    assert run.operations
    for word in (*run.patterns, *run.operations):
        assert main(["list", "--json", "--store", str(tmp_path), word.upper()]) == 0
        assert [row["run"] for row in json.loads(capfd.readouterr().out)] == [name_of(0)]
    assert main(["list", "--store", str(tmp_path), "no-such-pattern"]) == 0
    assert f"has no-such-pattern in its {SEARCHED}" in capfd.readouterr().err


def test_a_phrase_is_searched_as_its_words(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add(tmp_path, template, 0)
    assert main(["list", "--json", "--store", str(tmp_path), "complete quick"]) == 0
    assert [row["run"] for row in json.loads(capfd.readouterr().out)] == [name_of(0)]


def test_known_runs_are_those_of_the_index_and_none_is_read(template: Path, tmp_path: Path) -> None:
    add(tmp_path, template, 0)
    listed(tmp_path)
    add(tmp_path, template, 1)
    known = Index(tmp_path, lambda run: pytest.fail(f"reads {run}")).known([name_of(0), name_of(1)])
    assert {name: as_read(run) for name, run in known.items()} == {
        name_of(0): summarize(tmp_path / name_of(0))
    }


def test_a_list_of_known_runs_does_not_wait_for_one_that_is_read(template: Path, tmp_path: Path) -> None:
    reading, done = Event(), Event()

    def slow(directory: Path) -> RunSummary:
        reading.set()
        assert done.wait(20)
        return summarize(directory)

    add(tmp_path, template, 0)
    listed(tmp_path)
    add(tmp_path, template, 1)
    shared = Index(tmp_path, slow)
    with ThreadPoolExecutor(1) as threads:
        both = threads.submit(shared.all)
        assert reading.wait(20)
        assert [run.run for run in shared.summaries([name_of(0)])] == [name_of(0)]
        done.set()
        assert [run.run for run in both.result(60)] == [name_of(0), name_of(1)]


def test_threads_that_read_the_same_runs_read_each_once(template: Path, tmp_path: Path) -> None:
    read: list[str] = []

    def counted(directory: Path) -> RunSummary:
        read.append(directory.name)
        time.sleep(TICK_S)
        return summarize(directory)

    for number in range(4):
        add(tmp_path, template, number)
    time.sleep(2 * TICK_S)
    shared = Index(tmp_path, counted)
    with ThreadPoolExecutor(3) as threads:
        for found in [threads.submit(shared.all) for _ in range(3)]:
            assert len(found.result(60)) == 4
    assert sorted(read) == [name_of(number) for number in range(4)]

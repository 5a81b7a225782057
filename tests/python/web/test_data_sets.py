"""Data sets and cut runs on the page: those that it may list, remove and continue."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from continued_builders import program, resumed
from datasets_builders import made
from strider.datasets.folder import opened
from strider.datasets.marker import Writer
from strider.engine import Engine
from strider.errors import StriderError
from strider.web import data_sets
from strider.web.continuing import is_cut, is_killed, require_resumable
from strider.web.jobs import Job, _work
from strider.web.runs import Runs
from strider.web.site import Site
from strider.web.submission import VerifyOrder


@pytest.fixture
def site(engine: Engine, tmp_path: Path) -> Site:
    """A page that may use `allowed`, with an empty store."""
    (tmp_path / "allowed").mkdir()
    (tmp_path / "store").mkdir()
    return Site(engine, tmp_path / "store", ((tmp_path / "allowed").resolve(),))


@pytest.fixture
def allowed(site: Site) -> Path:
    return site.allowed[0]


def test_sets_are_listed_with_size_and_age(site: Site, allowed: Path) -> None:
    made(allowed, "kept", [10, 20])
    (made(allowed, "lost", [1]) / ".strider-data").write_text("{}")
    found = data_sets.listed(str(allowed), site)
    assert [(row["name"], row["state"], row["size"]) for row in found.rows] == [
        ("kept", "complete", "30 B"),
        ("lost", "unreadable", ""),
    ]
    assert " d" in found.rows[0]["age"]


def test_a_thousand_sets_are_counted_and_some_are_shown(
    site: Site, allowed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_sets, "MOST_ROWS", 2)
    for number in range(5):
        made(allowed, f"set{number}", [])
    found = data_sets.listed(str(allowed), site)
    assert (len(found.rows), found.count) == (2, 5)


@pytest.mark.parametrize("name", ["../kept", "a/b", "", ".", "x" * 65, "a\nb"])
def test_what_is_no_name_is_refused(site: Site, allowed: Path, name: str) -> None:
    for refused in (data_sets.removed, data_sets.readers_of):
        with pytest.raises(StriderError, match="not the name of a data set"):
            refused(str(allowed), name, site)


def test_sets_outside_the_permitted_directories_are_out_of_reach(
    site: Site, allowed: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = made(outside, "kept", [10])
    (allowed / "way").symlink_to(outside)
    for directory in (str(outside), str(allowed / "way"), f"{allowed}/../outside"):
        for refused in (data_sets.removed, data_sets.readers_of):
            with pytest.raises(StriderError, match="outside the permitted directories"):
                refused(directory, "kept", site)
        with pytest.raises(StriderError, match="outside the permitted directories"):
            data_sets.listed(directory, site)
    (allowed / "strider-data-linked").symlink_to(folder)
    with pytest.raises(StriderError, match="cannot open"):
        data_sets.removed(str(allowed), "linked", site)
    assert (folder / "data.0").exists()


def test_removal_keeps_foreign_files_and_refuses_a_set_in_use(site: Site, allowed: Path) -> None:
    folder = made(allowed, "kept", [10])
    with opened(allowed, "kept") as held:
        marker = held.read()
        held.write(marker.with_(state="updating", writer=Writer.me("a run")))
    with pytest.raises(StriderError, match="wait for its end"):
        data_sets.removed(str(allowed), "kept", site)
    with opened(allowed, "kept") as held:
        held.write(marker)
    (folder / "mine").touch()
    done = data_sets.removed(str(allowed), "kept", site)
    assert (done["files"], len(done["kept"])) == (1, 1)
    assert (folder / "mine").exists()


def test_a_run_shows_its_starts_and_its_sets(site: Site, allowed: Path) -> None:
    starts = data_sets.history(change(resumed(site.store / "r", (1,)), resumed=[{"status": "killed"}]), site)
    assert [(one["number"], one["end"], one["pause"]) for one in starts["starts"]] == [
        (1, "killed, or cut by a power failure", "1 h"),
        (2, "end of the plan", ""),
    ]
    run = change(program(site.store / "p"), directory=str(allowed))
    found = data_sets.history(run, site)
    assert [step["action"] for step in found["steps"]] == ["made", "read", "updated"]
    assert found["sets"][0]["now"] == f"not in {allowed}"
    change(run, directory="/somewhere")
    assert data_sets.history(run, site)["sets"][0]["now"] == "in /somewhere, which this page may not read"


def test_most_runs_have_neither(site: Site) -> None:
    run = RunBuilder([CaseSpec()]).write(site.store / "r")
    assert data_sets.history(run, site) == {"starts": [], "sets": [], "steps": []}


OPTIONS = {"launcher": "mpiexec", "remount": [], "observe": []}


def change(run: Path, **keys: object) -> Path:
    """Changes `run.json`; a key with the value ... is removed."""
    info = json.loads((run / "run.json").read_text()) | keys
    (run / "run.json").write_text(json.dumps({key: one for key, one in info.items() if one is not ...}))
    return run


@pytest.fixture
def cut(site: Site, allowed: Path) -> Path:
    """A run that was interrupted, as one of the page."""
    path = RunBuilder([CaseSpec()]).write(site.store / "2026-11-21-040506-cut-abcd", status="interrupted")
    return change(path, directory=str(allowed), options=OPTIONS)


def test_a_cut_run_of_the_page_can_go_on(site: Site, cut: Path) -> None:
    assert require_resumable(cut, site) == "synthetic"
    assert is_cut(Runs(site.store).summary(cut.name))


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"options": {**OPTIONS, "remount": ["umount"]}}, "started with remount"),
        ({"options": {**OPTIONS, "observe": ["io1"]}}, "started with observe"),
        ({"options": {**OPTIONS, "launcher": "srun"}}, "another launcher"),
        ({"options": ...}, "older version"),
        ({"directory": "/"}, "outside the permitted directories"),
    ],
)
def test_what_a_page_may_not_do_it_does_not_continue(
    site: Site, cut: Path, keys: dict[str, Any], reason: str
) -> None:
    change(cut, **keys)
    with pytest.raises(StriderError, match=reason):
        require_resumable(cut, site)


def test_places_of_a_plan_are_judged_as_those_of_a_suite(site: Site, cut: Path) -> None:
    plan = json.loads((cut / "plan.json").read_text())
    plan["cases"][0]["interface"] = {"name": "mpiio", "hints": {"e10_cache_path": "/etc"}}
    (cut / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(StriderError, match=r"mpiio\.hints\.e10_cache_path"):
        require_resumable(cut, site)


def test_a_killed_run_is_told_from_an_active_one(site: Site, cut: Path) -> None:
    change(cut, ended=..., status=..., process={**Writer.me("x").model_dump()})
    assert not is_killed(cut)
    change(cut, process={**Writer.me("x").model_dump(), "start": 1})
    assert is_killed(cut)
    assert is_cut(Runs(site.store).summary(cut.name))
    change(cut, process={**Writer.me("x").model_dump(), "host": "elsewhere"})
    assert not is_killed(cut)


@pytest.mark.parametrize(
    ("order", "mark"),
    [
        ({"resumes": "2026-11-21-040506-cut-abcd"}, ("waiting", "waiting")),
        ({"verifies": VerifyOrder(directory="/mnt/x", name="kept")}, ("waiting", "waiting")),
    ],
)
def test_an_order_in_the_queue_outlives_the_server(
    tmp_path: Path, order: dict[str, Any], mark: tuple[str, str]
) -> None:
    job = Job(id="a", suite="a", folder=tmp_path / "a", submitted=datetime.now(UTC), **order)
    job.write("")
    job.keep()
    kept = Job.kept(tmp_path / "a")
    assert (kept.resumes, kept.verifies, kept.mark) == (job.resumes, job.verifies, mark)


@pytest.mark.parametrize(
    ("output", "mark"),
    [
        ("note: x\ndata set kept: all right: 1 B of 1 B read and compared, 1 files\n", ("done", "all right")),
        ("data set kept: 1 errors: 0 B of 1 B read and compared, 1 files\n", ("failed", "not right")),
        ("", ("failed", "not right")),
    ],
)
def test_a_verification_with_errors_does_not_look_like_success(
    tmp_path: Path, output: str, mark: tuple[str, str]
) -> None:
    order = VerifyOrder(directory="/mnt/x", name="kept")
    job = Job(id="a", suite="a", folder=tmp_path, submitted=datetime.now(UTC), verifies=order)
    job.state, job.output = "done", output
    assert job.mark == mark


def test_a_set_with_gaps_is_verified_by_as_many_clients_as_wrote_it(site: Site, allowed: Path) -> None:
    made(allowed, "kept", [10])
    assert 1 <= data_sets.readers_of(str(allowed), "kept", site) <= data_sets.MOST_READERS
    with opened(allowed, "kept") as held:
        held.write(held.read().with_(parts=[(1, 5)] * 7, case={"clients": 7}))
    assert data_sets.readers_of(str(allowed), "kept", site) == 7
    order = VerifyOrder(directory=str(allowed), name="kept", clients=7)
    job = Job(id="a", suite="a", folder=allowed, submitted=datetime.now(UTC), verifies=order)
    assert "-n 7" in " ".join(_work(job))

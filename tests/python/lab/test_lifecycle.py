"""A lab comes up whole or not at all, and goes down without a trace, whatever happened to it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.errors import ExitCode, StriderError
from strider.lab import Endpoint, Record, System, down, folder_of, read, state_of, up
from strider.lab.processes import marked
from strider.lab.record import FILE
from strider.lab.site import Site
from strider.processes import boot_id, identify, is_alive


def start_sleeper(site: Site) -> list[Endpoint]:
    site.daemon("sleeper", ["sleep", "60"])
    site.make("data")
    return [Endpoint(name="data", native={"server": "nowhere"})]


def start_halfway(site: Site) -> list[Endpoint]:
    start_sleeper(site)
    site.run(["sh", "-c", "echo no such luck; exit 7"])
    return []


def start_dying(site: Site) -> list[Endpoint]:
    site.daemon("mayfly", ["sh", "-c", "echo cannot bind; exit 4"])
    site.wait("the impossible", lambda: False)
    return []


def system(start: object = start_sleeper, **needs: str) -> System:
    return System(name="fake", doc="Sleeps.", needs=needs, mounting=False, start=start)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """These labs need no rights."""
    monkeypatch.setattr(System, "obstacle", lambda _: "")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the lab goes; at the end it is down."""
    # Folders of pytest may have longer names than a lab's.
    monkeypatch.setattr("strider.lab.lifecycle.LONGEST_FOLDER", 1000)
    place = folder_of(system(), tmp_path_factory.mktemp("lab"))
    yield place
    if (place / FILE).exists():
        down(place, lambda _: None)


def test_a_lab_is_up_until_it_is_taken_down(folder: Path) -> None:
    assert state_of(folder) == "down"
    record = up(system(), folder, print)
    assert state_of(folder) == "up"
    assert read(folder) == record
    assert record.endpoints[0].native == {"server": "nowhere"}
    down(folder, print)
    assert state_of(folder) == "down"
    assert not any(map(is_alive, record.processes))
    assert not folder.exists()


def test_a_second_one_in_the_same_place_is_refused(folder: Path) -> None:
    record = up(system(), folder, print)
    with pytest.raises(
        StriderError, match="holds a lab that is up: remove it with strider lab down fake --at "
    ):
        up(system(), folder, print)
    assert all(map(is_alive, record.processes))


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (start_halfway, "exit code 7\n  no such luck"),
        (start_dying, "mayfly exited with status 4\n  cannot bind"),
    ],
)
def test_a_start_that_fails_says_why_and_leaves_nothing(folder: Path, start: object, says: str) -> None:
    marks: list[str] = []

    def note_and_start(site: Site) -> list[Endpoint]:
        marks.append(site.record.mark)
        return start(site)  # type: ignore[operator, no-any-return]

    with pytest.raises(StriderError) as caught:
        up(system(note_and_start), folder, print)
    assert says in caught.value.message
    assert caught.value.exit_code == ExitCode.CANNOT_RUN
    assert not folder.exists()
    assert list(marked(marks[0])) == []


def test_what_a_crash_leaves_is_incomplete_and_can_be_taken_down(folder: Path) -> None:
    folder.mkdir(parents=True)
    site = Site(folder, "fake", print)
    start_sleeper(site)
    assert state_of(folder) == "incomplete"
    with pytest.raises(StriderError, match="holds a lab that is incomplete"):
        up(system(), folder, print)
    down(folder, print)
    assert list(marked(site.record.mark)) == []
    assert not folder.exists()


def test_a_lab_whose_daemon_has_ended_is_incomplete(folder: Path) -> None:
    record = up(system(), folder, print)
    os.kill(record.processes[0].pid, 9)
    os.waitid(os.P_PID, record.processes[0].pid, os.WEXITED | os.WNOWAIT)
    assert state_of(folder) == "incomplete"


def test_numbers_from_before_the_machine_was_started_again_mean_nothing(folder: Path) -> None:
    record = up(system(), folder, print)
    assert record.boot == boot_id()
    # As if another user's process had the same number and time.
    Record(**{**record.model_dump(), "boot": "another", "mark": "another"}).write(folder)
    assert state_of(folder) == "incomplete"
    down(folder, print)
    assert not folder.exists()
    assert all(map(is_alive, record.processes))
    os.kill(record.processes[0].pid, 9)


def test_a_folder_with_other_files_is_not_touched(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("precious", encoding="utf-8")
    for act in (lambda: up(system(), folder, print), lambda: down(folder, print)):
        with pytest.raises(StriderError, match="contains files, but no Strider lab"):
            act()
    assert (folder / "thesis.tex").read_text(encoding="utf-8") == "precious"


def test_of_two_starts_at_the_same_time_one_goes_on(folder: Path) -> None:
    folder.mkdir(parents=True)
    first = Site(folder, "fake", print)
    with pytest.raises(StriderError, match="another strider lab up is starting a system there"):
        Site(folder, "fake", print)
    record = read(folder)
    assert record is not None
    assert record.mark == first.record.mark


def test_a_crash_before_the_first_record_is_no_lab(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / f"{FILE}.0123").write_text("half of a rec", encoding="utf-8")
    assert state_of(folder) == "down"
    down(folder, print)
    assert not folder.exists()


def test_a_place_where_others_may_write_is_refused(folder: Path) -> None:
    folder.parent.chmod(0o777)
    for act in (lambda: up(system(), folder, print), lambda: down(folder, print)):
        with pytest.raises(StriderError, match=f"other users can replace {folder}"):
            act()


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
@pytest.mark.parametrize("planted", ["parent", "folder", "record"])
def test_the_lab_of_another_user_stops_and_removes_nothing(folder: Path, planted: str) -> None:
    """Another user can make such a lab in the temporary directory before root does."""
    victim = subprocess.Popen(["sleep", "60"])
    try:
        folder.mkdir()
        keep = folder / "data"
        keep.mkdir()
        found = identify(victim.pid, "victim")
        assert found
        Record(system="fake", mark="m", boot=boot_id(), state="up", processes=[found]).write(folder)
        owned = {"parent": folder.parent, "folder": folder, "record": folder / FILE}[planted]
        os.chown(owned, 12345, 12345)
        with pytest.raises(StriderError, match=r"another user|other users"):
            down(folder, print)
        assert victim.poll() is None
        assert keep.is_dir()
    finally:
        victim.kill()
        victim.wait()
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
def test_a_lab_where_another_user_can_exchange_a_folder_above_is_refused(folder: Path) -> None:
    """All in it is removed by path at the end, so that another user would choose the files to remove."""
    above = folder.parent / "his" / "new"
    above.mkdir(parents=True)
    os.chown(above.parent, 12345, 12345)
    for act in (lambda: up(system(), above / "fake", print), lambda: down(above / "fake", print)):
        with pytest.raises(
            StriderError, match=f"can replace .*, because {above.parent} belongs to user id 12345"
        ):
            act()
    assert not any(above.iterdir())


def test_a_link_in_place_of_a_lab_is_refused_and_what_it_leads_to_is_unchanged(
    folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir(0o700)
    folder.symlink_to(precious)
    for act in (lambda: up(system(), folder, print), lambda: down(folder, print)):
        with pytest.raises(StriderError, match="is a symbolic link"):
            act()
    assert precious.stat().st_mode & 0o777 == 0o700


def test_down_where_nothing_is_does_nothing(folder: Path) -> None:
    down(folder, print)
    folder.mkdir(parents=True)
    down(folder, print)
    assert not folder.exists()


def test_missing_packages_come_with_the_command_that_installs_them(folder: Path) -> None:
    here = {"sh": "dash", "/usr/lib*/*": "libc6"}
    lacking = system(**here, **{"no-such-program": "no-such-package", "/usr/no/*/such.so": "no-such-library"})
    assert lacking.missing_packages() == ["no-such-package", "no-such-library"]
    command = "apt-get install --no-install-recommends no-such-package no-such-library\n"
    with pytest.raises(StriderError, match=command):
        up(lacking, folder, print)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["two words", "quote'", "x" * 80, "new\nline", "ü"])
def test_a_folder_that_servers_cannot_work_in_is_refused(name: str) -> None:
    with pytest.raises(StriderError, match="choose another"):
        folder_of(system(), Path("/tmp") / name)

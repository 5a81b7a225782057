"""Where runs are confined and where they cannot be, and the target that is opened once."""

import os
import subprocess
from pathlib import Path

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch import folder, parse_confine_mode
from strider.launch.confinement import ConfineMode, Needs, confinement, guard, support
from strider.launch.launchers import Launcher
from strider.launch.target import open_target

HERE = Launcher("here", lambda mapping: ["env", f"RANKS={mapping.ranks}"])
DAEMON = Launcher("srun", lambda _: ["srun"], starts_ranks="by a daemon")


@pytest.fixture
def needs(tmp_path: Path) -> Needs:
    return Needs(folder.create(tmp_path, "r1"), [])


def reason(engine: Engine, needs: Needs, mode: ConfineMode = "auto", launcher: Launcher = HERE) -> str:
    with confinement(mode, engine, launcher, needs) as found:
        assert (list(found.around) == (guard(engine.path) if found.reason else [])) == bool(found.reason)
        assert ("--unconfined" in found.options) == bool(found.reason)
        return found.reason


@pytest.mark.usefixtures("landlock")
def test_a_confined_command_writes_to_the_run_alone(engine: Engine, needs: Needs, tmp_path: Path) -> None:
    """To its folder by descriptor, and to the files that it was given; temporary files have a place."""
    events = tmp_path / "events"
    events.touch()
    script = (
        f'echo a > {needs.own.path}/a; echo b > {events}; echo c > "$TMPDIR/c"; echo d > {tmp_path}/d; cat $0'
    )
    with confinement("require", engine, HERE, Needs(needs.own, [events])) as found:
        temporary = Path(found.environment["TMPDIR"])
        words = [*found.around, "sh", "-c", script, str(temporary.parent / "probe")]
        environment = {**os.environ, **found.environment}
        done = subprocess.run(words, env=environment, pass_fds=found.descriptors, check=False)
        assert done.returncode == 0
        assert (temporary / "c").exists()
    assert (needs.own.path / "a").exists()
    assert events.read_text() == "b\n"
    assert not (tmp_path / "d").exists()
    assert not temporary.parent.exists()


@pytest.fixture
def landlock(engine: Engine) -> None:
    found = support(engine)
    if found.reason:
        pytest.skip(f"machine: {found.reason}")


@pytest.mark.usefixtures("landlock")
def test_what_keeps_a_run_from_being_confined_is_named(
    engine: Engine, needs: Needs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason(engine, needs) == ""
    assert reason(engine, needs, "off") == "--confine off"
    assert "daemon" in reason(engine, needs, launcher=DAEMON)
    assert "tcp" in reason(engine, Needs(needs.own, [], forbidden="memory of servers"))
    assert "libgfapi" in reason(engine, Needs(needs.own, [], forbidden="names of threads"))
    with pytest.raises(StriderError, match="cannot confine this run: srun starts the ranks through a daemon"):
        reason(engine, needs, "require", DAEMON)
    alone = Engine(tmp_path / "strider-engine")
    assert f"cannot start {alone.path.parent}/strider-confine" in reason(alone, needs)
    monkeypatch.setenv("STRIDER_LANDLOCK_ABI", "0")
    assert "STRIDER_LANDLOCK_ABI is 0" in reason(engine, needs)


@pytest.mark.usefixtures("landlock")
def test_a_remounted_target_is_confined_to_what_is_around_its_mount(
    engine: Engine, needs: Needs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule for the folder itself does not hold for a later mount there."""
    moved = Needs(needs.own, [], ["mount", "it"])
    monkeypatch.setattr("strider.launch.confinement._above_the_mount", lambda path: path.parent.parent)
    with confinement("auto", engine, HERE, moved) as found:
        assert not found.descriptors
        words = list(found.around)
        assert words[words.index("--remount") :][:4] == ["--remount", "mount", "--remount", "it"]
        assert str(needs.own.path.parent.parent) in words
        assert "--wider" in found.options
    monkeypatch.setattr("strider.launch.confinement._above_the_mount", lambda _: Path("/"))
    assert "directly below /" in reason(engine, moved)


def test_a_wish_is_one_of_three_words() -> None:
    assert parse_confine_mode("require") == "require"
    with pytest.raises(StriderError, match="choose one of auto, require, off"):
        parse_confine_mode("yes")


def test_a_target_has_to_be_within_what_is_allowed(tmp_path: Path) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    (allowed / "a" / "b").mkdir(parents=True)
    other.mkdir()
    (other / "to").symlink_to(allowed / "a")
    (allowed / "out").symlink_to(other)
    for target in (allowed, allowed / "a" / "b", other / "to" / "b"):
        opened = open_target(target, [allowed])
        assert Path(f"/proc/self/fd/{opened}").readlink() == target.resolve()
        os.close(opened)
    for target in (other, allowed / "out", allowed / ".." / "other"):
        with pytest.raises(StriderError, match="outside the permitted directories"):
            open_target(target, [allowed])


def test_a_link_that_comes_after_the_look_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is real when it is resolved, and a link when it is opened."""
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    (allowed / "a").mkdir(parents=True)
    outside.mkdir()
    resolve = Path.resolve

    def swap(path: Path, strict: bool = False) -> Path:
        found = resolve(path, strict)
        if path == allowed / "a" and not path.is_symlink():
            path.rename(allowed / "moved")
            path.symlink_to(outside)
        return found

    monkeypatch.setattr(Path, "resolve", swap)
    with pytest.raises(StriderError, match="changed while it was opened"):
        open_target(allowed / "a", [allowed])


def test_a_folder_is_made_and_removed_below_the_open_target(tmp_path: Path) -> None:
    """A link in the place of the target between the two moves neither."""
    target, moved, outside = tmp_path / "target", tmp_path / "moved", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    opened = open_target(target)
    target.rename(moved)
    target.symlink_to(outside)
    own = folder.create(target, "r1", opened)
    assert [path.name for path in moved.iterdir()] == ["strider-r1"]
    os.close(own.open())
    (outside / "strider-r1").mkdir()
    assert folder.remove(own) is None
    os.close(opened)
    assert list(moved.iterdir()) == []
    assert [path.name for path in outside.iterdir()] == ["strider-r1"]

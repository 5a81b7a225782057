"""Remains of runs are found and removed if they carry Strider's marker, and no other files are."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from strider.cli import main
from strider.errors import StriderError
from strider.launch import folder, leftovers
from strider.launch.folder import MARKER, Marker

NOBODY = 2**22 + 1
"""No process ever has this number."""


def leave(target: Path, run: str, /, **changes: object) -> Path:
    """Makes a folder as of a run that was killed, with something in it; the marker may say something else."""
    own = folder.create(target, run)
    marker = Marker(run, socket.gethostname(), NOBODY)
    (own.path / MARKER).write_text(json.dumps({**asdict(marker), **changes}), encoding="utf-8")
    (own.path / "case1" / "deep").mkdir(parents=True)
    (own.path / "case1" / "deep" / "f0").write_bytes(b"x")
    return own.path


def states(target: Path) -> dict[str, str]:
    return {found.path.name: found.state for found in leftovers.find(target)}


class TestWhatIsFound:
    def test_the_folder_of_a_run_that_is_over(self, tmp_path: Path) -> None:
        leave(tmp_path, "r1")
        assert states(tmp_path) == {"strider-r1": "abandoned"}

    def test_the_folder_of_a_run_that_goes_on(self, tmp_path: Path) -> None:
        folder.create(tmp_path, "r1")
        (found,) = leftovers.find(tmp_path)
        assert (found.state, found.reason) == ("alive", f"its run is active (process {os.getpid()})")

    def test_the_folder_of_another_host(self, tmp_path: Path) -> None:
        leave(tmp_path, "r1", host="elsewhere")
        (found,) = leftovers.find(tmp_path)
        assert found.state == "elsewhere"
        assert found.reason == "its run was started on elsewhere and may still be active there"

    def test_a_process_that_only_has_the_same_number_is_not_the_run(self, tmp_path: Path) -> None:
        leave(tmp_path, "same-start", pid=os.getpid())
        leave(tmp_path, "later-start", pid=os.getpid(), start=1)
        leave(tmp_path, "other-boot", pid=os.getpid(), boot="before")
        assert states(tmp_path) == {
            "strider-same-start": "alive",
            "strider-later-start": "abandoned",
            "strider-other-boot": "abandoned",
        }

    @pytest.mark.parametrize(
        "text",
        [None, "", "{}", "no json", "[]", '"x"', '{"run": "r2", "host": "h", "pid": 1}', '{"run": "r1"}'],
    )
    def test_a_folder_without_a_marker_that_fits_is_not_ours(self, tmp_path: Path, text: str | None) -> None:
        path = leave(tmp_path, "r1")
        (path / MARKER).unlink()
        if text is not None:
            (path / MARKER).write_text(text, encoding="utf-8")
        assert states(tmp_path) == {"strider-r1": "unmarked"}

    def test_links_and_files_are_not_ours(self, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (tmp_path / "strider-r1").symlink_to(leave(elsewhere, "r1"))
        (tmp_path / "strider-file").touch()
        (tmp_path / "strider-pipe").mkdir()
        os.mkfifo(tmp_path / "strider-pipe" / MARKER)
        marked = leave(tmp_path, "linked")
        (marked / MARKER).rename(elsewhere / "marker")
        (marked / MARKER).symlink_to(elsewhere / "marker")
        assert set(states(tmp_path).values()) == {"unmarked"}

    def test_other_names_are_not_looked_at(self, tmp_path: Path) -> None:
        (tmp_path / "results").mkdir()
        (tmp_path / "results" / MARKER).write_text("{}")
        assert states(tmp_path) == {}

    def test_a_directory_that_is_not_there_is_a_mistake(self, tmp_path: Path) -> None:
        with pytest.raises(StriderError, match="name the directory that was measured") as caught:
            leftovers.find(tmp_path / "missing")
        assert caught.value.exit_code == 2


class TestTheCommand:
    def test_it_removes_what_is_over_and_leaves_all_else(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        over, far = leave(tmp_path, "over"), leave(tmp_path, "far", host="elsewhere")
        foreign = leave(tmp_path, "foreign", run="other")
        precious = tmp_path / "precious"
        precious.mkdir()
        (over / "case1" / "link").symlink_to(precious)
        (precious / "file").touch()
        (tmp_path / "data").touch()
        alive = folder.create(tmp_path, "alive").path
        before = {path: sorted(path.rglob("*")) for path in (far, foreign, precious, alive)}
        assert main(["clean", str(tmp_path)]) == 0
        assert {path: sorted(path.rglob("*")) for path in before} == before
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "data", "precious", "strider-alive", "strider-far", "strider-foreign"
        ]  # fmt: skip
        lines = capsys.readouterr().out.splitlines()
        assert f"{over}: removed (6 entries)" in lines
        assert f"{alive}: left: its run is active (process {os.getpid()})" in lines
        assert f"{far}: left: its run was started on elsewhere and may still be active there" in lines
        assert f"{foreign}: left: it is a mount point, or has no Strider marker (.strider)" in lines

    def test_by_force_also_what_may_go_on_but_nothing_without_a_mark(self, tmp_path: Path) -> None:
        leave(tmp_path, "far", host="elsewhere")
        folder.create(tmp_path, "alive")
        leave(tmp_path, "foreign", run="other")
        assert main(["clean", "--force", str(tmp_path)]) == 0
        assert [path.name for path in tmp_path.iterdir()] == ["strider-foreign"]

    def test_a_dry_run_removes_nothing(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = leave(tmp_path, "over")
        before = sorted(path.rglob("*"))
        assert main(["clean", "--dry-run", str(tmp_path)]) == 0
        assert capsys.readouterr().out == f"{path}: would be removed\n"
        assert sorted(path.rglob("*")) == before

    def test_nothing_to_do_is_said(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["clean", str(tmp_path)]) == 0
        assert capsys.readouterr().out == f"{tmp_path}: no Strider folders found\n"

    def test_what_cannot_be_removed_is_reported_and_keeps_its_mark(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = leave(tmp_path, "over")

        def denied(name: str, *, dir_fd: int) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "unlink", denied)
        assert main(["clean", str(tmp_path)]) == 1
        message = f"{path}: failed: cannot remove {path}/case1/deep/f0: Permission denied"
        assert message in capsys.readouterr().out
        assert states(tmp_path) == {"strider-over": "abandoned"}

    def test_a_missing_directory_is_bad_input(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["clean", str(tmp_path / "missing")]) == 2
        assert "name the directory that was measured" in capsys.readouterr().err

    def test_it_can_be_read_by_programs(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = leave(tmp_path, "over")
        assert main(["clean", "--json", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().out) == {
            "directory": str(tmp_path),
            "folders": [
                {"path": str(path), "run": "over", "action": "removed", "reason": "", "removed_entries": 5}
            ],
        }


def test_what_a_killed_front_end_leaves_is_removed(tmp_path: Path) -> None:
    text = (
        "import os, sys; from pathlib import Path; from strider.launch import folder\n"
        "own = folder.create(Path(sys.argv[1]), 'killed'); (own.path / 'f').touch(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", text, str(tmp_path)], check=False)
    assert states(tmp_path) == {"strider-killed": "abandoned"}
    assert main(["clean", str(tmp_path)]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_mount_of_another_folder_is_not_entered(tmp_path: Path) -> None:
    """A bind mount is on the device of its target, so only the mount distinguishes it from a folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    source = leave(elsewhere, "r1")
    target = tmp_path / "target"
    (target / source.name).mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "--bind", str(source), str(target / source.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"machine: no bind mounts ({mounted.stderr.strip()})")
    try:
        assert states(target) == {source.name: "unmarked"}
        assert main(["clean", "--force", str(target)]) == 0
        with folder._opened(elsewhere, None) as above:
            own, _ = folder.read(source, above)
        assert own
        (problem,) = folder.remove_counting(replace(own, path=target / source.name)).problems
        assert problem == f"{target / source.name} is a mount point: not removed"
        assert (source / "case1" / "deep" / "f0").exists()
    finally:
        subprocess.run(["umount", str(target / source.name)], check=True)

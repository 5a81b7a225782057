"""Servers of a volume start all or none, are found again, and end on request or with their starter."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.listio import (
    VOLUME_FILE,
    ServerOptions,
    check,
    is_down,
    processes_of,
    read_volume,
    registration,
    require_servers,
    restart_commands,
    serve,
    serve_command,
    status,
    stop,
)
from strider.listio.hosts import HOSTS_FILE, HostRecord
from strider.listio.mounts import MountOptions, start_mount
from strider.listio.servers import PROCESSES_FILE, ProcessRecord
from strider.listio.tool import SERVER
from strider.processes import boot_id, command_lines, identify, is_alive, of_program


@pytest.fixture
def built(engine: Engine) -> Engine:
    """The engine with the service beside it."""
    if not engine.path.resolve().with_name(SERVER).exists():
        pytest.skip("needs the list-I/O service (Debian package libssl-dev)")
    return engine


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A place for a volume; at the end it is down."""
    yield tmp_path / "volume"
    stop(tmp_path / "volume")


def eventually(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


# proves listio: rate-in-volume-file
def test_a_limit_stays_until_there_is_another_one(built: Engine, directory: Path) -> None:
    for wanted, limit in ((5_000_000, 5_000_000), (None, 5_000_000), (0, 0)):
        volume = serve(built, directory, ServerOptions(servers=1, bytes_per_s=wanted)).volume
        assert volume.server_bytes_per_s == limit
        assert [server["answers"] for server in status(built, directory)] == [True]
        stop(directory)


# proves listio: serve
def test_servers_serve_until_they_are_stopped(built: Engine, directory: Path) -> None:
    volume = serve(built, directory, ServerOptions(servers=3, strip_bytes=4096)).volume

    assert read_volume(directory) == volume
    assert [server["answers"] for server in status(built, directory)] == [True] * 3
    assert [process.name for process in processes_of(directory)] == ["server 0", "server 1", "server 2"]
    assert check(built, directory)["problems"] == []
    processes = processes_of(directory)
    assert stop(directory) == 3
    assert not any(map(is_alive, processes))
    assert is_down(directory)
    assert stop(directory) == 0


# proves listio: volume-folder, volume-file
def test_a_volume_is_found_again_with_its_secret(built: Engine, directory: Path) -> None:
    first = serve(built, directory, ServerOptions(servers=2, strip_bytes=8192)).volume
    stop(directory)
    again = serve(built, directory, ServerOptions()).volume
    assert (len(again.servers), again.strip_bytes, again.secret) == (2, 8192, first.secret)


def test_each_start_is_counted_under_the_same_id(built: Engine, directory: Path) -> None:
    found = []
    for _ in range(2):
        found.append(serve(built, directory, ServerOptions(servers=1)).volume)
        assert read_volume(directory) == found[-1]
        stop(directory)
    assert [volume.epoch for volume in found] == [1, 2]
    assert found[0].id == found[1].id


# proves listio: checksums-off, checksums-for-good
def test_a_volume_keeps_its_checksums(built: Engine, directory: Path) -> None:
    assert serve(built, directory, ServerOptions(servers=1)).volume.checksums == "crc32c"
    stop(directory)
    with pytest.raises(StriderError, match="is a volume with checksums crc32c, not off"):
        serve(built, directory, ServerOptions(checksums="off"))
    assert (directory / "server-0/sums").is_dir()
    other = directory / "other"
    serve(built, other, ServerOptions(servers=1, checksums="off"))
    stop(other)
    assert not (other / "server-0/sums").exists()
    assert serve(built, other, ServerOptions()).volume.checksums == "off"
    stop(other)


def start_and_stop(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2))
    stop(directory)


# proves listio: foreign-folder-refused
def test_an_old_copy_of_a_server_is_refused_by_name(built: Engine, directory: Path, tmp_path: Path) -> None:
    own, copy, kept = directory / "server-1", tmp_path / "copy", tmp_path / "kept"
    start_and_stop(built, directory)
    shutil.copytree(own, copy)
    start_and_stop(built, directory)
    own.rename(kept)
    copy.rename(own)
    with pytest.raises(
        StriderError, match=r"server-1: is in the state of start 1 .*, whose last start was 2"
    ):
        start_and_stop(built, directory)
    shutil.rmtree(own)
    kept.rename(own)
    start_and_stop(built, directory)


def test_a_volume_of_an_older_release_gets_one_id_however_often_its_start_fails(
    built: Engine, directory: Path
) -> None:
    start_and_stop(built, directory)
    volume = read_volume(directory)
    assert volume is not None
    volume.model_copy(update={"id": "", "epoch": 0, "checksums": "off"}).write(directory / VOLUME_FILE)
    for number in range(2):
        label = directory / f"server-{number}" / "label"
        label.write_text(f"strider-listio-server 1 number {number} servers 2\n")
    with (directory / "server-1" / "label").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StriderError, match="another server uses this folder"):
            start_and_stop(built, directory)
    start_and_stop(built, directory)


def test_the_folder_of_another_volume_is_refused_by_name(
    built: Engine, directory: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for each in (directory, other):
        start_and_stop(built, each)
    (directory / "server-0").rename(tmp_path / "kept")
    (other / "server-0").rename(directory / "server-0")
    volumes = [read_volume(each) for each in (other, directory)]
    ids = [volume.id for volume in volumes if volume]
    with pytest.raises(StriderError, match=f"server-0: belongs to volume {ids[0]}, not to {ids[1]}"):
        start_and_stop(built, directory)


def test_what_runs_is_not_started_twice(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2))
    with pytest.raises(StriderError, match="already running: stop them with strider listio stop") as caught:
        serve(built, directory, ServerOptions())
    assert caught.value.exit_code == ExitCode.CANNOT_RUN
    assert len(status(built, directory)) == 2


# proves listio: restart-at-addresses
def test_a_server_that_died_is_started_again_where_it_was(built: Engine, directory: Path) -> None:
    before = serve(built, directory, ServerOptions(servers=3, bytes_per_s=5_000_000)).volume
    first, killed, last = processes_of(directory)
    os.kill(killed.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(killed))
    assert [server["answers"] for server in status(built, directory)] == [True, False, True]
    for other in (ServerOptions(bytes_per_s=1_000_000), ServerOptions(store="nothing")):
        with pytest.raises(StriderError, match="other servers of this volume are running with other options"):
            serve(built, directory, other)
    serve(built, directory, ServerOptions())
    assert [server["answers"] for server in status(built, directory)] == [True, True, True]
    assert read_volume(directory) == before, "clients find it with the volume file that they have"
    kept, new, also_kept = processes_of(directory)
    assert (kept, also_kept) == (first, last)
    assert new != killed


def test_another_number_of_servers_does_not_fit(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2))
    stop(directory)
    with pytest.raises(StriderError, match="is a volume of 2 servers, not 3"):
        serve(built, directory, ServerOptions(servers=3))
    assert is_down(directory)


def test_a_server_that_does_not_start_takes_the_others_along(built: Engine, directory: Path) -> None:
    directory.mkdir()
    (directory / "server-1").write_text("in the way")
    with pytest.raises(StriderError, match=r"server 1 of .* failed to start: .*server-1"):
        serve(built, directory, ServerOptions(servers=3))
    assert not (directory / PROCESSES_FILE).exists()
    assert read_volume(directory) is None
    assert not _servers_in(directory)


def test_servers_without_their_starter_end(built: Engine, directory: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from strider.engine import Engine;"
        "from strider.listio import ServerOptions, serve;"
        "options = ServerOptions(servers=2, lifetime='starter');"
        "started = serve(Engine(Path(sys.argv[1])), Path(sys.argv[2]), options);"
        "print('up', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", script, str(built.path), str(directory)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == "up\n"
        assert len(_servers_in(directory)) == 2
        starter.send_signal(signal.SIGKILL)
    assert eventually(lambda: not _servers_in(directory))


def test_a_server_that_was_killed_is_named(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2))
    os.kill(processes_of(directory)[1].pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(processes_of(directory)[1]))
    answers = status(built, directory)
    assert [server["answers"] for server in answers] == [True, False]
    assert "server 1" in answers[1]["error"]


def test_a_server_that_was_killed_is_started_by_serve_alone(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2, transport="tcp"))
    killed = processes_of(directory)[1]
    os.kill(killed.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(killed))
    with pytest.raises(StriderError) as caught:
        require_servers(directory / VOLUME_FILE, built)
    said = f"server 1 of {directory} does not answer: "
    assert caught.value.message == said + serve_command(directory), "stop is not needed"
    assert main(serve_command(directory).split()[1:]) == 0, "the command restarts it"
    require_servers(directory / VOLUME_FILE, built)


def test_a_server_that_hangs_has_to_be_stopped_first(built: Engine, directory: Path) -> None:
    serve(built, directory, ServerOptions(servers=2))
    assert restart_commands(directory, [1]).startswith(f"strider listio stop {directory}, then ")


def test_check_names_a_dead_server_once_with_a_remedy(
    built: Engine, directory: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", str(built.path))
    serve(built, directory, ServerOptions(servers=2))
    killed = processes_of(directory)[1]
    os.kill(killed.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(killed))
    assert main(["listio", "check", str(directory)]) == ExitCode.CANNOT_RUN
    assert capfd.readouterr().err == (
        f"strider: server 1 of {directory} does not answer: {serve_command(directory)}\n"
    )
    address = read_volume(directory).servers[1]  # type: ignore[union-attr]
    with pytest.raises(StriderError) as caught:
        check(built, directory)
    assert caught.value.message.count(address) == 1


# proves listio: check-advised
def test_a_check_is_advised_from_an_unclean_end_until_one_is_clean(
    built: Engine, directory: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", str(built.path))
    advice = f"check with strider listio check {directory}\n"

    def printed(*words: str) -> str:
        main(["listio", words[0], str(directory), *words[1:]])
        return capfd.readouterr().out

    assert advice not in printed("serve", "--servers", "2")
    assert advice not in printed("status")
    killed = processes_of(directory)[1]
    os.kill(killed.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(killed))
    assert advice in printed("status")
    assert advice in printed("serve")
    assert advice in printed("status")
    printed("stop")
    assert advice in printed("serve"), "also after a stop"
    assert "0 files" in printed("check")
    assert advice not in printed("status")
    printed("stop")
    assert advice not in printed("serve")


def test_processes_of_an_earlier_start_of_the_machine_are_not_touched(directory: Path) -> None:
    directory.mkdir()
    other = '{"boot": "another", "processes": [{"pid": 1, "start_ticks": 1, "name": "server 0"}]}'
    (directory / PROCESSES_FILE).write_text(other)
    assert processes_of(directory) == []
    assert is_down(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
def test_the_volume_of_another_user_commands_nothing(directory: Path, engine: Engine, tmp_path: Path) -> None:
    """Not to stop a process, not to run a program over ssh, not to write through a link."""
    ran, precious = tmp_path / "ran", tmp_path / "precious"
    precious.write_text("data")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    victim = subprocess.Popen(["sleep", "60"])
    try:
        directory.mkdir()
        found = identify(victim.pid, "server 0")
        assert found
        record = ProcessRecord(boot=boot_id(), processes=[found])
        (directory / PROCESSES_FILE).write_text(record.model_dump_json())
        (directory / HOSTS_FILE).write_text(HostRecord(program=str(program), hosts=["h"]).model_dump_json())
        (directory / "server-0.log").symlink_to(precious)
        (directory / "mount.log").symlink_to(precious)
        for path in (directory, *directory.iterdir()):
            os.chown(path, 12345, 12345, follow_symlinks=False)
        acts: list[Callable[[], object]] = [
            lambda: stop(directory),
            lambda: processes_of(directory),
            lambda: serve_command(directory),
            lambda: serve(engine, directory, ServerOptions(servers=1)),
            lambda: start_mount(engine, directory, tmp_path, MountOptions()),
        ]
        for act in acts:
            with pytest.raises(StriderError, match="belongs to another user"):
                act()
        assert victim.poll() is None
        assert not ran.exists()
        assert precious.read_text() == "data"
    finally:
        victim.kill()
        victim.wait()
        shutil.rmtree(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
def test_a_server_refuses_a_data_folder_and_a_process_of_another_user(built: Engine, directory: Path) -> None:
    """Also on other hosts, where only the server's program looks at them."""
    victim = subprocess.Popen(["sleep", "60"])
    try:
        (directory / "server-0").mkdir(parents=True)
        found = identify(victim.pid, "server 0")
        assert found
        process = directory / "server-0" / "process"
        process.write_text(f"{victim.pid} {found.start_ticks} {boot_id()}\n")
        os.chown(process, 12345, 12345)
        program = str(built.path.resolve().with_name(SERVER))
        words = [program, "--directory", str(directory), "--number", "0", "--action", "stop"]
        stopped = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (stopped.returncode, victim.poll()) == (2, None)
        assert f"{process}: another user can have written it" in stopped.stderr
        process.unlink()
        os.chown(directory / "server-0", 12345, 12345)
        with pytest.raises(StriderError, match="server-0: another user owns it or can write to it"):
            serve(built, directory, ServerOptions(servers=1))
    finally:
        victim.kill()
        victim.wait()


def test_a_recorded_server_that_runs_another_program_is_not_stopped(directory: Path) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        directory.mkdir()
        found = of_program(other.pid, "server 0")
        assert found
        assert is_alive(found)
        forged = found.model_copy(update={"executable": "strider-listio-server"})
        record = ProcessRecord(boot=boot_id(), processes=[forged])
        (directory / PROCESSES_FILE).write_text(record.model_dump_json())
        assert stop(directory) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_registration_is_fitted_for_each_domain(built: Engine) -> None:
    off = []
    for _ in range(5):  # other work on the machine makes registering slower, so a wrong fit is repeated
        (fit,) = registration(built, ["model"])
        assert fit["samples"][0]["pages"] == 1
        found = [fit["register"]["us_per_page"], fit["register"]["us"]]
        if found == [pytest.approx(0.77, rel=0.2), pytest.approx(7.42, rel=0.2)]:
            break
        off.append(found)
    else:
        raise AssertionError(f"not 0.77 us for each page and 7.42 us: {off}")
    with pytest.raises(StriderError, match="tape"):
        registration(built, ["tape"])


def _servers_in(directory: Path) -> list[int]:
    """Processes of servers that keep their files in a directory."""
    return [
        pid
        for pid, words in command_lines()
        if words[0].endswith(SERVER) and str(directory.resolve()) in words
    ]

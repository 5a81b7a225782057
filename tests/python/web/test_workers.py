"""Questions are answered by processes that are ended where they take too much."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from serving import DEADLINE_S, suite
from strider.engine import Engine, Json
from strider.errors import StriderError
from strider.processes import descendants
from strider.web import worker, workers
from strider.web.questions import SuiteText
from strider.web.site import Site
from strider.web.workers import Workers

Value = TypeVar("Value")

ENGINE = """\
#!/bin/sh
if [ "$1" = check ]; then
    ulimit -v >"$(dirname "$0")/memory"
    echo $$ >"$(dirname "$0")/pid"
    [ -e "$(dirname "$0")/hang" ] && exec sleep 1000
fi
exec {engine} "$@"
"""


@pytest.fixture
def site(engine: Engine, tmp_path: Path) -> Site:
    """A ground whose engine hangs while there is a file `hang` beside it."""
    script = tmp_path / "engine"
    script.write_text(ENGINE.format(engine=engine.path))
    script.chmod(0o755)
    return Site(Engine(script), tmp_path / "store", (tmp_path,))


def in_loop(work: Callable[[], Awaitable[Value]]) -> Value:
    """In a thread of its own: where browsers were tested before, this one has a loop that is running."""

    async def all_of_it() -> Value:
        return await work()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(all_of_it())).result(2 * DEADLINE_S)


def question(site: Site) -> SuiteText:
    return SuiteText(text=suite(site.allowed[0]))


def test_a_question_without_an_answer_is_given_up_with_all_that_it_started(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked() -> None:
        pool = Workers(site)
        assert (await pool.ask("plan", question(site)))["name"] == "small"
        (tmp_path / "hang").touch()
        monkeypatch.setattr(workers, "DEADLINE_S", 3.0)
        questions = [pool.ask("plan", question(site)) for _ in range(2 * workers.MOST_WORKERS)]
        for answer in await asyncio.gather(*questions, return_exceptions=True):
            assert isinstance(answer, StriderError)
            assert "timed out after 3 s" in answer.message
        (tmp_path / "hang").unlink()
        monkeypatch.setattr(workers, "DEADLINE_S", float(DEADLINE_S))
        assert (await pool.ask("plan", question(site)))["name"] == "small"
        pool.close()

    in_loop(asked)
    engine = int((tmp_path / "pid").read_text())
    end = time.monotonic() + DEADLINE_S
    while Path(f"/proc/{engine}").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not Path(f"/proc/{engine}").exists()
    assert int((tmp_path / "memory").read_text()) * 1024 == worker.MOST_MEMORY_BYTES


def test_an_answer_that_is_too_long_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_ANSWER_BYTES", 400)

    async def asked() -> None:
        pool = Workers(site)
        with pytest.raises(StriderError, match="the answer exceeds"):
            await pool.ask("plan", question(site))
        assert (await pool.ask("judge", question(site)))["ranks"] == 2
        pool.close()

    in_loop(asked)


ASKS_AND_WAITS = """\
import asyncio, sys, time
from pathlib import Path
from strider.engine import Engine
from strider.web.questions import SuiteText
from strider.web.site import Site
from strider.web.workers import Workers

async def ask():
    folder = Path(sys.argv[2])
    pool = Workers(Site(Engine(Path(sys.argv[1])), folder / "store", (folder,)))
    await pool.ask("plan", SuiteText(text=sys.argv[3]))
    print("asked", flush=True)
    time.sleep(1000)

asyncio.run(ask())
"""


@contextmanager
def asked_server(engine: Engine, tmp_path: Path) -> "Iterator[tuple[subprocess.Popen[str], Path]]":
    """A server that has answered a question, with its folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    words = [sys.executable, "-c", ASKS_AND_WAITS, str(engine.path), str(tmp_path), suite(tmp_path)]
    environment = os.environ | {"TMPDIR": str(folder)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "asked\n"
        yield server, folder


def test_a_server_that_is_killed_leaves_no_folder(engine: Engine, tmp_path: Path) -> None:
    with asked_server(engine, tmp_path) as (server, folder):
        assert [path.name.startswith("strider-temporary-") for path in folder.iterdir()] == [True]
        server.kill()
    end = time.monotonic() + DEADLINE_S
    while list(folder.iterdir()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_a_server_and_its_processes_leave_is_removed_by_the_next(
    engine: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_server(engine, tmp_path) as (server, folder):
        for pid in [*descendants(server.pid), server.pid]:
            os.kill(pid, signal.SIGKILL)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    Workers(site)
    assert list(folder.iterdir()) == []


def worker_on(folder: Path) -> "subprocess.Popen[str]":
    """A process that answers questions, whose server this is."""
    folder.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "strider.web.worker", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def test_a_server_that_is_killed_before_it_asks_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    with worker_on(folder) as process:
        process.communicate("", timeout=DEADLINE_S)
    assert not folder.exists()


def test_a_process_that_gives_up_leaves_no_folder(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    (tmp_path / "hang").touch()
    ground: dict[str, Json] = {
        "engine": str(site.engine.path),
        "deadline_s": DEADLINE_S,
        "store": str(site.store),
        "allowed": [str(tmp_path)],
        "allowed_places": [],
    }
    with worker_on(folder) as process:
        assert process.stdin is not None
        for line in (ground, ["plan", {"text": suite(tmp_path)}]):
            process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        end = time.monotonic() + DEADLINE_S
        while not (tmp_path / "pid").exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGALRM)
        assert process.wait(DEADLINE_S) == -signal.SIGKILL
    assert not folder.exists()


def test_a_process_that_cannot_be_started_leaves_no_folder(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))

    async def asked() -> None:
        with pytest.raises(StriderError, match="cannot start a worker process"):
            await Workers(site).ask("plan", question(site))

    in_loop(asked)
    assert list(folder.iterdir()) == []


def test_a_process_that_dies_costs_one_answer(site: Site, tmp_path: Path) -> None:
    async def asked() -> None:
        pool = Workers(site)
        (tmp_path / "hang").touch()
        answer = asyncio.create_task(pool.ask("plan", question(site)))
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.05)
        os.killpg(os.getpgid(int((tmp_path / "pid").read_text())), signal.SIGKILL)
        with pytest.raises(StriderError, match="was killed"):
            await answer
        (tmp_path / "hang").unlink()
        assert (await pool.ask("plan", question(site)))["name"] == "small"
        pool.close()

    in_loop(asked)


def test_more_questions_than_can_wait_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_WAITING", 1)

    async def asked() -> None:
        pool = Workers(site)
        many = [pool.ask("judge", question(site)) for _ in range(10)]
        answers = await asyncio.gather(*many, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, StriderError)]
        assert 0 < len(refused) < len(many)
        assert all("too many requests are waiting" in answer.message for answer in refused)
        pool.close()

    in_loop(asked)

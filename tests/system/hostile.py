"""Files of another user that Strider must not obey, and verbs that read them."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import shutil
import signal
import subprocess
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from strider.cli import main
from strider.engine import Json
from strider.lab import SYSTEMS, Record
from strider.lab.record import FILE as LAB_FILE
from strider.listio.hosts import HOSTS_FILE, HostRecord
from strider.listio.servers import PROCESSES_FILE, ProcessRecord
from strider.listio.volume import VOLUME_FILE, Volume
from strider.processes import Process, boot_id, identify
from strider.text import forbidden

HANGS_S = 120
OTHER = 12345
"""The user whose files these are."""
SYSTEM = next(iter(SYSTEMS))
VALUES: list[Json] = [
    None, {}, [], "", "x", -1, 0, 1e308, 1 << 63, 1 << 70, True, [[]], [None], {"x": None}, 0.5,
    float("nan"), float("inf"), "\x1b]0;x\x07", "a\nstrider: all right", "../../x", {"name": {}}, [{}] * 3,
    10**400, -(1 << 70), [1, 2, 3], ["x"], {"x": []}, "x" * 100_000, json.loads("[" * 100 + "]" * 100),
]  # fmt: skip


def mutated(document: Json, random: Random) -> Json:
    """Returns a document with another value, or none, at a place of any depth."""
    document = copy.deepcopy(document)
    places = [*_places(document)]
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    if isinstance(holder, dict) and random.random() < 0.15:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(random.choice(VALUES))
    return document


def _places(document: Json) -> Iterator[tuple[Json, Json]]:
    keys = (
        document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    )
    for key in keys:
        yield document, key
        yield from _places(document[key])


_FILES = [
    "run.json",
    "plan.json",
    "events.jsonl",
    "card.json",
    "observed-a.jsonl",
    "labels.json",
    "report.html",
]


def _replace(file: Path, random: Random) -> str:
    """Puts something that is no file in the place of one."""
    file.unlink(missing_ok=True)
    kind = random.choice(["FIFO", "endless", "link", "folder", "sparse"])
    match kind:
        case "FIFO":
            os.mkfifo(file)
        case "endless":
            file.symlink_to("/dev/zero")
        case "link":
            file.symlink_to(file)
        case "folder":
            file.mkdir()
        case "sparse":
            with file.open("wb") as opened:
                opened.truncate(1 << 40)
    return f"{file.name}: {kind}"


def damage_run(run: Path, random: Random) -> str:
    """Changes one file of a run directory; returns which, for a message."""
    if random.random() < 0.2:
        return _replace(run / random.choice(_FILES), random)
    name = random.choice(["run.json", "plan.json", "description.json", "events.jsonl", "events.jsonl"])
    file = run / name
    if not file.exists():
        file = run / "run.json"
        name = file.name
    if random.random() < 0.1:
        text = random.choice(
            ["[" * 200_000, "", "{}", "null", "\x00" * 99, '{"event":"end"}\n' * 3, "\n" * 999]
        )
        file.write_text(text)
        return f"{name}: {text[:20]!r}…"
    if name != "events.jsonl":
        file.write_text(json.dumps(mutated(json.loads(file.read_text()), random)))
        return name
    lines = file.read_text().splitlines()
    number = random.randrange(len(lines))
    lines[number] = json.dumps(mutated(json.loads(lines[number]), random))
    file.write_text("\n".join(lines) + "\n")
    return f"{name} line {number + 1}: {lines[number][:200]}"


@dataclass
class Ran:
    """The result of a verb.

    Attributes:
        words: Its command line.
        code: Its exit code; -1 where an exception ended it.
        printed: Its output.
        trace: The exception.
    """

    words: list[str]
    code: int = -1
    printed: str = ""
    trace: str = ""

    def complaints(self) -> Iterator[str]:
        """Yields forbidden actions of a verb, on any input."""
        if self.trace or self.code not in (0, 1, 2, 3):
            yield f"{self.words}: exit code {self.code}\n{self.trace}"
        if any(map(forbidden, self.printed.split("\n"))):
            yield f"{self.words} printed control characters: {self.printed!r}"


def ran(words: list[str]) -> Ran:
    """Runs a verb in this process."""
    result, printed = Ran(words), io.StringIO()
    try:
        signal.signal(signal.SIGALRM, _hangs)
        signal.alarm(HANGS_S)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            result.code = main(words)
    except BaseException:
        result.trace = traceback.format_exc()
    finally:
        signal.alarm(0)
    result.printed = printed.getvalue()
    return result


def _hangs(*_: object) -> None:
    raise TimeoutError("the verb hangs")


@dataclass
class World:
    """A folder with what must stay as it is, and with state files of another user that say otherwise.

    Attributes:
        folder: The folder.
        random: The source of chance.
        victim: A process of this user.
        swapping: Exchanges the last file for a while.
    """

    folder: Path
    random: Random
    victim: subprocess.Popen[bytes] = field(init=False)
    swapping: threading.Thread | None = None

    def __post_init__(self) -> None:
        """Starts the victim."""
        self.victim = subprocess.Popen(["sleep", "3600"])
        self.precious = self.folder / "precious"
        self.precious.write_text("data")
        self.program = self.folder / "program"
        self.program.write_text(f"#!/bin/sh\ntouch {self.folder}/ran\n")
        self.program.chmod(0o755)

    def close(self) -> None:
        """Ends the victim."""
        self.settle()
        self.victim.kill()
        self.victim.wait()

    def complaints(self) -> Iterator[str]:
        """Yields the changes."""
        if self.victim.poll() is not None:
            yield "a process was ended"
        if (self.folder / "ran").exists():
            yield "a program was started"
        if self.precious.read_text() != "data":
            yield "a file outside was changed"

    def _process(self) -> Process:
        found = identify(self.victim.pid, "server 0")
        assert found
        return found

    def plant(self) -> tuple[Path, list[str], str]:
        """Makes a state file; returns it, the verb that reads it, and how it is hostile."""
        place = self.folder / "planted"
        self.settle()
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o755)
        name, text = self.random.choice(self._documents())
        file = place / name
        file.parent.mkdir(mode=0o755)
        if self.random.random() < 0.3:
            text = json.dumps(mutated(json.loads(text), self.random))
        how = self._make(file, text)
        if file.name == LAB_FILE:
            return (
                file,
                ["lab", self.random.choice(["down", "status"]), SYSTEM, "--at", str(place)],
                how,
            )
        return file, ["listio", self.random.choice(["stop", "status", "serve"]), str(file.parent)], how

    def _documents(self) -> list[tuple[str, str]]:
        """State files that name a process, a program, hosts or servers."""
        lab = Record(system=SYSTEM, mark="m", boot=boot_id(), state="up", processes=[self._process()])
        servers = ProcessRecord(boot=boot_id(), processes=[self._process()])
        hosts = HostRecord(program=str(self.program), hosts=["127.0.0.1"])
        volume = Volume(servers=["127.0.0.1:1"], transport="tcp", strip_bytes=65536, secret="0" * 64)
        return [
            (f"{SYSTEM}/{LAB_FILE}", lab.model_dump_json()),
            (f"volume/{PROCESSES_FILE}", servers.model_dump_json()),
            (f"volume/{HOSTS_FILE}", hosts.model_dump_json()),
            (f"volume/{VOLUME_FILE}", volume.model_dump_json(by_alias=True)),
        ]

    def _make(self, file: Path, text: str) -> str:
        how = self.random.choice(
            ["owner", "folder", "link", "FIFO", "writable", "writable folder", "swapped"]
        )
        file.write_text(text)
        match how:
            case "owner" if os.geteuid() == 0:
                os.chown(file, OTHER, OTHER)
            case "folder" if os.geteuid() == 0:
                os.chown(file.parent, OTHER, OTHER)
            case "link":
                file.rename(file.with_suffix(".real"))
                file.symlink_to(file.with_suffix(".real"))
            case "FIFO":
                file.unlink()
                os.mkfifo(file)
            case "swapped":
                file.parent.chmod(0o777)
                self._swap(file, text)
            case "writable folder":
                file.parent.chmod(0o777)
            case _:
                file.chmod(0o666)
        return how

    def _swap(self, file: Path, text: str) -> None:
        """Exchanges the file while it is read."""

        def exchange() -> None:
            for number in range(200):
                fresh = file.with_suffix(f".{number}")
                with contextlib.suppress(OSError):
                    fresh.write_text(text if number % 2 else "{}")
                    fresh.replace(file)

        self.swapping = threading.Thread(target=exchange)
        self.swapping.start()

    def settle(self) -> None:
        """Waits until no file is exchanged any more."""
        if self.swapping:
            self.swapping.join()

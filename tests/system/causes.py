"""Runs on the four hosts of the lab that a test breaks, and their messages."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import forgetfs
from forgetfs import ForgetFs
from harness import read_events, strider_command, wait_for
from labs import running
from strider.engine import Engine
from strider.lab import Record, mounts
from strider.lab.processes import in_networks

LIMIT_S = 240
NODES = ("n1", "n2", "n3", "n4")
STRIDED = 'pattern = "strided"\ntransfer = "4KiB"\ncount = 8'
SUITE = """\
[suite]
name = "causes"
target = "{target}"
repetitions = {repetitions}
stall_timeout = "{stall_timeout}"
[[case]]
interface = "{interface}"
{pattern}
clients = 4
operations = ["write"]
"""
CLOCK = """\
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed == 0 && clock == CLOCK_REALTIME) time->tv_sec += 60;
  return failed;
}
"""
"""A library to preload: the time of day is a minute ahead."""
ALL = os.environ.get("STRIDER_CAUSES") == "all"
STALL_TIMEOUT = "5s" if ALL else "20s"
"""Other ranks are not to be late that long beside other tests; all causes are tried on a quiet machine."""
LONGEST_SILENCE_S = 30.0
HEALTHY = (r"(?m)^(note|error|strider):",)
"""Text that a healthy run must not print."""
NEVER = (r" on [,.:]", r"parse_error", r"Traceback", r"None\b")
"""What no run may say."""

HELPERS = """\
cover() { mount --bind "$1" "$2" && echo "$2" >>"$own/covered"; }
wrap() {
  mkdir -p "$own/engine" && cover "${engine%/*}" "$own/engine"
  printf '#!/bin/sh\\n%s\\nexec %s/engine/strider-engine "$@"\\n' "$1" "$own" >"$own/wrapped"
  chmod 755 "$own/wrapped" && cover "$own/wrapped" "$engine"
}
limit() {
  group=/sys/fs/cgroup/memory file=memory.limit_in_bytes
  [ -d "$group" ] || group=/sys/fs/cgroup file=memory.max
  group=$group/strider-causes && mkdir -p "$group" && echo "$1" >"$group/$file"
}
uncover() {
  [ ! -e "$own/covered" ] || tac "$own/covered" | while read -r place; do umount -l "$place"; done
  rm -rf "${own:?}"/* /etc/ssh/sshrc
}
set -e
"""
"""Shell functions. `cover FILE PLACE` mounts on this host alone, `wrap COMMANDS` runs them before the engine,
`limit BYTES` makes a control group with so much memory, and `uncover` undoes all that but the group."""


@dataclass(frozen=True)
class Way:
    """A way to break a run.

    Attributes:
        name: Of the test.
        says: Text that the run must print.
        never: Text that it must not print.
        host: Where the script runs; several with commas between them.
        script: Shell commands that break it; they have HELPERS, and variables of `Bench.shell`.
        undo: Shell commands that mend it; covers are removed anyway.
        late: Whether the script runs once the run measures, instead of before.
        interface: Of the case.
        pattern: Of the case.
        target: Of the run, with a variable of the script.
        store: Likewise.
        hosts: Of the run.
        fault: A fault of the file system `$forgetful`, once the run measures: operation and kind.
        succeeds: Whether the run goes well.
        slow: Whether it is left out unless STRIDER_CAUSES=all: another test shows the same, or it takes long.
    """

    name: str
    says: str
    never: tuple[str, ...] = ()
    host: str = "n2"
    script: str = ""
    undo: str = ""
    late: bool = False
    interface: str = "posix"
    pattern: str = STRIDED
    target: str = "$shared/data"
    store: str = "$shared/store"
    hosts: str = ",".join(NODES)
    fault: tuple[str, str] | None = None
    succeeds: bool = False
    slow: bool = False


@dataclass
class Said:
    """The output of a run.

    Attributes:
        code: Its exit code.
        text: All that it printed.
        silence_s: Its longest time without output, from its start to its end.
    """

    code: int
    text: str
    silence_s: float


@dataclass
class Listener:
    """Reads the output of a process and notes its times."""

    process: subprocess.Popen[bytes]
    times: list[float] = field(default_factory=lambda: [time.monotonic()])
    parts: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while part := os.read(self.process.stdout.fileno(), 1 << 16):
            self.times.append(time.monotonic())
            self.parts.append(part)
        self.times.append(time.monotonic())

    def finish(self) -> Said:
        """The output, once the process has ended."""
        code = self.process.wait(LIMIT_S)
        self._thread.join(LIMIT_S)
        silence_s = max(after - before for before, after in zip(self.times, self.times[1:], strict=False))
        return Said(code, b"".join(self.parts).decode("utf-8", "replace"), silence_s)


class Bench:
    """The hosts of the lab, with a folder that all of them see."""

    def __init__(self, record: Record, engine: Engine, forgetful: ForgetFs, shared: Path) -> None:
        self.record, self.shared, self.forgetful = record, shared, forgetful
        self.own = Path(record.endpoints[0].native["disk"])
        self.enter = record.endpoints[0].native["enter"]
        self.pins = {Path(pin).parent.name: pin for pin in record.namespaces}
        self.variables = {
            "shared": str(shared),
            "own": str(self.own),
            "engine": str(engine.path.resolve()),
            "forgetful": str(forgetful.mount),
            "clock": str(shared / "clock.so"),
        }

    def shell(self, hosts: str, script: str, **variables: object) -> None:
        """Runs a script on hosts."""
        for host in hosts.split(","):
            self._shell(
                host, script, {**self.variables, **{key: str(each) for key, each in variables.items()}}
            )

    def _shell(self, host: str, script: str, known: dict[str, str]) -> None:
        done = subprocess.run(
            [self.enter, host, "sh", "-c", HELPERS + script],
            env={**os.environ, **known},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def run(self, way: Way) -> Said:
        """Runs a suite, breaks it, and returns its output."""
        if "limit " in way.script and not os.access("/sys/fs/cgroup", os.W_OK):
            pytest.skip("machine: no control groups can be made")
        for name in ("data", "store"):
            shutil.rmtree(self.shared / name, ignore_errors=True)
        (self.shared / "data").mkdir()
        process = None
        try:
            if not way.late:
                self.shell(way.host, way.script)
            words = self.command(way)
            process = subprocess.Popen(
                [*self.record.enter, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            listener = Listener(process)
            if way.late:
                self.wait_for_samples(process)
                if way.fault:
                    self.forgetful.fault(*way.fault)
                self.shell(way.host, way.script, **self.processes(way.host, process.pid))
            return listener.finish()
        finally:
            if process is not None:
                process.kill()
                process.wait()
            self.forgetful.clear()
            self.shell(way.host, f"{way.undo}\nuncover")

    def command(self, way: Way) -> list[str]:
        """The command of a run, with its suite."""

        def known(text: str) -> str:
            return re.sub(r"\$(\w+)", lambda match: self.variables[match[1]], text)

        file = self.shared / "suite.toml"
        file.write_text(
            SUITE.format(
                target=known(way.target),
                stall_timeout=STALL_TIMEOUT,
                interface=way.interface,
                pattern=known(way.pattern),
                repetitions=100000 if way.late else 1,
            )
        )
        options = ("--hosts", way.hosts, "--ceilings", "none", "--confine", "off", "--quiet")
        return strider_command("run", file, "--store", known(way.store), *options)

    def wait_for_samples(self, process: subprocess.Popen[bytes]) -> None:
        """Waits until a run measures."""

        def measures() -> bool:
            assert process.poll() is None
            found = list(self.shared.glob("store/*/events.jsonl"))
            return bool(found) and any(event["event"] == "sample" for event in read_events(found[0]))

        wait_for(measures, "a sample", LIMIT_S)

    def processes(self, host: str, strider: int) -> dict[str, int]:
        """The rank on a host, the daemon of its ssh connection, the launcher and `strider run`."""
        there = {each.name: each.pid for each in in_networks(mounts.namespaces([self.pins[host]]))}
        here = {each.name: each.pid for each in in_networks(mounts.namespaces([self.pins["client"]]))}
        rank, proxy = (there.get(name, 0) for name in ("strider-engine", "hydra_pmi_proxy"))
        launcher = next((pid for name, pid in here.items() if name.startswith("mpiexec")), 0)
        return {"rank": rank, "proxy": proxy, "launcher": launcher, "strider": strider}


@contextmanager
def benched(engine: Engine) -> Iterator[Bench]:
    """A bench on four hosts of its own, which have the file system that injects faults."""
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("needs an engine with MPICH")
    with (
        tempfile.TemporaryDirectory(prefix="strider-", ignore_cleanup_errors=True) as folder,
        forgetfs.mounted(engine) as forgetful,
        # The hosts only see earlier mounts.
        running("nodes", options=["rate=100mbit", "client_rate=250mbit"]) as record,
    ):
        source, library = Path(folder, "clock.c"), Path(folder, "clock.so")
        source.write_text(CLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        yield Bench(record, engine, forgetful, Path(folder))


def selected(ways: Sequence[Way]) -> list[Way]:
    """The ways of an ordinary run, or all."""
    return [way for way in ways if ALL or not way.slow]


def check(way: Way, said: Said) -> None:
    """Fails if a run did not print a required text, or printed a forbidden one."""
    print(f"{way.name}: {said.silence_s:.1f} s without output")
    assert re.search(way.says, said.text), said.text
    for other in (*NEVER, *way.never):
        assert not re.search(other, said.text), f"{other}: {said.text}"
    assert (said.code == 0) == way.succeeds, said
    if ALL:  # a loaded machine lengthens all waits
        assert said.silence_s <= LONGEST_SILENCE_S, said

"""Runs a program under strace and says where it connected, and which files it changed."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_CONNECTING = ("connect", "sendto", "sendmsg", "sendmmsg")
_OPENING = ("open", "openat", "openat2", "creat")
_CHANGING = (
    *("unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "symlink"),
    *("symlinkat", "link", "linkat", "truncate", "chmod", "fchmodat", "chown", "lchown", "fchownat"),
    *("utimensat", "mknod", "mknodat", "setxattr", "lsetxattr", "removexattr", "lremovexattr"),
)
_CALL = re.compile(r"^(?:\d+\s+)?(?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<result>-?\d+|\?)")
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
_PATH = re.compile(r'(?:AT_FDCWD<(?P<cwd>[^>]*)>, |\d+<(?P<folder>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
_WRITES = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC)")


@dataclass(frozen=True)
class Traced:
    """The actions of a program.

    Attributes:
        returncode: Its exit code; None where it had to be ended.
        output: Its output.
        addresses: Addresses that it sent something to, loopback aside.
        changed: Paths that it changed, or opened for writing.
    """

    returncode: int | None
    output: str
    addresses: set[str]
    changed: set[str]


def run_traced(
    command: list[str], cwd: Path, environment: dict[str, str], log: Path, limit_s: float
) -> Traced:
    """Runs a program with all that it starts."""
    calls = ",".join((*_CONNECTING, *_OPENING, *_CHANGING))
    tracing = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        f"trace={calls}",
        "-o",
        str(log),
    ]
    process = subprocess.Popen(
        [*tracing, *command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        code = None
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    addresses, changed = read_trace(lines, cwd)
    return Traced(code, output.decode("utf-8", "replace"), addresses, changed)


def read_trace(lines: list[str], cwd: Path) -> tuple[set[str], set[str]]:
    """Addresses that were sent something, and paths that were changed."""
    addresses: set[str] = set()
    changed: set[str] = set()
    for line in lines:
        # Also a call that failed, or did not end: asking is what must not be.
        if any(f"{name}(" in line for name in _CONNECTING):
            addresses |= {four or six for four, six in _ADDRESS.findall(line)}
            continue
        call = _CALL.match(line)
        if not call or call["result"].startswith(("-", "?")):
            continue
        if call["name"] in _OPENING and not _WRITES.search(call["arguments"]) and call["name"] != "creat":
            continue
        for found in _PATH.finditer(call["arguments"]):
            folder = found["folder"] or found["cwd"] or str(cwd)
            path = found["path"].encode().decode("unicode_escape", "replace")
            changed.add(os.path.normpath(os.path.join(folder, path)))  # noqa: PTH118 - may begin with a slash
    local = {
        address for address in addresses if address.startswith("127.") or address in ("::1", "::", "0.0.0.0")
    }
    return addresses - local, changed

"""Starts and stops servers of a volume on other hosts by ssh; the servers run in the background.

The data and the process id of a server are in its folder on the remote host, so no local process must keep
running. A file in the volume's directory records the host of each server.
"""

import ipaddress
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from strider import ssh
from strider.errors import ExitCode, StriderError
from strider.listio.tool import ready_address
from strider.own_files import OWN_MODE, read_own
from strider.text_file import write_whole

HOSTS_FILE = "listio-hosts.json"
"""Exists from before the first server starts until all are stopped."""
ANSWER_LIMIT_S = 45.0
"""Time limit of a host in seconds: to connect, and 20 s for a server to start or stop."""
_QUESTION_LIMIT_S = 10.0
_Info = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
_MOST_CONNECTIONS = 32
_PREFIX = "strider-listio-server: "
_SSH_FAILED = 255
_NO_PROGRAM = (126, 127)


class HostRecord(BaseModel):
    """The hosts of a volume's servers.

    Attributes:
        program: Path of the server's program on the hosts.
        hosts: Hosts for ssh, by server number.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["strider-listio-hosts"] = "strider-listio-hosts"
    version: Literal[1] = 1
    program: str
    hosts: list[str]


@dataclass(frozen=True)
class Answer:
    """The result of a command on a host.

    Attributes:
        status: Exit status; None if it took too long.
        output: Its output.
        messages: Text of stderr.
    """

    status: int | None
    output: str = ""
    messages: str = ""

    def reason(self) -> str:
        """Returns why it failed, and a remedy."""
        if self.status is None:
            return f"timed out after {ANSWER_LIMIT_S:.0f} s"
        lines = ssh.message_lines(self.messages)
        own = [number for number, line in enumerate(lines) if line.startswith(_PREFIX)]
        if own:
            return ": ".join(line.removeprefix(_PREFIX) for line in lines[own[0] :])
        # ssh's own warnings come first, and are all there is where the program said nothing.
        said = lines[-1] if lines and self.status != 0 else f"it exited with status {self.status}"
        if self.status == _SSH_FAILED:
            return f"{said}: check that ssh works without a password"
        if self.status in _NO_PROGRAM or self.status == 0:
            return f"{said}: check that --ssh-server is the path of strider-listio-server there"
        return said


def spread(hosts: Sequence[str], servers: int) -> list[str]:
    """The host of each server: in turn.

    Raises:
        StriderError: There are more hosts than servers.
    """
    if len(hosts) > servers:
        raise StriderError(
            f"--hosts names {len(hosts)} hosts for {servers} servers: name at most one host per server"
        )
    return [hosts[number % len(hosts)] for number in range(servers)]


def read_hosts(directory: Path) -> HostRecord | None:
    """Returns the hosts of a volume's running servers; None if there are none.

    Raises:
        StriderError: The file cannot be read, or another user can have written it.
    """
    file = directory / HOSTS_FILE
    content = read_own(file)
    try:
        return None if content is None else HostRecord.model_validate_json(content)
    except ValidationError as error:
        raise StriderError(f"cannot read {file}: {error}", ExitCode.CANNOT_RUN) from error


def start_on_hosts(
    record: HostRecord, directory: Path, options: Callable[[int, str], list[str]], secret: str
) -> list[str]:
    """Starts the servers of a volume on their hosts, and waits until they are ready.

    Args:
        record: Which server goes where.
        directory: The volume's, here and over there.
        options: Of the server with a number that listens at an address.
        secret: The volume's; it goes there on standard input.

    Returns:
        The addresses that servers say when they serve, by number.

    Raises:
        StriderError: One does not start; then none of them is left, unless the message says so.
    """
    addresses = _addresses(record.hosts)
    _write(record, directory)
    answers: dict[int, Answer] = {}
    over = threading.Event()

    def start(number: int, host: str) -> None:
        if over.is_set():
            return
        answers[number] = Answer(None)  # until its state is known: it may be running
        words = [record.program, *options(number, addresses[host])]
        answers[number] = answer = _ask(host, words, secret + "\n")
        if not _ready_address(answer):
            over.set()

    try:
        _on_each_host(record, start, over)
        for number, answer in sorted(answers.items()):
            if not _ready_address(answer):
                which = f"server {number} of {directory} on {record.hosts[number]}"
                raise StriderError(f"cannot start {which}: {answer.reason()}", ExitCode.CANNOT_RUN)
        return [_ready_address(answers[number]) for number in range(len(record.hosts))]
    except BaseException as error:
        maybe = [
            number for number, answer in answers.items() if answer.status is None or _ready_address(answer)
        ]
        _undo(record, directory, maybe, error)
        raise


def stop_on_hosts(record: HostRecord, directory: Path, numbers: Sequence[int] | None = None) -> int:
    """Stops servers on their hosts, and checks that they have exited.

    Args:
        record: Which server is where.
        directory: The volume's.
        numbers: Which servers; all if None.

    Returns:
        How many there were.

    Raises:
        StriderError: One cannot be stopped.
    """
    answers: dict[int, Answer] = {}

    def end(number: int, host: str) -> None:
        if numbers is None or number in numbers:
            words = ["--directory", str(directory.resolve()), "--number", str(number), "--action", "stop"]
            answers[number] = _ask(host, [record.program, *words])

    _on_each_host(record, end, threading.Event())
    failed = {number: answer for number, answer in sorted(answers.items()) if _ended(answer) is None}
    if failed:
        reasons = [
            f"server {number} on {record.hosts[number]}: {failed[number].reason()}" for number in failed
        ]
        raise StriderError(f"cannot stop {'; '.join(reasons)}", ExitCode.CANNOT_RUN)
    if numbers is None:
        (directory / HOSTS_FILE).unlink(missing_ok=True)
    return sum(_ended(answer) == "stopped" for answer in answers.values())


def _undo(record: HostRecord, directory: Path, numbers: Sequence[int], error: BaseException) -> None:
    """Stops the servers started before an error; if that fails, extends the error and keeps the record."""
    try:
        if numbers:
            stop_on_hosts(record, directory, numbers)
    except StriderError as problem:
        remedy = f"retry with strider listio stop {directory}"
        raise StriderError(f"{error}; {problem}; {remedy}", ExitCode.CANNOT_RUN) from error
    (directory / HOSTS_FILE).unlink(missing_ok=True)


def _write(record: HostRecord, directory: Path) -> None:
    try:
        write_whole(directory / HOSTS_FILE, record.model_dump_json(indent=1) + "\n", OWN_MODE)
    except OSError as error:
        raise StriderError(f"cannot write to {directory}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _on_each_host(record: HostRecord, work: Callable[[int, str], None], over: threading.Event) -> None:
    """Works on all hosts at a time; on a host one server after the other, as sshd limits new connections."""

    def in_turn(host: str) -> None:
        for number, of in enumerate(record.hosts):
            if of == host:
                work(number, host)

    hosts = list(dict.fromkeys(record.hosts))
    with ThreadPoolExecutor(min(len(hosts), _MOST_CONNECTIONS)) as pool:
        try:
            for done in [pool.submit(in_turn, host) for host in hosts]:
                done.result()
        except BaseException:
            over.set()
            raise


def _ask(host: str, words: Sequence[str], stdin: str = "") -> Answer:
    try:
        done = subprocess.run(
            ssh.command(host, words),
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_LIMIT_S,
            check=False,
            start_new_session=True,  # away from the terminal's Ctrl-C: it is undone in order
        )
    except subprocess.TimeoutExpired:
        return Answer(None)
    except OSError as error:
        return Answer(_SSH_FAILED, messages=f"cannot start ssh: {error.strerror}")
    return Answer(done.returncode, done.stdout, done.stderr)


def _ready_address(answer: Answer) -> str:
    """The address that a server says when it serves; empty if it does not."""
    return ready_address(answer.output) if answer.status == 0 else ""


def _ended(answer: Answer) -> str | None:
    """`stopped` or `none ran`, the line that the server's program prints; None if it failed."""
    lines = answer.output.splitlines() if answer.status == 0 else []
    return lines[-1] if lines and lines[-1] in ("stopped", "none ran") else None


def _addresses(hosts: Sequence[str]) -> dict[str, str]:
    """Where servers listen: the addresses of their hosts, without ports.

    Raises:
        StriderError: A host has none, or one that others cannot reach.
    """
    found = {host: _address(host) for host in dict.fromkeys(hosts)}
    own = [host for host, address in found.items() if address.is_loopback]
    if own and len(own) < len(found):
        raise StriderError(
            f"--hosts: {own[0]} resolves to {found[own[0]]}, which other hosts cannot reach: use an "
            "address that they can reach"
        )
    return {host: f"[{ip}]" if ip.version == 6 else str(ip) for host, ip in found.items()}


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The host name or address of an alias in ssh's configuration; IPv4 if it has both."""
    try:
        done = subprocess.run(
            ssh.question(host), capture_output=True, text=True, timeout=_QUESTION_LIMIT_S, check=False
        )
        names = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("hostname ")]
        infos = _look_up(names[0] if names else host)
    except subprocess.TimeoutExpired:
        raise StriderError(
            f"ssh -G {host}: timed out after {_QUESTION_LIMIT_S:.0f} s", ExitCode.CANNOT_RUN
        ) from None
    except socket.gaierror as error:
        raise StriderError(
            f"--hosts: cannot resolve {host} ({error.strerror}): use an address that clients can reach"
        ) from error
    except OSError as error:
        raise StriderError(f"cannot start ssh: {error.strerror}", ExitCode.CANNOT_RUN) from error
    best = min(infos, key=lambda info: info[0] != socket.AF_INET)
    return ipaddress.ip_address(best[4][0])


def _look_up(name: str) -> Sequence[_Info]:
    """Asks the name service, which has no time limit of its own, in a thread that may be left behind.

    Raises:
        StriderError: It does not answer.
        OSError: It does not know the name.
    """
    answers: Queue[Sequence[_Info] | OSError] = Queue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
        except OSError as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=_QUESTION_LIMIT_S)
    except Empty:
        raise StriderError(
            f"--hosts: the name service did not answer for {name} within {_QUESTION_LIMIT_S:.0f} s: check "
            "/etc/resolv.conf, or use an address",
            ExitCode.CANNOT_RUN,
        ) from None
    if isinstance(answer, OSError):
        raise answer
    return answer

"""Commands on other machines by ssh, called so that nothing typed is an option or a script."""

import re
import shlex
from collections.abc import Sequence

from strider.errors import StriderError

CONNECT_LIMIT_S = 10
_HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:.%\w]+\])(?::[0-9]{1,5})?")
_ALIVE_S = 15
"""A connection over which nothing came for three times as long is lost."""


def parse_hosts(option: str, text: str) -> list[str]:
    """Hosts that were typed with commas between: `[user@]host[:port]`, names of ssh's configuration too.

    Args:
        option: The option they were typed for, for messages.
        text: What was typed.

    Raises:
        StriderError: One is no host, or is named twice.
    """
    named = [host.strip() for host in text.split(",")]
    for host in named:
        if not _HOST.fullmatch(host):
            raise StriderError(f'{option}: "{host}" is no host: write [user@]host[:port]')
    if len(set(named)) < len(named):
        raise StriderError(f"{option}: a host is named twice: name it once")
    return named


def check_program(option: str, path: str) -> None:
    """Refuses what cannot be the path of a program on another machine.

    Raises:
        StriderError: It is none.
    """
    if not path or path.startswith("-") or not path.isprintable():
        raise StriderError(f'{option}: "{path}" is no path of a program')


def command(host: str, words: Sequence[str]) -> list[str]:
    """The ssh command that runs a program on a host; the shell over there gets its words quoted."""
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": str(CONNECT_LIMIT_S),
        "ServerAliveInterval": str(_ALIVE_S),
        "ForwardX11": "no",
        "ForwardAgent": "no",
        "ClearAllForwardings": "yes",
        "ControlMaster": "no",  # one of its own would outlive it, and keep its streams open
    }
    given = [word for option in options.items() for word in ("-o", "=".join(option))]
    return ["ssh", "-T", *given, *_where(host), shlex.join(words)]


def message_lines(text: str) -> list[str]:
    """What came from over there on the error stream: ssh's own warnings, then the program's lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def question(host: str) -> list[str]:
    """The ssh command that prints what ssh's configuration says about a host, without connecting."""
    return ["ssh", "-G", *_where(host)]


def _where(host: str) -> list[str]:
    name, _, port = host.rpartition(":") if re.search(r":[0-9]+$", host) else (host, "", "")
    return [*(["-p", port] if port else []), "--", name.replace("[", "").replace("]", "")]

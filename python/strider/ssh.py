"""Remote commands by ssh. User input is never interpreted as an option or by a shell."""

import re
import shlex
from collections.abc import Sequence

from strider.errors import StriderError

CONNECT_LIMIT_S = 10
_HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:.%\w]+\])(?::[0-9]{1,5})?")
_ALIVE_S = 15
"""ServerAliveInterval in seconds; three missed replies close the connection."""


def parse_hosts(option: str, text: str) -> list[str]:
    """Parses a comma-separated host list: `[user@]host[:port]` or names in the ssh configuration.

    Args:
        option: Name of the option, for messages.
        text: The text as typed.

    Raises:
        StriderError: A host is invalid, or is named twice.
    """
    named = [host.strip() for host in text.split(",")]
    for host in named:
        if not _HOST.fullmatch(host):
            raise StriderError(f'{option}: "{host}" is not a host: write [user@]host[:port]')
    if len(set(named)) < len(named):
        raise StriderError(f"{option}: a host is named twice: name it once")
    return named


def check_program(option: str, path: str) -> None:
    """Rejects invalid paths of a remote program.

    Raises:
        StriderError: The path is invalid.
    """
    if not path or path.startswith("-") or not path.isprintable():
        raise StriderError(f'{option}: "{path}" is not the path of a program')


def command(host: str, words: Sequence[str]) -> list[str]:
    """Returns the ssh command that runs a program on a host, quoted for the remote shell."""
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": str(CONNECT_LIMIT_S),
        "ServerAliveInterval": str(_ALIVE_S),
        "ForwardX11": "no",
        "ForwardAgent": "no",
        "ClearAllForwardings": "yes",
        "ControlMaster": "no",  # a control master would outlive the command and keep its streams open
    }
    given = [word for option in options.items() for word in ("-o", "=".join(option))]
    return ["ssh", "-T", *given, *_where(host), shlex.join(words)]


def message_lines(text: str) -> list[str]:
    """Returns the text of stderr: warnings of ssh, then lines of the remote program."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def question(host: str) -> list[str]:
    """Returns the ssh command that prints the configuration of a host without connecting."""
    return ["ssh", "-G", *_where(host)]


def _where(host: str) -> list[str]:
    name, _, port = host.rpartition(":") if re.search(r":[0-9]+$", host) else (host, "", "")
    return [*(["-p", port] if port else []), "--", name.replace("[", "").replace("]", "")]

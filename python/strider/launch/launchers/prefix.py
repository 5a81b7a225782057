"""Any command that starts a program on a number of ranks."""

import shlex
from pathlib import Path

from strider.errors import StriderError
from strider.launch.launchers.hosts import Places, RankMapping
from strider.launch.launchers.launcher import Launcher, installed, require_even


def prefix(text: str, places: Places) -> Launcher:
    """A launcher from a command line with `{ranks}` in it, such as `aprun -n {ranks} -N {per_node}`.

    `{nodes}`, `{per_node}` and `{hosts}` (with commas) are the places of the ranks. The string is split as by
    a shell, but executed without one.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StriderError(f"launcher {text}: {error}") from error
    words[0] = installed(words[0], "check the command given to --launcher")
    _require_fields(text, places)

    def command(mapping: RankMapping) -> list[str]:
        require_even(mapping, words[0])
        fields = {
            "{ranks}": str(mapping.ranks),
            "{nodes}": str(mapping.nodes),
            "{per_node}": str(mapping.per_node),
            "{hosts}": ",".join(mapping.names),
        }
        return [_filled(word, fields) for word in words]

    return Launcher(text, command, places=places, is_srun=Path(words[0]).name == "srun")


def _filled(word: str, fields: dict[str, str]) -> str:
    for field, value in fields.items():
        word = word.replace(field, value)
    return word


def _require_fields(text: str, places: Places) -> None:
    """Refuses places that the command does not use, and fields of places that are not given.

    Raises:
        StriderError: There is one.
    """
    if places.bind:
        raise StriderError(
            f"launcher {text}: takes no --bind: write the option of the launcher into its command"
        )
    uses_hosts, uses_nodes = "{hosts}" in text, "{nodes}" in text or "{per_node}" in text
    if places.hosts and not uses_hosts:
        raise StriderError(f"launcher {text}: uses no hosts: write {{hosts}} where it takes their names")
    if (places.nodes or places.per_node) and not uses_nodes:
        raise StriderError(
            f"launcher {text}: uses no nodes: write {{nodes}} or {{per_node}} where it takes their number"
        )
    if uses_hosts and not places.hosts:
        raise StriderError(f"launcher {text}: needs hosts: name them with --hosts or --hostfile")
    if uses_nodes and not places.are_given:
        raise StriderError(f"launcher {text}: needs nodes: give --nodes and --per-node")

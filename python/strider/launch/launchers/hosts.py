"""Hosts of a run: names as typed or in a file, and the ranks on each."""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from strider.engine import Json
from strider.errors import StriderError
from strider.text import shortened
from strider.text_file import read_text

MOST_SLOTS = 1_000_000
MOST_NAME_CHARACTERS = 253
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""Labels as in RFC 1123, section 2.1; with the underscore, which names of nodes contain."""
_REMEDY = "write a host name or an address, such as n1, n1:4 or 10.0.0.1"

_RECORDED = "the places in run.json"
_NAME_THEM = "name them with --hosts, or with --nodes and --per-node"

Binding = Literal["", "none", "core", "numa"]
"""Binding of a rank: none, to a core, or to the cores of a NUMA node; empty: as the launcher does."""


@dataclass(frozen=True)
class Host:
    """A host of a run.

    Attributes:
        name: Its name or address.
        slots: Number of ranks that it takes; None if not given.
    """

    name: str
    slots: int | None = None


@dataclass(frozen=True)
class RankMapping:
    """The ranks of a start, and where they are.

    Attributes:
        ranks: Number of ranks.
        nodes: Number of nodes; None: as the launcher chooses.
        per_node: Largest number of ranks on a node; None: as the launcher chooses.
        hosts: Ranks on each named host, in the order of ranks; empty: as the launcher chooses.
        bind: To what each rank is bound.
    """

    ranks: int
    nodes: int | None = None
    per_node: int | None = None
    hosts: tuple[Host, ...] = ()
    bind: Binding = ""

    @property
    def names(self) -> list[str]:
        return [host.name for host in self.hosts]

    @property
    def counts(self) -> list[int]:
        """Ranks on each named host."""
        return [host.slots or 0 for host in self.hosts]

    @property
    def is_even(self) -> bool:
        """Whether all hosts but the last have as many ranks as a node takes, and the last no more."""
        return all(count == self.per_node for count in self.counts[:-1])


@dataclass(frozen=True)
class Places:
    """Where the ranks of a run may be, as on the command line.

    Attributes:
        hosts: Named hosts, each once.
        nodes: Number of nodes, or None.
        per_node: Number of ranks on each node, or None.
        is_exact: Whether a run uses all of them; a probe uses some.
        bind: To what each rank is bound.
    """

    hosts: tuple[Host, ...] = ()
    nodes: int | None = None
    per_node: int | None = None
    is_exact: bool = True
    bind: Binding = ""

    @property
    def are_given(self) -> bool:
        """Whether hosts or nodes are given."""
        return bool(self.hosts or self.nodes or self.per_node)

    @property
    def names(self) -> list[str]:
        return [host.name for host in self.hosts]

    @property
    def ranks(self) -> int | None:
        """The number of ranks that nodes and ranks per node determine; None if one is not given."""
        return self.nodes * self.per_node if self.nodes and self.per_node else None

    def require_all_used(self, ranks: int) -> None:
        """Refuses a run whose ranks are not those of the nodes, or are too few for them.

        Raises:
            StriderError: They differ, or a node would have none.
        """
        if not self.is_exact:
            return
        if self.ranks is not None and self.ranks != ranks:
            raise StriderError(
                f"the run has {ranks} ranks, but --nodes {self.nodes} --per-node {self.per_node} have "
                f"{self.ranks}: leave the clients out (-n, or --set case.clients), or one of the others"
            )
        if self.nodes is not None and ranks < self.nodes:
            raise StriderError(f"{ranks} ranks cannot be on {self.nodes} nodes: raise -n, or reduce --nodes")

    def mapping(self, ranks: int) -> RankMapping:
        """Returns where ranks are: in blocks, the first ranks on the first host.

        Args:
            ranks: Their number; fewer than there are places use fewer nodes.

        Raises:
            StriderError: They do not fit.
        """
        return replace(self._on_nodes(ranks), bind=self.bind)

    def _on_nodes(self, ranks: int) -> RankMapping:
        if self.hosts:
            return self._on_hosts(ranks)
        if not self.nodes and not self.per_node:
            return RankMapping(ranks)
        per_node = self.per_node or -(-ranks // (self.nodes or 1))
        nodes = -(-ranks // per_node)
        if self.nodes and nodes > self.nodes:
            raise _too_few(ranks, self.nodes * per_node, f"--nodes {self.nodes} --per-node {per_node} have")
        if self.nodes and nodes < self.nodes and self.is_exact:
            raise StriderError(
                f"{ranks} ranks, {per_node} on a node, are on {nodes} nodes instead of {self.nodes}: choose "
                f"a multiple of {self.nodes} for -n, or name hosts"
            )
        return RankMapping(ranks, nodes, per_node)

    def _on_hosts(self, ranks: int) -> RankMapping:
        named = self.hosts[: self.nodes]
        taken, left = [], ranks
        for host, room in zip(named, self._rooms(named, ranks), strict=True):
            if count := min(room, left):
                taken.append(Host(host.name, count))
                left -= count
        if left:
            raise _too_few(ranks, ranks - left, f"the {len(named)} hosts have")
        return RankMapping(ranks, len(taken), max(host.slots or 0 for host in taken), tuple(taken))

    def _rooms(self, named: Sequence[Host], ranks: int) -> list[int]:
        """Returns the most ranks on each host: as given, or as equal as possible."""
        if self.per_node:
            return [self.per_node] * len(named)
        if any(host.slots for host in named):
            return [host.slots or 1 for host in named]
        each, more = divmod(ranks, len(named))
        return [each + 1] * more + [each] * (len(named) - more)

    @property
    def words(self) -> list[str]:
        """The options that give these nodes, ranks on each and binding."""
        options = {"--nodes": self.nodes, "--per-node": self.per_node, "--bind": self.bind}
        return [word for name, value in options.items() if value for word in (name, str(value))]

    def to_json(self) -> dict[str, Json]:
        """Returns them for `run.json`."""
        hosts: list[Json] = [{"name": host.name, "slots": host.slots} for host in self.hosts]
        return {"hosts": hosts, "nodes": self.nodes, "per_node": self.per_node, "bind": self.bind}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Places":
        """Returns those of a `run.json`.

        Raises:
            StriderError: A name or a number is not valid.
        """
        try:
            hosts = tuple(_host_of_json(host["name"], host["slots"]) for host in data["hosts"])
            nodes, per_node = _number_of_json(data["nodes"]), _number_of_json(data["per_node"])
            return cls(hosts, nodes, per_node, bind=_binding(str(data.get("bind", "")), _RECORDED))
        except (LookupError, TypeError) as error:
            raise StriderError(f"{_RECORDED} are damaged: {_NAME_THEM}") from error

    def each_once(self, ranks: int) -> RankMapping:
        """Returns the mapping of one process on each node that these ranks use."""
        mapping = self.mapping(ranks)
        nodes = mapping.nodes or 1
        return RankMapping(nodes, nodes, 1, tuple(Host(name, 1) for name in mapping.names))


def _too_few(ranks: int, places: int, who: str) -> StriderError:
    return StriderError(
        f"{ranks} ranks do not fit: {who} places for {places}: add hosts or slots, raise --per-node, or "
        "reduce -n"
    )


def places_of(
    hosts: str | None = None,
    hostfile: Path | None = None,
    nodes: int | None = None,
    per_node: int | None = None,
    bind: str | None = None,
) -> Places:
    """Returns the places of the options `--hosts`, `--hostfile`, `--nodes`, `--per-node` and `--bind`.

    Raises:
        StriderError: A name is not valid, or the options contradict each other.
    """
    if hosts is not None and hostfile is not None:
        raise StriderError("--hosts and --hostfile both name the hosts: leave one out")
    named: tuple[Host, ...] = ()
    if hosts is not None:
        named = _merged(_host(word.strip(), f"--hosts {shortened(hosts)}") for word in hosts.split(","))
    elif hostfile is not None:
        named = hosts_in(hostfile)
    if nodes and named and nodes > len(named):
        raise StriderError(f"--nodes {nodes}: {len(named)} hosts are named: name more, or reduce --nodes")
    return Places(named, nodes, per_node, bind="" if bind is None else _binding(bind or "-", "--bind"))


def _binding(text: str, where: str) -> Binding:
    for known in get_args(Binding):
        if text == known:
            return known  # type: ignore[no-any-return]
    raise StriderError(f"{where}: {shortened(text)} is no binding: choose none, core or numa")


def hosts_in(file: Path) -> tuple[Host, ...]:
    """Returns the hosts of a host file, each once.

    A line is `HOST`, `HOST:N` (as for MPICH) or `HOST slots=N` (as for Open MPI); `#` begins a comment. A
    host that is repeated has the sum of its slots, as in the `$PBS_NODEFILE` of PBS.

    Raises:
        StriderError: It cannot be read, or a line is not valid; file, line and value are named.
    """
    found = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if words := line.partition("#")[0].split():
            found.append(_host_of_line(words, f"{file}:{number}"))
    if not found:
        raise StriderError(f"{file}: names no host: write one on each line")
    return _merged(found)


def _host_of_line(words: Sequence[str], place: str) -> Host:
    host = _host(words[0], place)
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "slots" and host.slots is None:
            host = Host(host.name, _slots(value, word, place))
        elif key not in ("max_slots", "max-slots"):
            raise StriderError(f"{place}: {shortened(word)} is not known: write HOST, HOST:N or HOST slots=N")
    return host


def _host(word: str, place: str) -> Host:
    """Parses `n1`, `n1:4`, `10.0.0.1:4`, `::1` or `[::1]:4`."""
    name, slots = word, ""
    if word.startswith("[") and "]" in word:
        name, _, slots = word[1:].partition("]")
        if slots and not slots.startswith(":"):
            raise StriderError(f'{place}: "{shortened(word)}" is no host: {_REMEDY}')
        slots = slots[1:]
    elif word.count(":") == 1:
        name, _, slots = word.partition(":")
        if not slots:
            raise StriderError(f'{place}: "{shortened(word)}" has no number after the colon: {_REMEDY}')
    if reason := _reason_against(name):
        raise StriderError(f'{place}: "{shortened(word)}" is no host: {reason}')
    return Host(name, _slots(slots, word, place) if slots else None)


def _host_of_json(name: object, slots: object) -> Host:
    text = str(name)
    if reason := _reason_against(text):
        raise StriderError(f'{_RECORDED}: "{shortened(text)}" is no host: {reason}')
    return Host(text, _number_of_json(slots))


def _number_of_json(number: object) -> int | None:
    if number is None or (type(number) is int and 1 <= number <= MOST_SLOTS):
        return number
    raise StriderError(
        f'{_RECORDED}: "{shortened(str(number))}" is no number from 1 to {MOST_SLOTS}: {_NAME_THEM}'
    )


def _reason_against(name: str) -> str:
    """Returns why a text is no name or address of a host; empty if it is one."""
    if not name:
        return f"it is empty: {_REMEDY}"
    if ":" in name or re.fullmatch(r"[0-9.]+", name):
        return "" if _is_address(name) else f"it is no address: {_REMEDY}"
    if "[" in name:
        return 'write each name of a list; "scontrol show hostnames LIST" prints those of Slurm'
    if "@" in name:
        return "name the user in ~/.ssh/config, and the host alone here"
    if len(name) > MOST_NAME_CHARACTERS:
        return f"it has {len(name)} characters, and a name at most {MOST_NAME_CHARACTERS}"
    if not _NAME.fullmatch(name):
        return f"a name has letters, digits, dots, - and _, and begins with none of - and dot: {_REMEDY}"
    return ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return re.fullmatch(r"[0-9A-Fa-f.:]+(%[A-Za-z0-9_.-]+)?", text) is not None


def _slots(text: str, word: str, place: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_SLOTS:
        raise StriderError(
            f'{place}: "{shortened(word)}": the number of slots must be from 1 to {MOST_SLOTS}'
        )
    return int(text)


def _merged(hosts: Iterable[Host]) -> tuple[Host, ...]:
    """Returns each host once, with the sum of its slots; one without a number counts as 1."""
    found: dict[str, Host] = {}
    for host in hosts:
        before = found.get(host.name)
        slots = host.slots if before is None else (before.slots or 1) + (host.slots or 1)
        found[host.name] = Host(host.name, slots)
    return tuple(found.values())

"""The cases of a quick measurement, in groups by their worth, each with its cost in time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from strider.quick.look import POSIX, Place
from strider.quick.probe import Probe
from strider.quick.sizes import SMALL, Sizes
from strider.units import KIB, MIB

REQUEST = MIB
PIECE, PIECES = KIB, 128
DEEP, DEEPEST = 8, 16
#: Random requests with replacement never run out: the deadline ends the phase.
_ENDLESS = 100_000_000
#: Opening, closing and removing files, the barrier, and the events of a repetition.
_OVERHEAD_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The setting of the cases.

    Attributes:
        clients: Number of clients of the cases with several.
        interfaces: Names of the interfaces that this engine has.
        is_deep: Whether the interface keeps several requests in flight.
    """

    place: Place
    probe: Probe
    sizes: Sizes
    phase_s: float
    short_s: float
    clients: int
    interfaces: frozenset[str]
    is_deep: bool = True

    def prefill_s(self, count: int) -> float:
        """Returns the time to write so many bytes."""
        return count / self.probe.write_bytes_s if self.probe.write_bytes_s else 0.0


@dataclass(frozen=True)
class Group:
    """Cases that are measured together or not at all.

    Attributes:
        cases: `[[case]]` tables of a suite.
        cost_s: Estimated time of a round.
    """

    name: str
    cases: Sequence[str]
    cost_s: float


def groups(setting: Setting, has_data: bool) -> list[Group]:
    """Returns the groups in the order of their worth.

    Args:
        setting: The directory, its probed rates, and the sizes and lengths of phases.
        has_data: Whether the target has space for data.
    """
    of_data: list[Callable[[Setting], Group]] = [
        _sequential,
        partial(_random, depth=1),
        _append,
        *([partial(_random, depth=DEEPEST)] if setting.is_deep else []),
        _create,
        _clients,
        *([_deep] if setting.is_deep else []),
        _pieces,
        _names,
        _large,
        *([_cached] if setting.place.interface == POSIX else []),
    ]
    return [make(setting) for make in (of_data if has_data else [_names])]


def _case(name: str, *lines: str) -> str:
    return "\n".join(["[[case]]", f'name = "{name}"', *lines])


def _direct(setting: Setting, interface: str = "") -> list[str]:
    """Past the page cache, or through a cold one."""
    interface = interface or setting.place.interface
    return [
        f'interface = "{interface}"',
        f"{interface}.direct = true" if setting.place.is_direct else 'cache = "cold"',
    ]


def _through(setting: Setting) -> str:
    return f'interface = "{setting.place.interface}"'


def _segmented(total: int, clients: int = 1, transfer: int = REQUEST) -> list[str]:
    block = max(transfer, total // clients // transfer * transfer)
    return ['pattern = "segmented"', f"transfer = {transfer}", f"block = {block}", f"clients = {clients}"]


def _operations(*names: str) -> str:
    return f"operations = {json.dumps(names)}"


def _sequential(setting: Setting) -> Group:
    sizes, direct = setting.sizes, _direct(setting)
    if sizes.is_repeated:
        cases = [
            _case("sequential", *direct, *_segmented(sizes.file), _operations("write")),
            _case("sequential", *_again(setting), _operations("read")),
        ]
        cost_s = 2 * (setting.phase_s + _OVERHEAD_S) + setting.prefill_s(sizes.random)
        return Group("sequential", cases, cost_s)
    if sizes.is_joint:
        cases = [_case("sequential", *direct, *_segmented(sizes.file), _operations("write", "read"))]
        return Group("sequential", cases, 2 * setting.phase_s + _OVERHEAD_S)
    cases = [
        _case("sequential", *direct, *_segmented(sizes.file), _operations("write")),
        _case("sequential", *direct, *_segmented(sizes.read), _operations("read")),
    ]
    cost_s = 2 * (setting.phase_s + _OVERHEAD_S) + setting.prefill_s(sizes.read)
    return Group("sequential", cases, cost_s)


def _again(setting: Setting) -> list[str]:
    """Requests of 1 MiB in any order, the same places again and again.

    Memory and caches of servers have no order that is faster, and a file that lasts a second would take
    seconds to fill.
    """
    shape = ['pattern = "random"', f"transfer = {REQUEST}", f"size = {setting.sizes.random}"]
    return [*_direct(setting), *shape, "replacement = true", f"count = {_ENDLESS}"]


def _deep(setting: Setting) -> Group:
    # Servers answer several requests at once much faster than one, which the probe has measured.
    is_again = setting.sizes.is_repeated or (setting.place.kind != "local" and setting.place.is_direct)
    size = setting.sizes.random if is_again else setting.sizes.read
    shape = _again(setting) if is_again else [*_direct(setting), *_segmented(size)]
    lines = [*shape, f"depth = {DEEP}", _operations("read")]
    cost_s = setting.phase_s + setting.prefill_s(size) + _OVERHEAD_S
    return Group("deep", [_case("sequential deep", *lines)], cost_s)


def _random(setting: Setting, depth: int) -> Group:
    """Reads first: they need the whole file, and rewriting it in place leaves it whole."""
    is_posix = setting.place.interface == POSIX
    interface = "uring" if depth > 1 and is_posix and "uring" in setting.interfaces else ""
    endless = ["replacement = true", f"count = {_ENDLESS}"] if setting.place.is_direct else []
    lines = [
        *_direct(setting, interface),
        'pattern = "random"',
        f"transfer = {SMALL}",
        f"size = {setting.sizes.random}",
        *endless,
        f"depth = {depth}",
        _operations("read", "rewrite"),
    ]
    cost_s = 2 * setting.phase_s + setting.prefill_s(setting.sizes.random) + _OVERHEAD_S
    name = "random deep" if depth > 1 else "random"
    return Group(name, [_case(name, *lines)], cost_s)


def _append(setting: Setting) -> Group:
    lines = [_through(setting), *_segmented(setting.sizes.file, transfer=SMALL), 'sync = "each"']
    case = _case("append", *lines, _operations("write"))
    return Group("append", [case], setting.phase_s + _OVERHEAD_S)


def _create(setting: Setting) -> Group:
    lines = [_through(setting), 'tree = "balanced"', f"items = {setting.sizes.items}"]
    case = _case("create", *lines, f"file_size = {SMALL}", 'sync = "each"', _operations("create"))
    return Group("create", [case], 1.5 * setting.phase_s + _OVERHEAD_S)


def _names(setting: Setting) -> Group:
    lines = [_through(setting), 'tree = "balanced"', f"items = {setting.sizes.items}"]
    deadline = f'deadline = "{setting.short_s:.2f}s"'
    case = _case("names", *lines, deadline, _operations("create", "stat", "readdir", "unlink"))
    return Group("names", [case], 3 * setting.short_s + _OVERHEAD_S)


def _clients(setting: Setting) -> Group:
    """One client, all clients with a file each, and with one file together, to set against each other.

    The one has a case of its own: a burst makes short phases faster than long ones.
    """
    sizes = setting.sizes
    cases = [
        _case(
            "clients",
            *_direct(setting),
            *_segmented(max(sizes.file, sizes.read), clients),
            f'sharing = "{sharing}"',
            f'deadline = "{setting.short_s:.2f}s"',
            _operations("write", "read"),
        )
        for clients, sharing in ((1, "per-rank"), (setting.clients, "per-rank"), (setting.clients, "shared"))
    ]
    return Group("clients", cases, len(cases) * (2 * setting.short_s + _OVERHEAD_S))


def _pieces(setting: Setting) -> Group:
    count = max(1, setting.sizes.bounded // setting.clients // (PIECE * PIECES))
    own: dict[str, list[str]] = {"posix": [], "mpiio": ['mpiio.access = "collective"'], "listio": []}
    shape = ['pattern = "vector"', f"pieces = {PIECES}", f"piece = {PIECE}", f"count = {count}"]
    return _interfaces(setting, "pieces", own, shape)


def _large(setting: Setting) -> Group:
    own: dict[str, list[str]] = {"posix": [], "mpiio": [], "uring": []}
    block = max(REQUEST, setting.sizes.bounded // setting.clients // REQUEST * REQUEST)
    return _interfaces(
        setting, "large", own, ['pattern = "segmented"', f"transfer = {REQUEST}", f"block = {block}"]
    )


def _interfaces(setting: Setting, name: str, own: dict[str, list[str]], shape: list[str]) -> Group:
    """The same writes through several interfaces: through the page cache, as all of them can, and synced."""
    native = setting.place.native
    cases = [
        _case(
            name,
            f'interface = "{interface}"',
            *options,
            *shape,
            f"clients = {setting.clients}",
            f'deadline = "{setting.short_s:.2f}s"',
            _operations("write"),
        )
        for interface, options in {**own, **({native: []} if native else {})}.items()
        if interface in setting.interfaces
    ]
    return Group(name, cases, len(cases) * (2 * setting.short_s + _OVERHEAD_S))


def _cached(setting: Setting) -> Group:
    """The data just written, read from the page cache."""
    size = min(setting.sizes.bounded, 64 * MIB)
    case = _case("cached", 'interface = "posix"', *_segmented(size), _operations("write", "read"))
    return Group("cached", [case], 2 * setting.prefill_s(size) + _OVERHEAD_S)

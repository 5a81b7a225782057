"""Which options of a case are as the engine has them by itself, and so need no words.

A plan spells out every value, and a report is made where there may be no engine to ask for its defaults.
"""

from __future__ import annotations

from strider.store.model import Case

#: The defaults of `strider-engine describe` that are neither empty, zero nor off.
_DEFAULTS: dict[str, tuple[object, ...]] = {
    "order": ("forward",),
    "sharing": ("shared",),
    "readback": ("same",),
    "shift": (1,),
    "sync": ("end",),
    "wear_out": (True,),
    "seed": (1,),
    "access": ("independent",),
    "sieve_buffer": (4 << 20,),
    "memory": ("packed",),
    "segments": (1,),
    "count": (1,),
    "tiles_y": (1,),
    "cache": ("as-is",),
    "arrivals": ("closed",),
}
#: The same for cases of metadata, where they differ.
_TREE_DEFAULTS: dict[str, tuple[object, ...]] = {
    "sync": ("none",),
    "fanout": (1,),
    "place": ("all",),
    "open_files": (512,),
}
#: Options of metadata that matter only to an operation.
OF_OPERATION = {"mix": "mix", "mix_operations": "mix", "open_files": "open"}
#: By interface: how a request of several pieces is carried out.
_METHODS = {
    "posix": "multiple",
    "mpiio": "list",
    "gfapi": "multiple",
    "cephfs": "multiple",
    "xrootd": "list",
    "listio": "hybrid",
}
#: By interface: defaults of its own that are neither empty, zero nor off.
_OF_INTERFACE: dict[str, dict[str, object]] = {
    "mmap": {"advice": "normal", "msync": "sync"},
    "mpiio": {"pointer": "explicit"},
    "uring": {"wait": 1},
    "gfapi": {"port": 24007},
    "cephfs": {"cache": True, "timeout": 60},
    "xrootd": {"timeout": 60},
    "nfs": {"timeout": 60},
    "hdf5": {"libver": "earliest"},
    "listio": {
        "calls": "list",
        "registration": "none",
        "strategy": "ogr",
        "calibrate": True,
        "runs": 128,
        "hole": "unmapped",
        "timeout": 30.0,
    },
}
#: Where a file system is, which tells no interface apart.
PLACES = frozenset({"conf", "mount", "port", "root", "server", "url", "user"})
#: What says nothing of a case whose memory is not registered.
_OF_REGISTRATION = frozenset({"strategy", "calibrate", "cache_bytes"})
#: Options of holes in memory that has none.
_OF_HOLES = frozenset({"hole"})
#: An option that matters only together with another one's value.
_NEEDS: dict[str, tuple[str, object]] = {
    "shift": ("readback", "shift"),
    "sieve_buffer": ("method", "sieve"),
}


def is_needless(case: Case, name: str) -> bool:
    """Whether an option of an interface has no effect beside the others of a case, whatever its value."""
    if name in _OF_REGISTRATION:
        return case.interface.get("registration") == "none"
    if name in _OF_HOLES:
        return case.interface.get("holes") == 0
    return False


def is_default(case: Case, name: str, value: object) -> bool:
    """Whether an option has its default, or no effect in this case.

    Args:
        case: The case that has it.
        name: The option's name in the plan, without its interface, pattern or tree.
        value: Its value there.
    """
    if name == "wear_out" and not case.common_parameters().get("deadline"):
        return True
    if name in _NEEDS:
        other, needed = _NEEDS[name]
        if {**case.common_parameters(), **case.interface}.get(other) != needed:
            return True
    if case.is_metadata and OF_OPERATION.get(name, case.operations[0]) not in case.operations:
        return True
    own = _OF_INTERFACE.get(case.interface_name, {})
    if name in own:
        return is_needless(case, name) or value == own[name]
    if name == "method":
        return value == _METHODS.get(case.interface_name)
    if case.is_metadata and name in _TREE_DEFAULTS:
        return value in _TREE_DEFAULTS[name]
    if name in _DEFAULTS:
        return value in _DEFAULTS[name]
    return value is None or value is False or value in (0, "", "off", {}, [])

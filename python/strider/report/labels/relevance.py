"""Which options of a case need no words: those with the engine's default, and those without an effect."""

from __future__ import annotations

from strider.engine import NAMED_PLACES
from strider.store.case import Case, Option

#: Options of metadata that matter only to an operation.
OF_OPERATION = {"mix": "mix", "mix_operations": "mix", "open_files": "open"}
#: Kinds of options that say where a file system is, which distinguishes no interface.
_PLACES = {"port", *NAMED_PLACES} - {"volume", "pool"}
#: Kinds of numbers, which make up the work of a pattern or a tree.
_NUMBERS = frozenset({"bytes", "count", "numbers", "levels"})
#: What says nothing of a case whose memory is not registered.
_OF_REGISTRATION = frozenset({"strategy", "calibrate", "cache_bytes", "unregistered"})
#: Options of holes in memory that has none.
_OF_HOLES = frozenset({"hole"})
#: An option that matters only together with some values of another one.
_NEEDS: dict[str, tuple[str, tuple[object, ...]]] = {
    "shift": ("readback", ("shift", "growing-shift")),
    "sieve_buffer": ("method", ("sieve",)),
}
_OFF: tuple[object, ...] = (None, False, 0, "", "off", {}, [])


def is_place(option: Option) -> bool:
    """Whether an option of an interface says where, not how."""
    return option.kind in _PLACES


def is_needless(case: Case, name: str) -> bool:
    """Whether an option of an interface has no effect beside the others of a case, whatever its value."""
    if name in _OF_REGISTRATION:
        return case.interface.get("registration") == "none"
    if name == "unregistered" and case.interface.get("strategy") != "single":
        return True
    if name in _OF_HOLES:
        return case.interface.get("holes") == 0
    return False


def is_default(case: Case, option: Option) -> bool:
    """Whether an option has its default, or no effect in this case.

    Of a pattern or a tree, numbers other than 0 and 1 count as chosen: they are the work.
    """
    value, default = option.value, option.parameter.default if option.parameter else None
    if _has_no_effect(case, option.name):
        return True
    if option.part == "shape" and option.kind in _NUMBERS:
        return value in (*_OFF, 1) and default in (value, None)
    return value is None or value == default or (default is None and value in _OFF)


def _has_no_effect(case: Case, name: str) -> bool:
    common = case.common_parameters
    if name in ("wear_out", "deadline_of") and not common.get("deadline"):
        return True
    if name == "ramp" and not common.get("runtime"):
        return True
    if name in _NEEDS:
        other, needed = _NEEDS[name]
        if {**common, **case.interface}.get(other) not in needed:
            return True
    if case.is_metadata and OF_OPERATION.get(name, case.operations[0]) not in case.operations:
        return True
    return is_needless(case, name)

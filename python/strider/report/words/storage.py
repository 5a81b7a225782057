"""Settings of `--set` with which reads come from storage, for the interface of each case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from strider.statistics import OperationSummary
from strider.statistics.exceeding import is_through_target
from strider.store.case import Case, Option
from strider.suite.values import BEYOND_MEMORY, SIZE_KEYS

#: Offsets and lengths that are multiples of it suit direct I/O on any device.
_PAGE = 4096


def cases_of(summaries: Iterable[OperationSummary]) -> list[Case]:
    """Returns the cases of some results, each once."""
    return list({summary.case.number: summary.case for summary in summaries}.values())


def from_storage(cases: Collection[Case], others: Collection[Case]) -> str:
    """Returns what makes the reads of some cases come from storage, as the end of a sentence.

    Such as `add --set case.cache=cold or --set case.posix.direct=true`.

    Args:
        cases: Cases whose reads a cache served, or may have served.
        others: All cases of the run: a setting applies to each that has its key.
    """
    buffered = [case for case in cases if is_through_target(case) and not _is_direct(case)]
    ways = [*_cold(buffered, others), *_direct(buffered, others)] if buffered else []
    own = _without_own_cache(cases)
    if not ways and not own:
        return _larger(cases, others)
    parts = [f"add {' or '.join(ways)}"] if ways else []
    found = " and ".join([*parts, *(f"add {setting}" for setting in own)])
    helped = {case.interface_name for case in (buffered if ways else [])}
    helped |= {case.interface_name for case in cases if _caches(case)}
    left = dict.fromkeys(case.interface_name for case in cases if case.interface_name not in helped)
    return f"{found}; for {', '.join(left)} use files larger than memory" if left else found


def _cold(cases: Sequence[Case], others: Collection[Case]) -> Iterator[str]:
    """The second pass of a runtime reads from the page cache, so the engine refuses it for cold files."""
    repeated = any(
        _common(case, "runtime") and _reads(case) and is_through_target(case) and not _is_direct(case)
        for case in others
    )
    if not repeated and all(_common(case, "cache") != "cold" for case in cases):
        yield "--set case.cache=cold"


def _direct(cases: Sequence[Case], others: Collection[Case]) -> Iterator[str]:
    names = list(dict.fromkeys(case.interface_name for case in cases))
    same = [case for case in others if case.interface_name in names]
    if all(_is_direct(case) or _may_be_direct(case) for case in [*cases, *same]):
        yield " ".join(f"--set case.{name}.direct=true" for name in names)


def _without_own_cache(cases: Collection[Case]) -> list[str]:
    """Settings of libraries with a cache that can be disabled."""
    own = {case.interface_name for case in cases if _caches(case)}
    return [f"--set case.{name}.cache=false" for name in sorted(own)]


def _larger(cases: Collection[Case], others: Collection[Case]) -> str:
    """Files larger than memory, by the key that all these cases have; a count would fix their size."""
    for key in SIZE_KEYS if cases else ():
        sized = [case.pattern for case in [*cases, *others] if key in case.pattern]
        if all(key in case.pattern for case in cases) and not any(one.get("count") for one in sized):
            return f"add --set case.{key}={BEYOND_MEMORY}"
    return "use files larger than memory"


def _may_be_direct(case: Case) -> bool:
    """Whether the interface has direct I/O, and all offsets and lengths of the case suit it."""
    if case.is_metadata or not _flag(case, "direct") or "sieve" in case.interface.values():
        return False
    sizes = [size for option in case.shape_options.values() for size in _sizes(option)]
    return bool(sizes) and all(size % _PAGE == 0 for size in sizes)


def _sizes(option: Option) -> Iterator[int]:
    if option.kind == "bytes" and option.value is not None:
        yield int(option.value)
    elif option.kind == "levels":
        yield from (level[1] for level in option.value if isinstance(level, list) and len(level) > 1)


def _flag(case: Case, name: str) -> bool:
    """Whether the interface has a flag of that name."""
    described = case.description.of("interfaces", case.interface_name).get(name)
    return described is not None and described.kind == "flag"


def _caches(case: Case) -> bool:
    """Whether a library has a cache that can be disabled, and is not."""
    return not is_through_target(case) and _flag(case, "cache") and bool(case.interface.get("cache"))


def _is_direct(case: Case) -> bool:
    return bool(case.interface.get("direct"))


def _reads(case: Case) -> bool:
    return not case.is_metadata and any("read" in operation for operation in case.operations)


def _common(case: Case, key: str) -> object:
    return case.common_parameters.get(key)

"""Labels say what tells cases apart, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from builders import KIB, MIB, CaseSpec, sweep
from strider.report.facets import Facets
from strider.store import Case


def facets_of(specs: Sequence[CaseSpec]) -> Facets:
    return Facets.of(cases_of(specs))


def cases_of(specs: Sequence[CaseSpec]) -> list[Case]:
    return [Case.model_validate(spec.plan(number, 3)) for number, spec in enumerate(specs, start=1)]


def posix(**parameters: object) -> CaseSpec:
    return CaseSpec(interface={"name": "posix", **parameters})


def test_a_series_is_the_interface_with_what_varies_of_it() -> None:
    facets = facets_of(
        [
            posix(direct=False, dsync=False),
            posix(direct=True, dsync=False),
            CaseSpec(interface={"name": "mpiio"}),
        ]
    )
    assert facets.series_order == ["posix", "posix direct", "mpiio"]


def test_values_that_say_nothing_alone_keep_their_name() -> None:
    facets = facets_of(
        [posix(access="collective", fsync="none", depth=4), posix(access="x", fsync="all", depth=8)]
    )
    assert facets.series_order == ["posix collective fsync none depth 4", "posix x fsync all depth 8"]


def test_hints_are_told_apart_by_key_and_value() -> None:
    facets = facets_of([posix(hints={}), posix(hints={"romio_cb_write": "enable"})])
    assert facets.series_order == ["posix", "posix romio_cb_write=enable"]


def test_a_group_is_the_pattern_with_what_varies_except_sizes_and_clients() -> None:
    facets = facets_of(sweep(patterns=("segmented", "strided"), clients=(1, 2), sharing=["shared", 4]))
    assert set(facets.group.values()) == {
        "segmented, shared",
        "segmented, 4 files",
        "strided, shared",
        "strided, 4 files",
    }


def test_a_block_that_follows_the_transfer_size_makes_no_group() -> None:
    sizes = [{"name": "segmented", "transfer": size, "block": 16 * size} for size in (64 * KIB, MIB)]
    assert set(facets_of([CaseSpec(pattern=pattern) for pattern in sizes]).group.values()) == {"segmented"}


def test_levels_that_follow_the_transfer_size_make_no_group() -> None:
    nested = [
        {"name": "nested-strided", "transfer": size, "levels": [[8, 16 * size], [8, size]]}
        for size in (64 * KIB, MIB)
    ]
    cases = [CaseSpec(pattern=pattern) for pattern in nested]
    assert set(facets_of(cases).group.values()) == {"nested-strided"}


def test_a_block_that_is_crossed_with_the_transfer_size_makes_groups() -> None:
    cases = [
        CaseSpec(pattern={"name": "segmented", "transfer": transfer, "block": block})
        for transfer in (64 * KIB, MIB)
        for block in (MIB, 4 * MIB)
    ]
    assert set(facets_of(cases).group.values()) == {"segmented block 1 MiB", "segmented block 4 MiB"}


def test_names_of_cases_come_first() -> None:
    facets = facets_of([CaseSpec(name="checkpoint"), CaseSpec(name="restart")])
    assert facets.group == {1: "checkpoint, segmented", 2: "restart, segmented"}


def test_what_does_not_vary_is_said_once() -> None:
    constants = dict(facets_of(sweep()).constants)
    assert constants == {
        "pattern": "segmented",
        "block": "64 MiB",
        "clients": "2",
        "sharing": "shared",
        "order": "forward",
    }

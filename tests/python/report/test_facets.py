"""Labels show the differences between cases, and no other parameters."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from builders import KIB, MIB, CaseSpec, sweep
from strider.engine import Engine
from strider.report.labels.facets import Facets
from strider.store import Case
from strider.store.described import Description

Options = dict[str, object]


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


def test_the_ways_into_a_volume_are_told_apart() -> None:
    def on_mount(name: str, servers: int = 0) -> CaseSpec:
        return CaseSpec(
            interface={"name": name, "prefix": ""}, common={"mount": "listio", "mount_servers": servers}
        )

    layer = CaseSpec(
        interface={"name": "mpiio", "prefix": "listio:"}, common={"mount": "none", "mount_servers": 0}
    )
    plain = CaseSpec(
        interface={"name": "listio", "servers": 6, "transport": "tcp"},
        common={"mount": "none", "mount_servers": 0},
    )
    facets = facets_of([on_mount("posix"), on_mount("mpiio"), layer, plain, on_mount("mpiio", 4)])
    ways = ["posix on mount", "mpiio on mount", "mpiio listio:", "listio", "mpiio on mount of 4 servers"]
    assert facets.series_order == ways
    assert len(set(facets.group.values())) == 1


def test_values_that_say_nothing_alone_keep_their_name() -> None:
    facets = facets_of(
        [posix(access="collective", fsync="none", depth=4), posix(access="x", fsync="all", depth=8)]
    )
    assert facets.series_order == ["posix collective fsync none depth 4", "posix x fsync all depth 8"]


def test_hints_are_distinguished_by_key_and_value() -> None:
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
        "readback": "shift",
        "verify": "full",
    }


def test_options_that_are_no_defaults_are_said_though_they_never_vary() -> None:
    common = {"sync": "none", "deadline": 2.5, "wear_out": False, "settle": 0, "warmup": 1, "seed": 1}
    interface = {"name": "mpiio", "access": "collective", "method": "list", "hints": {}, "prefix": ""}
    facets = facets_of([CaseSpec(interface=interface, common=common)])
    assert facets.series_order == ["mpiio collective"]
    constants = dict(facets.constants)
    assert constants["interface"] == "mpiio collective"
    assert constants["sync"] == "none"
    assert constants["deadline"] == "2.5 s"
    assert constants["wear out"] == "no"
    assert constants["warmup"] == "1"
    assert not {"settle", "seed", "segments"} & set(constants)


def test_one_interface_among_several_says_its_options_too() -> None:
    facets = facets_of([posix(direct=True), CaseSpec(interface={"name": "mpiio", "access": "collective"})])
    assert facets.series_order == ["posix direct", "mpiio collective"]


def test_sync_is_always_said_where_something_was_written() -> None:
    assert dict(facets_of([CaseSpec(common={"sync": "end"})]).constants)["sync"] == "end"
    reading = facets_of([CaseSpec(operations=["read"], common={"sync": "end"})])
    assert "sync" not in dict(reading.constants)


def test_an_option_of_one_of_several_patterns_goes_with_its_name() -> None:
    vector = {"name": "vector", "pieces": 128, "piece": 4096, "memory_gap": 0}
    constants = dict(facets_of([CaseSpec(), CaseSpec(pattern=vector)]).constants)
    assert constants["vector pieces"] == "128"
    assert constants["vector piece"] == "4 KiB"
    assert "vector memory gap" not in constants


def test_what_only_the_cases_of_one_name_have_goes_with_the_name() -> None:
    facets = facets_of(
        [CaseSpec(name="safe", common={"sync": "each"}), CaseSpec(name="fast", common={"sync": "none"})]
    )
    assert facets.group == {1: "safe, segmented, sync each", 2: "fast, segmented, sync none"}


def listio(**parameters: object) -> dict[str, object]:
    own = {"method": "gather", "registration": "none", "strategy": "ogr", "holes": 0, "hole": "unmapped"}
    return {"name": "listio", **own, **parameters}


def test_what_varies_between_names_alone_belongs_to_them_so_that_a_series_is_the_same_in_all() -> None:
    methods: list[Options] = [
        {},
        {"registration": "model", "strategy": "individual"},
        {"registration": "model"},
    ]
    memory: dict[str, Options] = {
        "case 1": {},
        "case 2": {"holes": 10},
        "case 3": {"holes": 10, "hole": "inaccessible"},
    }
    facets = facets_of(
        [
            CaseSpec(name=name, interface=listio(**holes, **method))
            for name, holes in memory.items()
            for method in methods
        ]
    )
    assert facets.series_order == ["listio registration none", "listio model individual", "listio model ogr"]
    assert list(dict.fromkeys(facets.group.values())) == [
        "case 1, segmented, holes 0",
        "case 2, segmented, holes 10 unmapped",
        "case 3, segmented, holes 10 inaccessible",
    ]
    assert dict(facets.constants)["interface"] == "listio gather"


def test_options_of_an_interface_label_no_row_of_another() -> None:
    facets = facets_of(
        [
            CaseSpec(name=name, interface=interface)
            for name, dsync in (("plain", False), ("synchronous", True))
            for interface in ({"name": "posix", "dsync": dsync}, {"name": "mpiio"})
        ]
    )
    assert list(zip(facets.series.values(), facets.group.values(), strict=True)) == [
        ("posix", "plain, segmented"),
        ("mpiio", "plain, segmented"),
        ("posix dsync", "synchronous, segmented"),
        ("mpiio", "synchronous, segmented"),
    ]


def test_an_interface_that_shares_one_of_its_names_has_its_options_in_the_series() -> None:
    """A suite of three cases: posix, mpiio independent, and both with mpiio collective."""
    facets = facets_of(
        [
            CaseSpec(name="a", interface={"name": "posix"}),
            CaseSpec(name="b", interface={"name": "mpiio", "access": "independent"}),
            CaseSpec(name="c", interface={"name": "mpiio", "access": "collective"}),
            CaseSpec(name="c", interface={"name": "posix"}),
        ]
    )
    assert list(zip(facets.series.values(), facets.group.values(), strict=True)) == [
        ("posix", "a, segmented"),
        ("mpiio independent", "b, segmented"),
        ("mpiio collective", "c, segmented"),
        ("posix", "c, segmented"),
    ]


def test_an_option_without_effect_distinguishes_nothing() -> None:
    facets = facets_of(
        [CaseSpec(interface=listio(**own)) for own in ({}, {"strategy": "individual"}, {"holes": 10})]
    )
    assert facets.series_order == ["listio holes 0", "listio holes 10"]


def described(description: Description, specs: Sequence[CaseSpec]) -> list[Case]:
    """Cases of a run whose engine gave a description."""
    return [case.model_copy(update={"description": description}) for case in cases_of(specs)]


def test_no_series_says_what_the_engine_does_by_itself_or_where_it_is(engine: Engine) -> None:
    known = Description.model_validate(engine.description.model_dump())
    places = {"port", "config", "directory", "path", "host", "url", "user"}
    for interface in engine.description.interfaces:
        defaults = {one.name: one.default for one in interface.parameters}
        elsewhere = {one.name: "elsewhere" for one in interface.parameters if one.kind in places}
        other = "posix" if interface.name == "null" else "null"
        own = {"name": interface.name, **defaults, **elsewhere}
        cases = [CaseSpec(interface=own), CaseSpec(interface={"name": other})]
        assert Facets.of(described(known, cases)).series_order == [interface.name, other]
        alone = Facets.of(described(known, cases[:1]))
        assert alone.series_order == [interface.name]


def test_units_and_defaults_are_those_that_the_engine_of_the_run_described() -> None:
    parameters = [
        {"name": "window", "kind": "bytes", "default": MIB},
        {"name": "lease", "kind": "seconds", "default": 30},
        {"name": "lanes", "kind": "count", "default": 2},
    ]
    known = Description.model_validate({"interfaces": [{"name": "invented", "parameters": parameters}]})
    cases = [
        CaseSpec(interface={"name": "invented", "window": window, "lease": lease, "lanes": 2})
        for window, lease in ((MIB, 30), (4 * MIB, 0.25))
    ]
    assert Facets.of(described(known, cases)).series_order == [
        "invented window 1 MiB lease 30 s",
        "invented window 4 MiB lease 0.25 s",
    ]
    both = [cases[0], CaseSpec()]
    assert Facets.of(described(known, both)).series_order == ["invented", "posix"]


def test_an_option_of_an_interface_is_not_taken_for_one_of_the_case_with_the_same_name() -> None:
    cephfs = {"name": "cephfs", "cache": True}
    facets = facets_of([CaseSpec(interface=cephfs, common={"cache": "as-is"}), CaseSpec()])
    assert "cache" not in dict(facets.constants)


def test_a_size_in_an_older_run_has_its_unit() -> None:
    sieves = [{"name": "posix", "method": "sieve", "sieve_buffer": size} for size in (MIB, 4 * MIB)]
    assert facets_of([CaseSpec(interface=own) for own in sieves]).series_order == [
        "posix sieve_buffer 1 MiB",
        "posix sieve_buffer 4 MiB",
    ]


def test_a_number_of_a_pattern_is_said_though_it_is_the_default() -> None:
    strided = [CaseSpec(pattern={"name": "strided", "transfer": MIB, "count": count}) for count in (64, 1)]
    assert [dict(facets_of([one]).constants).get("count") for one in strided] == ["64", "1"]
    segmented = CaseSpec(pattern={"name": "segmented", "transfer": MIB, "segments": 1})
    assert "segments" not in dict(facets_of([segmented]).constants)


def test_a_data_set_is_named_as_one() -> None:
    facets = facets_of([CaseSpec(common={"dataset": "kept"}), CaseSpec(common={"dataset": ""})])
    assert facets.group == {1: "segmented, data set kept", 2: "segmented"}


def test_the_work_grows_no_faster_than_the_cases() -> None:
    def calls(cases: int) -> int:
        sizes = (KIB * number for number in range(1, cases + 1))
        specs = [CaseSpec(pattern={"name": "segmented", "transfer": size}) for size in sizes]
        counted = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal counted
            counted += event == "call"

        made = cases_of(specs)
        sys.setprofile(count)
        try:
            Facets.of(made)
        finally:
            sys.setprofile(None)
        return counted

    assert calls(80) < 2.5 * calls(40)


def test_a_copy_of_a_case_has_options_of_its_own() -> None:
    case = cases_of([posix(direct=True)])[0]
    assert case.interface_options["direct"].value is True

    copy = case.model_copy(update={"interface": {**case.interface, "direct": False}})

    assert copy.interface_options["direct"].value is False
    assert case.interface_options["direct"].value is True

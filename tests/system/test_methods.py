"""Every pattern, by every method of every interface, makes the same file and reads it back verified."""

from pathlib import Path

import pytest

from harness import Json, case, check, extents, plan, run_and_read, run_engine
from strider.engine import Engine

METHODS: dict[str, Json] = {
    "posix multiple": {"interface": "posix"},
    "posix vectored": {"interface": "posix", "interface_method": "vectored"},
    "posix sieve": {"interface": "posix", "interface_method": "sieve", "interface_sieve_buffer": 5000},
    "mpiio multiple": {"interface": "mpiio", "interface_method": "multiple"},
    "mpiio independent": {"interface": "mpiio", "interface_method": "list"},
    "mpiio independent without sieving": {
        "interface": "mpiio",
        "interface_hints": {"romio_ds_read": "disable", "romio_ds_write": "disable"},
    },
    "mpiio collective": {"interface": "mpiio", "interface_access": "collective"},
    "mpiio view": {"interface": "mpiio", "interface_method": "view"},
    "mpiio collective view": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
    },
    "mpiio individual pointer": {"interface": "mpiio", "interface_pointer": "individual"},
    "mpiio individual pointer, collective view": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
        "interface_pointer": "individual",
    },
    "mpiio split": {"interface": "mpiio", "interface_access": "collective", "interface_split": True},
    "mpiio split view, individual pointer": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
        "interface_pointer": "individual",
        "interface_split": True,
    },
    "mpiio atomic": {"interface": "mpiio", "interface_atomic": True},
    "mpiio preallocated": {"interface": "mpiio", "interface_preallocate": True},
}

NONBLOCKING: dict[str, Json] = {
    "posix multiple": {"interface": "posix"},
    "independent multiple": {"interface": "mpiio", "interface_method": "multiple", "depth": 3},
    "independent view": {"interface": "mpiio", "interface_method": "view", "depth": 2},
    "collective view": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
        "depth": 3,
    },
    "individual pointer": {
        "interface": "mpiio",
        "interface_method": "multiple",
        "interface_pointer": "individual",
        "depth": 4,
    },
    "collective view, individual pointer": {
        "interface": "mpiio",
        "interface_access": "collective",
        "interface_method": "view",
        "interface_pointer": "individual",
        "depth": 4,
    },
}
"""What keeps requests in flight, and a method that does not."""
VIEWS = {name for name in NONBLOCKING if "view" in name}
COLLECTIVE = {name for name in NONBLOCKING if "collective" in name}
REFUSED = {"segmented": COLLECTIVE, "btio": VIEWS}
"""Methods that the engine does not use with requests in flight, by pattern."""

BUFFERED_BY_ROMIO = {name for name in METHODS if name.startswith("mpiio")}

PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 1000, "pattern_block": 4500, "pattern_segments": 2},
    {"pattern": "strided", "pattern_transfer": 777, "pattern_count": 6},
    {"pattern": "nested-strided", "pattern_transfer": 512, "pattern_levels": [[3], [4]]},
    {"pattern": "random-strided", "pattern_transfer": 512, "pattern_count": 6},
    {"pattern": "sequential", "pattern_transfer": 1000, "pattern_size": 6500},
    {"pattern": "random", "pattern_transfer": 512, "pattern_size": 16384},
    {"pattern": "vector", "pattern_pieces": 7, "pattern_piece": 100, "pattern_count": 3},
    {
        "pattern": "vector",
        "pattern_pieces": 7,
        "pattern_piece": 100,
        "pattern_memory_gap": 60,
        "pattern_count": 3,
    },
    {
        "pattern": "vector",
        "pattern_pieces": 7,
        "pattern_piece": 100,
        "pattern_file_gap": 0,
        "pattern_memory_gap": 9,
    },
    {"pattern": "subarray", "pattern_dims": [30, 50], "pattern_grid": [2, 2], "pattern_count": 2},
    {
        "pattern": "subarray",
        "pattern_dims": [9, 10, 11],
        "pattern_grid": [2, 1, 2],
        "pattern_memory": "in-place",
        "pattern_halo": 1,
    },
    {
        "pattern": "tiled",
        "pattern_tiles_x": 2,
        "pattern_tiles_y": 2,
        "pattern_tile_x": 20,
        "pattern_tile_y": 6,
    },
    {
        "pattern": "flash",
        "pattern_blocks": 3,
        "pattern_cells": 2,
        "pattern_guard_cells": 1,
        "pattern_variables": 4,
    },
    {
        "pattern": "unstructured-mesh",
        "pattern_vertices": 500,
        "pattern_values_per_vertex": 4,
        "pattern_values_per_record": 2,
        "pattern_run": 5,
    },
    {"pattern": "btio", "pattern_grid": [7, 8, 9], "pattern_dumps": 3},
    {"pattern": "btio", "pattern_grid": [7, 8, 9], "pattern_dumps": 2, "pattern_request": "cell"},
]


WITHOUT_MIX = ("subarray", "tiled", "unstructured-mesh", "sequential")
"""Patterns in which a rank has a single request here, or one rank writes for all."""


def name_of(pattern: Json) -> str:
    """The pattern and the parameter that comes last."""
    last = list(pattern)[-1].removeprefix("pattern_")
    return f"{pattern['pattern']}-{last}-{pattern[list(pattern)[-1]]}".replace(" ", "")


@pytest.mark.parametrize("pattern", PATTERNS, ids=name_of)
def test_every_method_moves_the_same_bytes(engine: Engine, tmp_path: Path, pattern: Json) -> None:
    keys: Json = {
        "clients": 4,
        "verify": "full",
        "read_share": 50,
        "operations": ["write", "read-write", "read", "read-modify-write", "reread"],
    }
    if pattern["pattern"] in WITHOUT_MIX or pattern.get("pattern_memory_gap") == 9:
        keys["operations"][1] = "rewrite"
    document = plan([case(**pattern, **method, **keys) for method in METHODS.values()])

    done = run_engine(engine, document, tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    digests = {
        method: [s["digest"] for s in done.of("sample", case=number) if s["operation"] in ("read", "reread")]
        for number, method in enumerate(METHODS, 1)
    }
    first = digests["posix multiple"]
    assert len(set(first)) == 2
    assert all(other == first for other in digests.values()), digests
    wanted = {s["operation"]: s["bytes"] for s in done.of("sample", case=1)}
    for sample in done.of("sample", measured=True):
        assert sample["bytes"] == wanted[sample["operation"]]


@pytest.mark.parametrize("pattern", PATTERNS[::3], ids=name_of)
def test_requests_in_flight_move_the_same_bytes(engine: Engine, tmp_path: Path, pattern: Json) -> None:
    """Except for rejected combinations: views for irregular patterns, collective writes that leave holes."""
    keys: Json = {"clients": 4, "verify": "full", "operations": ["write", "rewrite", "read"]}
    cases = [case(**pattern, **method, **keys) for method in NONBLOCKING.values()]
    refused = check(engine, plan(cases), tmp_path)["errors"]
    assert {error["key"] for error in refused} <= {"depth"}
    refused_methods = {list(NONBLOCKING)[error["case"] - 1] for error in refused}
    assert refused_methods == REFUSED.get(pattern["pattern"], set())
    allowed = [one for name, one in zip(NONBLOCKING, cases, strict=True) if name not in refused_methods]

    done = run_engine(engine, plan(allowed), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    assert len({sample["digest"] for sample in done.of("sample", operation="read")}) == 1
    wanted = {s["operation"]: (s["bytes"], s["requests"]) for s in done.of("sample", case=1)}
    for sample in done.of("sample", measured=True):
        assert (sample["bytes"], sample["requests"]) == wanted[sample["operation"]]


GAPS: Json = {
    "pattern": "vector",
    "pattern_pieces": 7,
    "pattern_piece": 100,
    "pattern_file_gap": 450,
    "pattern_count": 3,
}


@pytest.mark.parametrize("pattern", [GAPS, PATTERNS[10], PATTERNS[12]], ids=name_of)
def test_files_are_byte_identical(engine: Engine, tmp_path: Path, pattern: Json) -> None:
    """An independent reader compares the files of all methods; what no extent covers was never written.

    Except by ROMIO's data sieving and collective buffering: into holes beyond the file's end they write
    the earlier content of the buffer. The files are those of data sets, which stay.
    """
    keys: Json = {"clients": 4, "verify": "full", "operations": ["write", "read"]}
    folders = {f"set{number}": tmp_path / f"set{number}" for number in range(len(METHODS))}
    document = plan(
        [
            case(**pattern, **method, **keys, dataset=name, manifest={"seed": 3})
            for method, name in zip(METHODS.values(), folders, strict=True)
        ]
    )
    for folder in folders.values():
        folder.mkdir()
    options = [word for name, folder in folders.items() for word in ("--dataset", f"{name}={folder}")]

    done = run_engine(engine, document, tmp_path, options=options)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    contents = [(folder / "data.0").read_bytes() for folder in folders.values()]
    covered = bytearray(len(contents[0]))
    for rank in range(4):
        for offset, length in extents(engine, document, tmp_path, rank, "write"):
            covered[offset : offset + length] = b"\1" * length
    assert (0 in covered) == (pattern is GAPS)
    for method, content in zip(METHODS, contents, strict=True):
        assert len(content) == len(covered)
        pairs = list(zip(content, contents[0], covered, strict=True))
        assert all(byte == wanted for byte, wanted, is_covered in pairs if is_covered), method
        if method not in BUFFERED_BY_ROMIO:
            assert not any(byte for byte, _, is_covered in pairs if not is_covered), method


TURNS: Json = {"pattern": "strided", "pattern_transfer": 1000, "pattern_count": 7, "clients": 4}
ORDERED: Json = {"interface": "mpiio", "interface_access": "collective", "interface_pointer": "ordered"}
SHARED: Json = {"interface": "mpiio", "interface_pointer": "shared"}


@pytest.mark.parametrize("keys", [{}, {"interface_split": True}], ids=["whole", "split"])
def test_ordered_transfers_take_turns(engine: Engine, tmp_path: Path, keys: Json) -> None:
    operations = ["write", "read", "reread"]
    explicit = case(**TURNS, interface="mpiio", verify="full", operations=operations)
    ordered = case(**TURNS, **ORDERED, **keys, verify="full", operations=operations)

    done = run_engine(engine, plan([explicit, ordered]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    digests = {sample["digest"] for sample in done.of("sample") if "read" in sample["operation"]}
    assert len(digests) == 1


@pytest.mark.parametrize("depth", [1, 3])
def test_shared_transfers_leave_every_record_whole(engine: Engine, tmp_path: Path, depth: int) -> None:
    """Each rank writes the records of its slots again and again: they lie anywhere, but none is torn."""
    document = plan([case(**TURNS, **SHARED, depth=depth, settle=0.5, operations=["write", "read"])])
    _, content = run_and_read(engine, document, tmp_path)
    records = [content[start : start + 1000] for start in range(0, len(content), 1000)]
    assert len(records) == 28
    assert bytes(1000) not in records
    counts = sorted(records.count(record) for record in set(records))
    assert counts == [7] * 4 if depth == 1 else len(counts) <= 4 * depth


@pytest.mark.parametrize(
    ("keys", "key", "reason"),
    [
        ({**TURNS, **SHARED, "verify": "full"}, "verify", "unknown order"),
        ({**TURNS, **SHARED, "order": "random"}, "mpiio.pointer", "in rank order"),
        ({**TURNS, **ORDERED, "operations": ["read"]}, "mpiio.pointer", "in rank order"),
        ({**TURNS, **ORDERED, "readback": "shift"}, "mpiio.pointer", "in rank order"),
        ({**TURNS, **ORDERED, "depth": 2}, "depth", "keeps one request in flight"),
        ({**PATTERNS[0], **ORDERED, "clients": 4}, "mpiio.pointer", "in rank order"),
        ({**GAPS, **ORDERED, "clients": 4}, "mpiio.pointer", "in rank order"),
        ({**TURNS, "interface": "mpiio", "interface_pointer": "ordered"}, "mpiio.pointer", "collective"),
        ({**TURNS, "interface": "mpiio", "interface_split": True}, "mpiio.split", "collective"),
        ({**TURNS, **SHARED, "interface_access": "collective"}, "mpiio.pointer", "ordered"),
        ({**PATTERNS[13], "interface": "mpiio", "depth": 2, "clients": 4}, "depth", "the view of a request"),
    ],
)
def test_what_mpi_could_not_do_right_is_refused(
    engine: Engine, tmp_path: Path, keys: Json, key: str, reason: str
) -> None:
    (error,) = check(engine, plan([case(**keys)]), tmp_path)["errors"]
    assert error["key"] == key
    assert reason in error["message"]
    assert error["remedy"]


def test_mpi_makes_and_removes_files(engine: Engine, tmp_path: Path) -> None:
    operations = ["create", "open-close", "small-write", "small-read", "truncate", "expand", "unlink"]
    tree: Json = {"name": "balanced", "items": 5, "file_size": 3000}
    keys: Json = {"clients": 3, "verify": "full", "operations": operations}

    done = run_engine(engine, plan([{"tree": tree, "interface": {"name": "mpiio"}, **keys}]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    measured = [sample for sample in done.of("sample") if sample["operation"] != "prefill"]
    assert [sample["operation"] for sample in measured] == operations
    assert all(sample["requests"] == 15 for sample in measured)
    assert list(done.directory.iterdir()) == []


def test_what_mpi_has_no_call_for_is_refused(engine: Engine, tmp_path: Path) -> None:
    tree: Json = {"name": "balanced", "items": 5}
    keys: Json = {"clients": 1, "operations": ["create", "stat", "mkdir"]}
    errors = check(engine, plan([{"tree": tree, "interface": {"name": "mpiio"}, **keys}]), tmp_path)["errors"]
    assert [error["message"] for error in errors] == [
        "the interface mpiio cannot stat",
        "the interface mpiio cannot mkdir",
    ]

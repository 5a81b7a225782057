"""Every pattern, by every method of every interface, makes the same file and reads it back verified."""

from pathlib import Path

import pytest

from harness import EngineJob, Json, case, extents, plan, read_events, run_engine, wait_for
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
}

BUFFERED_BY_ROMIO = {"mpiio independent", "mpiio view", "mpiio collective", "mpiio collective view"}

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


def name_of(pattern: Json) -> str:
    """The pattern and the parameter that comes last."""
    last = list(pattern)[-1].removeprefix("pattern_")
    return f"{pattern['pattern']}-{last}-{pattern[list(pattern)[-1]]}".replace(" ", "")


@pytest.mark.parametrize("pattern", PATTERNS, ids=name_of)
def test_every_method_moves_the_same_bytes(engine: Engine, tmp_path: Path, pattern: Json) -> None:
    keys: Json = {
        "clients": 4,
        "verify": "full",
        "operations": ["write", "rewrite", "read", "read-modify-write", "reread"],
    }
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
    for sample in done.of("sample"):
        assert sample["bytes"] == wanted[sample["operation"]]


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
    what the buffer held before.
    """
    keys: Json = {"clients": 4, "verify": "full", "settle": 0.5, "operations": ["write", "read"]}
    document = plan([case(**pattern, **method, **keys) for method in METHODS.values()])
    contents = []
    with EngineJob(engine, document, tmp_path) as job:
        for number in range(1, len(METHODS) + 1):

            def is_written(number: int = number) -> bool:
                samples = [e for e in read_events(job.events_file) if e["event"] == "sample"]
                return any(sample["case"] == number for sample in samples)

            wait_for(is_written, f"the write of case {number}")
            contents.append((job.directory / f"case{number}.0").read_bytes())
        assert job.finish().returncode == 0
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

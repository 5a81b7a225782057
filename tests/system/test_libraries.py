"""Files of library interfaces open with other programs and hold the expected data."""

import json
import subprocess
from pathlib import Path

import pytest

from harness import Json, case, plan, run_and_read, run_engine
from strider.engine import Engine

PATTERNS: list[Json] = [
    {"pattern": "segmented", "pattern_transfer": 1000, "pattern_block": 4500, "pattern_segments": 2},
    {"pattern": "vector", "pattern_pieces": 7, "pattern_piece": 100, "pattern_count": 3},
    {"pattern": "unstructured-mesh", "pattern_vertices": 500, "pattern_run": 5},
    {"pattern": "sequential", "pattern_transfer": 1000, "pattern_size": 6500},
    {
        "pattern": "subarray",
        "pattern_dims": [9, 10, 11],
        "pattern_grid": [2, 1, 2],
        "pattern_memory": "in-place",
        "pattern_halo": 1,
    },
]
HDF5: dict[str, Json] = {
    "independent": {},
    "collective": {"interface_access": "collective"},
    "chunks": {"interface_access": "collective", "interface_chunk": 4096},
    "independent chunks": {"interface_chunk": 1000},
    "options": {
        "interface_alignment": 65536,
        "interface_collective_metadata": True,
        "interface_libver": "latest",
    },
}
PNETCDF: dict[str, Json] = {
    "independent": {},
    "collective": {"interface_access": "collective"},
    "nonblocking": {"interface_calls": "nonblocking", "depth": 3},
    "nonblocking collective": {
        "interface_calls": "nonblocking",
        "interface_access": "collective",
        "depth": 3,
    },
    "buffered": {"interface_calls": "buffered", "interface_access": "collective", "depth": 2},
}


def need(engine: Engine, name: str) -> None:
    """Skips where the engine has no such module."""
    printed = subprocess.run([engine.path, "describe"], capture_output=True, text=True, check=True).stdout
    (found,) = [interface for interface in json.loads(printed)["interfaces"] if interface["name"] == name]
    if not found["available"]:
        pytest.skip(f"machine: {name}: {found['unavailable_reason']}")


def contents_of(engine: Engine, work: Path, test: Json) -> tuple[bytes, Path]:
    """A file as the ranks have written it, and where a copy of it lies."""
    document = plan([{**test, "settle": 0.5, "verify": "full", "operations": ["write", "read"]}])
    work.mkdir()
    _, content = run_and_read(engine, document, work)
    copy = work / "copy"
    copy.write_bytes(content)
    return content, copy


def compare(engine: Engine, tmp_path: Path, name: str, pattern: Json, keys: Json) -> tuple[Path, bytes]:
    """A copy of the file that an interface has written, and the bytes that it has to hold."""
    expected, _ = contents_of(engine, tmp_path / "posix", case(**pattern, clients=4))
    _, copy = contents_of(engine, tmp_path / name, case(**pattern, **keys, interface=name, clients=4))
    return copy, expected


@pytest.mark.parametrize("keys", HDF5.values(), ids=HDF5.keys())
@pytest.mark.parametrize("pattern", PATTERNS[:2], ids=lambda pattern: pattern["pattern"])
def test_h5py_reads_what_four_ranks_wrote(engine: Engine, tmp_path: Path, pattern: Json, keys: Json) -> None:
    need(engine, "hdf5")
    h5py = pytest.importorskip("h5py")
    copy, expected = compare(engine, tmp_path, "hdf5", pattern, keys)
    with h5py.File(copy) as file:
        data = file["data"]
        assert data.dtype == "uint8"
        assert data[:].tobytes() == expected
        chunk = keys.get("interface_chunk")
        assert data.chunks == (None if chunk is None else (chunk,))
        if "interface_alignment" in keys:
            assert data.id.get_offset() % keys["interface_alignment"] == 0


@pytest.mark.parametrize("keys", PNETCDF.values(), ids=PNETCDF.keys())
@pytest.mark.parametrize("pattern", PATTERNS[:2], ids=lambda pattern: pattern["pattern"])
def test_netcdf4_reads_what_four_ranks_wrote(
    engine: Engine, tmp_path: Path, pattern: Json, keys: Json
) -> None:
    need(engine, "pnetcdf")
    netcdf = pytest.importorskip("netCDF4")
    copy, expected = compare(engine, tmp_path, "pnetcdf", pattern, keys)
    with netcdf.Dataset(copy) as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        data = file["data"]
        data.set_auto_mask(False)
        assert data.dtype == "uint8"
        assert data[:].tobytes() == expected


@pytest.mark.parametrize(("name", "methods"), [("hdf5", HDF5), ("pnetcdf", PNETCDF)])
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
def test_libraries_move_the_same_bytes(
    engine: Engine, tmp_path: Path, pattern: Json, name: str, methods: dict[str, Json]
) -> None:
    need(engine, name)
    keys: Json = {"clients": 4, "verify": "full", "operations": ["write", "rewrite", "read"]}
    cases = [case(**pattern, **keys)]
    cases += [case(**pattern, **method, **keys, interface=name) for method in methods.values()]

    done = run_engine(engine, plan(cases), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    assert len({sample["digest"] for sample in done.of("sample", operation="read")}) == 1
    assert list(done.directory.iterdir()) == []


@pytest.mark.parametrize("name", ["hdf5", "pnetcdf"])
@pytest.mark.parametrize(
    "operations", [["read", "rewrite"], ["write", "read-write", "read-modify-write", "reread"]]
)
def test_libraries_prepare_and_change_files(
    engine: Engine, tmp_path: Path, name: str, operations: list[str]
) -> None:
    need(engine, name)
    keys: Json = {"clients": 4, "verify": "full", "operations": operations, "sharing": 2, "read_share": 70}

    done = run_engine(engine, plan([case(**PATTERNS[0], **keys, interface=name)]), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"


@pytest.mark.parametrize("name", ["hdf5", "pnetcdf"])
def test_libraries_say_what_went_wrong(engine: Engine, tmp_path: Path, name: str) -> None:
    need(engine, name)
    blocked = tmp_path / "target" / "case1.0"
    blocked.mkdir(parents=True)

    done = run_engine(engine, plan([case(**PATTERNS[0], interface=name, clients=2)]), tmp_path)

    assert done.returncode == 1
    error = done.of("error")[0]
    assert error["file"].endswith("case1.0")
    assert error["call"]
    assert error["message"]

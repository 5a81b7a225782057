"""With verify = "full" files are compared as a whole: their sizes, and what lies where no request writes."""

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import EngineRun, Json, Pause, case, plan, run_engine, run_with_pauses
from labs import Native
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop

SETTLE_S = 0.6
CUT, APPENDED, GARBAGE = 300, 100, 140
VECTOR: Json = {
    "pattern": "vector",
    "pattern_pieces": 4,
    "pattern_piece": 1000,
    "pattern_file_gap": 5000,
    "clients": 2,
    "verify": "full",
    "settle": SETTLE_S,
}
"""Pieces of two ranks, and then 4000 bytes without a writer."""
HURRIED = {key: value for key, value in VECTOR.items() if key != "settle"}
END, GAP = 20000, 3000

WAYS: dict[str, Json] = {
    **{f"posix {method}": {"interface_method": method} for method in ("multiple", "vectored", "sieve")},
    "posix queued": {"interface": "posix", "depth": 3},
    "posix preallocated": {"interface": "posix", "interface_preallocate": True},
    "mmap": {},
    "uring": {},
    "uring queued": {"depth": 3},
    "mpiio collective": {"interface_access": "collective"},
    "mpiio view": {"interface_access": "collective", "interface_method": "view"},
    "mpiio own view": {"interface_method": "view"},
    "mpiio independent": {},
    "mpiio multiple": {"interface_method": "multiple"},
    "mpiio split": {"interface_access": "collective", "interface_split": True},
    "hdf5": {},
    "hdf5 collective": {"interface_access": "collective"},
    "pnetcdf": {},
    "pnetcdf collective": {"interface_access": "collective"},
}


def usable(engine: Engine) -> dict[str, Json]:
    """The ways whose interface this engine has."""
    known = {one.name for one in engine.description.interfaces if one.available}
    return {
        name: {"interface": name.split()[0], **way} for name, way in WAYS.items() if name.split()[0] in known
    }


def after_phase(number: int, operation: str, act: Callable[[Path], object]) -> Pause:
    """Acts on the file of a case once a phase of it has its sample."""

    def begun(events: list[Json]) -> bool:
        wanted = {"event": "sample", "case": number, "operation": operation}
        return any(all(event.get(key) == value for key, value in wanted.items()) for event in events)

    return Pause(begun, lambda job: act(job.directory / f"case{number}.0"))


def cut(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size - CUT)


def spill(file: Path) -> None:
    """Adds bytes at the end, and some in the gap, both where no request writes."""
    begin = file.stat().st_size - END  # of the data: a format's own bytes come before
    with file.open("r+b") as stream:
        stream.seek(begin + GAP)
        stream.write(b"\x07" * GARBAGE)
        stream.seek(0, 2)
        stream.write(b"\x07" * APPENDED)


def errors_by_case(done: EngineRun) -> dict[int, list[Json]]:
    return {
        number: done.of("error", case=number)
        for number in sorted({error["case"] for error in done.of("error")})
    }


# proves measuring: missing-end, whole-files, size-at-open, wrong-size, finding-report, byte-counts
# proves measuring: mpiio-byte-counts
def test_a_lost_tail_is_found_through_every_interface(engine: Engine, tmp_path: Path) -> None:
    """The end is cut after a read that was right: a later read may still be served from memory."""
    ways = usable(engine)
    document = plan([case(**VECTOR, **way, operations=["write", "read", "reread"]) for way in ways.values()])
    pauses = [after_phase(number, "read", cut) for number in range(1, len(ways) + 1)]

    done = run_with_pauses(engine, document, tmp_path, *pauses)

    assert done.returncode == 1, done.stderr
    found = errors_by_case(done)
    for number, name in enumerate(ways, 1):
        errors = found[number]
        assert all(done.sample(case=number, operation=one)["valid"] for one in ("write", "read")), name
        assert not any(sample["valid"] for sample in done.of("sample", case=number, operation="reread")), name
        if name.startswith(("hdf5", "pnetcdf")):
            continue  # the library may refuse to open the file at all
        (size, *_) = [error for error in errors if error["class"] == "missing end"]
        assert (size["offset"], size["length"]) == (END - CUT, CUT), name
        assert size["operation"] == "reread", name
        assert size["file"] == str(done.directory / f"case{number}.0")
        assert not any(error["class"] == "misplaced" for error in errors), name


# proves measuring: outside, whole-files, check-at-end, own-format, hdf5-beyond-end, newest-data
# proves measuring: unwritten-bytes, wrong-size, finding-report
def test_what_is_outside_the_extents_is_found_through_every_interface(engine: Engine, tmp_path: Path) -> None:
    ways = usable(engine)
    document = plan([case(**VECTOR, **way, operations=["write", "read"]) for way in ways.values()])
    pauses = [after_phase(number, "read", spill) for number in range(1, len(ways) + 1)]

    done = run_with_pauses(engine, document, tmp_path, *pauses)

    assert done.returncode == 1, done.stderr
    found = errors_by_case(done)
    for number, name in enumerate(ways, 1):
        errors = [error for error in found[number] if error["operation"] == "check"]
        assert {error["class"] for error in errors} == {"outside"}, name
        longer = name.startswith("pnetcdf")  # what its file may be than the data
        places = {(error["offset"], error["length"]) for error in errors}
        assert places == ({(GAP, GARBAGE)} | (set() if longer else {(END, APPENDED)})), name
        (in_gap,) = [error for error in errors if error["offset"] == GAP]
        assert (in_gap["expected"], in_gap["found"]) == ("00" * 16, "07" * 16), name
        sample = done.sample(case=number, operation="check")
        assert not sample["valid"]
        assert not sample["measured"]
        assert sample["verify"]["outside_bytes"] == END - 2 * 4 * 1000, name
        assert sample["verify"]["wrong_bytes"] == GARBAGE, name


# proves measuring: whole-files, check-at-end, newest-data, unwritten-bytes
def test_what_two_phases_left_in_a_prepared_file_is_all_compared(engine: Engine, tmp_path: Path) -> None:
    """The gaps of a file that was prepared hold data too: a hole there is one."""
    document = plan([case(**VECTOR, operations=["rewrite"])])

    def punch(file: Path) -> None:
        with file.open("r+b") as stream:
            stream.seek(GAP)
            stream.write(bytes(GARBAGE))

    done = run_with_pauses(engine, document, tmp_path, after_phase(1, "rewrite", punch))
    assert done.returncode == 1
    (error,) = done.of("error")
    assert (error["operation"], error["offset"]) == ("check", GAP)
    assert error["length"] >= GARBAGE - 2  # of random bytes some are zeros
    assert done.sample(operation="check")["verify"]["outside_bytes"] == END - 8000


def zeros(file: Path, offset: int, length: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(offset)
        stream.write(bytes(length))


def punch_hole(file: Path, offset: int, length: int) -> None:
    keep_size, punch = 1, 2
    libc = ctypes.CDLL(None, use_errno=True)
    with file.open("r+b") as stream:
        code = libc.fallocate(
            stream.fileno(), keep_size | punch, ctypes.c_int64(offset), ctypes.c_int64(length)
        )
    assert code == 0, os.strerror(ctypes.get_errno())


@pytest.mark.parametrize("operations", [["write", "read"], ["write"]])
# proves measuring: hole
def test_zeros_where_the_file_has_a_hole_are_called_so(
    engine: Engine, tmp_path: Path, operations: list[str]
) -> None:
    """By the phase that reads them, or by the check at the end; zeros that were written are no hole."""
    blocks: Json = {"pattern_transfer": 65536, "pattern_size": 262144, "settle": 1.0, "verify": "full"}
    document = plan([case("sequential", **blocks, operations=operations)] * 2)
    done = run_with_pauses(
        engine,
        document,
        tmp_path,
        after_phase(1, "write", lambda file: punch_hole(file, 65536, 65536)),
        after_phase(2, "write", lambda file: zeros(file, 65536, 65536)),
    )
    assert done.returncode == 1, done.stderr
    for number, name in ((1, "hole"), (2, "zero")):
        (error,) = done.of("error", case=number)
        found = (error["class"], error["offset"], error["operation"])
        assert found == (name, 65536, [*operations[1:], "check"][0])


# proves measuring: missing-end, check-at-end, size-on-mount
def test_a_lost_tail_is_found_when_nothing_is_read(engine: Engine, tmp_path: Path) -> None:
    document = plan([case(**VECTOR, operations=["write"])])
    done = run_with_pauses(engine, document, tmp_path, after_phase(1, "write", cut))
    assert done.returncode == 1
    assert {(error["class"], error["operation"]) for error in done.of("error")} == {("missing end", "check")}
    assert {error["message"].split(", ")[1] for error in done.of("error")} == {"says posix", "says the mount"}


# proves measuring: finding-ends-case, run-continues
def test_wrong_data_ends_its_case_and_not_the_run(engine: Engine, tmp_path: Path) -> None:
    first = case(**VECTOR, operations=["write", "read"], repetitions=3)
    second = case(**HURRIED, operations=["write", "read"], repetitions=2)
    done = run_with_pauses(engine, plan([first, second]), tmp_path, after_phase(1, "write", cut))
    assert done.returncode == 1
    assert {error["case"] for error in done.of("error")} == {1}
    assert {sample["repetition"] for sample in done.of("sample", case=1)} == {0}
    assert [s["valid"] for s in done.of("sample", case=2, operation="check")] == [True, True]


@pytest.fixture
def volume(engine: Engine, tmp_path: Path) -> Iterator[Path]:
    """A volume of two servers."""
    Native("listio").require(engine)
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=2))
    yield directory
    stop(directory)


# proves measuring: finding-report
def test_a_lost_tail_on_a_server_is_found_and_the_server_named(
    engine: Engine, tmp_path: Path, volume: Path
) -> None:
    keys: Json = {
        **VECTOR,
        "interface": "listio",
        "interface_volume": str(volume / VOLUME_FILE),
        "interface_strip": 4000,
    }
    document = plan([case(**keys, operations=["write", "read", "reread"])])
    cut_server = ""

    def cut_data_file(_: Path) -> None:
        """That of the server which holds the last strip: it has three of five, 12000 bytes."""
        nonlocal cut_server
        found = filter(Path.is_file, volume.glob("*/data/**/*"))
        files = [path for path in found if path.stat().st_size == 12000]
        (file,) = files
        cut_server = file.relative_to(volume).parts[0]
        cut(file)

    done = run_with_pauses(engine, document, tmp_path, after_phase(1, "read", cut_data_file))
    assert done.returncode == 1
    (size, *_) = [error for error in done.of("error") if error["class"] == "missing end"]
    assert (size["offset"], size["length"]) == (END - CUT, CUT)
    assert size["server"].split()[0] in cut_server


PATTERNS: list[Json] = [
    HURRIED,
    {"pattern": "strided", "pattern_transfer": 700, "pattern_count": 5},
    {"pattern": "random", "pattern_transfer": 512, "pattern_size": 20000, "pattern_count": 7},
    {"pattern": "sequential", "pattern_transfer": 3000, "pattern_size": 25000},
]
SEVERAL = [
    ["write", "read", "rewrite", "reread"],
    ["read", "read-modify-write", "read"],
    ["write", "rewrite"],
    ["read-write", "read", "read-write"],
]


# proves measuring: expected-size, preallocated-size, size-set-at-once, own-format, check-pieces
def test_files_that_are_right_are_not_said_to_be_wrong(engine: Engine, tmp_path: Path) -> None:
    """Everything that says how much of a file there must be: sharing, operations, deadlines, order."""
    common: Json = {"clients": 3, "verify": "full", "read_share": 70}
    loads: list[Json] = [
        {"sharing": "shared", "order": "random", "readback": "shift"},
        {"sharing": "per-rank"},
        {"sharing": 2, "order": "backward"},
        {"sharing": "shared", "deadline": 1e-6, "wear_out": False},
        {"sharing": "per-rank", "deadline": 1e-6},
    ]
    ways = usable(engine)
    cases = []
    for w, way in enumerate(ways.values()):
        for i, pattern in enumerate(PATTERNS):
            operations = SEVERAL[(w + 2 * i) % len(SEVERAL)]
            few = "read-write" in operations and pattern["pattern"] != "strided"
            if few or ("read-modify-write" in operations and way.get("depth")):
                operations = SEVERAL[0]
            keys = {**pattern, **way, **loads[(w + i) % len(loads)], **common}
            cases.append(case(**keys, operations=operations))
    done = run_engine(engine, plan(cases), tmp_path)
    assert done.of("error") == []
    assert done.returncode == 0, done.stderr
    checks = done.of("sample", operation="check")
    assert len(checks) == len(cases)
    assert all(check["valid"] and check["verify"]["files"] >= 1 for check in checks)


def test_what_is_not_verified_is_not_read_again(engine: Engine, tmp_path: Path) -> None:
    keys = {**HURRIED, "verify": "off"}
    done = run_engine(engine, plan([case(**keys, operations=["write", "read"])]), tmp_path)
    assert [sample["operation"] for sample in done.of("sample")] == ["write", "read"]
    assert [sample["verify"] for sample in done.of("sample")] == [None, None]

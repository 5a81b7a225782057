"""Programs that know nothing of Strider, on a volume by the MPI-IO layer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy
import pytest

from harness import DEADLINE_S
from mpi_runs import PROGRAMS, Found, Mpi, differences, mpich, openmpi, read_reports, write_inputs
from mpi_scenarios import KINDS, Move, Scenario, Writer
from mpi_types import (
    CYCLIC,
    DEFAULT,
    NAMED,
    NONE,
    Type,
    darray,
    hindexed,
    resized,
    structure,
    subarray,
    vector,
)
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, check, serve, status, stop

SCENARIOS = int(os.environ.get("STRIDER_MPI_SCENARIOS", "42"))
"""Random programs, a third of them on 1, 2 and 3 ranks. The measured run had 500."""
RANKS = (1, 2, 3)
STRIP_BYTES = 1000


@dataclass(frozen=True)
class Layer:
    """A volume, and the libraries that make it MPI's file system for names with `listio:`."""

    libraries: Path
    volume: Path
    copy: Path
    """The program that copies files to and from a volume."""

    def environment(self, mpi: Mpi) -> dict[str, str]:
        """The variables for programs of an MPI library."""
        library = self.libraries / mpi.layer
        if not library.exists():
            pytest.skip(
                f"needs {mpi.layer}: libssl-dev, and the headers of the MPI library when the engine is built"
            )
        return {"LD_PRELOAD": str(library), "STRIDER_LISTIO_VOLUME": str(self.volume / VOLUME_FILE)}

    def put(self, folder: Path) -> None:
        subprocess.run([self.copy, "put", self.volume / VOLUME_FILE, folder], check=True)

    def get(self, folder: Path) -> dict[str, bytes]:
        """All files of the volume, by name."""
        folder.mkdir()
        subprocess.run([self.copy, "get", self.volume / VOLUME_FILE, folder], check=True)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def layer(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layer]:
    """A volume of four servers with small strips."""
    volume = tmp_path_factory.mktemp("mpi") / "volume"
    serve(engine, volume, ServerOptions(servers=4, strip_bytes=STRIP_BYTES))
    yield Layer(engine.path.parent, volume, engine.path.parents[1] / "tests/listio/strider-listio-copy")
    stop(volume)


@pytest.fixture(scope="module", params=[mpich, openmpi], ids=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI library; they have handles of different kinds."""
    found: Mpi = request.param()
    return found


def scenarios(ranks: int) -> list[Scenario]:
    return [Writer(number, ranks).write() for number in range(SCENARIOS // len(RANKS))]


# proves listio: derived-types
def test_the_random_programs_move_data_in_all_ways() -> None:
    moves = [
        step for ranks in RANKS for each in scenarios(ranks) for step in each.steps if isinstance(step, Move)
    ]
    ways = {(step.pointer, step.together, step.how, step.writes) for step in moves}
    assert ways == {(*kind, writes) for kind in KINDS for writes in (False, True)}
    assert {step.large for step in moves} == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("ranks", RANKS)
# proves listio: benchmarks-ask, random-programs, predicts-each-byte
def test_random_programs_do_what_mpi_promises(mpi: Mpi, layer: Layer, tmp_path: Path, ranks: int) -> None:
    """Files, memory, counts and pointers are those of a serial model."""
    program = mpi.compile("scenarios.c", tmp_path)
    programs = scenarios(ranks)
    prefix = f"{mpi.name}-"
    words, before = write_inputs(programs, tmp_path, prefix)
    layer.put(before)
    report = tmp_path / "report"
    done = mpi.run(ranks, [program, words, f"listio:{prefix}", report], layer.environment(mpi))
    assert done.returncode == 0, done.stderr
    found = read_reports(report, ranks)
    contents = layer.get(tmp_path / "after")
    problems = []
    for each in programs:
        own = found.get(each.number, Found([]))
        own.contents = contents[prefix + each.name]
        assert own.by_layer == [True] * ranks
        problems += [f"scenario {each.number}: {problem}" for problem in differences(each, own)]
    assert not problems


def run_program(mpi: Mpi, layer: Layer, ranks: int, words: Sequence[str | Path], **more: str) -> str:
    """The output of a foreign program: it ends well, and its files were the layer's; `more` are variables."""
    done = mpi.run(ranks, words, {**layer.environment(mpi), **more})
    assert done.returncode == 0, done.stderr
    assert "layer 1" in done.stdout
    assert "layer 0" not in done.stdout
    return done.stdout


@pytest.mark.slow
# proves listio: overlapping-accesses
def test_overlapping_accesses_have_results_that_mpi_allows(mpi: Mpi, layer: Layer, tmp_path: Path) -> None:
    """In atomic mode, with sync-barrier-sync, and of different bytes; benchmarks/atomic_mode.py runs more."""
    program, trials = mpi.compile("overlaps.c", tmp_path), 30
    words: list[str | Path] = [program, f"listio:{mpi.name}-overlaps", str(trials), "7"]
    _, *lines = run_program(mpi, layer, 3, words).splitlines()
    found = {kind: tuple(map(int, numbers)) for kind, *numbers in map(str.split, lines)}
    for kind in ("atomic", "ordered", "disjoint"):
        ran, conflicting, wrong = found[kind]
        assert (ran, wrong) == (trials, 0), kind
        assert (conflicting == 0) if kind == "disjoint" else (conflicting > trials // 2), kind


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "how"), [(1, "independent"), (4, "independent"), (4, "collective")])
# proves listio: benchmarks-ask, nas-bt
def test_the_io_of_bt_makes_the_cube_of_each_step(
    mpi: Mpi, layer: Layer, tmp_path: Path, ranks: int, how: str
) -> None:
    edge, steps = 10, 3
    name = f"{mpi.name}-btio-{ranks}-{how}"
    program = mpi.compile("btio.c", tmp_path)
    run_program(mpi, layer, ranks, [program, f"listio:{name}", str(edge), str(steps), how])
    cells = numpy.arange(edge**3 * 5, dtype=float)
    expected = numpy.concatenate([step * 1e6 + cells for step in range(steps)])
    assert layer.get(tmp_path / "after")[name] == expected.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("interface", ["mpif.h", "BY_MODULE", "BY_F08"])
# proves listio: fortran
def test_arrays_of_fortran_are_written_by_columns(layer: Layer, tmp_path: Path, interface: str) -> None:
    """By the three interfaces of MPI for Fortran; Open MPI's wheel has none."""
    mpi, ranks = mpich(), 3
    name = f"fortran-{interface}"
    options = [] if interface == "mpif.h" else [f"-D{interface}"]
    program = mpi.compile("fortran.F90", tmp_path, [*options, "-J", str(tmp_path)])
    run_program(mpi, layer, ranks, [program, f"listio:{name}"])
    rows, columns = numpy.ogrid[:7, : 5 * ranks]
    values = (1000 * columns + rows).astype(numpy.int32)
    assert layer.get(tmp_path / "after")[name] == bytes(16) + values.tobytes(order="F")


@pytest.mark.slow
# proves listio: hdf5
def test_data_sets_of_parallel_hdf5_are_read_by_serial_hdf5(layer: Layer, tmp_path: Path) -> None:
    mpi, folder = mpich(), "/usr/include/hdf5/mpich"
    if not Path(folder).exists():
        pytest.skip("needs HDF5 for MPICH (Debian package libhdf5-mpich-dev)")
    program = mpi.compile("hdf5_sets.c", tmp_path, ["-I", folder, "-lhdf5_mpich"])
    run_program(mpi, layer, 2, [program, "listio:sets.h5"])
    layer.get(tmp_path / "after")
    rows, columns = numpy.ogrid[:12, :64]
    with h5py.File(tmp_path / "after/sets.h5") as file:
        assert (file["contiguous"][:] == rows * 1000 + columns).all()
        assert (file["chunked"][:] == -(rows * 1000 + columns)).all()
        assert file["chunked"].chunks == (5, 16)


def await_silence(engine: Engine, volume: Path) -> None:
    """Servers forget dead clients, their locks and their counters within some seconds."""
    kept = ("clients", "cells", "locked_ranges", "waiting_locks")
    quiet = [(1, 0, 0, 0)] * len(status(engine, volume))
    deadline = time.monotonic() + DEADLINE_S
    while (left := [tuple(server[each] for each in kept) for server in status(engine, volume)]) != quiet:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


STAYS = '"$@"; while ! [ -e "$0.0" -a -e "$0.2" ]; do sleep 0.1; done'
"""A shell that outlives its rank: launchers end a job whose process is dead. $0 is where survivors report."""


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "milliseconds"), [("default", 60), ("atomic", 40)])
# proves listio: hint-rank-timeout, error-io, mpi-dead-rank, killed-ranks
def test_a_rank_killed_in_a_collective_call_leaves_others_an_error_and_servers_nothing(
    engine: Engine, mpi: Mpi, layer: Layer, tmp_path: Path, mode: str, milliseconds: int
) -> None:
    """UCX, below MPICH, ends a process whose peer dies while it copies from it: not by these transports."""
    program, report = mpi.compile("dying.c", tmp_path), tmp_path / "survivor"
    words: list[str | Path] = [program, f"listio:{mpi.name}-dying-{mode}", str(milliseconds), mode, report]
    variables = {**layer.environment(mpi), "UCX_TLS": "posix,self"}
    done = mpi.run(3, ["sh", "-c", STAYS, report, *words], variables)
    assert sorted(path.name for path in tmp_path.glob("survivor.*")) == ["survivor.0", "survivor.2"], (
        done.stderr
    )
    await_silence(engine, layer.volume)
    assert not check(engine, layer.volume)["orphans"]


def views(ranks: int) -> dict[str, list[Type]]:
    """The file types of mpi4py_views.py, by file and rank."""
    number, half = NAMED["int"], NAMED["short"]
    inner = resized(structure([NAMED["byte"], half], [1, 2], [0, 4]), 0, 8)
    outer = structure([vector(half, 3, 1, 2), inner, NAMED["double"]], [1, 2, 1], [0, 12, 32])
    dimensions = [(7, CYCLIC, 2, ranks), (5, NONE, DEFAULT, 1)]
    spread = range(ranks)
    return {
        "subarray": [
            subarray(number, [4 * ranks, 6], [4, 4], [4 * rank, 1], fortran=False) for rank in spread
        ],
        "darray": [darray(number, rank, dimensions, fortran=True) for rank in spread],
        "hindexed": [
            resized(
                hindexed(number, [3, 1, 2], [120 * ranks * block + 40 * rank for block in range(3)]),
                0,
                360 * ranks,
            )
            for rank in spread
        ],
        "nested": [resized(structure([outer], [1], [48 * rank]), 0, 48 * ranks) for rank in spread],
    }


def expected_file(types: Sequence[Type]) -> bytes:
    """Three copies of the type of each rank, from byte 10 on."""
    runs = [(rank, run) for rank, each in enumerate(types) for run in each.copies(3, 10)]
    file = bytearray(max(at + length for _, (at, length) in runs))
    for rank, (at, length) in runs:
        file[at : at + length] = bytes([rank + 1]) * length
    return bytes(file)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 3])
# proves listio: mpi4py
def test_views_of_mpi4py_are_the_types_of_its_program(
    mpi: Mpi, layer: Layer, tmp_path: Path, ranks: int
) -> None:
    """The wheel finds an MPI library by the name that most distributions give it."""
    (library, *_) = mpi.libraries_of(mpi.compile("btio.c", tmp_path))
    (tmp_path / ("libmpi.so.12" if mpi.name == "mpich" else "libmpi.so.40")).symlink_to(library)
    program, prefix = PROGRAMS / "mpi4py_views.py", f"{mpi.name}-views-{ranks}-"
    variables = {"LD_LIBRARY_PATH": f"{tmp_path}:{library.parent}", "MPI4PY_MPIABI": mpi.name}
    run_program(mpi, layer, ranks, [sys.executable, program, f"listio:{prefix}"], **variables)
    found = layer.get(tmp_path / "after")
    for name, types in views(ranks).items():
        assert found[prefix + name] == expected_file(types), name


# proves listio: other-mpi-ends
def test_two_mpi_libraries_in_a_program_end_it_with_a_message(mpi: Mpi, layer: Layer, tmp_path: Path) -> None:
    program = mpi.compile("btio.c", tmp_path)
    compiler = shutil.which("cc")
    assert compiler is not None
    other = tmp_path / "libmpi_other.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", other, PROGRAMS / "other_mpi.c"], check=True)
    variables = layer.environment(mpi)
    variables["LD_PRELOAD"] += f":{other}"
    done = mpi.run(1, [program, "listio:never", "4", "1", "independent"], variables)
    assert done.returncode != 0
    assert "two MPI libraries are loaded" in done.stderr


# proves listio: other-mpi-ends
def test_the_layer_of_another_family_is_refused_with_the_right_one(
    mpi: Mpi, layer: Layer, tmp_path: Path
) -> None:
    program = mpi.compile("btio.c", tmp_path)
    other = openmpi() if mpi.name == "mpich" else mpich()
    done = mpi.run(1, [program, "listio:never", "4", "1", "independent"], layer.environment(other))
    assert done.returncode != 0
    assert f"preload {mpi.layer} instead of {other.layer}" in done.stderr


# proves listio: libraries-at-first-use
def test_the_layer_is_linked_with_the_c_library_alone(mpi: Mpi, layer: Layer) -> None:
    """Libraries of a program may have the names of ours, and other versions."""
    library = layer.environment(mpi)["LD_PRELOAD"]
    done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    needed = {line.split("[")[1].rstrip("]") for line in done.stdout.splitlines() if "(NEEDED)" in line}
    assert needed
    assert {name for name in needed if not name.startswith(("libc.", "libm.", "ld-linux"))} == set()

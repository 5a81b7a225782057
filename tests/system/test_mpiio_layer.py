"""MPI-IO over list-I/O volumes: programs that know nothing of it, with the layer preloaded."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S
from strider.engine import Engine
from strider.listio import ServerOptions, check, preload_variables, serve, stop


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A volume of three servers, with short strips."""
    directory = tmp_path_factory.mktemp("mpiio") / "volume"
    serve(engine, directory, ServerOptions(servers=3, strip_bytes=10_000))
    yield directory
    stop(directory)


def run(
    engine: Engine, volume: Path, ranks: int, *words: str, options: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a test of the program `strider-mpiio-calls` with the layer."""
    program = engine.path.parents[1] / "tests/listio/strider-mpiio-calls"
    layer = preload_variables(engine, volume, None, os.environ)
    return subprocess.run(
        [engine.version.mpi.mpiexec, "-n", str(ranks), *options, str(program), *words],
        env=os.environ | layer | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("test", ["whole", "pointers", "collective", "nonblocking", "split", "errors"])
def test_calls_do_what_mpi_says(engine: Engine, volume: Path, test: str, ranks: int) -> None:
    done = run(engine, volume, ranks, test, f"listio:{test}-{ranks}")
    assert (done.returncode, done.stderr) == (0, "")


def test_other_names_are_left_to_mpi(engine: Engine, volume: Path, tmp_path: Path) -> None:
    done = run(engine, volume, 2, "elsewhere", str(tmp_path / "file"))
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_volume_the_remedy_is_named(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 1, "whole", "listio:file", STRIDER_LISTIO_VOLUME="")
    assert done.returncode != 0
    assert "set the variable STRIDER_LISTIO_VOLUME, or the hint listio_volume" in done.stderr


def test_a_file_left_open_is_named_when_mpi_ends(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 2, "forgotten", "listio:forgotten")
    assert done.returncode == 0
    assert done.stderr.count("listio:forgotten was not closed before MPI_Finalize") == 2


def test_a_forked_process_leaves_the_connection_to_its_parent(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 1, "forked", "listio:forked")
    assert (done.returncode, done.stderr) == (0, "")


def test_ranks_do_not_wait_for_a_dead_one(engine: Engine, volume: Path) -> None:
    if "MPICH" not in engine.version.mpi.library:
        pytest.skip("machine: only MPICH's mpiexec lets other ranks live on")
    done = run(engine, volume, 3, "killed", "listio:killed", options=("-disable-auto-cleanup",))
    assert "not so" not in done.stderr
    assert "MPI_" not in done.stderr


def test_nothing_is_left_on_the_servers(engine: Engine, volume: Path) -> None:
    """Last: of what the tests before did not remove, names and data belong together."""
    found = check(engine, volume)
    assert not found["orphans"]

"""MPI-IO over list-I/O volumes: programs that know nothing of it, with the layer preloaded."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, case, plan, run_engine, wait_for
from labs import PATTERNS, Native, check_interruption, check_metadata, check_mount, check_refusal
from strider.engine import Engine
from strider.lab import Endpoint
from strider.listio import VOLUME_FILE, ServerOptions, check, preload_variables, serve, status, stop
from strider.listio.servers import dead_servers, processes_of

COLLECTIVE: Json = {"interface_access": "collective"}
AGGREGATED: Json = {
    **COLLECTIVE,
    "interface_hints": {"romio_cb_write": "enable", "romio_cb_read": "enable", "cb_buffer_size": "300000"},
}
METHODS: list[Json] = [
    *({"interface_method": method} for method in ("multiple", "list", "view")),
    *({**AGGREGATED, "interface_method": method} for method in ("list", "view")),
    {**COLLECTIVE, "interface_hints": {"romio_cb_write": "disable", "romio_cb_read": "disable"}},
    {**COLLECTIVE, "interface_split": True},
    {**AGGREGATED, "interface_split": True, "interface_pointer": "individual"},
    {"interface_pointer": "individual"},
    {"interface_atomic": True, "interface_preallocate": True},
    {"interface_method": "multiple", "depth": 4},
    {"interface_method": "view", "depth": 3, "interface_pointer": "individual"},
    {"interface_hints": {"listio_method": "pack", "listio_transport": "tcp"}},
]


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A volume of three servers, with short strips."""
    directory = tmp_path_factory.mktemp("mpiio") / "volume"
    serve(engine, directory, ServerOptions(servers=3, strip_bytes=10_000))
    yield directory
    stop(directory)


def run(
    engine: Engine,
    volume: Path,
    ranks: int,
    *words: str,
    name: str = "calls",
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a test of the program `strider-mpiio-NAME` with the layer."""
    program = engine.path.parents[1] / f"tests/listio/strider-mpiio-{name}"
    layer = preload_variables(engine, volume, None, os.environ)
    return subprocess.run(
        [engine.version.mpi.mpiexec, "-n", str(ranks), str(program), *words],
        env=os.environ | layer | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "test",
    [
        "whole",
        "pointers",
        "collective",
        "nonblocking",
        "split",
        "shared",
        "atomic",
        "errors",
        "hints",
        "edges",
    ],
)
# proves listio: mpi-prefix, mpi-path, mpi-slashes, mpi-independent, mpi-collective, mpi-nonblocking
# proves listio: mpi-split, mpi-shared-pointers, mpi-atomic, mpi-sync, mpi-preallocate, mpi-read-beyond-end
# proves listio: mpi-short-read, mpi-holes-stay, mpi-aggregates, hint-method, hint-registration, hint-timeout
# proves listio: hint-two-phase, hint-aggregators, hint-buffer, hint-striping, hints-in-force, hints-fixed
# proves listio: hints-of-first-rank, error-classes, error-string, error-no-file, error-mode, error-access
# proves listio: error-argument, error-sequential, error-other
def test_calls_do_what_mpi_says(engine: Engine, volume: Path, test: str, ranks: int) -> None:
    done = run(engine, volume, ranks, test, f"listio:{test}-{ranks}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("test", ["ordered", "empty", "overlapping"])
def test_a_collective_call_without_a_place_on_one_rank_fails_on_all(
    engine: Engine, volume: Path, test: str, ranks: int
) -> None:
    """No byte is moved elsewhere, and no rank waits forever."""
    done = run(engine, volume, ranks, test, f"listio:places-{test}-{ranks}", name="places")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("ranks", [1, 3])
# proves listio: mpi-views, mpi-external32, error-datarep
def test_files_in_external32_are_as_those_of_mpi(
    engine: Engine, volume: Path, ranks: int, tmp_path: Path
) -> None:
    """Byte for byte as the standard says, as those of the MPI below, whose files have no prefix."""
    for file in (f"listio:external32-{ranks}", str(tmp_path / "file")):
        done = run(engine, volume, ranks, file, name="external32")
        assert (done.returncode, done.stderr) == (0, ""), file


def run_with_restart(engine: Engine, folder: Path, ranks: int, test: str, server: int) -> None:
    """Runs a test of the program `strider-mpiio-calls`, and kills a server and starts it again meanwhile."""
    volume, go = folder / "volume", folder / "go"
    options = ServerOptions(servers=2, strip_bytes=10_000)
    serve(engine, volume, options)
    program = engine.path.parents[1] / "tests/listio/strider-mpiio-calls"
    variables = preload_variables(engine, volume, None, os.environ) | {"STRIDER_TEST_GO": str(go)}
    words = [engine.version.mpi.mpiexec, "-n", str(ranks), str(program), test, "listio:file"]
    try:
        with subprocess.Popen(
            words,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == "written\n"
            os.kill(processes_of(volume)[server].pid, signal.SIGKILL)
            wait_for(lambda: dead_servers(volume) == [server], "the server to end")
            serve(engine, volume, options)
            go.touch()
            said = running.communicate(timeout=DEADLINE_S)
        assert (running.returncode, said[1]) == (0, "")
    finally:
        stop(volume)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("writers", ["restarted", "all restarted"])
# proves listio: mpi-sync-each, who-repeats, mpi-sync
def test_a_sync_after_a_restart_fails_on_all_ranks(
    engine: Engine, tmp_path: Path, ranks: int, writers: str
) -> None:
    """Once, also if it was another rank that wrote than the one that asks servers to sync, or if all have."""
    run_with_restart(engine, tmp_path, ranks, writers, server=1)


@pytest.mark.parametrize("test", ["pointer lost", "closed late"])
# proves listio: mpi-shared-pointers
def test_a_restart_of_server_0_ends_shared_file_pointers_only(
    engine: Engine, tmp_path: Path, test: str
) -> None:
    """Errors say so, the file can be closed without one, and its next opening makes a new pointer."""
    run_with_restart(engine, tmp_path, 3, test, server=0)


LEFT_TO_MPI = {"c2f", "f2c", "set_errhandler", "get_errhandler", "call_errhandler", "get_type_extent"}
"""What MPI does right itself, by the handle of the file that stands for that of the volume."""


# proves listio: mpi-replaces
def test_every_function_has_both_names(engine: Engine, volume: Path) -> None:
    def functions(library: Path) -> set[str]:
        said = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        )
        return set(re.findall(r" [TW] (P?MPI_File_\w+)$", said.stdout, re.MULTILINE))

    program = engine.path.parents[1] / "tests/listio/strider-mpiio-calls"
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    (mpi,) = re.findall(r"=> (\S*libmpi(?:ch)?\.so\S*)", linked)
    layer = Path(preload_variables(engine, volume, None, {})["LD_PRELOAD"])
    wanted = {
        name for name in functions(Path(mpi)) if re.sub(r"^P?MPI_File_|_c$", "", name) not in LEFT_TO_MPI
    }
    assert len(wanted) > 80
    assert wanted - functions(layer) == set()


# proves listio: mpi-passes-on
def test_other_names_are_left_to_mpi(engine: Engine, volume: Path, tmp_path: Path) -> None:
    done = run(engine, volume, 2, "elsewhere", str(tmp_path / "file"))
    assert (done.returncode, done.stderr) == (0, "")


# proves listio: hint-volume
def test_without_a_volume_the_remedy_is_named(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 1, "whole", "listio:file", STRIDER_LISTIO_VOLUME="")
    assert done.returncode != 0
    assert "set the variable STRIDER_LISTIO_VOLUME, or the hint listio_volume" in done.stderr


# proves listio: mpi-open-at-finalize
def test_a_file_left_open_is_named_when_mpi_ends(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 2, "forgotten", "listio:forgotten")
    assert done.returncode == 0
    assert done.stderr.count("listio:forgotten was not closed before MPI_Finalize") == 2


# proves listio: mpi-fork
def test_a_forked_process_leaves_the_connection_to_its_parent(engine: Engine, volume: Path) -> None:
    done = run(engine, volume, 1, "forked", "listio:forked")
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_left_on_the_servers(engine: Engine, volume: Path) -> None:
    """Last: names and data that the tests before did not remove belong together."""
    found = check(engine, volume)
    assert not found["orphans"]
    for server in status(engine, volume):
        assert (server["cells"], server["locked_ranges"], server["waiting_locks"]) == (0, 0, 0)


def native(volume: Path, methods: list[Json]) -> Native:
    return Native("mpiio", {"prefix": "listio:", "volume": str(volume / VOLUME_FILE)}, methods, volume.parent)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["pattern"])
# proves listio: mpi-in-engine, mpi-volume-hint, hint-transport
def test_the_engine_moves_the_same_bytes_by_all_methods(
    engine: Engine, tmp_path: Path, volume: Path, pattern: Json
) -> None:
    """With the layer in the engine: nothing is preloaded."""
    check_mount(engine, tmp_path, Endpoint(name="volume"), pattern, native=native(volume, METHODS))


@pytest.mark.parametrize("pointer", ["shared", "ordered"])
def test_the_engine_moves_data_at_the_shared_pointer(
    engine: Engine, tmp_path: Path, volume: Path, pointer: str
) -> None:
    keys: Json = {"interface_pointer": pointer, "clients": 2, "operations": ["write", "read"]}
    keys |= {**COLLECTIVE, "verify": "full"} if pointer == "ordered" else {"verify": "off"}
    pattern: Json = {"pattern": "strided", "pattern_transfer": 100_000, "pattern_count": 12}
    document = plan([case(**pattern, **native(volume, []).keys(), **keys)])
    done = run_engine(engine, document, tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    (written, read) = done.of("sample", measured=True)
    assert written["bytes"] == read["bytes"] == 2 * 12 * 100_000
    assert read["facts"]["driver"] == "listio"
    assert read["facts"]["hint.listio_layer"]
    assert read["facts"]["hint.listio_method"] == "hybrid"


def test_metadata(engine: Engine, tmp_path: Path, volume: Path) -> None:
    before = check(engine, volume)
    check_metadata(engine, tmp_path, tmp_path, native(volume, []))
    assert check(engine, volume) == before


def test_ctrl_c_leaves_nothing_in_the_volume(engine: Engine, tmp_path: Path, volume: Path) -> None:
    before = check(engine, volume)
    check_interruption(engine, tmp_path, tmp_path, native(volume, []))
    assert check(engine, volume) == before


def test_a_volume_that_is_not_there_is_one_error(engine: Engine, tmp_path: Path, volume: Path) -> None:
    wrong = {"volume": "/nowhere/listio-volume.json"}
    assert (
        "/nowhere/listio-volume.json"
        in check_refusal(engine, tmp_path, tmp_path, native(volume, []), **wrong)["message"]
    )

"""The variables with which MPI programs reach a volume."""

from pathlib import Path

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.listio import VOLUME_FILE, preload_variables


class Beside:
    """An engine of which only the folder matters."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "strider-engine"


def engine_with(folder: Path, *libraries: str) -> Engine:
    for library in libraries:
        (folder / library).touch()
    return Beside(folder)  # type: ignore[return-value]


# proves listio: mpi-env
def test_the_variables_name_library_and_volume(tmp_path: Path) -> None:
    engine = engine_with(tmp_path, "libstrider-mpiio.so", "libstrider-mpiio-openmpi.so")
    volume = tmp_path / "volume"
    variables = preload_variables(engine, volume, None, {})
    assert variables == {
        "LD_PRELOAD": str(tmp_path / "libstrider-mpiio.so"),
        "STRIDER_LISTIO_VOLUME": str(volume / VOLUME_FILE),
    }
    variables = preload_variables(engine, volume, "openmpi", {"LD_PRELOAD": "/lib/other.so"})
    assert variables["LD_PRELOAD"] == f"{tmp_path / 'libstrider-mpiio-openmpi.so'}:/lib/other.so"


def test_an_engine_of_open_mpi_has_the_other_library(tmp_path: Path) -> None:
    engine = engine_with(tmp_path, "libstrider-mpiio-openmpi.so")
    assert preload_variables(engine, tmp_path, None, {})["LD_PRELOAD"].endswith("openmpi.so")


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (None, "without the MPI-IO layer .*: install libssl-dev"),
        ("openmpi", "libstrider-mpiio-openmpi.so.*install Open MPI"),
        ("lam", 'unknown --mpi "lam": use mpich or openmpi'),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, family: str | None, said: str) -> None:
    with pytest.raises(StriderError, match=said):
        preload_variables(engine_with(tmp_path), tmp_path, family, {})

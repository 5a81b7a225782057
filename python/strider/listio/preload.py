"""The MPI-IO layer over volumes, for unmodified MPI programs: a library to preload."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.listio.volume import VOLUME_FILE

Family = Literal["mpich", "openmpi"]
"""MPI libraries with the same binary interface: MPICH, Intel MPI, MVAPICH2, Cray MPI; Open MPI."""
_LIBRARIES: dict[Family, str] = {"mpich": "libstrider-mpiio.so", "openmpi": "libstrider-mpiio-openmpi.so"}


def preload_variables(
    engine: Engine, volume: Path, family: str | None, environment: Mapping[str, str]
) -> dict[str, str]:
    """Returns the environment variables with which an MPI program opens files `listio:NAME` on a volume.

    Args:
        engine: The engine, beside which the library is.
        volume: The volume's directory.
        family: Family of the program's MPI; None: the engine's.
        environment: The variables so far: preloaded libraries stay.

    Raises:
        StriderError: The family is unknown, or its library was not built.
    """
    library = _library(engine, family)
    others = environment.get("LD_PRELOAD", "")
    return {
        "LD_PRELOAD": f"{library}:{others}" if others else str(library),
        "STRIDER_LISTIO_VOLUME": str(volume.resolve() / VOLUME_FILE),
    }


def _library(engine: Engine, family: str | None) -> Path:
    folder = engine.path.resolve().parent
    if family is not None and family not in get_args(Family):
        raise StriderError(f'unknown --mpi "{family}": use {" or ".join(get_args(Family))}')
    names = [name for known, name in _LIBRARIES.items() if family in (known, None)]
    found = next((folder / name for name in names if (folder / name).exists()), None)
    if found is None:
        raise StriderError(
            f"the engine was built without the MPI-IO layer ({' or '.join(names)}): install "
            + ("Open MPI (Debian: libopenmpi-dev)" if family == "openmpi" else "libssl-dev")
            + " and build it again",
            ExitCode.CANNOT_RUN,
        )
    return found

"""The build backend of `pip install .`: scikit-build-core, and wheels for what the machine lacks.

The engine is built with the site's MPI where there is an `mpicxx`, and otherwise with the `mpich` wheel,
which the package then depends on. The header of nlohmann-json comes from its wheel.
"""

import importlib.util
import os
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import scikit_build_core.build as core
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]
# There is no editable installation: a checkout runs through `./strider`.

Settings = dict[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """What the build needs besides scikit-build-core's own choice of CMake and ninja."""
    return [*core.get_requires_for_build_wheel(config_settings), *_mpi_wheel(), "nlohmann-json>=3.11"]


def build_wheel(
    directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Builds the engine and packs it beside the Python files."""
    settings = {f"cmake.define.{name}": value for name, value in _definitions().items()}
    wheel: str = core.build_wheel(directory, {**settings, **(config_settings or {})}, metadata_directory)
    return wheel


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, list[str]]:
    """What pyproject.toml cannot know: whether the engine will need the MPI wheel when it runs."""
    return {"dependencies": _mpi_wheel()}


def dynamic_wheel(settings: Mapping[str, Any]) -> dict[str, bool]:
    """The dependencies of a wheel depend on where it is built."""
    return {"dependencies": True}


def _definitions() -> dict[str, str]:
    definitions = {}
    # There only once get_requires_for_build_wheel has been answered; a build without isolation may have the
    # header as a package of the machine, which CMake finds.
    if importlib.util.find_spec("nlohmann_json"):
        import nlohmann_json

        definitions["STRIDER_JSON_INCLUDE"] = str(Path(nlohmann_json.__file__).parent / "include")
    if _mpi_wheel():
        # From strider/_engine in site-packages to the environment's lib, where the wheel puts its library.
        definitions["CMAKE_INSTALL_RPATH"] = "$ORIGIN/../../../.."
        # The one of the build goes away with the build.
        definitions["STRIDER_MPIEXEC"] = "mpiexec"
    else:
        definitions["CMAKE_INSTALL_RPATH_USE_LINK_PATH"] = "ON"
    mpicxx = os.environ.get("STRIDER_MPICXX")
    if mpicxx:
        definitions["MPI_CXX_COMPILER"] = mpicxx
    return definitions


def _mpi_wheel() -> list[str]:
    if os.environ.get("STRIDER_MPICXX"):
        return []
    return ["mpich>=5"] if _is_installed("mpich") or not shutil.which("mpicxx") else []


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True

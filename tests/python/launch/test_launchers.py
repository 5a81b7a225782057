"""How ranks are started."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Mpi
from strider.errors import ExitCode, StriderError
from strider.launch.launchers import LAUNCHERS, choose
from strider.launch.launchers.mpiexec import HOST_VARIABLES

Program = Callable[[str], Path]
MPICH = Mpi(library="MPICH Version:\t4.0.2", mpiexec="/nowhere/mpiexec")
OPEN_MPI = Mpi(library="Open MPI v5.0.11, package: Open MPI", mpiexec="/nowhere/mpiexec")


@pytest.fixture(params=sorted(LAUNCHERS))
def name(request: pytest.FixtureRequest) -> str:
    """Each launcher in turn."""
    return str(request.param)


def test_every_launcher_says_how_many_ranks(name: str, program: Program) -> None:
    path = program(name)
    words = choose(name, MPICH).command(6)
    assert words[0] == str(path)
    assert any("6" in word for word in words[1:])


def test_a_launcher_that_is_not_installed_comes_with_a_remedy(name: str, program: Program) -> None:
    program("something-else")
    with pytest.raises(StriderError, match=rf"cannot find {name}: .*") as caught:
        choose(name, MPICH)
    assert caught.value.exit_code == ExitCode.CANNOT_RUN


def test_mpiexec_is_that_of_the_engines_own_mpi(program: Program, tmp_path: Path) -> None:
    program("mpiexec")
    own = tmp_path / "mpiexec"
    own.touch(mode=0o755)
    mpi = Mpi(library="MPICH", mpiexec=str(own))
    assert choose("mpiexec", mpi).command(2) == [str(own), "-n", "2"]


def test_an_engine_of_the_mpi_wheel_takes_the_one_beside_python(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("mpiexec")
    beside = tmp_path / "environment" / "mpiexec"
    beside.parent.mkdir()
    beside.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(beside.with_name("python")))
    assert choose("mpiexec", Mpi(library="MPICH", mpiexec="mpiexec")).command(1)[0] == str(beside)


def test_open_mpi_is_asked_to_put_more_ranks_than_cores(program: Program) -> None:
    program("mpiexec")
    environment = choose("mpiexec", OPEN_MPI).environment
    assert environment["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
    assert environment["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_open_mpi_is_allowed_to_run_as_root_only_for_root(
    program: Program, monkeypatch: pytest.MonkeyPatch, user: int, allowed: bool
) -> None:
    program("mpiexec")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in choose("mpiexec", OPEN_MPI).environment) is allowed


def test_mpich_needs_nothing(program: Program) -> None:
    program("mpiexec")
    assert choose("mpiexec", MPICH).environment == {}


def test_mpiexec_stays_on_this_host_unless_others_are_named(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("mpiexec")
    for variable in HOST_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    assert choose("mpiexec", MPICH).reach == "this host"
    for variable in HOST_VARIABLES:
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            assert choose("mpiexec", MPICH).reach == "perhaps others"


def test_other_launchers_may_reach_other_hosts(program: Program) -> None:
    program("srun")
    assert choose("srun", MPICH).reach == "perhaps others"
    program("mpiexec")
    assert choose("mpiexec -n {ranks} -hosts a,b", MPICH).reach == "perhaps others"


def test_srun_is_interrupted_by_the_signal_that_it_passes_on(program: Program) -> None:
    program("srun")
    assert choose("srun", MPICH).interrupt == signal.SIGTERM


def test_any_command_with_a_place_for_the_number_of_ranks_is_a_launcher(program: Program) -> None:
    path = program("aprun")
    launcher = choose("aprun -n {ranks} -e 'A=b c'", MPICH)
    assert launcher.command(4) == [str(path), "-n", "4", "-e", "A=b c"]


def test_no_shell_sees_the_command(program: Program) -> None:
    program("aprun")
    assert choose("aprun {ranks}; rm -r $HOME", MPICH).command(4)[1:] == ["4;", "rm", "-r", "$HOME"]


@pytest.mark.parametrize("text", ["mpixec", "aprun -n 4"])
def test_for_an_unknown_launcher_those_available_are_listed(text: str) -> None:
    with pytest.raises(
        StriderError, match="choose one of mpiexec, srun, or a command that contains"
    ) as caught:
        choose(text, MPICH)
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_a_quote_that_is_not_closed_is_named() -> None:
    with pytest.raises(StriderError, match="No closing quotation"):
        choose("aprun '{ranks}", MPICH)

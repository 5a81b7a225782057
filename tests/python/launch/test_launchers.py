"""How ranks are started."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Mpi
from strider.errors import ExitCode, StriderError
from strider.launch.launchers import LAUNCHERS, Launcher, choose, places_of
from strider.launch.launchers.hosts import Places
from strider.launch.launchers.launcher import MOST_WORD_BYTES
from strider.launch.launchers.mpiexec import HOST_VARIABLES, HYDRA_VARIABLES

Program = Callable[[str], Path]
MPICH = Mpi(library="MPICH Version:\t4.0.2", mpiexec="/nowhere/mpiexec")
INTEL = Mpi(library="Intel(R) MPI Library 2021.14", mpiexec="/nowhere/mpiexec")
CRAY = Mpi(library="MPI VERSION    : CRAY MPICH version 8.1.28", mpiexec="/nowhere/mpiexec")
OPEN_MPI = Mpi(library="Open MPI v5.0.11, package: Open MPI", mpiexec="/nowhere/mpiexec")


PROGRAMS = {"pals": "mpiexec"}


@pytest.fixture(params=sorted(LAUNCHERS))
def name(request: pytest.FixtureRequest) -> str:
    """Each launcher in turn."""
    return str(request.param)


@pytest.fixture
def launcher_program(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Makes the program of a launcher; that of PALS is known by its folder."""

    def make(name: str) -> Path:
        if name != "pals":
            return program(name)
        path = tmp_path / "pals" / "1.3" / "bin" / "mpiexec"
        path.parent.mkdir(parents=True)
        path.touch(mode=0o755)
        monkeypatch.setenv("PATH", str(path.parent))
        return path

    return make


def test_every_launcher_says_how_many_ranks(name: str, launcher_program: Program) -> None:
    path = launcher_program(name)
    words = choose(name, MPICH).command(6)
    assert words[0] == str(path)
    assert any("6" in word for word in words[1:])


def test_a_launcher_that_is_not_installed_comes_with_a_remedy(name: str, program: Program) -> None:
    program("something-else")
    with pytest.raises(StriderError, match=rf"cannot find {PROGRAMS.get(name, name)}: .*") as caught:
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


BINDINGS = [
    ("mpiexec", MPICH, ["-bind-to none", "-bind-to core", "-bind-to numa"]),
    ("mpiexec", CRAY, ["--cpu-bind none", "--cpu-bind core", "--cpu-bind numa"]),
    (
        "mpiexec",
        OPEN_MPI,
        ["--bind-to none", "--bind-to core:overload-allowed", "--bind-to numa:overload-allowed"],
    ),
    ("srun", MPICH, ["--cpu-bind=none", "--cpu-bind=cores", "--cpu-bind=ldoms"]),
    ("pals", CRAY, ["--cpu-bind none", "--cpu-bind core", "--cpu-bind numa"]),
    (
        "flux",
        MPICH,
        ["-o cpu-affinity=off", "-o cpu-affinity=per-task", "flux run cannot bind ranks to numa"],
    ),
    (
        "jsrun",
        MPICH,
        ["-b none", "-b packed:1", "jsrun cannot bind ranks to numa: it takes --bind none or core"],
    ),
]
"""Words of each launcher for none, core and numa; or its refusal."""


@pytest.mark.parametrize(("launcher", "mpi", "words"), BINDINGS)
def test_each_launcher_binds_by_words_of_its_own(
    launcher_program: Program, launcher: str, mpi: Mpi, words: list[str]
) -> None:
    launcher_program(launcher)
    unbound = choose(launcher, mpi).command(4)
    for bind, expected in zip(("none", "core", "numa"), words, strict=True):
        chosen = choose(launcher, mpi, places_of(bind=bind))
        if "cannot" in expected:
            with pytest.raises(StriderError, match=expected):
                chosen.command(4)
            continue
        assert sorted(chosen.command(4)) == sorted([*unbound, *expected.split()])
        assert _once_per_node(chosen, 4) == _once_per_node(choose(launcher, mpi), 4), (
            "the preflight is not bound"
        )


def test_intel_mpi_binds_by_variables(program: Program) -> None:
    program("mpiexec")
    found = [choose("mpiexec", INTEL, places_of(bind=bind)).environment for bind in ("none", "core", "numa")]
    assert found == [
        {"I_MPI_PIN": "off"},
        {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "core"},
        {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "numa"},
    ]


def test_a_command_of_the_user_has_its_own_binding(program: Program) -> None:
    program("aprun")
    with pytest.raises(
        StriderError, match="takes no --bind: write the option of the launcher into its command"
    ):
        choose("aprun -n {ranks}", MPICH, places_of(bind="core"))


@pytest.mark.parametrize("bind", ["socket", "", "core; id"])
def test_another_binding_is_refused(bind: str) -> None:
    with pytest.raises(StriderError, match=r"--bind: .* is no binding: choose none, core or numa"):
        places_of(bind=bind)


def test_the_binding_of_a_run_is_recorded(program: Program) -> None:
    assert Places.from_json(places_of(bind="core").to_json()) == Places(bind="core")
    older = {name: value for name, value in Places().to_json().items() if name != "bind"}
    assert Places.from_json(older) == Places()
    with pytest.raises(StriderError, match=r"the places in run\.json: x is no binding"):
        Places.from_json({**Places().to_json(), "bind": "x"})


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
        StriderError, match="choose one of mpiexec, srun, pals, flux, jsrun, or a command that contains"
    ) as caught:
        choose(text, MPICH)
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_a_quote_that_is_not_closed_is_named() -> None:
    with pytest.raises(StriderError, match="No closing quotation"):
        choose("aprun '{ranks}", MPICH)


TWO_HOSTS = places_of("a,b")
UNEVEN = places_of("a:3,b:1,c:2")
NODES = places_of(nodes=2, per_node=4)


@pytest.fixture
def allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """An allocation, of which `mpiexec` takes the hosts."""
    monkeypatch.setenv("SLURM_JOB_ID", "1")


@pytest.mark.usefixtures("allocation")
@pytest.mark.parametrize(
    ("name", "mpi", "places", "ranks", "words"),
    [
        ("mpiexec", MPICH, TWO_HOSTS, 8, "-n 8 -hosts a,b -ppn 4"),
        ("mpiexec", MPICH, TWO_HOSTS, 7, "-n 7 -hosts a,b -ppn 4"),
        ("mpiexec", MPICH, UNEVEN, 6, "-n 6 -hosts a:3,b:1,c:2"),
        ("mpiexec", MPICH, NODES, 8, "-n 8 -ppn 4"),
        ("mpiexec", OPEN_MPI, TWO_HOSTS, 8, "-n 8 --host a:4,b:4 --map-by slot:OVERSUBSCRIBE"),
        ("mpiexec", OPEN_MPI, UNEVEN, 6, "-n 6 --host a:3,b:1,c:2 --map-by slot:OVERSUBSCRIBE"),
        ("mpiexec", OPEN_MPI, NODES, 8, "-n 8 --map-by ppr:4:node:OVERSUBSCRIBE"),
        ("mpiexec", INTEL, TWO_HOSTS, 8, "-n 8 -hosts a,b -ppn 4"),
        ("mpiexec", INTEL, NODES, 8, "-n 8 -ppn 4"),
        ("mpiexec", CRAY, TWO_HOSTS, 8, "-n 8 --ppn 4 --hosts a,b"),
        (
            "srun",
            MPICH,
            TWO_HOSTS,
            8,
            "--ntasks=8 --overcommit --nodes=2 --ntasks-per-node=4 --nodelist=a,b",
        ),
        (
            "srun",
            MPICH,
            UNEVEN,
            6,
            "--ntasks=6 --overcommit --nodes=3 --distribution=arbitrary --nodelist=a,a,a,b,c,c",
        ),
        ("srun", MPICH, NODES, 8, "--ntasks=8 --overcommit --nodes=2 --ntasks-per-node=4"),
        ("pals", CRAY, TWO_HOSTS, 8, "-n 8 --ppn 4 --hosts a,b"),
        ("pals", CRAY, NODES, 8, "-n 8 --ppn 4"),
        ("flux", MPICH, TWO_HOSTS, 8, "run -n 8 -N 2 --requires=host:a,b"),
        ("flux", MPICH, NODES, 8, "run -n 8 -N 2"),
        ("jsrun", MPICH, NODES, 8, "-n 2 -r 1 -a 4 -c ALL_CPUS"),
    ],
)
def test_hosts_and_nodes_are_said_in_the_words_of_each_launcher(
    launcher_program: Program, name: str, mpi: Mpi, places: Places, ranks: int, words: str
) -> None:
    path = launcher_program(name)
    assert choose(name, mpi, places).command(ranks) == [str(path), *words.split()]


@pytest.mark.parametrize(
    ("name", "mpi", "places", "reason"),
    [
        ("mpiexec", INTEL, UNEVEN, "as many ranks on each host, but the hosts have 3, 1, 2"),
        ("pals", CRAY, UNEVEN, "as many ranks on each host"),
        ("flux", MPICH, UNEVEN, "as many ranks on each host"),
        ("jsrun", MPICH, TWO_HOSTS, "takes no names of hosts"),
        ("jsrun", MPICH, places_of(per_node=4), "6 ranks are not 2 times 4"),
        ("mpiexec", MPICH, places_of("::1,a"), "takes no IPv6 address"),
        ("mpiexec", OPEN_MPI, places_of("::1,a"), "takes no IPv6 address"),
    ],
)
def test_what_a_launcher_cannot_say_is_refused(
    launcher_program: Program, name: str, mpi: Mpi, places: Places, reason: str
) -> None:
    launcher_program(name)
    with pytest.raises(StriderError, match=reason):
        choose(name, mpi, places).command(6)


def test_mpiexec_that_knows_one_host_refuses_several_nodes(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("mpiexec")
    for variable in HOST_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(StriderError, match="knows this host only: name hosts with --hosts"):
        choose("mpiexec", MPICH, NODES)
    assert choose("mpiexec", MPICH, places_of(nodes=1)).reach == "this host"


def test_named_hosts_may_be_others_unless_all_are_this_one(program: Program) -> None:
    program("mpiexec")
    assert choose("mpiexec", MPICH, TWO_HOSTS).reach == "perhaps others"
    assert choose("mpiexec", MPICH, places_of("localhost:2")).reach == "this host"


def test_intel_mpi_obeys_ranks_per_node_also_in_an_allocation(program: Program) -> None:
    program("mpiexec")
    environment = choose("mpiexec", INTEL, TWO_HOSTS).environment
    assert environment == {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}
    assert choose("mpiexec", INTEL).environment == {}


def test_an_mpiexec_of_another_vendor_is_not_taken_for_that_of_pals(program: Program) -> None:
    program("mpiexec")
    with pytest.raises(StriderError, match="is not the mpiexec of PALS: load the module cray-pals"):
        choose("pals", CRAY)


def test_a_command_may_have_fields_for_hosts_and_nodes(program: Program) -> None:
    path = program("aprun")
    launcher = choose("aprun -n {ranks} -N {per_node} -L {hosts} -x {nodes}", MPICH, TWO_HOSTS)
    assert launcher.command(8) == [str(path), "-n", "8", "-N", "4", "-L", "a,b", "-x", "2"]


@pytest.mark.parametrize(
    ("text", "places", "reason"),
    [
        ("aprun {ranks}", TWO_HOSTS, r"write \{hosts\}"),
        ("aprun {ranks} {hosts}", NODES, r"write \{nodes\} or \{per_node\}"),
        ("aprun {ranks} {hosts}", None, "needs hosts"),
        ("aprun {ranks} {nodes}", None, "needs nodes"),
    ],
)
def test_a_command_has_the_fields_of_the_places_that_are_given(
    program: Program, text: str, places: Places | None, reason: str
) -> None:
    program("aprun")
    with pytest.raises(StriderError, match=reason):
        choose(text, MPICH, places)


def test_more_hosts_than_a_word_holds_are_refused_with_a_remedy(program: Program) -> None:
    program("mpiexec")
    many = places_of(",".join(f"node{number:08}" for number in range(11_000)))
    with pytest.raises(StriderError, match=f"at most {MOST_WORD_BYTES}.*start inside an allocation"):
        choose("mpiexec", MPICH, many).command(11_000)


def test_one_process_on_each_node_is_asked_for_in_the_same_words(program: Program) -> None:
    path = program("mpiexec")
    assert _once_per_node(choose("mpiexec", MPICH, TWO_HOSTS), 8) == [
        *(str(path), "-n", "2", "-hosts", "a,b", "-ppn", "1")
    ]


@pytest.mark.parametrize(
    ("variables", "is_set"),
    [
        ({}, True),
        ({"SLURM_JOB_ID": "7"}, False),
        ({"HYDRA_LAUNCHER": "rsh"}, False),
        ({"HYDRA_LAUNCHER_EXTRA_ARGS": "-q"}, False),
    ],
)
def test_ssh_of_mpich_notices_a_lost_host_unless_the_user_or_a_scheduler_chose_another_way(
    variables: dict[str, str], is_set: bool, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*HOST_VARIABLES, *HYDRA_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    program("mpiexec")
    environment = choose("mpiexec", MPICH, TWO_HOSTS).environment
    assert ("ServerAliveInterval=5" in environment.get("HYDRA_LAUNCHER_EXTRA_ARGS", "")) is is_set
    assert choose("mpiexec", MPICH).environment == {}


def _once_per_node(launcher: Launcher, ranks: int) -> list[str]:
    """The command prefix of one process on each node."""
    return launcher.words(launcher.places.each_once(ranks))

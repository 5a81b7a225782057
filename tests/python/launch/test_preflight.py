"""Checks before a byte is written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Description, Json
from strider.errors import ExitCode, StriderError
from strider.launch import preflight as module
from strider.launch.job_limits import Memory
from strider.launch.launchers import Launcher
from strider.launch.machine import Space
from strider.launch.preflight import Finding, check_target, preflight, raise_errors
from strider.suite import CheckedPlan
from strider.units import GIB, MIB

Checked = Callable[..., CheckedPlan]
HERE = Launcher("mpiexec", lambda mapping: ["mpiexec", "-n", str(mapping.ranks)], reach="this host")
ANYWHERE = Launcher("srun", lambda mapping: ["srun", f"--ntasks={mapping.ranks}"])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets the resources of the machine; by default plenty of everything."""

    def have(
        memory: int = 64 * GIB, available: int = 64 * GIB, free: int = 1000 * GIB, files: int | None = 10**6
    ) -> None:
        monkeypatch.setattr(module, "memory", lambda: Memory(memory, available))
        monkeypatch.setattr(module, "space_of", lambda _: Space(1000 * GIB, free, files, 4096))

    have()
    return have


def errors(plan: CheckedPlan, description: Description) -> list[str]:
    found = preflight(plan, description, Path("/data"), HERE)
    return [f"{finding.message}: {finding.remedy}" for finding in found if finding.severity == "error"]


def test_a_machine_with_plenty_has_nothing_against_a_plan(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    assert errors(checked({"space_bytes": GIB, "files": 4, "memory_bytes": MIB}), description) == []


@pytest.mark.parametrize(
    ("interface", "target", "is_refused"),
    [
        ({"name": "mpiio", "prefix": ""}, "/data/a:b", True),
        ({"name": "hdf5"}, "/data/a:b", True),
        ({"name": "mpiio", "prefix": "ufs:"}, "/data/a:b", False),
        ({"name": "mpiio", "prefix": ""}, "/data/ab", False),
        ({"name": "posix"}, "/data/a:b", False),
    ],
)
def test_a_colon_is_refused_where_mpi_opens_files(
    checked: Checked,
    machine: Callable[..., None],
    description: Description,
    interface: dict[str, Json],
    target: str,
    is_refused: bool,
) -> None:
    plan = checked({})
    for case, _ in plan.cases:
        case.interface.clear()
        case.interface.update(interface)
    found = preflight(plan, description, Path(target), HERE)
    refused = [finding for finding in found if "colon" in finding.message]
    assert bool(refused) == is_refused
    if refused:
        assert refused[0].severity == "error"
        assert f"{target}/ contains a colon" in refused[0].message


def test_the_largest_case_must_fit_and_the_sum_need_not(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    plan = checked({"space_bytes": GIB}, {"space_bytes": 2 * GIB}, keys="clients = [1, 2]")
    machine(free=2 * GIB + 16 * MIB)
    assert errors(plan, description) == []
    machine(free=2 * GIB + 16 * MIB - 1)
    (message,) = errors(plan, description)
    assert "/data has 2.02 GiB free, but case 2 needs 2 GiB plus 16 MiB reserve" in message
    assert "free space, choose another directory" in message


def test_a_case_that_its_deadline_ends_may_be_larger_than_the_storage(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(free=2 * GIB)
    note, *_ = notes(checked({"space_bytes": 9 * GIB}, keys="deadline = 4"), description)
    assert note == (
        "/data has 2 GiB free, and case 1 writes up to 9 GiB until its deadline of 4 s: at more than "
        "512 MiB/s it fills the storage and fails"
    )
    assert errors(checked({"space_bytes": 9 * GIB}, keys="deadline = 4"), description) == []
    # Preparation has no deadline.
    reading = checked({"space_bytes": 9 * GIB}, keys='deadline = 4\noperations = ["read"]')
    assert "case 1 needs 9 GiB" in errors(reading, description)[0]


def test_the_files_must_fit(checked: Checked, machine: Callable[..., None], description: Description) -> None:
    machine(files=100)
    (message,) = errors(checked({"files": 90}), description)
    assert message.startswith("/data has 100 free inodes, but case 1 needs 90 plus 16 reserve files: ")


def test_a_file_system_without_a_limit_on_files_takes_any(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(files=None)
    assert errors(checked({"files": 10**9}), description) == []


def test_the_buffers_of_all_clients_must_fit_into_memory(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(available=3 * GIB)
    (message,) = errors(checked({"memory_bytes": GIB}, keys="clients = 4"), description)
    assert "3 GiB of memory are available here, but 4 ranks need 4.25 GiB" in message
    assert "buffers of 1 GiB for each of 4 clients" in message
    assert message.endswith("reduce transfer or clients")


def test_each_rank_needs_64_mib_beside_its_buffers(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    plan = checked({"memory_bytes": GIB}, keys="clients = 4")
    machine(available=4 * GIB + 4 * 64 * MIB)
    assert errors(plan, description) == []
    machine(available=4 * GIB + 4 * 64 * MIB - 1)
    (message,) = errors(plan, description)
    assert "4 ranks need 4.25 GiB" in message


def test_where_ranks_may_be_on_other_hosts_the_memory_of_this_one_is_only_noted(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(available=3 * GIB)
    plan = checked({"memory_bytes": GIB}, keys="clients = 4")
    assert any("3 GiB of memory" in note for note in notes(plan, description, ANYWHERE))
    found = preflight(plan, description, Path("/data"), ANYWHERE)
    assert [finding for finding in found if finding.severity == "error"] == []


def test_an_interface_that_does_not_work_here_is_reported_with_its_reason(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    plan = checked(keys='[[case]]\ninterface = "hdf5"\npattern = "strided"\n')
    (message,) = errors(plan, description)
    assert message.startswith(
        "interface hdf5 does not work here: built without HDF5: remove hdf5 from the suite"
    )


def notes(plan: CheckedPlan, description: Description, launcher: Launcher = HERE) -> list[str]:
    return [
        finding.message
        for finding in preflight(plan, description, Path("/data"), launcher)
        if finding.severity == "note"
    ]


def test_files_that_fit_into_memory_are_noted(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(memory=8 * GIB)
    (note,) = notes(checked({"space_bytes": GIB}), description)
    assert note.startswith("files of at most 1 GiB fit into memory (8 GiB)")


@pytest.mark.parametrize(
    ("keys", "remedy"),
    [
        ('interface = "posix"', 'set cache = "cold" or posix.direct = true, or use larger files'),
        ('interface = "mpiio"', 'set cache = "cold", or use larger files'),
        ('interface = "posix"\nruntime = 1', "set posix.direct = true, or use larger files"),
        ('interface = "mpiio"\nruntime = 1', "use larger files"),
    ],
)
def test_the_remedy_for_such_files_is_one_that_the_interface_accepts(
    checked: Checked, machine: Callable[..., None], description: Description, keys: str, remedy: str
) -> None:
    machine(memory=8 * GIB)
    second = f'[[case]]\npattern = "strided"\n{keys}\n'
    plan = checked({"space_bytes": 9 * GIB}, {"space_bytes": GIB}, keys=second)
    (note,) = preflight(plan, description, Path("/data"), HERE)
    assert note.remedy == f"to measure storage alone, {remedy}"


@pytest.mark.parametrize(
    ("space", "keys"),
    [
        (9 * GIB, ""),
        (GIB, "posix.direct = true"),
        (GIB, 'cache = "cold"'),
        (GIB, 'operations = "write"'),
    ],
    ids=["larger than memory", "direct", "cold", "nothing is read"],
)
def test_reads_that_no_cache_serves_are_not_noted(
    checked: Checked, machine: Callable[..., None], description: Description, space: int, keys: str
) -> None:
    machine(memory=8 * GIB)
    assert notes(checked({"space_bytes": space}, keys=keys), description) == []


def test_an_interface_without_storage_needs_no_space(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    machine(free=0)
    plan = checked({}, {"space_bytes": 10**12}, keys='[[case]]\ninterface = "null"\npattern = "strided"\n')
    machine(free=16 * MIB)
    assert errors(plan, description) == []


def test_errors_are_raised_together_and_notes_are_not() -> None:
    found = [Finding("error", "a", "b"), Finding("note", "c", "d"), Finding("error", "e", "f")]
    with pytest.raises(StriderError) as caught:
        raise_errors(found)
    assert caught.value.message == "a: b\ne: f"
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    raise_errors([Finding("note", "c", "d")])


def test_a_target_that_is_not_there_comes_with_the_command_that_makes_it(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(StriderError, match=f"does not exist: create it with mkdir -p {missing}"):
        check_target(str(missing))


def test_a_target_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StriderError, match="is not a directory"):
        check_target(str(tmp_path / "file"))


def test_a_target_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StriderError, match="no permission to write to"):
        check_target(str(tmp_path))


def test_the_target_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert check_target(".") == tmp_path
    assert check_target("~") == tmp_path


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("~nosuchuser/x", "unknown user"),
        ("/" + "a" * 5000, "File name too long"),
        ("a/" * 30_000, "File name too long"),
        ("/dev/null/x", "Not a directory"),
    ],
)
def test_a_target_that_no_path_can_be_gets_a_message_of_a_line(target: str, says: str) -> None:
    with pytest.raises(StriderError, match=says) as caught:
        check_target(target)
    assert len(caught.value.message) < 400


def test_a_mount_is_on_this_host_alone(
    checked: Checked, machine: Callable[..., None], description: Description
) -> None:
    plan = checked({"space_bytes": GIB})
    mounted = plan.suite.plan.cases[0].model_copy(update={"mount": "listio"})
    plan.suite.plan.cases[0] = mounted
    assert errors(plan, description) == []
    (message,) = [
        one.message
        for one in preflight(plan, description, Path("/data"), ANYWHERE)
        if one.severity == "error"
    ]
    assert (
        message == "case 1 needs a mount, which exists on this host only, but srun can start ranks on others"
    )

"""A run gets a volume of its own where it needs one and there is none."""

from pathlib import Path

import pytest

from listio_plans import plan
from strider.engine import Json
from strider.errors import StriderError
from strider.listio import VOLUME_FILE
from strider.listio.temporary import rate_wanted, servers_needed, transport_wanted
from strider.suite.plan import PlannedCase


@pytest.mark.parametrize(
    ("interfaces", "servers"),
    [
        ([{"name": "posix"}], 0),
        ([{"name": "posix"}, {"name": "listio", "volume": ""}], 4),
        ([{"name": "listio", "volume": "", "servers": 8}, {"name": "listio", "volume": "", "servers": 2}], 8),
        ([{"name": "listio", "volume": "/elsewhere/listio-volume.json"}], 0),
        ([{"name": "mpiio", "prefix": "listio:", "volume": ""}], 4),
        ([{"name": "mpiio", "prefix": "listio:", "volume": "/elsewhere/listio-volume.json"}], 0),
        ([{"name": "mpiio", "prefix": "ufs:", "volume": ""}], 0),
    ],
)
def test_as_many_servers_as_the_cases_ask_for(tmp_path: Path, interfaces: list[Json], servers: int) -> None:
    assert servers_needed(plan(*interfaces), tmp_path) == servers


def on_mount(servers: int = 0) -> dict[str, Json]:
    """Common keys of a case on a mount."""
    return {"mount": "listio", "mount_servers": servers}


def test_mounts_and_the_mpi_layer_need_a_volume_too(tmp_path: Path) -> None:
    def needed(interface: dict[str, Json], **keys: Json) -> int:
        one = plan(interface)
        case = PlannedCase.model_validate({**one.cases[0].model_dump(), **keys})
        return servers_needed(one.model_copy(update={"cases": [case]}), tmp_path)

    assert needed({"name": "posix"}, **on_mount()) == 4
    assert needed({"name": "mpiio", "prefix": ""}, **on_mount(6)) == 6
    assert needed({"name": "mpiio", "prefix": "ufs:", "hints": {}}) == 0
    assert needed({"name": "mpiio", "prefix": "listio:", "hints": {}}) == 4
    assert needed({"name": "mpiio", "prefix": "listio:", "hints": {"striping_factor": "7"}}) == 7
    elsewhere = "/elsewhere/listio-volume.json"
    assert needed({"name": "mpiio", "prefix": "listio:", "volume": elsewhere}) == 0


@pytest.mark.parametrize(
    ("transports", "chosen"), [(["", "tcp"], "tcp"), (["cma", "tcp"], "auto"), ([""], "auto"), ([], "auto")]
)
def test_the_transport_that_the_cases_name(transports: list[str], chosen: str) -> None:
    cases = [{"name": "listio", "transport": name} for name in transports] or [{"name": "posix"}]
    assert transport_wanted(plan(*cases)) == chosen


def test_the_rate_that_the_cases_ask_for() -> None:
    assert rate_wanted(plan({"name": "posix"}, {"name": "listio", "servers": 2})) == 0
    limited = {"name": "listio", "server_rate": 1000}
    assert rate_wanted(plan({"name": "listio", "server_rate": 0}, limited, limited)) == 1000
    elsewhere = {"name": "listio", "server_rate": 5, "volume": "/elsewhere/listio-volume.json"}
    assert rate_wanted(plan(limited, elsewhere)) == 1000


def test_servers_have_one_limit() -> None:
    with pytest.raises(StriderError, match="1000 in one case and 2000 in another"):
        rate_wanted(plan(*({"name": "listio", "server_rate": rate} for rate in (1000, 2000))))


def test_a_volume_above_the_run_is_used(tmp_path: Path) -> None:
    (tmp_path / VOLUME_FILE).write_text("{}")
    assert servers_needed(plan({"name": "listio", "volume": ""}), tmp_path / "strider-run") == 0

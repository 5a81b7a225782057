"""What `strider quick` finds out before it measures."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from quick_builders import place
from strider.cli import main
from strider.engine import Engine
from strider.errors import StriderError
from strider.running import probing
from strider.running.options import RunOptions


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["nfs://io1/data"],
            "nfs://io1/data is an address, and strider quick needs a directory: name the local directory of "
            "this server, with --interface nfs --set case.nfs.url=nfs://io1/data --set case.nfs.mount=TOP, "
            "where TOP is the local directory of the address",
        ),
        (
            ["/pool/listio-volume.json"],
            "/pool/listio-volume.json is a file: to measure this volume, run strider quick /pool --interface "
            "listio",
        ),
        (
            ["/tmp", "--set", "case.block=1MiB"],
            "--set case.block=1MiB: strider quick chooses sizes and lengths itself; only options of the "
            "interface can be set, as case.posix.KEY=VALUE; for others use strider run",
        ),
    ],
)
def test_what_is_no_directory_or_no_option_of_the_interface_is_refused(
    words: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["quick", *words]) == 2
    assert capfd.readouterr().err == f"strider: {said}\n"


@pytest.mark.parametrize(("samples", "native"), [(["one"], "gfapi"), ([], "")])
def test_a_library_that_reaches_no_server_is_left_out(
    samples: list[str], native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "measured", lambda *_: (SimpleNamespace(samples=samples), 1.0))
    assert probing.reach(place("network", native="gfapi"), RunOptions()).native == native


def test_a_library_that_this_engine_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise StriderError("this engine was built without it")

    monkeypatch.setattr(probing, "measured", refused)
    assert probing.reach(place("network", native="gfapi"), RunOptions()).native == ""


def test_a_library_alone_is_not_tried_beside_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "measured", None)
    made = place("network", native="nfs", interface="nfs")
    assert probing.reach(made, RunOptions()) == made
    assert probing.reach(place(), RunOptions()).native == ""


def test_posix_and_list_io_keep_several_requests_in_flight_and_libcephfs_does_not(
    engine_in_use: Engine, tmp_path: Path
) -> None:
    options = RunOptions(target=str(tmp_path))
    able = {
        name: probing.can_queue(place("network", interface=name, is_direct=False), options)
        for name in ("posix", "listio", "cephfs")
    }
    assert able == {"posix": True, "listio": True, "cephfs": False}

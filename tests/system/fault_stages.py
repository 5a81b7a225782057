"""Where interfaces meet faults: on the mount that damages, or with servers whose data lies on it."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import forgetfs
from faults import Stage
from forgetfs import ForgetFs
from harness import Json
from labs import mount, running
from strider.engine import Engine, Interface
from strider.lab import Record
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop


@contextmanager
def on_the_mount(engine: Engine, forgetful: ForgetFs) -> Iterator[Stage]:
    """The target is the mount."""
    yield Stage(forgetful, forgetful.mount)


@contextmanager
def in_a_volume(engine: Engine, forgetful: ForgetFs) -> Iterator[Stage]:
    """One list-I/O server, whose folder lies on the mount."""
    volume = forgetful.mount / "volume"
    # The matrix shows what Strider finds where the storage does not.
    serve(engine, volume, ServerOptions(servers=1, checksums="off"))
    try:
        yield Stage(forgetful, forgetful.mount, {"volume": str(volume / VOLUME_FILE)}, files="/data/")
    finally:
        stop(volume)


@contextmanager
def _in_a_lab(forgetful: ForgetFs, name: str, settings: Callable[[Record], Json]) -> Iterator[Stage]:
    for folder in (forgetful.mount, forgetful.mount.parent):
        folder.chmod(0o755)  # for the users that servers run as
    with running(name, forgetful.mount) as record:
        directory = Path(tempfile.mkdtemp(dir=_seen(record)))
        directory.chmod(0o777)
        yield Stage(forgetful, directory, settings(record), tuple(record.enter))


def _seen(record: Record) -> Path:
    """The place of the files: a mount, or the export of a server."""
    if record.endpoints[0].mount is not None:
        return mount(record)
    return Path(record.endpoints[0].native["url"].removeprefix("nfs://127.0.0.1").partition("?")[0])


@contextmanager
def behind_gluster(engine: Engine, forgetful: ForgetFs) -> Iterator[Stage]:
    """GlusterFS, whose bricks lie on the mount."""
    with _in_a_lab(forgetful, "gluster", lambda _: {"port": 24007}) as stage:
        yield stage


@contextmanager
def behind_xrootd(engine: Engine, forgetful: ForgetFs) -> Iterator[Stage]:
    """An XRootD server, whose data lies on the mount."""
    with _in_a_lab(
        forgetful, "xrootd", lambda record: {"url": record.endpoints[0].native["server"]}
    ) as stage:
        yield stage


@contextmanager
def behind_ganesha(engine: Engine, forgetful: ForgetFs) -> Iterator[Stage]:
    """NFS-Ganesha, which exports a folder of the mount."""

    def settings(record: Record) -> Json:
        return {"url": record.endpoints[0].native["url"], "mount": str(_seen(record))}

    with _in_a_lab(forgetful, "ganesha", settings) as stage:
        yield stage


Maker = Callable[[Engine, ForgetFs], AbstractContextManager[Stage]]
SERVERS: dict[str, Maker] = {
    "listio": in_a_volume,
    "gfapi": behind_gluster,
    "xrootd": behind_xrootd,
    "nfs": behind_ganesha,
}
"""Stages of interfaces that are clients of servers of their own."""
MODES_OF = {"gfapi": ["default"], "xrootd": ["default"], "nfs": ["default"], "listio": ["default"]}
"""Mounts on which interfaces are tried, where not on each: how servers cache is not how programs do."""
NO_STAGE = {
    "cephfs": "Ceph keeps objects on block devices of its own, not in files of a mount.",
}
"""Interfaces that have none, and why."""


@contextmanager
def stage(engine: Engine, interface: Interface, mode: str = "default") -> Iterator[Stage]:
    """Where an interface is tried; a new one is tried on the mount."""
    make = SERVERS.get(interface.name, on_the_mount)
    with forgetfs.mounted(engine, mode) as forgetful, make(engine, forgetful) as made:
        yield made

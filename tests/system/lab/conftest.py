"""Real parallel file systems, and Slurm: each started when a test asks for it, and taken down at the end."""

from collections.abc import Iterator

import pytest

from causes import Bench, benched
from labs import running
from strider.engine import Engine
from strider.lab import Record


@pytest.fixture(scope="session")
def gluster() -> Iterator[Record]:
    """GlusterFS: endpoints `distributed`, `sharded` and `dispersed`."""
    with running("gluster") as record:
        yield record


@pytest.fixture(scope="session")
def xrootd() -> Iterator[Record]:
    """XRootD: endpoint `data`."""
    with running("xrootd") as record:
        yield record


@pytest.fixture(scope="session")
def ganesha() -> Iterator[Record]:
    """NFS-Ganesha: endpoint `data`, not mounted."""
    with running("ganesha") as record:
        yield record


@pytest.fixture(scope="session")
def moosefs() -> Iterator[Record]:
    """MooseFS: endpoint `data`."""
    with running("moosefs") as record:
        yield record


@pytest.fixture(scope="session")
def cephfs() -> Iterator[Record]:
    """CephFS: endpoint `cephfs`."""
    with running("cephfs") as record:
        yield record


@pytest.fixture(scope="session")
def slurm() -> Iterator[Record]:
    """Slurm: 4 nodes; its settings are the endpoint's `SLURM_CONF`."""
    with running("slurm") as record:
        yield record


@pytest.fixture(scope="module")
def bench(engine: Engine) -> Iterator[Bench]:
    """Four hosts of their own, on which runs are broken."""
    with benched(engine) as bench:
        yield bench


@pytest.fixture(scope="session")
def nodes() -> Iterator[Record]:
    """Four nodes at 100 Mbit/s, n1 to n4, and a client at 250 Mbit/s."""
    with running("nodes", options=["rate=100mbit", "client_rate=250mbit"]) as record:
        yield record

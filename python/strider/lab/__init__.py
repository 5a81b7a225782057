"""The lab: real parallel file systems, a scheduler and hosts on one machine, for trials and tests.

Each is started from Debian packages, in a folder of its own, without systemd, reachable over loopback only. A
new one is a file with a recipe and a line in `SYSTEMS`. The recipe (`start`) knows the system; `site` is
its tool to start daemons and mounts; `record` lists the started ones, on disk; `lifecycle` begins and
ends a lab.
"""

from strider.errors import StriderError
from strider.lab.cephfs import CEPHFS
from strider.lab.ganesha import GANESHA
from strider.lab.gluster import GLUSTER
from strider.lab.lifecycle import down, folder_of, state_of, up
from strider.lab.moosefs import MOOSEFS
from strider.lab.nodes import NODES
from strider.lab.record import Endpoint, Record, read
from strider.lab.slurm import SLURM
from strider.lab.system import System, install
from strider.lab.xrootd import XROOTD

__all__ = [
    "SYSTEMS",
    "Endpoint",
    "Record",
    "System",
    "down",
    "find",
    "folder_of",
    "install",
    "read",
    "state_of",
    "up",
]

SYSTEMS = {system.name: system for system in (CEPHFS, GLUSTER, GANESHA, MOOSEFS, XROOTD, SLURM, NODES)}
"""The systems of the lab, by name."""


def find(name: str) -> System:
    """Returns the system with a name.

    Raises:
        StriderError: There is none.
    """
    if name not in SYSTEMS:
        raise StriderError(f"unknown lab system {name!r}: choose one of {', '.join(SYSTEMS)}")
    return SYSTEMS[name]

"""XRootD: one data server, mounted by xrootdfs.

It has a network of its own, because the server listens on every address that it finds.
"""

import shutil

from strider.lab.record import Endpoint
from strider.lab.site import LOOPBACK, Site
from strider.lab.system import System

PORT = 1094
USER = "xrootd"
"""The server refuses to run as root; Debian's package makes this user."""
COHERENT_MOUNT = "attr_timeout=0,entry_timeout=0,negative_timeout=0"
"""The kernel's cache of a mount may be old when another client has written."""


def start(site: Site) -> list[Endpoint]:
    """Starts the server and mounts its export."""
    site.isolate()
    data, admin = site.make("data"), site.make("admin")
    for folder in (data, admin):
        shutil.chown(folder, USER)
    lines = [
        f"all.adminpath {admin}",
        f"all.pidpath {admin}",
        f"oss.localroot {data}",
        "all.export / nolock r/w",
        f"xrd.port {PORT}",
        "xrd.network nodnr",
    ]
    settings = site.write("xrootd.cfg", "\n".join([*lines, ""]))
    site.daemon("xrootd", ["xrootd", "-n", "lab", "-R", USER, "-I", "v4", "-c", str(settings)])
    site.wait_for_port("the server", PORT)
    point = site.make("mount")
    server = f"root://{LOOPBACK}:{PORT}"
    site.daemon("xrootdfs", ["xrootdfs", str(point), "-f", "-o", f"rdr={server}//,{COHERENT_MOUNT}"])
    site.wait_for_mount("xrootd", point)
    return [Endpoint(name="data", mount=point, native={"library": "libXrdCl", "server": server})]


XROOTD = System(
    name="xrootd",
    doc="XRootD: one data server; FUSE (xrootdfs) and XrdCl.",
    needs={"xrootd": "xrootd-server", "xrootdfs": "xrootd-fuse", "ip": "iproute2", "ss": "iproute2"},
    mounting=True,
    start=start,
)

"""NFS-Ganesha: a user-space NFS server for versions 3 and 4, for libnfs.

It is not mounted: Debian has no NFS client for FUSE, and the lab does not rely on the kernel's.
"""

from strider.lab.record import Endpoint
from strider.lab.site import LOOPBACK, Site, free_ports
from strider.lab.system import System

TRANSFER_LIMIT = 1 << 20
"""Bytes of the largest request."""


def start(site: Site) -> list[Endpoint]:
    """Starts the server on free ports of the loopback device, exporting a folder of the lab."""
    data = site.make("data")
    port, mount_port = free_ports(2)
    # The server registers version 3 at the port mapper, or exits. Clients get the ports directly and need no
    # port mapper, and Debian's listens on every address. So it runs in a network namespace without
    # interfaces, where only its socket remains.
    own = site.cover("/run")
    site.daemon("rpcbind", [*own, "rpcbind", "-f"], network="none")
    socket = site.folder / "cover/run/rpcbind.sock"
    site.wait("the port mapper", socket.is_socket)
    settings = site.write("ganesha.conf", _settings(site, port, mount_port))
    site.daemon(
        "ganesha",
        [
            *own,
            "ganesha.nfsd",
            "-F",
            *("-f", str(settings)),
            *("-p", str(site.folder / "ganesha.pid")),
            *("-L", str(site.log("ganesha"))),
            *("-N", "NIV_WARN"),
        ],
    )
    for name, number in (("the server", port), ("its mount service", mount_port)):
        site.wait_for_port(name, number)
    native = {
        "library": "libnfs",
        "url": f"nfs://{LOOPBACK}{data}?version=3&nfsport={port}&mountport={mount_port}",
    }
    remark = "with libnfs 4, use NFS version 3: libnfs 4 cannot write 4 KiB or more with NFS version 4"
    return [Endpoint(name="data", native=native, remark=remark)]


def _settings(site: Site, port: int, mount_port: int) -> str:
    sizes = " ".join(f"{key} = {TRANSFER_LIMIT};" for key in ("MaxRead", "MaxWrite", "PrefRead", "PrefWrite"))
    return f"""\
NFS_CORE_PARAM {{
  NFS_Port = {port}; MNT_Port = {mount_port}; Bind_addr = {LOOPBACK}; Protocols = 3, 4;
  Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false;
}}
NFSV4 {{
  Graceless = true; Grace_Period = 1; Lease_Lifetime = 30; Only_Numeric_Owners = true;
  RecoveryBackend = fs_ng; RecoveryRoot = {site.make("recovery")};
}}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{
  Export_Id = 1; Path = {site.folder}/data; Pseudo = /data; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; Transports = TCP; Protocols = 3, 4; PrivilegedPort = false; {sizes}
  FSAL {{ Name = VFS; }}
  CLIENT {{ Clients = {LOOPBACK}; Access_Type = RW; }}
}}
LOG {{ Default_Log_Level = WARN; }}
"""


GANESHA = System(
    name="ganesha",
    doc="NFS-Ganesha: an NFS server in user space, versions 3 and 4; libnfs, no mount.",
    needs={
        "ganesha.nfsd": "nfs-ganesha",
        "/usr/lib/*/ganesha/libfsalvfs.so": "nfs-ganesha-vfs",
        "rpcbind": "rpcbind",
        "ss": "iproute2",
    },
    mounting=False,
    start=start,
)

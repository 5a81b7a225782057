"""MooseFS: a master and four chunk servers, each file kept once.

It has a network of its own with an address besides 127.0.0.1, which chunk servers refuse.
"""

from strider.lab.record import Endpoint
from strider.lab.site import Site
from strider.lab.system import System

ADDRESS = "10.97.0.1"
CONTROL_PORT, CHUNK_SERVER_PORT, CLIENT_PORT = 9419, 9420, 9421
"""Where the master listens: for metaloggers, for chunk servers, for clients."""
CHUNK_SERVERS = 4
FIRST_DATA_PORT = 9431
"""Of the chunk servers, one each."""
COMMON = {"WORKING_USER": "root", "WORKING_GROUP": "root", "LOCK_MEMORY": 0}


def start(site: Site) -> list[Endpoint]:
    """Starts master and chunk servers, and mounts with default options, which are coherent."""
    site.isolate(ADDRESS)
    _start_master(site)
    for number in range(CHUNK_SERVERS):
        _start_chunk_server(site, number)
    listing = ["mfscli", "-H", ADDRESS, "-P", str(CLIENT_PORT), "-SCS", "-p", "-s|"]
    site.wait(
        f"{CHUNK_SERVERS} chunk servers",
        lambda: site.succeeds(listing) and site.run(listing).count(f"|{ADDRESS}|") >= CHUNK_SERVERS,
    )
    point = site.make("mount")
    site.daemon("mfsmount", ["mfsmount", str(point), "-f", "-H", ADDRESS, "-P", str(CLIENT_PORT)])
    site.wait_for_mount("moosefs", point)
    # By default everything is kept twice.
    site.run(["mfssetgoal", "-r", "1", str(point)])
    native = {"library": "libmfsio", "server": f"{ADDRESS}:{CLIENT_PORT}"}
    return [Endpoint(name="data", mount=point, native=native, remark="files in chunks of 64 MiB, one copy")]


def _start_master(site: Site) -> None:
    data = site.make("master")
    (data / "metadata.mfs").write_text("MFSM NEW", encoding="utf-8")
    settings = {
        **COMMON,
        "SYSLOG_IDENT": "mfsmaster",
        "DATA_PATH": data,
        "EXPORTS_FILENAME": site.write("exports.cfg", "* / rw,alldirs,admin,maproot=0:0\n* . rw\n"),
        "TOPOLOGY_FILENAME": site.write("topology.cfg", ""),
        "MATOML_LISTEN_HOST": ADDRESS,
        "MATOML_LISTEN_PORT": CONTROL_PORT,
        "MATOCS_LISTEN_HOST": ADDRESS,
        "MATOCS_LISTEN_PORT": CHUNK_SERVER_PORT,
        "MATOCL_LISTEN_HOST": ADDRESS,
        "MATOCL_LISTEN_PORT": CLIENT_PORT,
        "MATOCS_TIMEOUT": 10,
        "OPERATIONS_DELAY_INIT": 1,
    }
    site.daemon("master", ["mfsmaster", "-f", "-c", _configure(site, "master", settings), "start"])
    site.wait_for_port("the master", CHUNK_SERVER_PORT)


def _start_chunk_server(site: Site, number: int) -> None:
    name = f"chunks{number}"
    settings = {
        **COMMON,
        "SYSLOG_IDENT": name,
        "DATA_PATH": site.make(name),
        "HDD_CONF_FILENAME": site.write(f"{name}.hdd.cfg", f"{site.make(f'disk{number}')}\n"),
        "HDD_LEAVE_SPACE_DEFAULT": "64MiB",
        "HDD_FSYNC_BEFORE_CLOSE": 0,
        "MASTER_HOST": ADDRESS,
        "MASTER_PORT": CHUNK_SERVER_PORT,
        "MASTER_RECONNECTION_DELAY": 1,
        "BIND_HOST": ADDRESS,
        "CSSERV_LISTEN_HOST": ADDRESS,
        "CSSERV_LISTEN_PORT": FIRST_DATA_PORT + number,
    }
    site.daemon(name, ["mfschunkserver", "-f", "-c", _configure(site, name, settings), "start"])


def _configure(site: Site, name: str, settings: dict[str, object]) -> str:
    lines = [f"{key} = {value}\n" for key, value in settings.items()]
    return str(site.write(f"{name}.cfg", "".join(lines)))


MOOSEFS = System(
    name="moosefs",
    doc="MooseFS: a master and four chunk servers; FUSE and libmfsio.",
    needs={
        "mfsmaster": "moosefs-master",
        "mfschunkserver": "moosefs-chunkserver",
        "mfsmount": "moosefs-client",
        "mfscli": "moosefs-cli",
        "ip": "iproute2",
        "ss": "iproute2",
    },
    mounting=True,
    start=start,
)

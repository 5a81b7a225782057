"""CephFS: a monitor, a manager, object stores in memory, a metadata server; no keys, each object kept once.

The manager moves no data, but without it the file system says that it has no space.
"""

import uuid

from strider.lab.record import Endpoint
from strider.lab.site import LOOPBACK, Site, free_ports
from strider.lab.system import System

STORES = 4
STORE_BYTES = 2 << 30
"""Capacity of an object store; it takes memory only as it is filled."""
DATA_GROUPS, METADATA_GROUPS = 32, 8
"""Placement groups of the two pools."""
START_LIMIT_S = 120.0


def start(site: Site) -> list[Endpoint]:
    """Starts the daemons, makes the pools and the file system, and mounts it."""
    cluster, address = str(uuid.uuid4()), f"[v2:{LOOPBACK}:{free_ports(1)[0]}]"
    settings = site.write("ceph.conf", _settings(site, cluster, address))
    chosen = ["--conf", str(settings)]
    command = ["ceph", *chosen, "--connect-timeout", "5"]
    _start_monitor(site, chosen, cluster, address)
    site.wait("the monitor", lambda: site.succeeds([*command, "mon", "stat"]), START_LIMIT_S)
    site.daemon("mgr", ["ceph-mgr", "-f", "-i", "a", *chosen])
    for number in range(STORES):
        _start_store(site, number, chosen, command)
    site.daemon("mds", ["ceph-mds", "-f", "-i", "a", *chosen])
    site.say("making the file system")
    site.run([*command, "osd", "pool", "create", "metadata", str(METADATA_GROUPS)])
    site.run([*command, "osd", "pool", "create", "data", str(DATA_GROUPS)])
    site.run([*command, "fs", "new", "cephfs", "metadata", "data"])
    site.wait(
        "the metadata server", lambda: "up:active" in site.run([*command, "mds", "stat"]), START_LIMIT_S
    )
    point = site.make("mount")
    site.daemon("ceph-fuse", ["ceph-fuse", "-f", *chosen, str(point)])
    site.wait_for_mount("cephfs", point)
    blocks = ["stat", "--file-system", "--format=%b", str(point)]
    site.wait(
        "the manager to report the file system's size", lambda: site.run(blocks).strip() != "0", START_LIMIT_S
    )
    native = {"library": "libcephfs", "configuration": str(settings), "file system": "cephfs"}
    return [Endpoint(name="cephfs", mount=point, native=native, remark="data is kept in memory")]


def _start_monitor(site: Site, chosen: list[str], cluster: str, address: str) -> None:
    site.say("starting the monitor")
    site.make("run")
    for name in ("mon", "mgr", "mds"):
        site.make(name)
    members = str(site.folder / "monmap")
    site.run(["monmaptool", "--create", "--fsid", cluster, "--addv", "a", address, members])
    site.run(["ceph-mon", "--mkfs", "-i", "a", "--monmap", members, *chosen])
    site.daemon("mon", ["ceph-mon", "-f", "-i", "a", *chosen])


def _start_store(site: Site, number: int, chosen: list[str], command: list[str]) -> None:
    site.say(f"starting object store {number}")
    site.make(f"osd{number}")
    identity = str(uuid.uuid4())
    site.run(["ceph-osd", "--mkfs", "-i", str(number), "--osd-uuid", identity, *chosen])
    site.run([*command, "osd", "new", identity, str(number)])
    site.run([*command, "osd", "crush", "add", f"osd.{number}", "1.0", "root=default", "host=lab"])
    site.daemon(f"osd{number}", ["ceph-osd", "-f", "-i", str(number), *chosen])


def _settings(site: Site, cluster: str, address: str) -> str:
    folder = site.folder
    return f"""\
[global]
fsid = {cluster}
mon host = {address}
mon initial members = a
public addr = {LOOPBACK}
cluster addr = {LOOPBACK}
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}/run
admin socket = {folder}/run/$name.$pid.asok
log to stderr = true
log file = /dev/null
crash dir = {folder}/crash
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 1
mon max pg per osd = 1000
[client]
# With the kernel's cache, two mounts lose data when both change parts of a block under a lock.
fuse disable pagecache = true
[mon]
mon data = {folder}/mon
mon cluster log file = {folder}/log/cluster.log
paxos propose interval = 0.05
paxos min wait = 0.02
mon election timeout = 1
[osd]
osd data = {folder}/osd$id
osd objectstore = memstore
memstore device bytes = {STORE_BYTES}
osd class update on start = false
osd crush update on start = false
osd op num shards = 2
[mgr]
mgr data = {folder}/mgr
mgr initial modules =
[mds]
mds data = {folder}/mds
"""


CEPHFS = System(
    name="cephfs",
    doc="CephFS: four object stores in memory, monitor, manager, metadata server; FUSE and libcephfs.",
    needs={
        "ceph-mon": "ceph-mon",
        "monmaptool": "ceph-base",
        "ceph-mgr": "ceph-mgr",
        "ceph-osd": "ceph-osd",
        "ceph-mds": "ceph-mds",
        "ceph": "ceph-common",
        "ceph-fuse": "ceph-fuse",
    },
    mounting=True,
    start=start,
)

"""GlusterFS: one management daemon, and a volume of each kind: distributed, sharded, dispersed.

It has a network of its own, because bricks find their management daemon at one port only.
"""

from dataclasses import dataclass

from strider.lab.record import Endpoint
from strider.lab.site import LOOPBACK, Site
from strider.lab.system import System

PORT = 24007
BRICK_HOST = "0x7f.1"
"""127.0.0.1 in a form that GlusterFS takes; it refuses 127.* and localhost as the host of a brick."""
COHERENT = [
    *("performance.stat-prefetch", "off"),
    *("performance.quick-read", "off"),
    *("performance.open-behind", "off"),
]
"""With these caches a client sees old sizes, and fails to open, after another one has written."""
COHERENT_MOUNT = ["--entry-timeout=0", "--attribute-timeout=0", "--direct-io-mode=enable"]
"""The same for the kernel's cache of a mount."""


@dataclass(frozen=True)
class Volume:
    """A volume: its bricks, and what makes it of its kind."""

    name: str
    bricks: int
    kind: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    remark: str = ""


VOLUMES = (
    Volume("distributed", 4, remark="whole files, spread over 4 bricks"),
    Volume(
        "sharded",
        4,
        options=("features.shard", "on", "features.shard-block-size", "4MB"),
        remark="files in shards of 4 MiB; a file that several clients write can become too large",
    ),
    Volume("dispersed", 3, kind=("disperse", "3", "redundancy", "1"), remark="erasure code 2+1"),
)


def start(site: Site) -> list[Endpoint]:
    """Starts the daemons, makes the volumes and mounts each."""
    site.isolate()
    manager = [
        "gluster",
        "--mode=script",
        f"--glusterd-sock={site.folder}/manager.socket",
        f"--log-file={site.log('cli')}",
    ]
    site.daemon(
        "glusterd",
        [
            *site.cover("/run", "/var/lib/glusterd"),
            "glusterd",
            "--no-daemon",
            f"--volfile={_configure(site)}",
            f"--log-file={site.log('glusterd')}",
            "--log-level=WARNING",
        ],
    )
    site.wait("the management daemon", lambda: site.succeeds([*manager, "volume", "list"]))
    return [_start_volume(site, manager, volume) for volume in VOLUMES]


def _configure(site: Site) -> str:
    folders = {name: site.make(name) for name in ("work", "run", "log")}
    options = {
        "working-directory": folders["work"],
        "run-directory": folders["run"],
        "logging-directory": folders["log"],
        "glusterd-sockfile": site.folder / "manager.socket",
        "transport-type": "socket",
        "transport.address-family": "inet",
        "transport.socket.bind-address": LOOPBACK,
        "transport.socket.listen-port": PORT,
        # Without these two the daemon cannot talk to others.
        "transport.socket.keepalive-time": 10,
        "transport.socket.keepalive-interval": 2,
        "transport.socket.read-fail-log": "off",
        "ping-timeout": 0,
        "event-threads": 1,
    }
    lines = [f"    option {key} {value}" for key, value in options.items()]
    text = "\n".join(["volume management", "    type mgmt/glusterd", *lines, "end-volume", ""])
    return str(site.write("glusterd.vol", text))


def _start_volume(site: Site, manager: list[str], volume: Volume) -> Endpoint:
    site.say(f"making the volume {volume.name}")
    bricks = [f"{BRICK_HOST}:{site.make('bricks')}/{volume.name}{number}" for number in range(volume.bricks)]
    site.run([*manager, "volume", "create", volume.name, *volume.kind, "transport", "tcp", *bricks, "force"])
    site.run([*manager, "volume", "set", volume.name, *COHERENT, *volume.options, "auth.allow", LOOPBACK])
    site.run([*manager, "volume", "start", volume.name])
    point = site.make(f"mount/{volume.name}")
    name = f"mount-{volume.name}"
    site.daemon(
        name,
        [
            *("glusterfs", "--no-daemon", f"--volfile-server={LOOPBACK}", f"--volfile-server-port={PORT}"),
            *(f"--volfile-id={volume.name}", f"--log-file={site.log(name)}", "--log-level=WARNING"),
            *COHERENT_MOUNT,
            str(point),
        ],
    )
    site.wait_for_mount(volume.name, point)
    native = {"library": "libgfapi", "server": f"{LOOPBACK}:{PORT}", "volume": volume.name}
    return Endpoint(name=volume.name, mount=point, native=native, remark=volume.remark)


GLUSTER = System(
    name="gluster",
    doc="GlusterFS: a distributed, a sharded and a dispersed volume, 11 bricks; FUSE and libgfapi.",
    needs={
        "glusterd": "glusterfs-server",
        "glusterfs": "glusterfs-client",
        "gluster": "glusterfs-cli",
        "ip": "iproute2",
        "ss": "iproute2",
    },
    mounting=True,
    start=start,
)

"""Nodes: network namespaces with an ssh server and a private disk, joined by shaped links.

MPI, list-I/O servers and everything that uses ssh sees separate hosts. They share the processors, the file
systems and the users of this machine. The bridge has a network namespace of its own, so that nothing here
reaches the network of the machine.
"""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from strider.errors import StriderError
from strider.lab.mounts import unmount_below
from strider.lab.record import Endpoint
from strider.lab.site import Site
from strider.lab.system import System

CLIENT = "client"
SWITCH = "switch"
MOST_NODES = 64
NETWORK = "10.98.0"
FIRST_NODE = 11
"""The last number of the address of n1; the client has number 1."""
DISK_MIB = 64
"""Size of the private disk of a host, in memory."""
LATENCY = "50ms"
"""Longest time that a packet waits in a shaped link before it is dropped."""
BURST_S = 0.001
SMALLEST_BURST = 128 << 10
"""Bytes that a shaped link passes at once: the kernel hands over up to 64 KiB as one packet."""
_RATE = re.compile(r"([1-9][0-9]{0,5})([kmg])bit", re.ASCII)
_BITS = {"k": 10**3, "m": 10**6, "g": 10**9}
KINDS = ("net", "uts", "mnt")
_OPTIONS = {"net": "--net", "uts": "--uts", "mnt": "--mount"}


@dataclass(frozen=True)
class Host:
    """A node, or the client.

    Attributes:
        name: Its host name.
        address: Its address in the network of the lab.
        rate: Rate of its link in each direction, as `tc` reads it.
    """

    name: str
    address: str
    rate: str


def start(site: Site) -> list[Endpoint]:
    """Makes the hosts and links, starts the ssh servers, waits until the client can log in on all nodes."""
    hosts = _hosts(site.options)
    nodes = hosts[1:]
    # A namespace of mounts can only be pinned where mounts do not propagate.
    pins = str(site.make("namespaces"))
    site.run(["mount", "--bind", pins, pins])
    site.run(["mount", "--make-private", pins])
    _write_settings(site, hosts)
    _make_switch(site)
    for host in hosts:
        _make_host(site, host)
    enter = _write_enter(site, hosts)
    for host in hosts:
        site.daemon(f"sshd-{host.name}", [str(enter), host.name, "/usr/sbin/sshd", "-D", "-e"])
    for node in nodes:
        login = [str(enter), CLIENT, "ssh", node.name, "true"]
        site.wait(f"the ssh server of {node.name}", lambda login=login: site.succeeds(login))  # type: ignore[misc]
    site.record.enter = [str(enter), CLIENT]
    native = {
        "hosts": ",".join(node.name for node in nodes),
        "addresses": ",".join(node.address for node in nodes),
        "disk": str(site.folder / "disk"),
        "enter": str(enter),
    }
    remark = f"ssh works between all hosts; run a command on a node: {enter} {nodes[0].name} COMMAND"
    return [Endpoint(name="hosts", native=native, remark=remark)]


def _hosts(options: dict[str, str]) -> list[Host]:
    """The client and the nodes.

    Raises:
        StriderError: An option has a value that it cannot have.
    """
    count = options["nodes"]
    if not re.fullmatch(r"[0-9]{1,3}", count, re.ASCII) or not 1 <= int(count) <= MOST_NODES:
        raise StriderError(f"nodes={count}: give a number from 1 to {MOST_NODES}")
    for key in ("rate", "client_rate"):
        if not _RATE.fullmatch(options[key]):
            raise StriderError(f"{key}={options[key]}: give bits per second, such as 100mbit or 1gbit")
    nodes = [
        Host(f"n{number + 1}", f"{NETWORK}.{FIRST_NODE + number}", options["rate"])
        for number in range(int(count))
    ]
    return [Host(CLIENT, f"{NETWORK}.1", options["client_rate"]), *nodes]


# --- namespaces and links ---


def _pin(site: Site, name: str, kind: str) -> Path:
    return site.folder / "namespaces" / name / kind


def _make_switch(site: Site) -> None:
    pin = _new_pins(site, SWITCH, "net")["net"]
    site.record.namespaces.append(str(pin))
    site.record.write(site.folder)
    site.run(["unshare", f"--net={pin}", "ip", "link", "set", "lo", "up"])
    _inside(site, SWITCH, "ip link add br0 type bridge", "ip link set br0 up")


def _make_host(site: Site, host: Host) -> None:
    """Makes a host: its namespaces with their files and disk, and its link to the switch."""
    pins = _new_pins(site, host.name, *KINDS)
    site.record.namespaces.append(str(pins["net"]))
    site.record.write(site.folder)
    disk = f"size={DISK_MIB}m,mode=1777"
    folders = site.covering("/etc/ssh", "/etc/hosts", "/run", "/dev/shm")  # noqa: S108 (a mount point)
    words = [*folders, "mount", "-t", "tmpfs", "-o", disk, "lab-disk", str(site.make("disk"))]
    _run_in_new_namespaces(site, pins, words)
    site.run(["nsenter", f"--uts={pins['uts']}", "hostname", host.name])
    _inside(
        site,
        SWITCH,
        f"ip link add {host.name} type veth peer name eth0 netns {pins['net']}",
        f"ip link set {host.name} master br0 up",
        f"tc qdisc add dev {host.name} root {_shape(host.rate)}",
    )
    _inside(
        site,
        host.name,
        "ip link set lo up",
        f"ip address add {host.address}/24 dev eth0",
        "ip link set eth0 up",
        f"tc qdisc add dev eth0 root {_shape(host.rate)}",
    )


def _run_in_new_namespaces(site: Site, pins: dict[str, Path], words: list[str]) -> None:
    """Runs a command in new namespaces, which stay as long as their pins.

    Linux pins a namespace of mounts only in an older one. Since 6.18 each processor numbers namespaces by
    itself, so one that another processor has made may look older than the container around it.
    """
    options = [*(f"{_OPTIONS[kind]}={pin}" for kind, pin in pins.items()), "--propagation", "slave"]
    processors = sorted(os.sched_getaffinity(0))
    for processor in processors:
        try:
            site.run(["taskset", "--cpu-list", str(processor), "unshare", *options, *words])
        except StriderError as error:
            if processor == processors[-1] or "Invalid argument" not in str(error):
                raise
            unmount_below(pins["mnt"].parent)
        else:
            return


def _new_pins(site: Site, name: str, *kinds: str) -> dict[str, Path]:
    site.make(f"namespaces/{name}")
    return {kind: site.write(f"namespaces/{name}/{kind}", "") for kind in kinds}


def _inside(site: Site, name: str, *commands: str) -> None:
    """Runs commands in the network namespace of a host, or of the switch."""
    for command in commands:
        site.run(["nsenter", f"--net={_pin(site, name, 'net')}", *command.split()])


def _shape(rate: str) -> str:
    """Returns the words of `tc` that limit a link to a rate."""
    return f"tbf rate {rate} burst {_burst(rate)} latency {LATENCY}"


def _burst(rate: str) -> int:
    """Returns the bytes that a link may pass at once."""
    bytes_per_s = int(rate[:-4]) * _BITS[rate[-4]] // 8
    return max(SMALLEST_BURST, int(bytes_per_s * BURST_S))


# --- files ---


def _write_settings(site: Site, hosts: list[Host]) -> None:
    """Writes the hosts' versions of /etc/ssh and /etc/hosts."""
    site.make("cover/run/sshd").chmod(0o755)
    site.make("cover/dev/shm").chmod(0o1777)
    site.make("cover/etc")
    lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}" for host in hosts)]
    site.write("cover/etc/hosts", "\n".join([*lines, ""]))
    ssh = site.make("cover/etc/ssh")
    for key in ("host_key", "user_key"):
        site.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "strider-lab", "-f", str(ssh / key)])
    host_key = (ssh / "host_key.pub").read_text(encoding="utf-8").strip()
    names = ",".join(name for host in hosts for name in (host.name, host.address))
    site.write("cover/etc/ssh/known_hosts", f"{names} {host_key}\n")
    site.write("cover/etc/ssh/ssh_config", _CLIENT_SETTINGS)
    mark, value = site.mark
    site.write("cover/etc/ssh/sshd_config", f"{_SERVER_SETTINGS}SetEnv {mark}={value}\n")


_CLIENT_SETTINGS = """\
IdentityFile /etc/ssh/user_key
IdentitiesOnly yes
GlobalKnownHostsFile /etc/ssh/known_hosts
UserKnownHostsFile /dev/null
StrictHostKeyChecking yes
BatchMode yes
ConnectTimeout 10
LogLevel ERROR
"""

_SERVER_SETTINGS = """\
HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/user_key.pub
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
"""


def _write_enter(site: Site, hosts: list[Host]) -> Path:
    """Writes the program that runs a command on a host, in the same working directory."""
    names = "|".join(host.name for host in hosts)
    pins = shlex.quote(str(site.folder / "namespaces"))
    options = " ".join(f'{_OPTIONS[kind]}="$pins/$host/{kind}"' for kind in KINDS)
    script = site.write(
        "enter",
        f"""\
#!/bin/sh
# enter HOST COMMAND...: run a command on a host of the lab
pins={pins} host=$1
case $host in
  {names}) shift ;;
  *) echo "usage: $0 {names} COMMAND..." >&2; exit 2 ;;
esac
exec nsenter {options} --wdns="$(pwd)" -- "$@"
""",
    )
    script.chmod(0o755)
    return script


NODES = System(
    name="nodes",
    doc="Hosts: network namespaces with ssh and shaped links, for MPI and list-I/O servers across nodes.",
    needs={
        "ip": "iproute2",
        "tc": "iproute2",
        "/usr/sbin/sshd": "openssh-server",
        "ssh": "openssh-client",
        "nsenter": "util-linux",
        "taskset": "util-linux",
    },
    mounting=False,
    start=start,
    options={"nodes": "4", "rate": "1gbit", "client_rate": "10gbit"},
)

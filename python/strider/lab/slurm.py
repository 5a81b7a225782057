"""Slurm: a controller and four nodes, all of them processes of this machine.

Debian's slurmd can be started several times on one host, under names of nodes. Everything listens on the
loopback device, at ports that were free.
"""

import getpass
import os
import socket
from pathlib import Path

from strider.lab.processes import MARK_VARIABLE
from strider.lab.record import Endpoint
from strider.lab.site import LOOPBACK, Site, free_ports
from strider.lab.system import System

NODES = 4
PROCESSORS = 4
"""Resources of each node, on any machine: ranks get their places by them, and nothing is bound."""
MEMORY_MIB = 1000


def start(site: Site) -> list[Endpoint]:
    """Starts the controller and the nodes, and waits until all nodes are idle."""
    settings = _configure(site)
    site.record.unmarked = ["slurmstepd"]
    site.record.write(site.folder)
    _start_munge(site)
    site.daemon("slurmctld", ["slurmctld", "-D", "-i", "-c", "-f", str(settings)])
    for node in _nodes():
        site.daemon(node, ["slurmd", "-D", "-N", node, "-f", str(settings)])
    ask = ["env", f"SLURM_CONF={settings}", "sinfo", "--noheader", "--Node", "--states=idle", "--format=%N"]
    site.wait("the nodes", lambda: site.succeeds(ask) and site.run(ask).split() == _nodes())
    native = {"SLURM_CONF": str(settings), "nodes": ",".join(_nodes())}
    return [Endpoint(name="cluster", native=native, remark=f"export SLURM_CONF={settings}")]


def _nodes() -> list[str]:
    return [f"n{number}" for number in range(1, NODES + 1)]


def _munge_socket(site: Site) -> Path:
    return site.folder / "munge.socket"


def _start_munge(site: Site) -> None:
    """What processes prove with on whose behalf they ask; it has a key of its own."""
    key = site.folder / "munge.key"
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as file:
        file.write(os.urandom(128))
    words = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={_munge_socket(site)}"]
    own = {"pid": "munge.pid", "seed": "munge.seed", "log": "log/munge.log"}
    site.daemon("munged", [*words, *(f"--{what}-file={site.folder / file}" for what, file in own.items())])
    site.wait("munge", _munge_socket(site).is_socket)


def _configure(site: Site) -> Path:
    """Writes the settings: no cgroups, no accounting, no addresses but the loopback device's."""
    prolog = site.write("prolog.sh", f"#!/bin/sh\necho export {MARK_VARIABLE}={site.record.mark}\n")
    prolog.chmod(0o755)
    # Not even a plugin that is not used looks at the machine's own.
    site.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nConstrainCores=no\nConstrainRAMSpace=no\n")
    user, host = getpass.getuser(), socket.gethostname().partition(".")[0]
    controller, *ports = free_ports(1 + NODES)
    lines = {
        "ClusterName": "lab",
        "SlurmctldHost": f"{host}({LOOPBACK})",
        "SlurmctldPort": controller,
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={_munge_socket(site)}",
        "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny",
        "StateSaveLocation": site.make("state"),
        "SlurmdSpoolDir": f"{site.make('spool')}/%n",
        "SlurmctldPidFile": site.folder / "slurmctld.pid",
        "SlurmdPidFile": site.folder / "slurmd.%n.pid",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        # Tasks inherit the environment of the submitter: add the mark, so that no task outlives the lab.
        "TaskProlog": prolog,
        "MpiDefault": "pmi2",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "ReturnToService": 2,
        "SchedulerType": "sched/builtin",
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,sched_min_interval=0",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "SlurmdParameters": "config_overrides",
        "KillWait": 2,
    }
    text = [f"{key}={value}" for key, value in lines.items()]
    for node, port in zip(_nodes(), ports, strict=True):
        size = f"CPUs={PROCESSORS} RealMemory={MEMORY_MIB}"
        text.append(f"NodeName={node} NodeHostname={host} NodeAddr={LOOPBACK} Port={port} {size}")
    text.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    return site.write("slurm.conf", "\n".join([*text, ""]))


SLURM = System(
    name="slurm",
    doc="Slurm: a controller and 4 nodes on this host; srun, sbatch, salloc.",
    needs={
        "slurmctld": "slurmctld",
        "slurmd": "slurmd",
        "sbatch": "slurm-client",
        "/usr/lib/*/slurm-wlm/mpi_pmi2.so": "slurm-wlm-basic-plugins",
        "munged": "munge",
    },
    rights="anyone",
    mounting=False,
    start=start,
)

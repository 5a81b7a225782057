"""The bench of causes, before a run: what breaks it on four hosts is named, and nothing else is."""

import os

import pytest

from causes import HEALTHY, Bench, Way, check, selected

N1, N2, N3, N4 = (rf"host n{number}\b" for number in range(1, 5))
ON_2 = (N1, N3, N4)
"""Hosts that are not to blame if n2 is."""
LIST = 'pattern = "list"\nfile = "$own/list.csv"'
DISK = 'mkdir -p "$own/data" && '
ENGINE = """printf '#!/bin/sh\\n%s\\n' "$say" >"$own/e"; chmod 755 "$own/e"; cover "$own/e" "$engine" """
MODULE = '"${engine%/*}"/modules/strider'

WAYS = [
    # Links.
    Way(
        "own link",
        r"none of the hosts n1, n2, n3, n4 answers .*unreachable.*link and the ssh settings of this host",
        ("host n1 does",),
        "client",
        "ip link set eth0 down",
        "ip link set eth0 up",
    ),
    Way(
        "link of a host",
        r"host n3 does not answer \(mpiexec: ssh: connect to host n3",
        (N1, N2, N4, "this host"),
        "n3",
        "ip link set eth0 down",
        "ip link set eth0 up",
    ),
    Way(
        "slow link",
        "",
        HEALTHY,
        "n3",
        "tc qdisc replace dev eth0 root tbf rate 512kbit burst 2k latency 20ms",
        "tc qdisc replace dev eth0 root tbf rate 100mbit burst 128k latency 50ms",
        succeeds=True,
    ),
    # Libraries.
    Way(
        "module of hdf5",
        r"host n2 cannot use interface hdf5: \S+strider-hdf5.so: ",
        ON_2,
        script=f"cover /dev/null {MODULE}-hdf5.so",
        interface="hdf5",
    ),
    Way(
        "library of hdf5",
        r"host n2 cannot use interface hdf5: \S+libhdf5\S+: ",
        ON_2,
        script=f"library=$(ldd {MODULE}-hdf5.so | sed -n 's/.*libhdf5[^/]*=> \\([^ ]*\\) .*/\\1/p'); "
        'cover /dev/null "$library"',
        interface="hdf5",
    ),
    Way(
        "module of listio",
        r"host n2 cannot use interface listio: ",
        ON_2,
        script=f"cover /dev/null {MODULE}-listio.so",
        interface="listio",
    ),
    # Stores and lists.
    Way(
        "store of one host",
        r"host n1 cannot read the store \S+/store \(No such file or directory\)",
        (N2, N3, N4, "hangs"),
        "client",
        store="$own/store",
    ),
    Way(
        "store read-only",
        r"cannot write to the store \S+/store: Read-only file system",
        ("free space", "host n"),
        "client",
        'mkdir "$shared/store" && cover "$shared/store" "$shared/store" && '
        'mount -o remount,bind,ro "$shared/store"',
    ),
    Way(
        "list of one host",
        r"(host n\d cannot read \S+/list\.csv \(No such .*\s(strider: )?){4}",
        ("hangs",),
        "client",
        "echo rank,request,file_offset,length >$own/list.csv; "
        "for rank in 0 1 2 3; do echo $rank,0,$((4096 * rank)),4096 >>$own/list.csv; done",
        pattern=LIST,
    ),
    # Targets.
    Way(
        "target missing",
        r"host n1: \S+ is missing: mount or create it there",
        ("hangs",),
        "client",
        'mkdir "$own/data"',
        target="$own/data",
    ),
    Way(
        "target read-only",
        r"host n2: \S+/data is read-only: mount it there so that it can be written",
        ON_2,
        script='cover "$shared/data" "$shared/data" && mount -o remount,bind,ro "$shared/data"',
    ),
    Way(
        "other file system",
        r"host n2: \S+/data is another file system than on this host",
        ON_2,
        script=f'{DISK} cover "$own/data" "$shared/data"',
    ),
    Way(
        "small file system",
        r"host n2: \S+/data has 64 KiB free, and a case needs",
        ON_2,
        script='mount -t tmpfs -o size=64k t "$shared/data" && echo "$shared/data" >>"$own/covered"',
    ),
    # Memory and limits.
    Way(
        "little memory",
        r"host n2 has \S+ MiB of memory available, and its ranks need 64 MiB",
        ON_2,
        script='limit 32M && wrap "echo 0 >$group/cgroup.procs"',
        undo='limit 1G; for try in 1 2 3 4 5; do rmdir "$group" && break || sleep 1; done',
    ),
    Way(
        "few open files",
        r"host n2 permits 20 open files, and a rank needs 64: raise ulimit -n there",
        (*ON_2, "20000"),
        script="wrap 'ulimit -n 20'",
    ),
    Way(
        "small files",
        r"host n2 permits files of 8 KiB, and a run needs 16 MiB: raise ulimit -f there",
        (*ON_2, "SIGTERM"),
        script="wrap 'ulimit -f 16'",
    ),
    # Clocks.
    Way(
        "clock of a host",
        r"note: the clock of host n3 is \+\d+\.\d s off that of the others",
        (N1, N2, N4),
        "n3",
        'wrap "export LD_PRELOAD=$clock"',
        succeeds=True,
    ),
    Way(
        "clock of rank 0",
        r"note: the clock of host n1 is \+\d+\.\d s off that of the others",
        (N2, N3, N4),
        "n1",
        'wrap "export LD_PRELOAD=$clock"',
        succeeds=True,
    ),
    Way(
        "clock of this host",
        r"note: the clock of this host is -\d+\.\d s off that of the others",
        (N1, N2, N3, N4),
        "n1,n2,n3,n4",
        'wrap "export LD_PRELOAD=$clock"',
        succeeds=True,
    ),
    # Logins.
    Way("name", r"host nosuch does not answer .*: check its name", (N1,), hosts="n1,nosuch"),
    Way(
        "login refused",
        r"host n2 does not answer \(mpiexec: .*refused",
        ON_2,
        "client",
        'printf "Host n2\\nPort 23\\nHost *\\n" | cat - /etc/ssh/ssh_config >"$own/c"; '
        'cover "$own/c" /etc/ssh/ssh_config',
        slow=True,
    ),
    Way(
        "wrong key",
        r"host n2 does not answer \(mpiexec: .*Permission denied",
        ON_2,
        script="cover /dev/null /etc/ssh/user_key.pub",
    ),
    Way(
        "unknown keys",
        r"none of the hosts n1, n2, n3, n4 answers .*Host key verification failed.*ssh settings of this host",
        ("host n1 does",),
        "client",
        "cover /dev/null /etc/ssh/known_hosts",
        slow=True,
    ),
    Way(
        "talking login",
        r"note: Welcome to n2",
        ("error", "strider: "),
        script="echo 'if [ $(hostname) = n2 ]; then echo Welcome to n2; fi' >/etc/ssh/sshrc",
        succeeds=True,
    ),
    # Engines and environments.
    Way(
        "engine missing",
        r"host n2 does not start \S+strider-engine \(.*No such file",
        (*ON_2, "check its name"),
        script='mkdir "$own/none"; cover "$own/none" "${engine%/*}"',
    ),
    Way(
        "other engine",
        r"host n2 has another engine: .* there, .* here",
        ON_2,
        script='cp "$engine" "$own/e"; echo x >>"$own/e"; cover "$own/e" "$engine"',
    ),
    Way(
        "engine of another version",
        r"host n2 has another engine: unknown \(unknown\) there",
        ON_2,
        script='say=\'echo {\\"strider_node\\": 2, \\"rank\\": \\"1\\"}\'\n' + ENGINE,
        slow=True,
    ),
    Way(
        "engine crashes",
        r"host n2 does not start \S+strider-engine \(it ended by signal 11, SIGSEGV\)",
        (*ON_2, "check its name", "BAD TERMINATION", "===="),
        script="say='kill -SEGV $$'\n" + ENGINE,
    ),
    Way(
        "environment",
        r"host n2: the launcher's variables do not reach the engine there",
        (*ON_2, "hangs"),
        script="wrap 'unset PMI_RANK PMI_FD PMI_PORT PMI_SIZE'",
    ),
]


@pytest.mark.parametrize("way", selected(WAYS), ids=lambda way: way.name)
def test_what_is_wrong_before_a_run_is_named(bench: Bench, way: Way) -> None:
    check(way, bench.run(way))


def test_a_healthy_run_says_nothing(bench: Bench) -> None:
    """STRIDER_CAUSES_HEALTHY: how many of them."""
    way = Way("healthy", "", HEALTHY, succeeds=True)
    for _ in range(int(os.environ.get("STRIDER_CAUSES_HEALTHY", "2"))):
        check(way, bench.run(way))

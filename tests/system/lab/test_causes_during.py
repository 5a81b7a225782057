"""The bench of causes, during a run: what breaks it on four hosts is named, and nothing else is."""

import pytest

from causes import Bench, Way, check, selected

RANK = r"rank 2 on n3"
OTHERS = (r"rank [013] on n[124] (\(process|received)", r"check its name")
"""Ranks that are not to blame."""

WAYS = [
    # Signals.
    Way(
        "rank killed",
        rf"{RANK} \(process \d+\) was killed \(signal 9\) in case 1",
        OTHERS,
        "n3",
        "kill -KILL $rank",
        late=True,
    ),
    Way(
        "rank crashes",
        rf"{RANK} \(process \d+\) crashed \(signal 11, SIGSEGV\) in case 1",
        OTHERS,
        "n3",
        "kill -SEGV $rank",
        late=True,
        slow=True,
    ),
    Way(
        "rank interrupted",
        rf"error: interrupted: {RANK} received SIGTERM from process \d+ there",
        OTHERS,
        "n3",
        "kill -TERM $rank",
        late=True,
    ),
    Way(
        "rank stopped",
        rf"the other ranks waited in vain for {RANK} in case 1",
        (*OTHERS, "exited early"),
        "n3",
        "kill -STOP $rank",
        late=True,
    ),
    Way(
        "rank out of memory",
        rf"{RANK} \(process \d+\) was killed .* in case 1, possibly out of memory: check dmesg on n3",
        OTHERS,
        "n3",
        'limit 4096 && echo $rank >"$group/cgroup.procs"',
        'limit 1G; for try in 1 2 3 4 5; do rmdir "$group" && break || sleep 1; done',
        late=True,
    ),
    Way(
        "launcher killed",
        r"the launcher was killed \(signal 9\) in case 1",
        OTHERS,
        "client",
        "kill -KILL $launcher",
        late=True,
    ),
    Way(
        "launcher interrupted",
        r"error: interrupted by a signal to the launcher or the ranks, not to strider",
        OTHERS,
        "client",
        "kill -TERM $launcher",
        late=True,
    ),
    Way(
        "daemon killed",
        r"the launcher lost a daemon \(hydra_pmi_proxy\) on one of n1, n2, n3 and n4 in case 1",
        (*OTHERS, "exited early"),
        "n3",
        "kill -KILL $proxy",
        late=True,
    ),
    Way(
        "strider interrupted",
        r"error: interrupted; results up to this point are kept",
        (*OTHERS, "not to strider"),
        "client",
        "kill -TERM $strider",
        late=True,
    ),
    # Links.
    Way(
        "link of a host",
        r"node n3 \(rank 2\) was lost in case 1",
        (*OTHERS, "this host lost"),
        "n3",
        "ip link set eth0 down",
        "ip link set eth0 up",
        late=True,
        slow=True,
    ),
    Way(
        "own link",
        r"this host lost its connection to (n\d \(rank \d\)(, | and )?){4} in case 1",
        (*OTHERS, r"node n\d .*was lost"),
        "client",
        "ip link set eth0 down",
        "ip link set eth0 up",
        late=True,
        slow=True,
    ),
    # Stores and targets.
    Way(
        "store removed",
        r"cannot write results to \S+: No such file or directory: it was removed or moved",
        (*OTHERS, "free space"),
        "client",
        'rm -rf "$shared/store"',
        late=True,
    ),
    Way(
        "target removed",
        r"note: \S+/data/strider-\S+ is gone: it was removed from outside during the run",
        OTHERS,
        "client",
        'rm -rf "$shared/data"/*',
        late=True,
    ),
    Way(
        "other mount",
        rf"error: stopped by {RANK}: its folder \S+ was removed or replaced there: check the mounts",
        (*OTHERS, "error: interrupted"),
        "n3",
        'mkdir "$own/data"; cover "$own/data" "$shared/data"',
        late=True,
    ),
    Way(
        "quota",
        r"case 1, write, .*4 of 4 ranks.*Disk quota exceeded \(EDQUOT\)",
        OTHERS,
        late=True,
        target="$forgetful",
        fault=("write", "EDQUOT"),
    ),
    Way(
        "full",
        r"case 1, write, .*4 of 4 ranks.*No space left on device \(ENOSPC\)",
        OTHERS,
        late=True,
        target="$forgetful",
        fault=("write", "ENOSPC"),
    ),
]


@pytest.mark.parametrize("way", selected(WAYS), ids=lambda way: way.name)
def test_what_breaks_a_run_is_named(bench: Bench, way: Way) -> None:
    check(way, bench.run(way))

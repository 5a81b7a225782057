"""Nodes whose clocks differ: a run on them says what one clock would have said."""

import json
import os
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness import (
    DEADLINE_S,
    EngineJob,
    EngineRun,
    Json,
    case,
    other_clock,
    plan,
    read_events,
    run_engine,
    strider_command,
    time_before,
)
from strider.engine import Engine

RATES_AGREE = 0.01
"""Share that rates may differ from those of an unshifted clock; more where clocks are known less well."""


@dataclass(frozen=True)
class Nodes:
    """Ranks of one machine that stand in for nodes: clock k is k times as far ahead, and as much too fast."""

    ranks_per_node: int
    shift_s: float = 0.0
    drift: float = 0.0
    since_s: float = 0.0
    delay_s: float = 0.0

    def environment(self, preloaded: Path) -> list[str]:
        """The command that has it so."""
        return [
            "env",
            f"LD_PRELOAD={preloaded}",
            f"OTHER_CLOCK_RANKS_PER_NODE={self.ranks_per_node}",
            f"OTHER_CLOCK_SHIFT={self.shift_s!r}",
            f"OTHER_CLOCK_DRIFT={self.drift!r}",
            f"OTHER_CLOCK_SINCE={self.since_s!r}",
            f"OTHER_CLOCK_DELAY={self.delay_s!r}",
        ]

    def ahead_s(self, node: int, true_s: float) -> float:
        """How far a node's clock is ahead at a time of the machine's own clock."""
        return node * (self.shift_s + self.drift * (true_s - self.since_s))


@dataclass(frozen=True)
class Begin:
    """When a run began on the machine's own clock; it was seen between two looks."""

    at_s: float
    error_s: float


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that gives ranks other clocks."""
    return other_clock(tmp_path_factory.mktemp("other_clock"))


def run_on(
    engine: Engine, nodes: Nodes, preloaded: Path, work: Path, document: Json, directory: Path
) -> tuple[EngineRun, Begin]:
    """A run on such nodes, and when it began; see `run_with`."""
    return run_with(engine, nodes.environment(preloaded), work, document, directory)


def run_with(
    engine: Engine, wrap: list[str], work: Path, document: Json, directory: Path
) -> tuple[EngineRun, Begin]:
    """A run, and when it began."""
    with EngineJob(engine, document, work, wrap, directory) as job:
        before_s = time_before(job.events_file.exists, "the file of the events")
        after_s = time.monotonic()
        return job.finish(), Begin((before_s + after_s) / 2, (after_s - before_s) / 2)


def writes(clients: int, repetitions: int, **keys: Json) -> Json:
    """A plan whose phases last some tenths of a second."""
    one = case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=16 << 30,
        deadline=0.3,
        wear_out=False,
        clients=clients,
        operations=["write"],
        repetitions=repetitions,
        sharing="per-rank",
        interface="null",
        **keys,
    )
    return plan([one])


def offset_s(clocks: Mapping[int, Json], sample: Json, node: int, at_s: float) -> float:
    """The run's estimate of the offset of a node's clock to rank 0's, at a time of this clock."""
    if node not in clocks:
        return 0.0
    share = (at_s - sample["start_s"]) / sample["elapsed_s"]
    begin, end = clocks[node]["offset_start_s"], clocks[node]["offset_end_s"]
    return float(begin + share * (end - begin))


def assert_of_one_clock(done: EngineRun, nodes: Nodes, begin: Begin, clients: int) -> None:
    """Compares a run with the machine's own clock at the same moments."""
    assert done.returncode == 0, done.stderr
    samples = done.of("sample")
    assert samples
    # Clocks drift during the unknown time at the beginning, and while the file was made.
    drifted_s = abs(nodes.drift) * clients * (begin.error_s + 0.01)
    for sample in samples:
        wanted = {"repetition": sample["repetition"]}
        clocks = {clock["node"]: clock for clock in done.of("clock", **wanted)}
        assert sorted(clocks) == list(range(1, clients // nodes.ranks_per_node))
        ranks = done.of("rank", **wanted)
        starts: list[float] = []
        ends: list[float] = []
        for rank in ranks:
            for times, at_s in ((starts, rank["start_s"]), (ends, rank["end_s"])):
                # The readings of the rank's own clock, and of the machine's.
                ahead = nodes.ahead_s(rank["node"], begin.at_s + at_s)
                error_s = ahead + offset_s(clocks, sample, rank["node"], at_s)
                bound_s = clocks[rank["node"]]["error_s"] if rank["node"] else 0.0
                assert abs(error_s) <= bound_s + drifted_s + 1e-7
                times.append(at_s - error_s)
        true_s = max(ends) - min(starts)
        assert sample["clock_error_s"] == pytest.approx(2 * max(c["error_s"] for c in clocks.values()))
        known = max(RATES_AGREE, (1.01 * sample["clock_error_s"] + 2 * drifted_s) / true_s)
        assert sample["elapsed_s"] == pytest.approx(true_s, rel=known)
        assert sample["rate_mib_s"] == pytest.approx(sample["bytes"] / sample["elapsed_s"] / 2**20)
        assert sample["start_skew_s"] == pytest.approx(
            max(r["start_s"] for r in ranks) - min(r["start_s"] for r in ranks), abs=1e-6
        )
        assert sample["end_skew_s"] == pytest.approx(
            max(r["end_s"] for r in ranks) - min(r["end_s"] for r in ranks), abs=1e-6
        )


@pytest.mark.parametrize(
    ("ranks_per_node", "clients", "shift_s", "drift"),
    [(1, 2, 3.0, 200e-6), (2, 4, -3.0, -200e-6), (1, 4, 3.0, 200e-6), (1, 2, 3.0, 0.02)],
    ids=["two nodes", "two nodes of two ranks, behind", "four nodes", "two percent too fast"],
)
# proves measuring: clocks, clocks-compared, clock-messages, tree-of-nodes, same-tree, errors-add-up
# proves measuring: clock-error, clock-events, start-skew, end-skew
def test_rates_are_those_of_one_clock(
    engine: Engine,
    preloaded: Path,
    tmp_path: Path,
    ranks_per_node: int,
    clients: int,
    shift_s: float,
    drift: float,
) -> None:
    since_s = time.clock_gettime(time.CLOCK_MONOTONIC)
    nodes = Nodes(ranks_per_node, shift_s, drift, since_s)
    done, begin = run_on(engine, nodes, preloaded, tmp_path, writes(clients, 4), tmp_path / "target")
    assert_of_one_clock(done, nodes, begin, clients)


@pytest.fixture
def two_networks(engine: Engine, tmp_path: Path) -> Iterator[list[str]]:
    """The command that has mpiexec start its ranks in two network name spaces in turn."""
    if "MPICH" not in engine.version.mpi.library:
        pytest.skip(
            "machine: only MPICH's mpiexec reaches other network name spaces by environment variables"
        )
    names = [f"strider-{os.getpid()}-{number}" for number in (1, 2)]
    links = [f"st{os.getpid()}.{number}" for number in (1, 2)]
    addresses = ["10.213.7.1", "10.213.7.2"]
    made = [subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False) for name in names]
    try:
        if any(done.returncode != 0 for done in made):
            pytest.skip("machine: network name spaces can only be made by root")
        pair = ["ip", "link", "add", links[0], "netns", names[0], "type", "veth"]
        subprocess.run([*pair, "peer", "name", links[1], "netns", names[1]], check=True)
        for name, link, address in zip(names, links, addresses, strict=True):
            subprocess.run(["ip", "-n", name, "addr", "add", f"{address}/24", "dev", link], check=True)
            for device in (link, "lo"):
                subprocess.run(["ip", "-n", name, "link", "set", device, "up"], check=True)
        login = tmp_path / "login"
        login.write_text(
            "#!/bin/sh\n"
            'while [ "${1#-}" != "$1" ]; do shift; done\n'
            f'[ "$1" = {addresses[0]} ] && name={names[0]} || name={names[1]}\n'
            'shift; exec ip netns exec "$name" sh -c "$*"\n'
        )
        login.chmod(login.stat().st_mode | stat.S_IXUSR)
        hosts = tmp_path / "hosts"
        hosts.write_text("".join(f"{address}:1\n" for address in addresses))
        hydra = {"LAUNCHER": "ssh", "LAUNCHER_EXEC": login, "IFACE": links[0], "HOST_FILE": hosts}
        words = [f"HYDRA_{name}={value}" for name, value in hydra.items()]
        yield ["ip", "netns", "exec", names[0], "env", *words]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def sent_packets(two_networks: list[str]) -> int:
    """Returns the number of packets that the first network has sent to the second."""
    words = [*two_networks[:4], "ip", "-json", "-stats", "link"]
    links = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return sum(link["stats64"]["tx"]["packets"] for link in links if link["ifname"].startswith("st"))


def test_rates_over_a_network_are_those_of_one_clock(
    engine: Engine, preloaded: Path, two_networks: list[str], tmp_path: Path
) -> None:
    """Messages go through two TCP stacks here, as between real nodes."""
    nodes = Nodes(1, 3.0, 200e-6, time.clock_gettime(time.CLOCK_MONOTONIC))
    wrap = [*two_networks, *nodes.environment(preloaded)[1:]]
    done, begin = run_with(engine, wrap, tmp_path, writes(2, 4), tmp_path / "target")
    assert_of_one_clock(done, nodes, begin, 2)
    assert len(done.of("sample")) == 4
    # Counted by the kernel over the whole run: a phase of ranks with files of their own may need no message.
    assert sent_packets(two_networks) > 2 * len(done.of("sample"))


# proves measuring: clock-events
def test_drift_is_found(engine: Engine, preloaded: Path, tmp_path: Path) -> None:
    nodes = Nodes(1, 3.0, 0.005, time.clock_gettime(time.CLOCK_MONOTONIC))
    done, _ = run_on(engine, nodes, preloaded, tmp_path, writes(3, 3), tmp_path / "target")
    *_, first, second = done.of("clock")
    assert [clock["node"] for clock in (first, second)] == [1, 2]
    for clock in (first, second):
        wanted_ppm = clock["node"] * 5000
        assert abs(clock["drift_ppm"] - wanted_ppm) <= clock["drift_error_ppm"] + 0.01 * wanted_ppm


# proves measuring: clocks, shared-clock
def test_a_name_space_of_time_is_a_clock_of_its_own(engine: Engine, tmp_path: Path) -> None:
    """The kernel itself shifts the clock here, of ranks that have one host name."""
    shifted = ["unshare", "--time", "--monotonic", "3", "--fork"]
    if subprocess.run([*shifted, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("machine: name spaces of time can only be made by root")
    script = tmp_path / "strider-engine"
    lines = [
        "#!/bin/sh",
        '[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" = 0 ] || wrap="' + " ".join(shifted) + '"',
        f'exec $wrap {engine.path} "$@"',
    ]
    script.write_text("\n".join(lines) + "\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    done = run_engine(replace(engine, path=script), writes(2, 2), tmp_path)
    assert done.returncode == 0, done.stderr
    for clock in done.of("clock"):
        assert abs(clock["offset_start_s"] + 3) <= clock["error_s"] + 1e-7
        assert abs(clock["offset_end_s"] + 3) <= clock["error_s"] + 1e-7
    for sample in done.of("sample"):
        ranks = done.of("rank", repetition=sample["repetition"])
        # Had the shift been taken for time, the phase would have lasted three seconds more than any rank.
        assert sample["elapsed_s"] - max(rank["transfer_s"] for rank in ranks) < 2
        assert max(rank["transfer_s"] for rank in ranks) == pytest.approx(
            sample["transfer_s"], rel=RATES_AGREE
        )


# proves measuring: one-clock, simulated-nodes
def test_one_clock_has_no_error(engine: Engine, tmp_path: Path) -> None:
    done = run_engine(engine, {**writes(2, 1), "ranks_per_node": 1}, tmp_path)
    sample = done.sample()
    assert sample["clock_error_s"] is None
    assert sample["flags"] == []
    assert done.of("clock") == []


def test_a_time_of_day_that_is_5_s_off_is_noted_whatever_the_launcher(
    preloaded: Path, tmp_path: Path
) -> None:
    """The monotonic clocks of the nodes differ as well, which is no fault."""
    target, file = tmp_path / "target", tmp_path / "suite.toml"
    target.mkdir()
    file.write_text(
        f'[suite]\nname = "clocks"\ntarget = "{target}"\nrepetitions = 1\n[[case]]\ninterface = "posix"\n'
        'pattern = "segmented"\nblock = "4KiB"\ntransfer = "4KiB"\nclients = 2\noperations = ["write"]\n'
    )
    around = [*Nodes(1, 30.0).environment(preloaded), "OTHER_CLOCK_DAY=5"]
    words = strider_command(
        "run", file, "--store", tmp_path / "store", "--quiet", "--ceilings", "none",
        "--launcher", " ".join([*around, "mpiexec -n {ranks}"]),
    )  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "the clocks of" in line]
    assert len(said) == 1, done.stdout + done.stderr
    assert "the clocks of node node0 and node node1 differ by 5.0 s; " in said[0]
    (events,) = (tmp_path / "store").glob("*/events.jsonl")
    first, second = read_events(events)[0]["nodes"]
    assert first["time_of_day_offset_s"] == 0
    assert second["time_of_day_offset_s"] == pytest.approx(5, abs=0.04)


def test_the_run_event_has_the_processors_that_ranks_may_use(engine: Engine, tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)

    def node(folder: str, wrap: list[str]) -> Json:
        (tmp_path / folder).mkdir()
        (only,) = run_engine(engine, writes(2, 1), tmp_path / folder, wrap).of("run")[0]["nodes"]
        return only

    free, bound = node("free", []), node("bound", ["taskset", "-c", str(min(allowed))])
    assert free["cpus"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert (free["affinity_cpus_min"], free["affinity_cpus_max"]) == (len(allowed), len(allowed))
    assert (bound["affinity_cpus_min"], bound["affinity_cpus_max"]) == (1, 1)
    assert free["numa_nodes"] == len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))
    assert [rank for rank, _ in free["processes"]] == [0, 1]
    assert all(process > 1 for _, process in free["processes"])


# proves measuring: clock-flag
def test_a_phase_too_short_for_its_clocks_is_flagged(engine: Engine, preloaded: Path, tmp_path: Path) -> None:
    """A reading of the clock takes 10 ms, so each message there and back as much or more."""
    one = case("segmented", pattern_transfer=4096, pattern_block=4096, clients=2, interface="null")
    nodes = Nodes(1, 3.0, delay_s=0.01)
    done, _ = run_on(engine, nodes, preloaded, tmp_path, plan([one]), tmp_path / "target")
    samples = done.of("sample")
    assert samples
    for sample in samples:
        assert sample["clock_error_s"] > 0.01 * sample["elapsed_s"]
        assert sample["flags"] == ["clock"]


@pytest.mark.parametrize("message", [0, 22], ids=["at the start of the run", "before a phase"])
# proves measuring: barrier, start-time, clocks-compared, clock-messages
def test_a_rank_that_hangs_while_clocks_are_compared_ends_the_run(
    engine: Engine, preloaded: Path, tmp_path: Path, message: int
) -> None:
    # A comparison takes 6 to 21 messages; there are seven: one at the start, two for each of three phases.
    document = {**writes(2, 3), "stall_timeout_s": 1.5}
    wrap = [*Nodes(1).environment(preloaded), f"OTHER_CLOCK_HANGS_AT={message}"]
    done = run_engine(engine, document, tmp_path, wrap)
    assert done.returncode not in (0, 1)
    assert done.events[0]["event"] == "run"
    (error,) = done.of("error")
    assert error["kind"] == "stall"
    assert done.of("end")[0]["status"] == "failed"


# proves measuring: barrier, start-time, announced-start, lead-time, spin-to-start, interval-bounds
# proves measuring: bounds-drift
def test_no_rank_starts_before_the_instant_that_was_set(
    engine: Engine, preloaded: Path, tmp_path: Path
) -> None:
    nodes = Nodes(1, 3.0, 200e-6, time.clock_gettime(time.CLOCK_MONOTONIC))
    done, _ = run_on(engine, nodes, preloaded, tmp_path, writes(3, 5), tmp_path / "target")
    assert len(done.of("timeline")) == 15
    clocks = {(clock["node"], clock["repetition"]): clock for clock in done.of("clock")}
    for timeline in done.of("timeline"):
        repetition = timeline["repetition"]
        (rank,) = done.of("rank", rank=timeline["rank"], repetition=repetition)
        error_s = 0.0
        if rank["node"] != 0:
            if repetition == 0:
                continue  # no event has the error of the first readings
            # The instant was set by the clock as it was known after the repetition before.
            before, now = (clocks[rank["node"], number] for number in (repetition - 1, repetition))
            drifted_s = before["drift_error_ppm"] * 1e-6 * (now["time_s"] - before["time_s"])
            error_s = before["error_s"] + drifted_s + now["error_s"]
        assert rank["start_s"] >= timeline["start_s"] - error_s - 1e-7

"""A file system that takes a known time for each request: latencies, in closed and open loop, are that."""

import math
from collections.abc import Iterator
from itertools import count as count_from
from itertools import islice
from pathlib import Path
from statistics import mean

import pytest

from calibrate import FIRST, Mount, agrees
from harness import EngineRun, Json, case, plan, run_engine
from strider.engine import Engine

TRANSFER = 4096


def requests(count: int, **keys: Json) -> Json:
    """A case of one client that writes, then reads, so many requests."""
    return case("segmented", pattern_transfer=TRANSFER, pattern_block=count * TRANSFER, sync="none", **keys)


class Runs:
    """Runs of the engine in a mounted folder, each in a folder of its own."""

    def __init__(self, engine: Engine, work: Path, target: Path) -> None:
        self.engine, self.work, self.target, self.count = engine, work, target, 0

    def run(self, *cases: Json) -> EngineRun:
        self.count += 1
        work = self.work / f"run-{self.count}"
        work.mkdir()
        done = run_engine(self.engine, plan(cases), work, FIRST, self.target)
        assert done.returncode == 0, done.stderr
        return done


@pytest.mark.parametrize("delay_us", [2000, 5000, 20000])
@pytest.mark.parametrize("operation", ["write", "read"])
# proves measuring: known-delay
def test_the_median_latency_is_the_delay(
    engine: Engine, tmp_path: Path, mount_delayfs: Mount, delay_us: int, operation: str
) -> None:
    """Within 5 %: what FUSE adds is 30 to 100 microseconds, which a busy machine makes more."""
    runs = Runs(engine, tmp_path, mount_delayfs(delay_us))
    operations = ["write"] if operation == "write" else ["write", "read"]
    count = max(30, 400_000 // delay_us)

    def median_s() -> float:
        return float(
            runs.run(requests(count, operations=operations)).sample(operation=operation)["latency"]["p50_s"]
        )

    agrees(median_s, delay_us * 1e-6, 0.05)


SERVICE_US = 10_000
"""Long compared with the overhead of FUSE, and with the time in which a busy machine wakes a process."""


def open_loop(kind: str, load: float, count: int) -> Json:
    """Reads that arrive at `load` times the rate of the file system, one after the other.

    The kernel lets writes to a file through one at a time, but reads side by side.
    """
    rate = round(load * 1e6 / SERVICE_US)
    return requests(count, operations=["read"], arrivals=kind, arrival_rate=rate)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
# proves measuring: known-queue
def test_the_arrivals_are_those_of_the_theory_of_queues(load: float) -> None:
    """M/D/1, random arrivals, constant service time s, load r: mean wait r s / (2 (1 - r)), Pollaczek."""
    waits = list(islice(waits_s(1, load), 200_000))
    assert mean(waits) == pytest.approx(load / (2 * (1 - load)), rel=0.05)


# proves measuring: arrival-seed, known-queue
def test_a_queue_that_is_not_full_waits_as_long_as_theory_says(
    engine: Engine, tmp_path: Path, mount_delayfs: Mount
) -> None:
    """The arrivals are known, so the wait of each request is (Lindley), not only their long-run mean.

    15 %: service time beyond the delay counts several times in a queue; and a percentile, since a
    process that is not woken in time delays all that come after it. A client that sends the next request when
    the last is answered sees no wait at all.
    """
    runs = Runs(engine, tmp_path, mount_delayfs(SERVICE_US))
    load, count = 0.5, 250

    def measured() -> float:
        """The 90th percentile of the latency ÷ the one of what service takes without a queue."""
        done = runs.run(open_loop("fixed", 0.4, 60), open_loop("poisson", load, count))
        alone = done.sample(case=1, measured=True)["latency"]
        assert alone["p50_s"] == pytest.approx(SERVICE_US * 1e-6, rel=0.05)
        service_s = float(alone["p50_s"])
        sample = done.sample(case=2, measured=True)
        arrivals = sample["arrivals"]
        assert arrivals["achieved_requests_s"] > 0.97 * arrivals["offered_requests_s"]
        waits = list(islice(waits_s(service_s, arrivals["rate_requests_s"]), count))
        assert arrivals["late_requests"] == pytest.approx(sum(wait > 0 for wait in waits), abs=0.1 * count)
        return float(sample["latency"]["p90_s"]) / (sorted(waits)[int(0.9 * count)] + service_s)

    agrees(measured, 1, 0.15)


def waits_s(service_s: float, rate: float) -> Iterator[float]:
    """How long each request of the only rank waits, where one is served after the other."""
    key, wait_s = hash_numbers(1, 0, 0), 0.0
    for number in count_from(0):
        yield wait_s
        bits = hash_numbers(key, number + 1)
        gap_s = -math.log(((bits >> 11) + 1) / 2**53) / rate
        wait_s = max(0.0, wait_s + service_s - gap_s)


def hash_numbers(*numbers: int) -> int:
    """The engine's keyed random numbers."""
    hashed = 0x5354524944455200
    for number in numbers:
        x = ((hashed ^ number) + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        hashed = x ^ (x >> 31)
    return hashed


# proves measuring: spins, issued-late
def test_requests_at_equal_intervals_do_not_queue(
    engine: Engine, tmp_path: Path, mount_delayfs: Mount
) -> None:
    runs = Runs(engine, tmp_path, mount_delayfs(SERVICE_US))

    def median_s() -> float:
        sample = runs.run(open_loop("fixed", 0.5, 50)).sample(measured=True)
        assert sample["arrivals"]["offered_requests_s"] == pytest.approx(0.5e6 / SERVICE_US, rel=1e-3)
        return float(sample["latency"]["p50_s"])

    agrees(median_s, SERVICE_US * 1e-6, 0.05)


@pytest.mark.parametrize("kind", ["fixed", "poisson"])
# proves measuring: latency-from-due, wait-for-client, known-overload
def test_beyond_what_is_served_the_wait_grows_with_every_request(
    engine: Engine, tmp_path: Path, mount_delayfs: Mount, kind: str
) -> None:
    """Twice the load: request k comes k s / 2 after the first and is done k s after it.

    A clock that starts when a request is sent sees none of it (coordinated omission).
    """
    runs = Runs(engine, tmp_path, mount_delayfs(SERVICE_US))
    count = 150

    def served_s() -> float:
        """The time of a request, from the last one's latency."""
        sample = runs.run(open_loop(kind, 2, count)).sample(measured=True)
        arrivals, latency = sample["arrivals"], sample["latency"]
        assert arrivals["late_requests"] >= 0.95 * count
        # It grows steadily: half of the requests wait less than half as long.
        assert latency["p50_s"] == pytest.approx(latency["max_s"] / 2, rel=0.2 if kind == "fixed" else 0.4)
        assert arrivals["achieved_requests_s"] == pytest.approx(1e6 / SERVICE_US, rel=0.1)
        return float(latency["max_s"] / count + 1 / arrivals["offered_requests_s"])

    agrees(served_s, SERVICE_US * 1e-6, 0.1)


# proves measuring: arrivals-and-depth, known-depth
def test_requests_in_flight_are_served_side_by_side(
    engine: Engine, tmp_path: Path, mount_delayfs: Mount
) -> None:
    """Twice the load of one, with four requests under way: none waits."""
    runs = Runs(engine, tmp_path, mount_delayfs(SERVICE_US))

    def median_s() -> float:
        sample = runs.run(open_loop("fixed", 2, 150) | {"depth": 4}).sample(measured=True)
        assert sample["arrivals"]["achieved_requests_s"] > 0.97 * sample["arrivals"]["offered_requests_s"]
        return float(sample["latency"]["p50_s"])

    agrees(median_s, SERVICE_US * 1e-6, 0.05)

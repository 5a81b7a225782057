"""Runs without a cause, and runs with causes planted in single cases, each with the sentence it calls for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from noise import Noise, Random, autocorrelated, lognormal, two_levels
from runs import MIB, Cause, Planned, Setting, Synthetic

_LOCAL = {"device_write": 5000.0, "device_read": 5000.0, "target_write": 4600.0, "target_read": 4600.0}
#: The same ceilings for both rules of the target, so that one rate is a tenth below each.
_EQUAL = dict.fromkeys(_LOCAL, 5000.0)
_CLIENTS = {"memory_copy": 20000.0, "null_requests": 50000.0}
_RATE = 1000.0
_SEGMENT = {"name": "segmented", "transfer": MIB, "block": 64 * MIB}


@dataclass(frozen=True)
class Scene:
    """A kind of run.

    Attributes:
        name: For tables.
        cases: Those of the plan.
        setting: The surroundings; its number of repetitions is set by each trial.
        expected: For each planted cause the beginning of the name of a rule (`rule: sync`) or a part of the
            text of a sentence, and the number of the case, 0 where no case is named.
        allowed: Parts of sentences that are rightly said of runs without a cause.
    """

    name: str
    cases: Sequence[Planned]
    setting: Setting = field(default_factory=Setting)
    expected: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    allowed: Sequence[str] = ()

    @property
    def is_null(self) -> bool:
        """Whether nothing is planted."""
        return not self.expected

    def made(self, n: int, rng: Random) -> Synthetic:
        """A run with n repetitions."""
        return Synthetic(self.cases, replace(self.setting, repetitions=n), rng)


def _interfaces() -> list[Planned]:
    return [Planned({"name": name}) for name in ("posix", "mpiio", "uring", "mmap")]


def _ordinary(noise: Noise, of_ranks: float = 0.03, of_shares: float = 0.05) -> Setting:
    return Setting(noise=noise, of_ranks=of_ranks, of_shares=of_shares, ceilings=_LOCAL, of_clients=_CLIENTS)


def _nfs(ceilings: Mapping[str, float]) -> Setting:
    """Two nodes and a file system on other machines."""
    return Setting(ceilings=ceilings, file_system="nfs4", nodes=2)


def _edge() -> list[Planned]:
    """Every share a tenth below the threshold of its report."""
    times = [{"sync_s": 0.45}, {"open_s": 0.17, "close_s": 0.01}, {"prepare_s": 0.22}, {"compute_s": 0.27}]
    cases = [Planned(cause=Cause(times=own)) for own in times]
    cases += [
        Planned(cause=Cause(processor={"user_s": 0.2, "system_s": 0.52})),
        Planned(cause=Cause(counters={("block", "sda", "busy_s"): 0.8})),
        Planned(cause=Cause(counters={("cpu", "", "iowait_s"): 0.4 * 8})),
        Planned(cause=Cause(counters={("cpu", "", "steal_s"): 0.085 * 16})),
        Planned(rate_mib_s=4050.0),
        Planned(rate_mib_s=_RATE, common={"rate_limit": 1200 * MIB}),
    ]
    return [_distinct(case, k) for k, case in enumerate(cases)]


def _distinct(case: Planned, number: int) -> Planned:
    """A case whose work differs from that of all others."""
    return replace(case, pattern={**_SEGMENT, "transfer": MIB, "block": (64 + number) * MIB})


def _lists(advantage: Callable[[int], float], interface: Mapping[str, Any] | None = None) -> list[Planned]:
    """List I/O by two methods over lengths of pieces; `advantage` is gather ÷ pack at a length."""
    return [
        Planned(
            {"name": "listio", "method": method, **(interface or {})},
            {"name": "vector", "transfer": 128 * piece, "piece": piece, "pieces": 128},
            clients=1,
            rate_mib_s=300.0 * (advantage(piece) if method == "gather" else 1.0),
        )
        for piece in (128, 512, 2048, 8192, 32768)
        for method in ("pack", "gather")
    ]


def _planted() -> Scene:
    """A local file system, one cause in each case."""
    unsynced = {"sync": "none"}
    causes: list[tuple[str, Planned]] = [
        ("Straggler: ", Planned(cause=Cause(slow_rank=1.4))),
        ("the map of ranks|times as long as the others", Planned(cause=Cause(slow_rank=1.6))),
        ("Outlier", Planned(cause=Cause(outlier=0.5))),
        ("all ranks were slow", Planned(cause=Cause(outlier=0.4))),
        ("its last rank took", Planned(cause=Cause(late_once=2.5))),
        ("faster than the …: cache", Planned(rate_mib_s=7500.0, common=unsynced)),
        ("No steady state", Planned(cause=Cause(trend=-0.5))),
        ("rule: sync", Planned(cause=Cause(times={"sync_s": 0.65}))),
        ("rule: opening", Planned(cause=Cause(times={"open_s": 0.2, "close_s": 0.2}))),
        ("rule: data", Planned(cause=Cause(times={"prepare_s": 0.35}))),
        ("rule: think", Planned(cause=Cause(times={"compute_s": 0.45}), common={"think": 0.01})),
        ("rule: ranks", Planned(cause=Cause(processor={"user_s": 0.3, "system_s": 0.65}))),
        ("rule: busy device", Planned(cause=Cause(counters={("block", "sda", "busy_s"): 0.99}))),
        ("rule: I/O wait", Planned(cause=Cause(counters={("cpu", "", "iowait_s"): 0.7 * 8}))),
        ("rule: steal", Planned(cause=Cause(counters={("cpu", "", "steal_s"): 0.2 * 16}))),
        ("rule: processors", Planned(cause=Cause(counters=_FULL))),
        ("rule: device", Planned(rate_mib_s=4950.0)),
        ("rule: target stream", Planned(rate_mib_s=4500.0)),
        ("rule: faster than storage", Planned(rate_mib_s=7000.0, common=unsynced)),
        ("rule: memory copy", Planned({"name": "posix", "direct": True}, rate_mib_s=19500.0)),
        ("rule: memory", Planned({"name": "posix", "direct": True}, rate_mib_s=13000.0)),
        ("rule: rate limit", Planned(common={"rate_limit": 1000 * MIB}, cause=Cause(noise=lognormal(0.005)))),
        ("rule: cache", Planned(operations=("read",), cause=Cause(sample=_SERVED))),
        ("served by a cache", Planned(operations=("read",), cause=Cause(sample=_SERVED))),
        ("meant to be cold, but up", Planned(operations=("read",), cause=Cause(sample=_WARM))),
        ("cannot be verified", Planned(operations=("read",), cause=Cause(sample=_BLIND))),
        ("open and close take", Planned(cause=Cause(times={"open_s": 0.2, "close_s": 0.2}))),
        ("two levels|levels", Planned(cause=Cause(noise=two_levels(0.5, 0.6, 0.02)))),
        ("rule: request rate", Planned(pattern={"name": "segmented", "transfer": 8192, "block": 64 * MIB})),
        ("did not reach", Planned(cause=Cause(noise=lognormal(0.5)), common={"repetitions": _UNTIL})),
        ("shorter than", Planned(cause=Cause(sample=_SHORT))),
        ("too inexact", Planned(cause=Cause(sample=_CLOCK))),
    ]
    cases = [
        case if name == "rule: request rate" else _distinct(case, k) for k, (name, case) in enumerate(causes)
    ]
    expected = {_cause(name): (name, k) for k, (name, _) in enumerate(causes, 1)}
    setting = Setting(noise=lognormal(0.05), of_ranks=0.05, ceilings=_LOCAL, of_clients=_CLIENTS)
    requests = {**_CLIENTS, "null_requests": 190000.0}
    return Scene("causes in single cases", cases, replace(setting, of_clients=requests), expected)


def _steady() -> Scene:
    """The same causes on storage whose rates differ by 2 % from repetition to repetition."""
    noisy = _planted()
    quiet = replace(noisy.setting, noise=lognormal(0.02), of_ranks=0.02, of_shares=0.02)
    rules = {
        f"{cause} (noise 2 %)": wanted
        for cause, wanted in noisy.expected.items()
        if wanted[0].startswith("rule: ") and wanted[0] != "rule: rate limit"
    }
    return replace(noisy, name="causes in single cases, noise 2 %", setting=quiet, expected=rules)


def _unlike() -> list[Scene]:
    """Runs of four cases of which one has repetitions that are not alike."""
    causes = {
        "Outlier": Cause(outlier=0.5),
        "its last rank took": Cause(late_once=2.5),
        "No steady state": Cause(trend=-0.5),
        "two levels|levels": Cause(noise=two_levels(0.5, 0.6, 0.02)),
    }
    return [
        Scene(
            f"four cases, {_cause(name)}",
            [replace(case, cause=cause) if k == 0 else case for k, case in enumerate(_interfaces())],
            _ordinary(lognormal(0.05)),
            {f"{_cause(name)} (run of 4 cases)": (name, 0)},
        )
        for name, cause in causes.items()
    ] + [
        Scene(
            "autocorrelated 0.9",
            _interfaces(),
            _ordinary(autocorrelated(0.9, 0.08)),
            {"autocorrelated 0.9": ("Repetitions resemble", 0)},
        )
    ]


_FULL = {("cpu", "", "idle_s"): 0.1, ("cpu", "", "iowait_s"): 0.1, ("cpu", "", "user_s"): 15.0}
_SERVED = {"served_by_storage": 0.02, "served_bytes": 20 * MIB}
_COLD = {"policy": "cold", "action": "fsync", "examined_by": "cachestat"}
_WARM = {"cache": {**_COLD, "cached_share": 0.3}}
_BLIND = {"cache": {**_COLD, "cached_share": None}, "served_by_storage": None, "served_bytes": None}
_UNTIL = {"min": 3, "max": 3, "until": 0.02}
_SHORT = {"elapsed_s": 0.05}
_CLOCK = {"flags": ["clock"], "clock_error_s": 0.1}


#: Causes whose sentence says little of them.
_CALLED = {
    "Straggler: ": "a rank 1.4 × slower",
    "the map of ranks": "a rank 1.6 × slower: map opens",
    "Outlier": "a repetition at half the rate",
    "all ranks were slow": "a repetition at 0.4 × the rate",
    "its last rank took": "a rank 2.5 × slower once",
    "No steady state": "a trend of 40 %",
    "two levels": "two levels, 1 : 0.6",
    "faster than the …: cache": "faster than storage, note",
}


def _cause(name: str) -> str:
    found = name.removeprefix("rule: ").split("|")[0]
    return _CALLED.get(found, found)


def _moved(factor: float) -> list[Planned]:
    """Two interfaces, of which one switches contexts so many times as often."""
    switches = {("kernel", "", "context_switches"): 20_000.0 * factor}
    voluntary = {"voluntary_switches": int(50_000 * factor)}
    base = Planned(clients=1, cause=Cause(sample={"voluntary_switches": 50_000}))
    return [base, Planned({"name": "mpiio"}, clients=1, cause=Cause(counters=switches, sample=voluntary))]


def _remote(factor: float = 1.0, **counters: float) -> list[Planned]:
    """Four cases whose bytes go over the network."""
    traffic = {
        ("network", "eth0", "sent_bytes"): factor * _RATE * MIB * 1.05 / 2,
        ("tcp", "", "sent_segments"): factor * _RATE * MIB / 1448 / 2,
        **{("tcp", "", name): value for name, value in counters.items()},
    }
    return [
        replace(case, clients=1, cause=Cause(counters=traffic), rate_mib_s=_RATE * factor)
        for case in _interfaces()[:2]
    ]


def scenes() -> list[Scene]:
    """All of them; those without a cause first."""
    return [*_without_cause(), *(scene for name in PLANTED for scene in planted(name))]


def planted(name: str) -> list[Scene]:
    """The scenes of a group of causes, one of `PLANTED`."""
    made: Mapping[str, Callable[[], list[Scene]]] = {
        "causes": lambda: [_planted()],
        "steady-causes": lambda: [_steady()],
        "unlike": _unlike,
        "networks": _of_networks,
        "runs": _of_runs,
    }
    return made[name]()


#: Groups of causes, each with the end of the heading of its table.
PLANTED: Mapping[str, str] = {
    "causes": "single cases",
    "steady-causes": "single cases, steady rates",
    "unlike": "repetitions that are not alike",
    "networks": "networks and nodes",
    "runs": "all cases of a run",
}


def _without_cause() -> list[Scene]:
    return [
        Scene("quiet", _interfaces(), _ordinary(lognormal(0.05))),
        Scene("noisy", _interfaces(), _ordinary(lognormal(0.15), of_ranks=0.1, of_shares=0.2)),
        Scene("a tenth below every limit", _edge(), replace(_ordinary(lognormal(0.05)), ceilings=_EQUAL)),
        Scene(
            "autocorrelated 0.5",
            _interfaces(),
            _ordinary(autocorrelated(0.5, 0.08)),
            allowed=["Repetitions resemble"],
        ),
        Scene("network", _remote(), _nfs({"link": 2000.0})),
        Scene("list I/O, equal methods", _lists(lambda _: 1.0), _ordinary(lognormal(0.1))),
    ]


def _of_networks() -> list[Scene]:
    losing = _remote(retransmitted_segments=4000.0)
    slow, quick = {"link": 560.0}, {"link": 400.0}
    return [
        Scene("retransmission", losing, _nfs({"link": 2000.0}), _both("rule: retransmits")),
        Scene("full links", _remote(), _nfs(slow), _both("rule: link")),
        Scene("full MPI network", _remote(), _nfs({"network": 560.0}), _both("rule: network")),
        Scene(
            "faster than the links",
            [replace(one, cause=Cause(), common={"sync": "none"}) for one in _remote(1.4)],
            _nfs(quick),
            {"faster than the network": ("rule: faster than storage", 1)},
        ),
        Scene(
            "slow node",
            [Planned(cause=Cause(slow_node=1.5)), Planned({"name": "mpiio"}, cause=Cause(slow_node=1.5))],
            replace(_ordinary(lognormal(0.05)), nodes=2),
            {"slow node": ("all ranks of|ranks of", 0)},
        ),
    ]


def _of_runs() -> list[Scene]:
    """A cause that all cases of a run have."""
    return [
        Scene(
            "memory file system",
            [replace(one, clients=1) for one in _interfaces()],
            replace(_ordinary(lognormal(0.05)), file_system="tmpfs"),
            {
                "target in memory": ("rule: target in memory", 1),
                "target in memory, remark": ("these are rates of memory, not of storage", 0),
            },
        ),
        Scene(
            "null interface",
            [Planned({"name": "null"}, clients=1)],
            _ordinary(lognormal(0.05)),
            {
                "null interface": ("rule: null interface", 1),
            },
        ),
        Scene(
            "context switches, 3 ×",
            _moved(3.0),
            _ordinary(lognormal(0.05), of_shares=0.1),
            {"movers": (" beside ", 0)},
        ),
        Scene(
            "list I/O, crossover",
            _lists(lambda piece: 0.5 * (piece / 128) ** 0.25),
            _ordinary(lognormal(0.05)),
            {"crossover": ("is faster than … from about", 0)},
        ),
        Scene(
            "list I/O, one method twice as fast",
            _lists(lambda _: 2.0),
            _ordinary(lognormal(0.05)),
            {"methods": ("times the rate of", 0)},
        ),
    ]


def _both(name: str) -> dict[str, tuple[str, int]]:
    return {_cause(name): (name, 1)}

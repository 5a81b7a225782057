"""Comparisons match what does the same work and give a verdict that chance does not give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from builders import KIB, MIB, CaseSpec, sweep
from comparison_builders import in_turns, rated, run_of, started
from continued_builders import resumed
from strider.card import CARD_FILE
from strider.compare import Comparison, Row, comparable_keys, compare, compare_within, is_unproven
from strider.compare import values as values_module
from strider.errors import StriderError
from strider.report.labels.facets import Facets
from strider.report.sections.environment import environment_rows
from strider.store import Case, Run, load
from strider.store.model import Confinement

WRITE = CaseSpec(operations=("write",))


def only(comparison: Comparison) -> Row:
    (row,) = comparison.rows
    return row


def write_of(**changes: object) -> CaseSpec:
    return CaseSpec(operations=("write",), common=dict(changes))


class TestTwoRuns:
    def test_the_same_run_twice_differs_in_nothing(self, tmp_path: Path) -> None:
        """It is no evidence that nothing differs, either: two measurements are needed for that."""
        run = run_of(tmp_path / "a", sweep())
        comparison = compare([run], [run])
        assert comparison.counts["no verdict"] == len(comparison.rows) == 12
        assert all(row.change and row.change.ratio == 1 for row in comparison.rows)
        assert "A and B are the same run." in comparison.remarks

    def test_a_resumed_run_is_named_with_what_changed(self, tmp_path: Path) -> None:
        whole = run_of(tmp_path / "a", [WRITE])
        cut = load(resumed(tmp_path / "b", (1, 3), [WRITE], differences=["cores: 2 then, 4 now"]))
        (remark,) = [one for one in compare([whole], [cut]).remarks if "resumed" in one]
        assert (
            f"Run {cut.id} was cut and resumed: its repetitions are of 3 starts, with 2 h of pauses" in remark
        )
        assert "cores: 2 then, 4 now" in remark
        assert not [one for one in compare([whole], [whole]).remarks if "resumed" in one]

    @pytest.mark.parametrize(("factor", "verdict"), [(0.95, "slower"), (1.06, "faster")])
    def test_a_difference_is_found_with_its_size(self, tmp_path: Path, factor: float, verdict: str) -> None:
        row = only(compare(*in_turns(tmp_path, [WRITE], factor=lambda *_: factor)))
        assert row.verdict == verdict
        assert row.change is not None
        assert row.change.low < factor < row.change.high
        assert (row.change.method, row.change.n) == ("paired by run", 12)

    def test_the_typical_rate_of_a_side_is_the_geometric_mean(self, tmp_path: Path) -> None:
        base = run_of(
            tmp_path / "a", [WRITE], noise=0, factor=lambda _, repetition: 4.0 if repetition % 2 else 1.0
        )
        row = only(compare([base], [run_of(tmp_path / "b", [WRITE], seed=2)]))
        assert row.base is not None
        assert row.base.typical == pytest.approx(2000), "the arithmetic mean is 2500"

    def test_less_time_is_faster(self, tmp_path: Path) -> None:
        cases = sweep(interfaces=["posix"], transfers=[64 * KIB], operations=["write"])
        base, other = in_turns(tmp_path, cases)

        def halved(run: Run) -> Run:
            samples = [
                sample.model_copy(
                    update={"latency": sample.latency.model_copy(update={"p50_s": sample.latency.p50_s / 2})}
                )
                for sample in run.samples
                if sample.latency
            ]
            return run.model_copy(update={"samples": samples})

        row = only(compare(base, [halved(run) for run in other], ["latency-p50"]))
        assert row.verdict == "faster"
        assert row.change is not None
        assert row.change.ratio == pytest.approx(0.5)

    # proves comparing: threshold
    def test_what_differs_by_less_than_the_threshold_is_no_difference(self, tmp_path: Path) -> None:
        sides = in_turns(tmp_path, [WRITE], factor=lambda *_: 0.95)
        assert only(compare(*sides, threshold=0.15)).verdict == "no difference shown"
        assert only(compare(*sides, threshold=0.15)).notes == ["within ±15 %"]
        assert only(compare(*sides, threshold=0.01)).verdict == "slower"

    @pytest.mark.parametrize("factor", [1 / 1.052, 1 / 1.0999, 1.0999, 0.9])
    @pytest.mark.parametrize("threshold", [0.0, 0.05, 0.099])
    # proves comparing: threshold-ratios, opposite-verdicts
    def test_exchanged_sides_get_opposite_verdicts(
        self, tmp_path: Path, factor: float, threshold: float
    ) -> None:
        """Also at the threshold: 1 ÷ 1.05 and 1.05 are the same distance."""
        base, other = in_turns(tmp_path, [WRITE], factor=lambda *_: factor, noise=0.001)
        there, back = (compare(*sides, threshold=threshold) for sides in ((base, other), (other, base)))
        opposite = {"faster": "slower", "slower": "faster"}
        assert only(there).verdict == opposite.get(only(back).verdict, only(back).verdict)
        assert is_unproven(only(there), 0.05) == (factor < 1 / 1.05)

    # proves comparing: keys-that-may-differ
    def test_names_targets_and_numbers_of_cases_do_not_matter(self, tmp_path: Path) -> None:
        first, second = CaseSpec(name="one"), CaseSpec(name="two", common={"order": "random"})
        base = run_of(tmp_path / "a", [first, second])
        other = run_of(
            tmp_path / "b", [CaseSpec(name="zwei", common={"order": "random"}), CaseSpec(name="eins")]
        )
        rows = compare([base], [other]).rows
        assert {(row.base.case.name, row.other.case.name) for row in rows if row.base and row.other} == {
            ("one", "eins"),
            ("two", "zwei"),
        }

    def test_of_two_cases_with_the_same_work_the_one_of_the_same_name_is_taken(self, tmp_path: Path) -> None:
        base = run_of(tmp_path / "a", [CaseSpec(name="one"), CaseSpec(name="two")])
        other = run_of(tmp_path / "b", [CaseSpec(name="two"), CaseSpec(name="one")])
        assert all(
            row.base and row.other and row.base.case.name == row.other.case.name
            for row in compare([base], [other]).rows
        )

    def test_what_was_off_and_what_did_not_exist_yet_are_the_same(self, tmp_path: Path) -> None:
        sides = in_turns(tmp_path, [WRITE], [write_of(think=0, wear_out=False, shift=None)])
        assert only(compare(*sides)).verdict == "no difference shown"


class TestNotComparable:
    @pytest.mark.parametrize(
        ("other", "reason"),
        [
            (write_of(order="random"), "different work: order forward and random"),
            (write_of(verify="off"), "verified differently: full and off"),
            (
                CaseSpec(
                    operations=("write",),
                    pattern={"name": "segmented", "transfer": MIB, "block": MIB, "segments": 1},
                ),
                "different work: block 64 MiB and 1 MiB",
            ),
            (
                CaseSpec(operations=("write",), wrong_data=True, clients=2, interface={"name": "mpiio"}),
                "only in A",
            ),
        ],
    )
    # proves comparing: similar-work
    def test_different_work_is_not_compared_and_it_is_said_why(
        self, tmp_path: Path, other: CaseSpec, reason: str
    ) -> None:
        row = compare([run_of(tmp_path / "a", [WRITE])], [run_of(tmp_path / "b", [other])]).rows[0]
        assert (row.verdict, row.reason, row.change) == ("not comparable", reason, None)

    # proves comparing: only-one-side
    def test_what_only_one_side_has_is_reported(self, tmp_path: Path) -> None:
        base = run_of(tmp_path / "a", [WRITE, CaseSpec(interface={"name": "uring"})])
        other = run_of(tmp_path / "b", [WRITE, CaseSpec(interface={"name": "mpiio"}, operations=("read",))])
        first, *rest = compare([base], [other]).rows
        assert first.verdict == "no verdict"
        assert [row.reason for row in rest] == ["only in A", "only in A", "only in B"]

    def test_another_history_is_other_work(self, tmp_path: Path) -> None:
        base = run_of(tmp_path / "a", [CaseSpec(operations=("write", "read"))])
        other = run_of(tmp_path / "b", [CaseSpec(operations=("read",))])
        (write, read) = compare([base], [other]).rows
        assert write.reason == "only in A"
        assert read.reason == "different work: operations write, read and read"

    # proves comparing: void-samples
    def test_void_samples_make_an_operation_incomparable(self, tmp_path: Path) -> None:
        base = run_of(tmp_path / "a", [CaseSpec()])
        other = run_of(tmp_path / "b", [CaseSpec(wrong_data=True)])
        write, read = compare([base], [other]).rows
        assert write.change is not None
        assert (read.verdict, read.reason) == ("not comparable", "B: 12 of 12 samples void")

    # proves comparing: fewer-than-3
    def test_two_repetitions_are_too_few(self, tmp_path: Path) -> None:
        base = run_of(tmp_path / "a", [WRITE], repetitions=2)
        other = run_of(tmp_path / "b", [WRITE], repetitions=5)
        assert only(compare([base], [other])).reason == "too few repetitions: 2 and 5, at least 3 each needed"

    # proves comparing: fewer-than-3
    def test_what_was_not_measured_is_not_compared(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", [WRITE])
        without = [sample.model_copy(update={"latency": None}) for sample in run.samples]
        row = only(compare([run], [run.model_copy(update={"samples": without})], ["latency-p99"]))
        assert row.reason == "B: latency-p99 was not measured"

    @pytest.mark.parametrize(
        ("first", "second", "note"),
        [
            (0.0, 1.0, "A read from cache"),
            (0.05, 0.0, "A and B read from cache"),
            (1.0, 0.5, ""),
            (None, None, ""),
        ],
    )
    # proves comparing: read-from-cache, cache-rates
    def test_rates_of_a_cache_are_called_so(
        self, tmp_path: Path, first: float | None, second: float | None, note: str
    ) -> None:
        """A difference between them is none between two storage systems."""
        base, other = (
            run_of(tmp_path / name, [CaseSpec(operations=("write", "read"), served=served)], repetitions=3)
            for name, served in (("a", first), ("b", second))
        )
        write, read = compare([base], [other]).rows
        assert list(write.notes) == []
        assert list(read.notes) == ([note] if note else [])

    @pytest.mark.parametrize("side", ["A", "B"])
    # proves comparing: nothing-transferred
    def test_repetitions_that_transferred_nothing_are_counted_and_named(
        self, tmp_path: Path, side: str
    ) -> None:
        """A rate of 0 has no logarithm; left out, the worst result of all would improve the others."""
        run = run_of(tmp_path / "a", [WRITE], repetitions=6)
        rates = [sample.rate_mib_s for sample in run.samples]
        stuck = rated(run, [0.0, 0.0, *rates[2:]])
        row = only(compare([stuck], [run]) if side == "A" else compare([run], [stuck]))
        assert (row.verdict, row.reason) == (
            "not comparable",
            f"{side}: 2 of 6 repetitions transferred nothing",
        )
        assert row.has_failed == (side == "B")


class TestSeveralRuns:
    # proves comparing: runs-as-pairs
    def test_each_run_is_one_measurement(self, tmp_path: Path) -> None:
        """Runs differ by 10 % from each other: repetitions within a run say nothing of a difference."""
        levels = [1.0, 1.1, 0.9, 1.05]
        base = [
            started(run_of(tmp_path / f"a{i}", [WRITE], seed=i, factor=lambda *_, f=f: f), 10 * i)
            for i, f in enumerate(levels)
        ]
        other = [
            started(run_of(tmp_path / f"b{i}", [WRITE], seed=9 + i, factor=lambda *_, f=f: f), 10 * i + 5)
            for i, f in enumerate([1.1, 0.95, 1.1, 0.9])
        ]
        alone = only(compare(base[:1], other[:1]))
        assert alone.verdict == "no verdict", "one run of each would be a false difference"
        assert alone.change is not None
        assert alone.change.low > 1
        row = only(compare(base, other))
        assert (row.verdict, row.change and row.change.n) == ("no difference shown", 4)

    # proves comparing: runs-as-pairs
    def test_runs_in_turns_are_pairs_and_drift_cancels(self, tmp_path: Path) -> None:
        def side(name: str, offset: int, factor: float) -> list[object]:
            return [
                started(
                    run_of(
                        tmp_path / f"{name}{i}",
                        [WRITE],
                        seed=i + offset,
                        factor=lambda *_, i=i: factor * 0.8**i,
                    ),
                    10 * i + offset,
                )
                for i in range(4)
            ]

        comparison = compare(side("a", 1, 1.0), side("b", 2, 0.9))  # type: ignore[arg-type]
        row = only(comparison)
        assert row.change is not None
        assert (row.verdict, row.change.method) == ("slower", "paired by run")
        assert "The runs of A and B alternate" in comparison.remarks[0]

    # proves comparing: grade-d
    def test_runs_not_taken_in_turns_are_no_pairs(self, tmp_path: Path) -> None:
        base = [started(run_of(tmp_path / f"a{i}", [WRITE], seed=i), i) for i in range(3)]
        other = [started(run_of(tmp_path / f"b{i}", [WRITE], seed=i + 5), i + 10) for i in range(3)]
        comparison = compare(base, other)
        row = only(comparison)
        assert row.change is not None
        assert row.change.method == "unpaired by run"
        assert (row.verdict, row.trust and row.trust.grade) == ("no verdict", "D")
        assert "drift may appear as a difference" in comparison.remarks[0]
        assert "strider run SUITE --against BASELINE" in comparison.remarks[0]

    def test_numbers_of_runs_that_do_not_go_together_are_refused(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", [WRITE])
        with pytest.raises(StriderError, match="cannot compare 1 with 2 runs"):
            compare([run], [run, run])
        with pytest.raises(StriderError, match="named twice"):
            compare([run] * 3, [run] * 3)


class TestWithinARun:
    def test_interfaces_are_compared_with_the_first(self, tmp_path: Path) -> None:
        def factor(case: Case, _: int) -> float:
            return {"posix": 1.0, "mpiio": 0.8, "uring": 1.2}[case.interface_name]

        run = run_of(tmp_path / "a", sweep(interfaces=("posix", "mpiio", "uring")), factor=factor)
        comparison = compare_within(run, "interface")
        assert [side.label for side in comparison.sides] == ["posix", "mpiio", "uring"]
        verdicts = {(row.other.label, row.verdict) for row in comparison.rows if row.other}
        assert verdicts == {("mpiio", "slower"), ("uring", "faster")}
        assert all("interface" not in row.labels for row in comparison.rows)

    def test_the_base_and_the_others_can_be_named(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", sweep(interfaces=("posix", "mpiio", "uring")))
        assert [s.label for s in compare_within(run, "interface=uring,posix").sides] == ["uring", "posix"]

    # proves comparing: rounds-are-pairs
    def test_repetitions_of_a_round_are_pairs_so_that_drift_cancels(self, tmp_path: Path) -> None:
        def factor(case: Case, repetition: int) -> float:
            return 0.7**repetition * (0.95 if case.interface_name == "mpiio" else 1.0)

        cases = sweep(transfers=[MIB], operations=["write"])
        row = only(compare_within(run_of(tmp_path / "a", cases, factor=factor, noise=0.02), "interface"))
        assert row.change is not None
        assert (row.verdict, row.change.method, row.change.n) == ("slower", "paired by round", 12)

    # proves comparing: grade-d
    def test_without_interleaving_there_are_no_pairs_and_a_warning(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", sweep(transfers=[MIB], operations=["write"]))
        in_a_row = run.model_copy(update={"plan": run.plan.model_copy(update={"interleave": "none"})})
        comparison = compare_within(in_a_row, "interface")
        row = only(comparison)
        assert row.change is not None
        assert (row.change.method, row.verdict) == ("unpaired", "no verdict")
        assert 'interleave = "none"' in comparison.remarks[0]

    @pytest.mark.parametrize("by", ["transfer", "transfer=1MiB,64KiB"])
    # proves comparing: by-key, by-values
    def test_any_key_can_be_compared(self, tmp_path: Path, by: str) -> None:
        cases = sweep(interfaces=["posix"], transfers=(64 * KIB, MIB), operations=["write"])
        labels = [side.label for side in compare_within(run_of(tmp_path / "a", cases), by).sides]
        assert labels == (["64 KiB", "1 MiB"] if by == "transfer" else ["1 MiB", "64 KiB"])

    def test_keys_that_vary_with_the_compared_one_have_a_remedy(self, tmp_path: Path) -> None:
        cases = [
            replace(case, pattern={**case.pattern, "block": 128 * MIB // count})
            for count in (1, 2)
            for case in sweep(["posix"], [MIB], [count], operations=["write"])
        ]
        run = run_of(tmp_path / "a", cases)
        comparison = compare_within(run, "clients")
        assert "different work: block 128 MiB and 64 MiB" in only(comparison).reason
        assert comparison.remarks[0] == (
            "block differs as well. To compare by clients, measure the same work with each value: "
            "strider run SUITE --set case.clients=1,2 --set case.block=64MiB"
        )
        same = compare_within(run_of(tmp_path / "b", sweep(clients=[1, 2])), "clients")
        assert not any("differs as well" in remark for remark in same.remarks)

    def test_options_of_an_interface_tell_it_apart(self, tmp_path: Path) -> None:
        interfaces = [{"name": "posix", "direct": direct} for direct in (False, True)]
        run = run_of(tmp_path / "a", sweep(interfaces=interfaces, transfers=[MIB], operations=["write"]))
        assert [side.label for side in compare_within(run, "interface").sides] == ["posix", "posix direct"]
        assert [side.label for side in compare_within(run, "posix.direct").sides] == ["no", "yes"]

    def test_ways_into_a_volume_are_compared_with_their_mounts(self, tmp_path: Path) -> None:
        mounted = CaseSpec(interface={"name": "posix"}, common={"mount": "listio"}, operations=("write",))
        layer = CaseSpec(interface={"name": "mpiio", "prefix": "listio:"}, operations=("write",))
        cases = [mounted, layer]
        comparison = compare_within(run_of(tmp_path / "a", cases), "interface")
        assert [side.label for side in comparison.sides] == ["posix on mount", "mpiio listio:"]
        assert only(comparison).change is not None

    def test_a_run_from_before_there_were_mounts_did_the_same(self, tmp_path: Path) -> None:
        now = CaseSpec(operations=("write",), common={"mount": "none", "mount_servers": 0})
        before, after = run_of(tmp_path / "a", [WRITE]), run_of(tmp_path / "b", [now])
        assert only(compare([before], [after])).change is not None

    @pytest.mark.parametrize(
        ("by", "message"),
        [
            ("order", "it has only one value, forward.*keys with several values: interface, transfer"),
            ("colour", "it has no value"),
            ("interface=posix", "two or more values"),
            ("interface=posix,nfs", '"interface" has no value "nfs": choose one of posix, mpiio'),
        ],
    )
    def test_what_cannot_be_compared_is_refused_with_a_remedy(
        self, tmp_path: Path, by: str, message: str
    ) -> None:
        with pytest.raises(StriderError, match=message):
            compare_within(run_of(tmp_path / "a", sweep(), repetitions=3), by)


class TestManyRows:
    # proves comparing: verdict, alone-it-would-count
    def test_a_row_that_differs_alone_among_many_is_no_difference(self, tmp_path: Path) -> None:
        cases = sweep(transfers=[2**k for k in range(12, 24)], operations=["write"])
        sides = in_turns(tmp_path, cases, seed=7, factor=lambda case, _: 0.958 if case.number == 1 else 1.0)
        first, *rest = compare(*sides).rows
        assert first.change is not None
        assert first.change.p_value < 0.05 < first.change.p_adjusted
        assert first.notes == ["alone it would count"]
        assert {row.verdict for row in (first, *rest)} == {"no difference shown"}

    # proves comparing: on-unproven, must-be-shown
    def test_proof_that_nothing_is_much_slower_needs_a_narrow_interval(self, tmp_path: Path) -> None:
        same = only(compare(*in_turns(tmp_path, [WRITE]), threshold=0.1))
        assert not is_unproven(same, 0.1)
        assert is_unproven(same, 0.001)
        noisy = only(compare(*in_turns(tmp_path / "noisy", [WRITE], noise=0.3), threshold=0.1))
        assert noisy.verdict == "no difference shown"
        assert is_unproven(noisy, 0.1)


class TestChance:
    """The whole of `compare`, 300 times, on runs whose truth is known; `test_simulation` tries its parts."""

    TRIALS = 300

    def verdicts(self, tmp_path: Path, factor: float) -> list[list[str]]:
        """The verdicts of four rows in each trial: 12 pairs, noise of 3 %, side B at a factor of A."""
        runs = in_turns(tmp_path, sweep(transfers=[MIB]))
        rng = np.random.default_rng(1)

        def drawn(side: list[Run], factor: float) -> list[Run]:
            rates = 1000 * factor * rng.normal(1, 0.03, (len(side), len(side[0].samples)))
            return [rated(run, own) for run, own in zip(side, rates.tolist(), strict=True)]

        comparisons = (compare(drawn(runs[0], 1.0), drawn(runs[1], factor)) for _ in range(self.TRIALS))
        return [[row.verdict for row in comparison.rows] for comparison in comparisons]

    def test_identical_runs_differ_in_at_most_5_of_100_comparisons(self, tmp_path: Path) -> None:
        found = self.verdicts(tmp_path, 1.0)
        differing = sum(set(verdicts) != {"no difference shown"} for verdicts in found)
        assert differing / self.TRIALS <= 0.05 + 2 * (0.05 * 0.95 / self.TRIALS) ** 0.5

    def test_a_slowdown_by_5_percent_is_found_in_95_of_100_rows(self, tmp_path: Path) -> None:
        found = [verdict for verdicts in self.verdicts(tmp_path, 0.95) for verdict in verdicts]
        assert found.count("slower") / len(found) >= 0.95
        assert "faster" not in found


class TestRemarks:
    # proves comparing: no-verdict-remark, drift-no-verdict
    def test_two_runs_are_not_interleaved(self, tmp_path: Path) -> None:
        comparison = compare([run_of(tmp_path / "a", [WRITE])], [run_of(tmp_path / "b", [WRITE])])
        assert "how much runs differ by chance is unknown" in comparison.remarks[0]
        assert "strider run SUITE --against BASELINE" in comparison.remarks[0]

    # proves comparing: remarks-on-differences
    def test_different_machines_are_named(self, tmp_path: Path) -> None:
        base, other = run_of(tmp_path / "a", [WRITE]), run_of(tmp_path / "b", [WRITE])
        environment = {**other.info.environment, "host": "elsewhere", "memory_bytes": 1 << 30}
        moved = other.model_copy(update={"info": other.info.model_copy(update={"environment": environment})})
        assert (
            "A and B differ in host (synthetic and elsewhere); memory (256 GiB and 1 GiB)."
            in compare([base], [moved]).remarks
        )

    def test_runs_that_were_confined_differently_are_named(self, tmp_path: Path) -> None:
        """It costs time where names are looked up."""
        bare, kept = (
            run.model_copy(
                update={"start": run.start.model_copy(update={"confinement": Confinement(state=state)})}
            )
            for state in ("none", "full")
            if (run := run_of(tmp_path / state, [WRITE])).start
        )
        assert "A and B differ in confinement (none and full)." in compare([bare], [kept]).remarks
        assert not any("confinement" in remark for remark in compare([bare], [bare]).remarks)
        assert dict(environment_rows(kept))["confinement"] == "full"

    @pytest.mark.parametrize("is_same", [True, False])
    def test_cards_with_files_of_different_sizes_have_a_remedy_and_no_verdict(
        self, tmp_path: Path, is_same: bool
    ) -> None:
        sizes = (64 * MIB, 48 * MIB)
        cards = [
            run_of(
                tmp_path / str(size),
                [
                    CaseSpec(
                        operations=("write",),
                        pattern={"name": "segmented", "transfer": MIB, "block": size, "segments": 1},
                    )
                ],
            )
            for size in sizes
        ]
        assert not any("strider quick" in remark for remark in compare(cards[:1], cards[1:]).remarks)
        for card in cards:
            (card.directory / CARD_FILE).touch()
        target = "/mnt/synthetic" if is_same else "/mnt/other"
        plan = cards[1].plan.model_copy(update={"target": target})
        found = compare(cards[:1], [cards[1].model_copy(update={"plan": plan})])
        assert only(found).verdict == "not comparable"
        (said,) = (remark for remark in found.remarks if "strider quick" in remark)
        again = f"strider run {cards[0].directory}/suite.toml --target /mnt/synthetic"
        assert said.endswith(again if is_same else "strider compare /mnt/synthetic /mnt/other")
        same = compare(cards[:1], cards[:1])
        assert not any("strider quick" in remark for remark in same.remarks)

    # proves comparing: two-levels
    def test_few_measurements_are_reported(self, tmp_path: Path) -> None:
        few = compare(*in_turns(tmp_path, [WRITE], pairs=4, seed=3))
        assert any("have only 4 pairs" in remark for remark in few.remarks)
        assert any("with a probability of 90 %" in remark for remark in few.remarks)

    @pytest.mark.parametrize("metric", ["speed", ""])
    def test_unknown_metrics_are_refused(self, tmp_path: Path, metric: str) -> None:
        run = run_of(tmp_path / "a", [WRITE])
        with pytest.raises(StriderError, match="choose one of rate, first-done"):
            compare([run], [run], [metric])


class TestComparableKeys:
    @pytest.mark.parametrize(("other", "keys"), [(("write",), ["sharing"]), (("read",), [])])
    def test_a_key_needs_an_operation_that_both_values_have(
        self, tmp_path: Path, other: tuple[str, ...], keys: list[str]
    ) -> None:
        cases = [
            CaseSpec(operations=("write",), common={"sharing": "shared"}),
            CaseSpec(operations=other, common={"sharing": "per-rank"}),
        ]
        found = comparable_keys(run_of(tmp_path / "a", cases))
        assert [key for key in found if key == "sharing"] == keys

    def test_cases_are_labelled_for_the_interface_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        labelled: list[int] = []

        def counted(cases: Sequence[Case]) -> Facets:
            labelled.append(len(cases))
            return Facets.of(cases)

        monkeypatch.setattr(values_module, "Facets", SimpleNamespace(of=counted))
        cases = [
            CaseSpec(common={"sharing": sharing, "order": order})
            for sharing in ("shared", "per-rank")
            for order in ("forward", "random")
        ]
        assert {"sharing", "order"} <= set(comparable_keys(run_of(tmp_path / "a", cases)))
        assert sum(labelled) == len(cases)

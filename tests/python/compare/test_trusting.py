"""Only comparisons that know how much runs differ by chance give verdicts; named differences have a size."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from builders import MIB, CaseSpec, RunBuilder, sweep
from comparison_builders import in_turns, rated, run_of, started
from strider.compare import Comparison, History, compare, compare_within, history, history_of
from strider.compare.circumstances import least_named
from strider.compare.model import Change
from strider.compare.trusting import trust_of
from strider.compare.wording import overall_text
from strider.listing import index
from strider.listing.index import Index
from strider.listing.names import run_directories
from strider.statistics import paired_ratio
from strider.store import Run, load
from strider.store.load import load_info
from strider.store.model import RunInfo
from strider.store.runs import summarize

WRITE = CaseSpec(operations=("write",))


@pytest.mark.parametrize(
    ("method", "n", "grade"),
    [
        ("paired by round", 6, "A"),
        ("paired by run", 6, "A"),
        ("paired by run", 5, "B"),
        ("paired by round", 3, "B"),
        ("by history", 5, "B"),
        ("by history", 20, "B"),
        ("by history", 4, "C"),
        ("by history", 3, "C"),
        ("unpaired", 100, "D"),
        ("unpaired by run", 100, "D"),
    ],
)
# proves comparing: grade-a, grade-b, grade-c, grade-d
def test_the_grade_follows_from_how_the_sides_were_measured(method: str, n: int, grade: str) -> None:
    assert trust_of(method, n).grade == grade  # type: ignore[arg-type]


def runs(tmp_path: Path, means: list[float], first_minute: int = 0) -> list[Run]:
    """Runs of one operation with these means and 1 % of noise within each."""
    run = run_of(tmp_path / "run", [WRITE], repetitions=5)
    drawn = random.Random(3)
    return [
        started(rated(run, [mean * drawn.gauss(1, 0.01) for _ in run.samples]), first_minute + minute)
        for minute, mean in enumerate(means)
    ]


@pytest.mark.parametrize(
    ("metric", "verdict"), [("rate", "no verdict"), ("latency-p50", "no difference shown")]
)
# proves comparing: grade-d
def test_rates_of_phases_shorter_than_a_fifth_of_a_second_get_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str, verdict: str
) -> None:
    """Start-up is a large share of them; the latency of single requests is as good as ever."""
    monkeypatch.setattr(RunBuilder, "client_bytes", 16 * MIB)
    sides = in_turns(tmp_path, [WRITE], pairs=6, factor=lambda *_: 0.5)
    (row,) = compare(*sides, [metric]).rows
    assert row.verdict == verdict
    if metric == "rate":
        assert row.reason == "all repetitions of a side are shorter than 0.2 s"
        assert row.trust is not None
        assert str(row.trust) == "D short"


EARLIER = [1000.0, 1020.0, 980.0, 1010.0, 990.0, 1000.0]


@pytest.mark.parametrize(
    ("known", "grade", "verdict"), [(2, "D", "no verdict"), (4, "C", "no verdict"), (6, "B", "slower")]
)
# proves comparing: verdicts-of-a-and-b, no-verdict-remark
def test_single_runs_need_the_variance_of_earlier_runs(
    tmp_path: Path, known: int, grade: str, verdict: str
) -> None:
    base, other, *earlier = runs(tmp_path, [1000.0, 800.0, *EARLIER[:known]])
    (row,) = compare([base], [other], history=History(earlier, earlier)).rows
    assert (row.trust and row.trust.grade, row.verdict) == (grade, verdict)
    assert row.change is not None
    assert bool(row.reason) == (verdict == "no verdict")


def test_a_difference_that_earlier_runs_had_too_is_none(tmp_path: Path) -> None:
    """The 1 % within the runs would make it a difference; the 6 % between the earlier ones do not."""
    base, other, *earlier = runs(tmp_path, [1000.0, 950.0, 1000.0, 1060.0, 940.0, 1050.0, 950.0])
    (row,) = compare([base], [other], history=History(earlier, earlier)).rows
    assert (row.verdict, row.trust and row.trust.grade) == ("no difference shown", "B")


# proves comparing: earlier-runs-alike
def test_history_is_of_the_same_case_target_and_machine(tmp_path: Path) -> None:
    store = tmp_path / "store"
    own = [run_of(store / f"2026-11-2{day}-040506-ci-aaaa", [WRITE], repetitions=3) for day in range(7)]
    own = [started(run, day, run.id) for day, run in enumerate(own)]
    for run in own:
        text = (run.directory / "run.json").read_text()
        minute = run.info.started
        (run.directory / "run.json").write_text(text.replace("2026-11-21T04:05:06Z", minute))
    found = history_of(own[5], own[6])
    assert [run.id for run in found.base] == [run.id for run in reversed(own[:5])]
    assert found.base == found.other
    moved = own[6].model_copy(update={"plan": own[6].plan.model_copy(update={"target": "/elsewhere"})})
    assert history_of(own[5], moved).other == []
    assert [run.id for run in history_of(own[1], own[2]).base] == [own[0].id], "only what was before"
    (row,) = compare([own[5]], [own[6]], history=found).rows
    assert row.change is not None
    assert (row.change.method, row.change.n) == ("by history", 5)
    other_work = run_of(tmp_path / "other", [CaseSpec(operations=("read",))], repetitions=3)
    (row,) = compare([other_work], [other_work.model_copy(update={"info": own[6].info})], history=found).rows
    assert row.trust is not None
    assert row.trust.grade == "D"


class TestSuite:
    """One sentence for all operations, where the rounds are the measurements."""

    def compared(self, tmp_path: Path, factor: float, pairs: int = 6, threshold: float = 0.0) -> Comparison:
        cases = sweep(transfers=[2**k for k in range(12, 24)])
        sides = in_turns(tmp_path, cases, pairs=pairs, factor=lambda *_: factor)
        return compare(*sides, threshold=threshold)

    # proves comparing: suite, suite-mean
    def test_a_small_change_of_all_is_named_that_no_row_shows(self, tmp_path: Path) -> None:
        comparison = self.compared(tmp_path, 0.98)
        (suite,) = comparison.overall
        assert comparison.counts["slower"] < 5
        assert (suite.verdict, suite.rows, suite.change.n, suite.trust.grade) == ("slower", 48, 6, "A")
        assert suite.change.low < 0.98 < suite.change.high
        assert overall_text(suite).startswith("Over all 48 operations B is ")
        assert "% slower (95 % interval " in overall_text(suite)
        assert overall_text(suite).endswith(", 6 pairs of runs, grade A).")

    @pytest.mark.parametrize("factor", [3.0, 1 / 3])
    def test_a_large_change_is_a_factor_in_words_that_mean_it(self, tmp_path: Path, factor: float) -> None:
        (suite,) = self.compared(tmp_path, factor).overall
        assert re.search(r" times as fast \(95 % interval [\d.]+–[\d.]+, 6 pairs", overall_text(suite))
        low, high = map(float, re.findall(r"interval ([\d.]+)–([\d.]+)", overall_text(suite))[0])
        assert low < factor < high

    def test_without_a_change_it_says_how_small_one_is(self, tmp_path: Path) -> None:
        (suite,) = self.compared(tmp_path, 1.0).overall
        assert "no difference is shown: the rate of B changes by" in overall_text(suite)

    def test_a_change_within_the_threshold_is_none(self, tmp_path: Path) -> None:
        (suite,) = self.compared(tmp_path, 0.98, threshold=0.05).overall
        assert suite.verdict == "no difference shown"
        assert "no difference beyond 5 % is shown" in overall_text(suite, 0.05)

    # proves comparing: suite-mean
    def test_what_happens_to_all_rows_of_a_round_is_one_measurement(self, tmp_path: Path) -> None:
        """48 rows of one lucky round are no evidence."""
        cases = sweep(transfers=[2**k for k in range(12, 24)])
        levels = [1.1, 0.97, 1.12, 0.95, 1.1, 0.99]
        sides = in_turns(tmp_path, cases, pairs=6, factor=lambda _, pair: levels[pair], noise=0.01)
        (suite,) = compare(*sides).overall
        assert suite.verdict == "no difference shown"

    # proves comparing: suite-needs
    def test_single_runs_and_single_rows_have_no_sentence(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", sweep())
        assert compare([run], [started(run, 9)]).overall == []
        assert compare(*in_turns(tmp_path / "one", [WRITE])).overall == []

    def test_each_value_of_a_key_has_its_own(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "a", sweep(interfaces=("posix", "mpiio", "uring")))
        assert [one.other for one in compare_within(run, "interface").overall] == ["mpiio", "uring"]


# proves comparing: one-step, means-exact
def test_a_percentile_that_moved_by_one_bucket_is_no_difference(tmp_path: Path) -> None:
    """Without noise all repetitions fall into one bucket: their spread of 0 would prove its width."""
    cases = sweep(transfers=[MIB], operations=["write"])
    base, other = in_turns(tmp_path, cases, noise=0.0)

    def at(run: Run, seconds: float) -> Run:
        samples = [
            sample.model_copy(
                update={"latency": sample.latency.model_copy(update={"p99_s": seconds, "max_s": seconds})}
            )
            for sample in run.samples
            if sample.latency
        ]
        return run.model_copy(update={"samples": samples})

    def verdicts(metric: str, factor: float) -> set[str]:
        sides = ([at(run, 1e-3) for run in base], [at(run, factor * 1e-3) for run in other])
        return {row.verdict for row in compare(*sides, [metric]).rows}

    assert verdicts("latency-p99", 1 + 1 / 128) == {"no difference shown"}
    assert verdicts("latency-p99", 1.04) == {"slower"}
    assert verdicts("latency-max", 1 + 1 / 128) == {"slower"}, "it is counted exactly"


# proves comparing: 95-intervals, intervals-of-named
def test_the_intervals_of_named_rows_contain_the_true_changes(tmp_path: Path) -> None:
    """Rows are named because they were lucky: at 95 % their intervals hold the truth in some 85 %."""
    cases = sweep(transfers=[2**k for k in range(10, 24)])
    changes = random.Random(5)
    truth = {number: changes.choice([1.0, 1.0, 0.95, 0.93, 1.06]) for number in range(1, len(cases) + 1)}
    sides = in_turns(tmp_path, cases, pairs=6)
    rng = np.random.default_rng(4)
    held = plain = count = 0
    for _ in range(25):
        drawn = []
        for name, side in zip("AB", sides, strict=True):
            factors = [truth[sample.case] if name == "B" else 1.0 for sample in side[0].samples]
            noise = np.exp(rng.normal(0, 0.03, (len(side), len(factors))))
            drawn.append(
                [rated(run, (1000 * own * factors).tolist()) for run, own in zip(side, noise, strict=True)]
            )
        for row in compare(drawn[0], drawn[1]).rows:
            if row.verdict in ("slower", "faster") and row.base and row.change:
                true = truth[row.base.case.number]
                count += 1
                held += row.change.low <= true <= row.change.high
                alone = row.change.at(0.95)
                plain += alone.low <= true <= alone.high
                assert row.change.level > 0.95
    assert held / count >= 0.94
    assert plain < held


# proves comparing: detectable
def test_the_size_that_a_remark_gives_is_named_in_90_of_100_tries() -> None:
    """Each try knows the spread from its own six pairs alone; the true spread taken for granted gives 77."""
    rng = np.random.default_rng(8)
    trials, limit, threshold, spread, n = 4000, 0.01, 0.02, 0.03, 6
    seen = paired_ratio(np.ones((trials, n)), np.exp(rng.normal(0, spread, (trials, n))))
    change = Change(1.0, 0.9, 1.1, 0.95, 1.0, n - 1.0, 0.0, 1.0, 1.0, "paired by run", n)
    sizes = [least_named(replace(change, error=float(one)), limit, threshold) for one in seen.error]
    centres = np.log1p(sizes)[:, None]
    again = paired_ratio(np.ones((trials, n)), np.exp(rng.normal(centres, spread, (trials, n))))
    assert np.mean(again.p_value(threshold) < limit) == pytest.approx(0.9, abs=0.02)


def at(run: Run, seconds: float) -> Run:
    """The run as if it had been started some seconds after an hour."""
    moment = datetime(2026, 11, 21, 4, tzinfo=UTC) + timedelta(seconds=seconds)
    return run.model_copy(
        update={"info": run.info.model_copy(update={"started": moment.isoformat(), "run": f"run-{seconds}"})}
    )


# proves comparing: latest-20
def test_only_the_latest_earlier_runs_are_taken(tmp_path: Path) -> None:
    base, other, *earlier = runs(tmp_path, [1000.0, 1010.0, *(1000.0 + one for one in range(24))])
    (row,) = compare([base], [other], history=History(earlier, earlier)).rows
    assert row.change is not None
    assert row.change.n == 20


@pytest.mark.parametrize(
    ("apart_s", "found", "grade"),
    [
        pytest.param(40, 10, "B", id="runs in a row"),
        pytest.param(5 * 40, 10, "B", id="all just far enough apart"),
        pytest.param(5 * 120, 4, "C", id="every third one counts"),
        pytest.param(5 * 3600, 1, "D", id="runs of one hour say nothing of the day"),
    ],
)
# proves comparing: earlier-runs-apart
def test_earlier_runs_count_if_they_are_apart_as_the_two_runs_are(
    tmp_path: Path, apart_s: float, found: int, grade: str
) -> None:
    base, other, *earlier = runs(tmp_path, [1000.0, 800.0, *(1000.0 + one for one in range(10))])
    earlier = [at(run, 40 * number) for number, run in enumerate(earlier)]
    sides = at(base, 1000), at(other, 1000 + apart_s)
    found_rows = compare([sides[0]], [sides[1]], history=History(earlier, earlier))
    (row,) = found_rows.rows
    assert row.trust is not None
    assert row.trust.grade == grade
    if grade == "C":
        assert row.reason == (
            f"single runs with only {found} earlier runs of this case at least 2 min apart (5 needed)"
        )
    if grade == "D":
        assert "5 earlier runs of the same cases on this machine and target at least 1 h apart" in str(
            found_rows.remarks
        )
    if grade == "B":
        assert row.change is not None
        assert row.change.n == found


# proves comparing: hour-not-days
def test_hours_of_other_conditions_are_no_difference(tmp_path: Path) -> None:
    """Hours differ by 5 %, runs of an hour by 1 %: runs of one hour alone named one in every tenth."""
    base = runs(tmp_path, [1000.0])[0]
    rng = np.random.default_rng(5)
    trials, named, judged = 200, 0, 0
    for _ in range(trials):
        levels = np.repeat(rng.normal(0, 0.05, 3), 20) + rng.normal(0, 0.01, 60)
        series = [
            at(
                rated(base, [one.rate_mib_s * math.exp(level) for one in base.samples]),
                7200 * (number // 20) + 60 * (number % 20),
            )
            for number, level in enumerate(levels)
        ]
        first, second = sorted(rng.choice(range(6, 60), 2, replace=False))
        earlier = [run for run in series[:second] if run is not series[first]][::-1]
        found = compare([series[first]], [series[second]], history=History(earlier, earlier))
        named += any(row.verdict in ("faster", "slower") for row in found.rows)
        judged += found.judged > 0
    assert named <= 10, "5 % of 200"
    assert judged > 60


def test_of_runs_in_the_index_only_those_that_may_count_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SETTLED_S", 0.0)
    monkeypatch.setattr(index, "FEWEST_RUNS", 1)
    read: list[Path] = []

    def counted(directory: Path) -> RunInfo:
        read.append(directory)
        return load_info(directory)

    monkeypatch.setattr(history, "load_info", counted)
    store = tmp_path / "store"
    for day, host in enumerate(["here", "there", "here", "here"]):
        path = RunBuilder([WRITE], repetitions=1).write(store / f"2026-11-2{day}-040506-ci-aaaa")
        info = json.loads((path / "run.json").read_text())
        info |= {
            "run": path.name,
            "started": f"2026-11-2{day}T04:05:06Z",
            "ended": f"2026-11-2{day}T05:05:06Z",
        }
        info["environment"]["host"] = host
        (path / "run.json").write_text(json.dumps(info))
    first, _, base, other = map(load, run_directories(store))
    assert [run.id for run in history_of(base, other).base] == [first.id]
    assert len(read) == 4
    Index(store, summarize).all()
    assert [run.id for run in history_of(base, other).base] == [first.id]
    assert len(read) == 4


def test_earlier_runs_far_apart_are_read_first(tmp_path: Path) -> None:
    """Of many runs in a row before an older one the older one is found, too."""
    store = tmp_path / "store"
    seconds = [0, *range(36000, 36080), 36100, 46100]
    for number, second in enumerate(seconds):
        path = RunBuilder([WRITE], repetitions=1).write(store / f"2026-11-21-0405{number:02d}-ci-aaaa")
        info = json.loads((path / "run.json").read_text())
        info["started"] = at(load(path), second).info.started
        (path / "run.json").write_text(json.dumps(info))
    base, other = (load(store / f"2026-11-21-0405{number}-ci-aaaa") for number in (81, 82))
    found = history_of(base, other).base
    assert len(found) == 60
    assert (found[0].id[15:17], found[-1].id[15:17]) == ("80", "00")


# proves comparing: level-remark
def test_the_level_of_named_rows_is_said(tmp_path: Path) -> None:
    sides = in_turns(tmp_path, sweep(), factor=lambda case, _: 0.8 if case.number == 1 else 1.0)
    comparison = compare(*sides)
    named = [row.change for row in comparison.rows if row.verdict == "slower" and row.change]
    assert len(named) == 2
    assert named[0].level == pytest.approx(1 - 0.05 * 2 / 12)
    assert any("are at level 99.2 %" in remark for remark in comparison.remarks)


# proves comparing: suite-shares-risk
def test_equal_systems_are_named_in_one_of_twenty_tables(tmp_path: Path) -> None:
    """The rows and the suite together; what one run has is common to its rows."""
    sides = in_turns(tmp_path, sweep(), pairs=6)
    rng = np.random.default_rng(11)
    trials, named = 250, 0
    for _ in range(trials):
        drawn = []
        for side in sides:
            shape = (len(side), len(side[0].samples))
            logs = rng.normal(0, 0.03, (len(side), 1)) + rng.normal(0, 0.03, shape)
            pairs = zip(side, (1000 * np.exp(logs)).tolist(), strict=True)
            drawn.append([rated(run, own) for run, own in pairs])
        found = compare(drawn[0], drawn[1])
        verdicts = {row.verdict for row in found.rows} | {one.verdict for one in found.overall}
        named += verdicts != {"no difference shown"}
    assert named / trials <= 0.05 + 2 * (0.05 * 0.95 / trials) ** 0.5

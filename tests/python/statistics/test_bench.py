"""A sample of benchmarks/statistics with fixed seeds: bounds that fail where a method is taken away.

`make statistics` measures all of it, with many more trials, for docs/reference/statistics.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bench
from announced import announced, held
from grids import Grid, Progress, Share
from headlines import cell, headline_error
from noise import Noise, autocorrelated, buckets_of, drift, lognormal, run_effect, stalls, two_levels
from parts import Measured, page, parts_of
from repeated_cards import latest
from rules import false_tables, found_sentences, methods, sentences_on
from runs import Cause, Planned, Setting, Synthetic
from scenes import Scene, scenes
from sentences import FALSE, FOUND, observe, wanted_keys
from strider.report.results.results import Results
from strider.statistics import describe
from strider.statistics.histogram import bucket_of
from strider.store import load, load_events
from strider.store.model import NodeCounters, RankRow
from strider.store.tables import query
from trials import CONTESTS, DESIGNS, Design, contested, coverage_of_rates, coverage_of_ratios
from walking import said, sentences, texts_of

QUIET = Progress(quiet=True)


def random(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestNoise:
    @pytest.mark.parametrize(
        "noise",
        [lognormal(0.3), two_levels(0.8), stalls(), autocorrelated(0.7), drift(0.2), run_effect(0.05, True)],
        ids=lambda noise: noise.name,
    )
    def test_its_logarithms_have_mean_0_and_their_shape(self, noise: Noise) -> None:
        logs = noise.draw(random(), (4000, 5))
        assert logs.shape == (4000, 5)
        assert abs(float(logs.mean())) < 4 * float(logs.std()) / 4000**0.5

    def test_a_run_effect_is_one_number_for_all_rows_or_for_each(self) -> None:
        assert len(np.unique(run_effect(0.05).draw(random(), (6, 3)))) == 1
        assert len(np.unique(run_effect(0.05, True).draw(random(), (6, 3)))) == 6

    def test_autocorrelated_values_are_as_like_their_neighbours_as_asked_for(self) -> None:
        logs = autocorrelated(0.7).draw(random(), (2000, 20))
        assert np.corrcoef(logs[:, :-1].ravel(), logs[:, 1:].ravel())[0, 1] == pytest.approx(0.7, abs=0.02)

    def test_buckets_are_those_of_strider(self) -> None:
        values = np.array([128.0, 129.0, 255.0, 256.0, 1000.0, 123456.0, 9.9e9])
        assert buckets_of(values).tolist() == [bucket_of(int(value)) for value in values]


class TestRuns:
    @pytest.fixture
    def made(self) -> Synthetic:
        cases = [
            Planned(cause=Cause(slow_rank=1.5)),
            Planned({"name": "mpiio"}, operations=("write", "read")),
        ]
        return Synthetic(cases, Setting(repetitions=3, ceilings={"device_write": 900.0}, nodes=2), random())

    def test_the_reader_reads_from_its_files_what_it_gives_without(
        self, made: Synthetic, tmp_path: Path
    ) -> None:
        directory = made.write(tmp_path / "run")
        assert load(directory) == made.load(directory)
        assert load_events(directory, NodeCounters) == made.counters()
        assert len(load_events(directory, RankRow)) == len(made.of("rank"))

    def test_every_event_has_the_fields_of_the_schema(self, made: Synthetic, tmp_path: Path) -> None:
        rows = query([made.write(tmp_path / "run")], 'SELECT "case", rate_mib_s, elapsed_s FROM samples')
        assert len(rows) == 9
        assert all(row["rate_mib_s"] > 0 and row["elapsed_s"] > 0 for row in rows)

    def test_the_same_is_said_of_files_as_without(self, made: Synthetic, tmp_path: Path) -> None:
        written = replace_query_free(made, tmp_path)
        assert set(written) <= set(texts_of(made))


def replace_query_free(made: Synthetic, folder: Path) -> list[str]:
    """Findings of the limits and the steadiness on the files."""
    from strider.report.words.steadiness import steadiness

    results = Results(load(made.write(folder / "files")))
    return [*results.analysis.sentences, *steadiness(results.run, results.summaries)]


class TestCoverage:
    def test_intervals_of_a_rate_hold_the_truth_in_95_of_100(self) -> None:
        """Fails with the quantile of a normal distribution: it holds 81 % at n = 3."""
        noise = lognormal(0.1)
        centred = hasattr(describe([1.0, 2.0, 3.0]), "centre")
        truth = 1.0 if centred else noise.mean_factor()
        for n in (3, 5):
            found = [describe(values) for values in np.exp(noise.draw(random(n), (1200, n))).tolist()]
            held = [f.interval.low <= truth <= f.interval.high for f in found if f and f.interval]
            assert 0.93 <= np.mean(held) <= 0.97
            assert len(held) == 1200

    @pytest.mark.parametrize("design", [one for one in DESIGNS if one.is_promised], ids=lambda one: one.name)
    def test_intervals_of_a_ratio_hold_the_truth_in_95_of_100(self, design: Design) -> None:
        """Fails with n in the place of n - 1 in a deviation."""
        for n in (3, 5, 10):
            base, other = design.draw(random(n), 8000, n)
            low, high = design.ratio(np.exp(base), np.exp(other)).interval()
            assert 0.94 <= np.mean((low <= 1) & (high >= 1)) <= 0.975

    def test_intervals_of_repeated_cards_hold_the_truth_where_cards_differ_more_than_rounds(self) -> None:
        """Fails with the rounds of a card alone: they hold it in 40 of 100."""
        noise = lognormal(0.03) + run_effect(0.05, of_rows=True)
        for cards, least, most in ((1, 0.0, 0.6), (4, 0.93, 1.0)):
            rng = random(cards)
            rates = [latest(noise.draw(rng, (cards, 5))).rate for _ in range(250)]
            held = [(rate.low or 0.0) <= 1.0 <= (rate.high or 0.0) for rate in rates if rate]
            assert least <= np.mean(held) <= most
            assert len(held) == 250

    def test_the_tables_have_a_row_for_each_noise_and_design(self) -> None:
        assert len(coverage_of_rates(1, random(), QUIET).rows) == 10
        assert len(coverage_of_ratios(3, random(), QUIET).rows) >= len(DESIGNS)


class TestVerdicts:
    within = CONTESTS[0]

    def test_tables_of_10_rows_without_a_difference_name_one_in_at_most_5_of_100(self) -> None:
        """Fails without Benjamini-Hochberg: 40 of 100 tables."""
        found = contested(self.within, 5, 10, 0.0, random(), trials=120, progress=QUIET)
        assert found.tables.value <= 0.09

    def test_rounds_that_drift_together_hide_no_difference(self) -> None:
        """Fails where rounds are not paired: rounds vary by 50 %, sides by 2 %."""
        contest = replace(self.within, shared=autocorrelated(0.7, 0.5), own=lognormal(0.02))
        found = contested(contest, 8, 5, 0.1, random(), trials=20, progress=QUIET)
        assert found.rows.value >= 0.95

    def test_a_slowdown_of_10_percent_is_named_slower_and_its_size_held(self) -> None:
        found = contested(
            replace(self.within, own=lognormal(0.02)), 8, 5, 0.1, random(), trials=40, progress=QUIET
        )
        assert found.rows.value >= 0.95
        assert found.sizes.value >= 0.9


class TestSentences:
    def test_sentences_are_found_in_the_sources_with_their_variable_parts(self) -> None:
        names = {one.name for one in sentences()}
        assert "rule: sync" in names
        assert any(name.startswith("words/steadiness") for name in names)
        assert any(name.startswith("words/caches") for name in names)

    def test_a_planted_cause_is_found_by_the_case_that_has_it(self) -> None:
        cases = [Planned(), Planned({"name": "mpiio"}, cause=Cause(times={"sync_s": 0.7}))]
        assert said(Synthetic(cases, Setting(), random()))["rule: sync"] == {2}

    @pytest.mark.parametrize("n", [3, 5])
    def test_a_quiet_run_says_nothing_that_infers(self, n: int) -> None:
        """30 runs: at 1 % a sentence appears twice in 4 % of all samples, but seeds are fixed."""
        quiet = observe(of_name("quiet"), n, 30, random(n))
        inferred = [one.name for one in sentences() if one.pattern is None]
        assert {name: quiet.said[name] for name in inferred if quiet.said[name] > 30 * FALSE + 1} == {}

    def test_causes_in_single_cases_are_found(self) -> None:
        scene = of_name("causes in single cases")
        found = observe(scene, 5, 6, random())
        for cause in ("sync", "opening", "data", "think", "steal", "I/O wait", "faster than storage"):
            name, case = scene.expected[cause]
            assert found.of_case[name, case] >= 6 * FOUND - 1, cause

    @pytest.mark.parametrize(
        "cause",
        ["a repetition at half the rate", "a trend of 40 %", "two levels, 1 : 0.6", "served by a cache"],
    )
    def test_what_a_report_concludes_and_remarks_is_seen(self, cause: str) -> None:
        """Whatever kind of block has the sentence."""
        scene = next(one for one in scenes() if cause in one.expected and not one.is_null)
        found = observe(scene, 10, 3, random())
        assert max(found.said[key] for key in wanted_keys(scene.expected[cause][0])) >= 2

    def test_most_causes_have_a_sentence(self) -> None:
        causes = [wanted for scene in scenes() for wanted, _ in scene.expected.values()]
        without = [wanted for wanted in causes if not wanted_keys(wanted)]
        assert len(without) <= 2, without


class TestRules:
    """Rules by themselves."""

    def test_sentences_on_repetitions_are_those_of_a_report(self) -> None:
        logs = np.array(0.01 * random().normal(size=(4, 20)))
        assert sentences_on(logs) == set()
        logs[0] += np.linspace(0.25, -0.25, 20)
        logs[1, 10:] += np.log(0.7)
        logs[2, ::3] += np.log(0.6)
        logs[3, 7] += np.log(0.5)
        assert sentences_on(logs) >= {"No steady state", "Level shift", "Two levels", "Outlier"}

    def test_a_cause_in_one_operation_of_four_is_found(self) -> None:
        grid = found_sentences(12, random(), QUIET)
        assert len(grid.rows) == 4
        assert all(float(row[-1]) >= 80 for row in grid.rows), grid.rows

    def test_equal_methods_are_called_equal_and_others_not(self) -> None:
        grid = methods(4, random(), QUIET)
        equal, _, twice, crossing = (row[2:] for row in grid.rows)
        assert set(equal) == {"0"}
        assert float(twice[-1]) == float(crossing[-1]) == 100

    def test_tables_without_a_difference_name_one_in_a_twentieth(self) -> None:
        """Fails without the adjustment for the number of rows, and where rows and suite each take 5 %."""
        grid = false_tables(1200, random(), QUIET)
        assert all(2.5 <= float(cell) <= 7.5 for row in grid.rows for cell in row[2:]), grid.rows


def of_name(name: str) -> Scene:
    return next(scene for scene in scenes() if scene.name == name)


class TestPage:
    def test_a_table_fits_into_80_columns_and_the_page_has_all(self) -> None:
        grid = Grid("Title", "About.", ["what", "3"], [["a" * 200, "4.2"]], ["x: 4.2 %"])
        assert max(map(len, grid.text().splitlines())) <= 80
        text = page({"coverage": Measured.of([grid], "abc1234", 500, 1)})
        assert "| what | 3 |" in text
        assert "- x: 4.2 %" in text
        assert "| coverage | abc1234 | 500 | 1 |" in text

    def test_the_page_of_the_manual_has_every_part_and_nothing_else(self) -> None:
        text = bench.PAGE.read_text(encoding="utf-8")
        found = parts_of(text)
        assert list(found) == list(bench.PARTS)
        assert page(found) == text

    def test_a_part_that_is_measured_alone_leaves_the_others_as_they_are(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def part(trials: int, _: np.random.Generator, __: Progress) -> list[Grid]:
            return [Grid(f"Table of {trials}", "About.", ["what"], [["x"]], [f"{trials} does not hold"])]

        def written(commit: str, *words: str) -> dict[str, Measured]:
            monkeypatch.setattr(bench, "_commit", lambda: commit)
            monkeypatch.setattr("sys.argv", ["bench.py", "--write", *words])
            assert bench.main() == 0
            return parts_of((tmp_path / "page.md").read_text(encoding="utf-8"))

        monkeypatch.setattr(bench, "ROOT", tmp_path)
        monkeypatch.setattr(bench, "PAGE", tmp_path / "page.md")
        monkeypatch.setattr(bench, "PARTS", {"coverage": (part, 1), "verdicts": (part, 1)})
        with pytest.raises(SystemExit):
            written("aaaaaaa", "--only", "verdicts", "--trials", "7")
        first = written("bbbbbbb", "--trials", "8")
        second = written("ccccccc", "--only", "verdicts", "--trials", "9")
        assert second["coverage"] == first["coverage"]
        assert second["verdicts"] == Measured.of(part(9, random(), QUIET), "ccccccc", 9, 1)

    def test_a_share_knows_what_chance_can_do(self) -> None:
        assert not Share(1, 30).is_above(FALSE)
        assert Share(20, 500).is_above(FALSE)
        assert Share(400, 500).is_below(FOUND)
        assert Share(0, 0).percent == "–"

    def test_headlines_are_compared_with_the_truth_of_their_case(self) -> None:
        """Without noise a headline is right; the three digits that it shows round by 0.5 % at most."""
        found = [headline_error(5, 5, 1e-6, 0.1, random(seed)) for seed in range(3)]
        assert all(error is None or abs(error) <= 0.005 for error in found)
        assert any(error is not None for error in found)

    def test_a_mean_of_few_headlines_is_not_shown(self) -> None:
        assert cell([0.01, -0.01] * 10, 250) == "+0.0 ± 0.2 (8.0 %)"
        assert cell([0.02] * 19, 250) == "– (7.6 %)"
        assert cell([], 250) == "– (0 %)"


class TestAnnounced:
    def test_intervals_of_a_percentile_hold_the_one_of_a_typical_repetition(self) -> None:
        """Fails where all requests are taken for independent of each other."""
        shares = held(1000, 0.2, 5, 150, random())
        assert all(0.9 <= share.value <= 0.995 for share in shares.values()), shares

    def test_a_difference_that_a_comparison_can_see_is_named(self) -> None:
        sizes, named = announced(CONTESTS[0], 8, 25, random(), QUIET)
        assert sizes, "no comparison says which difference it can see"
        assert 0.02 < np.median(sizes) < 0.3
        assert named.value >= 0.6

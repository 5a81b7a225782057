"""Comparison of ranks, and rates over the time of a phase."""

from __future__ import annotations

from strider.report.blocks import Block, Charts, Fold, Section, Text
from strider.report.charts import timelines
from strider.report.charts.rank_maps import rank_map_of
from strider.report.results.results import Results
from strider.report.words.elsewhere import elsewhere_sentences
from strider.report.words.wording import plural
from strider.statistics.elsewhere import read_elsewhere
from strider.store import Timeline, load_events

#: Charts over time are open initially up to this number.
_OPEN_CHARTS = 4


def _page(results: Results) -> list[Block]:
    return [*_sentences(results), *_ranks(results), *_time(results)]


def _sentences(results: Results) -> list[Block]:
    lines = elsewhere_sentences(results.run, read_elsewhere(results.run))
    file = results.run.info.per_rank
    return [Text(line) for line in [*lines, *([f"Rows of all ranks in each phase: {file}"] if file else [])]]


def _ranks(results: Results) -> list[Block]:
    found = rank_map_of(results.run, results.facets)
    if found is None:
        return []
    chart = Charts([found.chart], wide=True, label="Rates by rank")
    return [Fold(found.words, [chart], found.is_alarming)]


def _time(results: Results) -> list[Block]:
    read = load_events(results.run.directory, Timeline)
    charts, left_out = timelines.charts(read, results.summaries, results.facets)
    if not charts:
        return []
    caption = [Text(left_out, "caption")] if left_out else []
    title = f"Rate over time: {plural(len(charts), 'chart')}"
    return [Fold(title, [*caption, Charts(charts)], len(charts) <= _OPEN_CHARTS)]


SECTION = Section("ranks", "Ranks and timelines", _page, _sentences)

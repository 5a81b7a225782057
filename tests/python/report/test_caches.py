"""A read that a cache served cannot pass for one of storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from printed import printed, rows_of
from strider.report import write_html
from strider.report.charts.rates import bar_charts, line_charts
from strider.report.labels.facets import Facets
from strider.report.words.caches import cache_notes, cache_remarks
from strider.report.words.remarks import remarks
from strider.statistics import OperationSummary, summarize
from strider.store import NodeCounters, Run, load, load_events

COLD = {"policy": "cold", "action": "fsync, posix_fadvise", "cached_share": 0.0, "examined_by": "cachestat"}

#: What remarks call the one case.
PLACE = "posix, segmented, 1 MiB, 2 clients"


def run_of(tmp_path: Path, **keys: object) -> Run:
    case = CaseSpec(**keys)  # type: ignore[arg-type]
    return load(RunBuilder([case]).write(tmp_path / "run"))


def read_of(tmp_path: Path, **keys: object) -> OperationSummary:
    write, read = summarize(run_of(tmp_path, **keys))
    assert cache_notes(write) == []
    return read


@pytest.mark.parametrize(
    ("served", "notes"),
    [
        (None, []),
        (0.0, ["from cache"]),
        (0.099, ["from cache"]),
        (0.12, ["12 % from storage"]),
        (0.88, ["88 % from storage"]),
        (0.91, []),
        (1.2, []),
    ],
)
# proves measuring: from-cache
def test_a_row_says_where_a_read_came_from(tmp_path: Path, served: float | None, notes: list[str]) -> None:
    assert cache_notes(read_of(tmp_path, served=served)) == notes


# proves measuring: from-cache
def test_charts_draw_rates_of_a_cache_hollow(tmp_path: Path) -> None:
    def charts_of(shares: list[float]) -> list[str]:
        cases = [
            CaseSpec(pattern={"name": "segmented", "transfer": 1 << (16 + place)}, served=share)
            for place, share in enumerate(shares)
        ]
        run = load(RunBuilder(cases).write(tmp_path / f"run{len(shares)}"))
        facets, reads = Facets.of(list(run.cases.values())), summarize(run)[1::2]
        drawn = [*line_charts(reads, facets), *bar_charts(reads, facets)]
        assert all(chart.svg.count("; from cache") == shares.count(0.02) for chart in drawn)
        return [chart.caption for chart in drawn]

    assert not any("Hollow" in caption for caption in charts_of([1.0, 1.0]))
    captions = charts_of([0.02, 0.02, 1.0])
    assert len(captions) == 2
    assert all(caption.endswith(" Hollow: from cache.") for caption in captions)


def test_the_share_is_that_of_all_repetitions(tmp_path: Path) -> None:
    read = read_of(tmp_path, served=0.5)
    assert read.served is not None
    assert read.served.share == pytest.approx(0.5)
    assert read.served.source == "process"


def test_a_sentence_says_which_reads_were_none_of_storage(tmp_path: Path) -> None:
    (sentence,) = cache_remarks([read_of(tmp_path, served=0.02)])
    assert sentence.startswith(
        f"1 read ({PLACE}) was served by a cache: at most 2.0 % of the bytes came from"
    )
    assert sentence.endswith(
        "; to read from storage, add --set case.cache=cold or --set case.posix.direct=true."
    )
    assert cache_remarks([read_of(tmp_path, served=1.0)]) == []


# proves measuring: cache-field
def test_files_that_stayed_in_memory_are_reported(tmp_path: Path) -> None:
    read = read_of(tmp_path, served=0.95, prepared=COLD | {"cached_share": 0.3})
    assert cache_notes(read) == ["not cold"]
    assert cache_remarks([read]) == [
        f"1 read ({PLACE}) was meant to be cold, but up to 30 % of the files stayed in memory."
    ]


def test_invisible_caches_are_reported_unless_storage_served_all(tmp_path: Path) -> None:
    unseen = COLD | {"action": "attempted: fsync, posix_fadvise", "cached_share": None, "examined_by": None}
    (sentence,) = cache_remarks([read_of(tmp_path, prepared=unseen)])
    assert sentence.endswith("this cannot be verified on this system (attempted: fsync, posix_fadvise).")
    assert cache_remarks([read_of(tmp_path, prepared=unseen, served=1.0)]) == []
    assert cache_remarks([read_of(tmp_path, prepared=COLD, served=1.0)]) == []


# proves measuring: warm-compares-memory
def test_what_counters_tell_need_not_be_supposed(tmp_path: Path) -> None:
    run = run_of(tmp_path, served=1.0)
    assert not any("fit into the memory" in remark for remark in remarks(run, summarize(run), []))
    unknown = run_of(tmp_path)
    (found,) = (r for r in remarks(unknown, summarize(unknown), []) if "fit into the memory" in r)
    assert "(at most 64 MiB) fit into the memory of synthetic (256 GiB), so its cache may have" in found


# proves measuring: warm-compares-memory
def test_memory_is_that_of_all_nodes_that_counted(tmp_path: Path) -> None:
    run = run_of(tmp_path, counting_nodes=3)
    summaries = summarize(run, load_events(run.directory, NodeCounters))
    (found,) = (remark for remark in remarks(run, summaries, []) if "fit into the memory" in remark)
    assert "fit into the memory of 3 nodes (24 GiB), so their caches may have" in found


# proves measuring: from-cache
def test_table_rows_and_page_say_it(tmp_path: Path) -> None:
    run = run_of(tmp_path, served=0.0, prepared=COLD, common={"cache": "cold"})
    shown = printed(run, 160)
    assert "from cache" in shown
    assert f"1 read ({PLACE}) was served by a cache: none of the bytes came from storage" in shown
    assert "cache cold" in shown
    write, read = rows_of(run)
    assert (write["served_by_storage"], write["cached_before"]) == (None, None)
    assert (read["served_by_storage"], read["served_source"], read["cached_before"]) == (0.0, "process", 0.0)
    page = write_html([run], tmp_path / "report.html").read_text()
    assert "served by a cache" in page
    assert "from cache" in page

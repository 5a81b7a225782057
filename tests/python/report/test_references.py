"""Published figures are shown with measurements, and belong to cases of the suites."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import geometric_mean

import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder
from printed import printed, rows_of
from strider.engine import Engine
from strider.errors import StriderError
from strider.importers.piobench.modules import SPATIAL
from strider.report import write_html
from strider.report.results.references import Reference, read, reference_of, with_published_sizes
from strider.report.words.numbers import significant
from strider.statistics import summarize
from strider.statistics.digest import workload_key
from strider.store import Run, load
from strider.store.case import Case
from strider.suite import load as load_suite
from strider.suite import locate, ready_made
from strider.suite.ready_made import folder
from strider.units import MB

FILES = sorted((folder() or Path()).glob("references/*.toml"))


def reference(suite: str) -> Reference:
    found = reference_of(suite)
    assert found is not None
    return found


def case_of(
    interface: dict[str, object], transfer: int, clients: int, name: str = "", **pattern: object
) -> Case:
    return Case.model_validate(
        {
            "case": 1,
            "name": name,
            "clients": clients,
            "interface": interface,
            "pattern": {"name": "segmented", "transfer": transfer, **pattern},
            "operations": ["write", "read"],
        }
    )


class TestTheFigures:
    def test_seven_suites_have_them(self) -> None:
        assert {file.stem for file in FILES} == {
            "btio-2003", "clusters-2002", "noncontig-2003", "ogr-2003", "pario-2015", "piobench-2006",
            "thesis-2009",
        }  # fmt: skip

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_each_file_is_of_the_suite_of_its_name(self, file: Path) -> None:
        assert read(file).suite == file.stem
        assert file.stem in ready_made()

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_each_figure_is_of_a_number_of_clients(self, file: Path) -> None:
        """So that none is compared with the measurement of another number of clients."""
        for table in read(file).table:
            assert "clients" in table.match or "clients" in table.keys, table.match

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_each_row_belongs_to_a_case_of_the_suite(self, file: Path, engine: Engine) -> None:
        plan = load_suite(locate(file.stem), engine.description, target="optional").plan
        cases = [
            with_published_sizes(Case.model_validate(case.model_dump()), plan.scale_down)
            for case in plan.cases
        ]
        # The native PVFS interface, and MPI-IO over it, are chosen with --set.
        cases += [other for case in cases if case.interface_name == "mpiio" for other in _over_pvfs(case)]
        for table in read(file).table:
            for row in table.rows:
                alone = table.model_copy(update={"rows": [row]})
                for operation in table.figures:
                    matching = [case for case in cases if alone.find(case, operation) is not None]
                    assert matching, (table.match, row)
                    together = table.quantity == "requests" and operation == "all"
                    assert together or all(operation in case.operations for case in matching)

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_each_ratio_is_of_two_cases_of_the_suite_with_the_same_work(
        self, file: Path, engine: Engine
    ) -> None:
        plan = load_suite(locate(file.stem), engine.description, target="optional").plan
        cases = [Case.model_validate(case.model_dump()) for case in plan.cases]
        for ratio in read(file).ratio:
            bases, others = list(filter(ratio.is_base, cases)), list(filter(ratio.is_other, cases))
            pairs = [
                (base, other)
                for base in bases
                for other in others
                if base.name == other.name and workload_key(base) == workload_key(other)
            ]
            assert pairs, ratio.what
            assert len({base.number for base, _ in pairs}) == len(bases), ratio.what
            assert set(ratio.operations) <= {"all", *pairs[0][0].operations}, ratio.what

    def test_the_slides_have_their_ratios(self) -> None:
        def published(suite: str) -> list[str]:
            return [ratio.published for ratio in reference(suite).ratio]

        assert "1.6 to 5.6, all ways" in published("btio-2003")
        assert set(published("noncontig-2003")) == {"at most 1.6"}
        assert published("ogr-2003") == ["2.1 to 2.3", "1.1"]

    def test_the_suites_have_the_ranges_of_their_sources(self, engine: Engine) -> None:
        def planned(name: str) -> list[Case]:
            cases = load_suite(locate(name), engine.description, target="optional").plan.cases
            return [Case.model_validate(case.model_dump()) for case in cases]

        paper = planned("pario-2015")
        assert {case.clients for case in paper} == {1, 2, 4, 8, 16}
        sizes = {case.pattern["block"] // MIB for case in paper if "block" in case.pattern}
        assert sizes == {1, 10, 100, 1024, 10240}
        column = planned("piobench-2006")
        assert {case.shape_name for case in column} == {each.pattern for each in SPATIAL}
        not_forced = {case.common_parameters["sync"] for case in [*column, *planned("thesis-2009")]}
        assert not_forced == {"none"}, "as PIObench without SyncWrites, and IOR without -e"

    def test_the_slides_have_requests_of_btio_and_no_rates(self) -> None:
        case = Case.model_validate(
            {
                "case": 1,
                "clients": 4,
                "interface": {"name": "listio", "calls": "sieve_reads"},
                "pattern": {"name": "btio", "class": "A", "dumps": 40},
                "operations": ["write", "read"],
            }
        )
        assert reference("btio-2003").requests(case) == 82040
        assert reference("btio-2003").figure_mb_s(case, "write") is None
        assert reference("thesis-2009").requests(case) is None

    @pytest.mark.parametrize(
        ("interface", "transfer", "operation", "figure"),
        [
            ({"name": "posix"}, 256 * MIB, "write", 356.51),
            ({"name": "mpiio", "prefix": ""}, 256 * MIB, "write", 728.543),
            ({"name": "mpiio", "prefix": "pvfs2:"}, 512 * MIB, "read", 576.533),
            ({"name": "mpiio", "prefix": "listio:"}, 512 * MIB, "read", 576.533),
            ({"name": "pvfs2"}, 128 * MIB, "read", 527.257),
            ({"name": "listio"}, 128 * MIB, "read", 527.257),
            ({"name": "posix"}, 1 * MIB, "write", None),
        ],
    )
    def test_the_thesis_has_means_of_three_runs(
        self, interface: dict[str, object], transfer: int, operation: str, figure: float | None
    ) -> None:
        found = reference("thesis-2009").figure_mb_s(
            case_of(interface, transfer, 6, block=4096 * MIB), operation
        )
        assert found == (pytest.approx(figure, abs=0.001) if figure else None)

    def test_a_smaller_run_stands_beside_the_sizes_that_it_stands_for(self) -> None:
        smaller = reference_of("thesis-2009", 64)
        assert smaller is not None
        case = case_of({"name": "posix"}, 4 * MIB, 6, block=64 * MIB)
        assert smaller.figure_mb_s(case, "write") == pytest.approx(356.51, abs=0.001)
        assert reference("thesis-2009").figure_mb_s(case, "write") is None
        assert "64 times smaller" in smaller.remark
        assert "smaller" not in reference("thesis-2009").remark

    def test_figures_of_the_thesis_are_named(self) -> None:
        assert reference("thesis-2009").figures_of("write", 4) == ["Figure 8", "Figure 12"]
        assert reference("thesis-2009").figures_of("read", 3) == []

    @pytest.mark.parametrize(
        ("name", "transfer", "key", "value", "clients", "operation", "figure"),
        [
            ("sequential", 512 * KIB, "block", 100 * MIB, 8, "write", 454.1),
            ("sequential", MIB, "block", 1024 * MIB, 16, "rewrite", 622.6),
            ("sequential", MIB, "block", MIB, 2, "read", 505.2),
            ("sequential", MIB, "block", 1024 * MIB, 8, "reread", 9028.2),
            ("strided", 512 * KIB, "count", 2, 16, "read", 25.9),
            ("strided", MIB, "count", 100, 4, "write", 600.1),
            ("backwards", MIB, "block", MIB, 2, "read", None),
            ("sequential", MIB, "block", MIB, 3, "read", None),
        ],
    )
    def test_the_paper_has_its_tables(
        self,
        name: str,
        transfer: int,
        key: str,
        value: int,
        clients: int,
        operation: str,
        figure: float | None,
    ) -> None:
        case = case_of({"name": "mpiio"}, transfer, clients, name, **{key: value})
        assert reference("pario-2015").figure_mb_s(case, operation) == figure


def _over_pvfs(case: Case) -> list[Case]:
    interfaces: list[dict[str, object]] = [{**case.interface, "prefix": "pvfs2:"}, {"name": "pvfs2"}]
    return [case.model_copy(update={"interface": interface}) for interface in interfaces]


class TestTheReport:
    @pytest.fixture
    def run(self, tmp_path: Path) -> Run:
        """A run of the thesis's suite with one case that has figures and one that has none."""
        specs = [
            CaseSpec(
                clients=6, pattern={"name": "segmented", "transfer": size, "block": 4096 * MIB, "segments": 1}
            )
            for size in (MIB, 64 * MIB)
        ]
        return load(RunBuilder(specs, suite="thesis-2009").write(tmp_path / "run"))

    def test_the_figures_are_beside_the_means_with_machine_and_year(self, run: Run, tmp_path: Path) -> None:
        html = write_html([run], tmp_path / "report.html").read_text()
        assert "published: ibmcluster, 2009" in html
        assert "<td>356</td>" in html, "the mean of the three runs"
        assert "MS thesis on PVFS2 over InfiniBand, tables 3 to 6" in html
        assert "Published: Figure 12: with 4 clients" in html

    def test_so_they_are_on_the_terminal(self, run: Run) -> None:
        text = printed(run, 140)
        assert "2009, MB/s" in text
        row = next(line for line in text.splitlines() if "64 MiB" in line and "write" in line)
        assert " 356 " in row

    def test_and_in_the_rows_of_json(self, run: Run) -> None:
        figures = [(row["transfer_bytes"], row["operation"], row["published_mb_s"]) for row in rows_of(run)]
        assert figures == [
            (MIB, "write", None), (MIB, "read", None),
            (64 * MIB, "write", pytest.approx(355.753, abs=0.001)),
            (64 * MIB, "read", pytest.approx(338.76, abs=0.001)),
        ]  # fmt: skip

    def test_a_pivoted_table_has_their_columns(self, tmp_path: Path) -> None:
        specs = [
            CaseSpec(clients=6, pattern={"name": "segmented", "transfer": size, "block": 4096 * MIB})
            for size in (*range(MIB, 40 * MIB, MIB), 64 * MIB)
        ]
        text = printed(load(RunBuilder(specs, suite="thesis-2009").write(tmp_path / "many")), 120)
        assert "Rate in MiB/s; published figures in MB/s" in text
        row = next(line for line in text.splitlines() if "64 MiB" in line)
        assert {"356", "339"} <= set(row.split())
        assert "published" in text.partition("64 MiB")[0]

    def test_a_pivoted_table_has_the_rate_without_opening(self, tmp_path: Path) -> None:
        """PIObench's 450 MB/s was shown with a rate that is mostly opening and closing."""
        specs = [
            CaseSpec(
                clients=16,
                name="simple strided",
                interface={"name": "mpiio"},
                pattern={"name": "strided", "transfer": size, "count": 64},
                operations=("write", "read"),
            )
            for size in range(4 * KIB, 140 * KIB, 4 * KIB)
        ]
        run = load(RunBuilder(specs, suite="piobench-2006").write(tmp_path / "many"))
        text = printed(run, 140)
        row = next(line for line in text.splitlines() if line.lstrip().startswith("64 KiB"))
        (own,) = (s for s in summarize(run) if s.case.transfer_bytes == 64 * KIB and s.operation == "write")
        access = reference("piobench-2006").comparable_mb_s(own)
        assert access
        assert [significant(access), "450"] == row.split()[3:5]
        assert "without open" in text

    def test_counts_are_beside_the_counters(self, tmp_path: Path) -> None:
        pattern = {"name": "segmented", "transfer": 256 * MIB, "block": 4096 * MIB}
        spec = CaseSpec(clients=6, pattern=pattern, counting_nodes=1)
        run = load(RunBuilder([spec], suite="thesis-2009").write(tmp_path / "run"))
        html = write_html([run], tmp_path / "report.html").read_text()
        assert "context switches,\npublished: ibmcluster, 2009" in html
        assert {"<td>133492</td>", "<td>35</td>", "<td>10</td>", "<td>244785626</td>"} <= set(
            re.findall(r"<td>\d+</td>", html)
        )

    def test_charts_have_them_as_bars_and_name_the_figure(self, run: Run, tmp_path: Path) -> None:
        html = write_html([run], tmp_path / "report.html").read_text()
        assert "write, 6 clients (published: Figure 10)" in html
        assert "read, 6 clients (published: Figure 11)" in html
        assert "Bars without a line: published, ibmcluster, 2009." in html
        assert html.count("posix, published") == 2, (
            "of 64 MiB in either chart; for 1 MiB nothing is published"
        )

    def test_a_run_of_another_suite_has_none(self, tmp_path: Path) -> None:
        run = load(RunBuilder([CaseSpec(clients=6)]).write(tmp_path / "run"))
        assert "published: " not in write_html([run], tmp_path / "report.html").read_text()
        assert all(row["published_mb_s"] is None for row in rows_of(run))


def test_rates_leave_out_opening_where_the_published_ones_do(tmp_path: Path) -> None:
    """PIObench times the requests alone."""
    run = load(RunBuilder([CaseSpec()]).write(tmp_path / "run"))
    summary = summarize(run)[0]
    access_s = [sample.access_s for sample in summary.samples]
    assert all(0 < each < s.elapsed_s for each, s in zip(access_s, summary.samples, strict=True))
    whole, access = (
        Reference(suite="s", machine="m", year=1, about="", source="", excludes_open=excludes)
        for excludes in (False, True)
    )
    rates = [s.bytes / MB / each for s, each in zip(summary.samples, access_s, strict=True)]
    assert access.comparable_mb_s(summary) == pytest.approx(geometric_mean(rates))
    assert summary.rate
    assert whole.comparable_mb_s(summary) == pytest.approx(summary.rate.centre * MIB / MB)
    assert "leave out the time to open and close files" in access.remark
    assert "leave out" not in whole.remark


HEAD = 'suite = "s"\nmachine = "m"\nyear = 2000\nabout = "a"\nsource = "s"\n'


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[[table]]\nkeys = ["transfer"]\nfigures = ["read"]\nrows = [["1MiB"]]',
            "a row has 1 columns and not 2",
        ),
        ('[[table]]\nfigurs = ["read"]\nrows = []', "table.0.figures"),
        ("[[table]\n", "Expected"),
    ],
)
def test_a_damaged_file_is_named(table: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(HEAD + table)
    with pytest.raises(StriderError, match=r"s\.toml: ") as caught:
        read(file)
    assert message in caught.value.message


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_sentence_on_figures_breaks_off(file: Path) -> None:
    assert read(file).about.split()[-1] not in {"about", "and", "is", "of", "with"}

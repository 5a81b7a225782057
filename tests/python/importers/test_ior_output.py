"""Results in IOR's forms: tables, JSON and CSV; numbers as IOR computes them; scripts of users read them."""

import json
import re
import shlex
from datetime import datetime
from pathlib import Path

import pytest

import printed_by_ior as readers
from strider.cli import main
from strider.engine import Engine
from strider.errors import StriderError
from strider.importers.ior import Surroundings, read_command, test_info
from strider.importers.ior.directives import add_directives
from strider.importers.ior.results import accesses, wall_of
from strider.importers.ior.workload import Workload
from strider.importers.options import Settings
from strider.store import Run, load
from strider.store.model import Deadline, RankRow, Sample
from strider.suite.mistakes import Mistakes

MIB = 1 << 20
TASKS = 2
ARGUMENTS = "-w -r -b 256k -t 64k -s 2 -i 2 -F -e -C"


def info(directives: str) -> test_info.TestInfo:
    """A test with some directives."""
    settings, mistakes = Settings("IOR"), Mistakes()
    add_directives(settings, f"writeFile=1, transferSize=1m, blockSize=4m, {directives}", 0, "", mistakes)
    mistakes.raise_if_any()
    return test_info.TestInfo(0, Workload(settings, Surroundings(TASKS)), [1])


def rank_row(
    rank: int, begin: float, opened: float, closing: float, end: float, requests: int = 4
) -> RankRow:
    return RankRow(
        case=1,
        repetition=0,
        operation="write",
        rank=rank,
        bytes=requests * MIB,
        requests=requests,
        start_s=begin,
        end_s=end,
        open_s=opened - begin,
        transfer_s=closing - opened,
        close_s=end - closing,
    )


def sample(elapsed_s: float, requests: int, **more: object) -> Sample:
    return Sample.model_validate(
        {
            "case": 1,
            "repetition": 0,
            "operation": "write",
            "measured": True,
            "valid": True,
            "clients": TASKS,
            "bytes": requests * MIB,
            "requests": requests,
            "start_s": 0.0,
            "elapsed_s": elapsed_s,
            "rate_mib_s": requests / elapsed_s,
            "open_s": 0.25,
            "transfer_s": 2.0,
            "sync_s": 0.5,
            "close_s": 0.125,
            **more,
        }
    )


def in_a_column(value: float) -> object:
    """Matches a number of the table: IOR prints no decimals of 3600 and more.

    Args:
        value: exact, in the column's unit.
    """
    return pytest.approx(value, abs=0.006 if value < 3600 else 0.51)


class TestNumbers:
    """Times run from the first task's begin to the last task's end of a step."""

    ROWS = (
        rank_row(0, begin=0.0, opened=1.0, closing=3.0, end=3.5),
        rank_row(1, begin=0.5, opened=2.0, closing=6.0, end=8.0),
    )

    def test_times_are_those_of_all_tasks_together(self) -> None:
        (found,) = accesses(info("fsync=1"), [sample(8.0, 8)], self.ROWS)
        assert (found.open_s, found.access_s, found.close_s, found.total_s) == (2.0, 5.0, 5.0, 8.0)

    def test_iops_are_all_transfers_by_the_time_of_transfers(self) -> None:
        (found,) = accesses(info("fsync=1"), [sample(8.0, 8)], self.ROWS)
        assert found.operations_s == 8 / 5.0
        assert found.total_operations_s == 8 / 8.0
        assert found.rate_mib_s == 8 / 8.0

    def test_latency_is_the_best_tasks_time_by_its_transfers(self) -> None:
        (found,) = accesses(info("fsync=1"), [sample(8.0, 8)], self.ROWS)
        assert found.latency_s == 2.0 / 4

    def test_old_runs_have_the_longest_times_of_a_task(self) -> None:
        rows = [row.model_copy(update={"open_s": float("nan")}) for row in self.ROWS]
        (found,) = accesses(info("fsync=1"), [sample(8.0, 8)], rows)
        assert (found.open_s, found.access_s, found.close_s) == (0.25, 2.5, 0.125)

    def test_the_wall_is_that_of_a_mean_task(self) -> None:
        deadline = Deadline(
            deadline_s=1,
            requests=6,
            bytes=6 * MIB,
            elapsed_s=1.5,
            rate_mib_s=4.0,
            wear_out_s=1,
            requests_per_rank_min=2,
            requests_per_rank_max=4,
        )
        test = info("deadlineForStonewalling=1, stoneWallingWearOut=1")
        found = list(accesses(test, [sample(8.0, 8, deadline=deadline.model_dump())], self.ROWS))
        wall = wall_of(test, found)
        assert wall is not None
        assert (wall.time_s, wall.rate_mib_s) == (1.5, 2.0)
        assert wall_of(info("deadlineForStonewalling=1"), found) is None

    @pytest.mark.parametrize(
        ("size", "text"),
        [
            (0, "0 bytes"),
            (65536, "65536 bytes"),
            (MIB, "1 MiB"),
            (MIB * 3 // 2, "1.50 MiB"),
            (5 << 30, "5 GiB"),
            (7 << 40, "7 TiB"),
            ((1 << 40) + (1 << 39), "1.50 TiB"),
        ],
    )
    def test_sizes_have_the_units_of_ior(self, size: int, text: str) -> None:
        assert test_info.human_readable(size) == text


@pytest.fixture(scope="module")
def run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A run, and the folder of its target."""
    base = tmp_path_factory.mktemp("ior")
    target = base / "target"
    target.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRIDER_STORE", str(base / "store"))
        words = shlex.split(f"{ARGUMENTS} -o {target}/file")
        assert main(["ior", "-n", str(TASKS), "--tasks-per-node", "1", "-q", "--", *words]) == 0
    (directory,) = (base / "store").glob("*-ior-*")
    return load(directory), target


def printed(run: tuple[Run, Path], options: str = "", tasks: int = TASKS) -> str:
    """The run's results in the form that further options request."""
    results, target = run
    words = shlex.split(f"{ARGUMENTS} -o {target}/file {options}")
    imported = read_command(words, Surroundings(tasks, 1))
    return "".join(f"{line}\n" for line in imported.render(results, {}))


class TestTables:
    def test_rows_have_the_widths_of_ior(self, run: tuple[Run, Path]) -> None:
        rows = [line for line in printed(run).splitlines() if re.match(r"(write|read) ", line)][:4]
        number = r"(?=[^ ])[0-9. ]{10}"
        sizes = r"256\.00     64\.00     "
        form = rf"(?:write|read) {{,6}}{number} {number} {number}  {sizes} (?:{number} ){{4}}[01]   "
        assert len(rows) == 4
        for row in rows:
            assert re.fullmatch(form, row)
            assert row.index("256.00") == 44

    def test_numbers_below_1_have_six_decimals_and_others_two(self, run: tuple[Run, Path]) -> None:
        for row in readers.table_rows(printed(run)):
            for cell in row.values():
                if "." in cell:
                    assert len(cell.partition(".")[2]) == (6 if float(cell) < 1 else 2)

    def test_options_have_ior_s_names_in_ior_s_order(self, run: tuple[Run, Path]) -> None:
        names = (
            "api, apiVersion, test filename, access, type, segments, ordering in a file, "
            "ordering inter file, task offset, nodes, tasks, clients per node, memoryBuffer, "
            "dataAccess, GPUDirect, repetitions, xfersize, blocksize, aggregate filesize"
        )
        output = printed(run)
        block = output[output.index("\nOptions: \n") : output.index("\nResults: \n")]
        assert [line[:20].strip() for line in block.strip().splitlines()[1:]] == names.split(", ")
        assert readers.head(output)["xfersize"] == "65536 bytes"
        assert readers.head(output)["Path"].endswith("/file.00000000")

    def test_the_summary_has_a_word_for_each_column(self, run: tuple[Run, Path]) -> None:
        rows = readers.summary_rows(printed(run))
        assert [row["Operation"] for row in rows] == ["write", "read"]
        assert all(None not in row and None not in row.values() for row in rows)
        expected = {"#Tasks": "2", "segcnt": "2", "blksiz": "262144", "xsize": "65536", "API": "POSIX"}
        assert {name: rows[0][name] for name in expected} == expected
        assert rows[0]["aggs(MiB)"] == "1.0"
        assert rows[0]["Stonewall(s)"] == "NA"

    def test_nothing_of_strider_s_own_is_between_the_lines_of_ior(self, run: tuple[Run, Path]) -> None:
        lines = printed(run).splitlines()
        assert lines[-1].startswith("Finished            : ")
        assert not re.search("trust|strider: ", printed(run), re.IGNORECASE)


def test_results_are_in_the_requested_files_and_grades_on_stderr(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
    target = tmp_path / "target"
    target.mkdir()
    summary, ranks = tmp_path / "summary.json", tmp_path / "ranks.csv"
    files = f"-O summaryFormat=JSON,summaryFile={summary} -O saveRankPerformanceDetailsCSV={ranks}"
    words = shlex.split(f"-w -b 128k -t 64k -o {target}/f {files}")
    assert main(["ior", "-n", "2", "-q", "--", *words]) == 0
    output = capfd.readouterr()
    assert output.out == f"Writing output to {summary}\n"
    assert re.search(r"^strider: trust: write: [ABCD]( .*)?$", output.err, re.M)
    assert json.loads(summary.read_text())["summary"][0]["operation"] == "write"
    check_rank_rows(ranks.read_text().splitlines())


def check_rank_rows(lines: list[str]) -> None:
    assert lines[0] == "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
    assert [line.split(",")[:2] for line in lines[1:]] == [["write", "0"], ["write", "1"]]
    for line in lines[1:]:
        with_open, without, slower, faster = map(float, line.split(",")[2:])
        assert 0 < without < with_open
        assert slower == pytest.approx(128 * 1024 / with_open)
        assert faster == pytest.approx(128 * 1024 / without)


class TestDataForms:
    def test_json_has_ior_s_names(self, run: tuple[Run, Path]) -> None:
        found = json.loads(printed(run, "-O summaryFormat=json"))
        assert list(found) == ["Version", "Began", "Command line", "Machine", "tests", "summary", "Finished"]
        (test,) = found["tests"]
        own = ["Parameters", "Options", "Results", "max"]
        assert list(test) == [
            "TestID", "StartTime", "Path", "Capacity", "Used Capacity", "Inodes", "Used Inodes", *own
        ]  # fmt: skip
        assert [(r["access"], r["blockKiB"], r["xferKiB"]) for r in test["Results"]] == [
            ("write", 256, 64), ("read", 256, 64)
        ] * 2  # fmt: skip
        assert test["Parameters"]["filePerProc"] == test["Parameters"]["fsync"] == 1
        assert test["Options"]["aggregate filesize"] == "1 MiB"
        for name in ("Began", "Finished"):
            assert datetime.strptime(found[name], "%a %b %d %H:%M:%S %Y")
        assert [s["bwMaxMIB"] for s in found["summary"]] == [test["max"]["writeMiB"], test["max"]["readMiB"]]

    def test_its_real_numbers_have_four_decimals_on_lines_of_their_own(self, run: tuple[Run, Path]) -> None:
        lines = printed(run, "-O summaryFormat=JSON").splitlines()
        assert any(re.fullmatch(r' *"bwMeanMIB": [0-9]+\.[0-9]{4}, ', line) for line in lines)

    def test_csv_has_a_line_for_each_access(self, run: tuple[Run, Path]) -> None:
        head, *rows = (line.split(",") for line in printed(run, "-O summaryFormat=CSV").splitlines())
        sizes, times = "block(KiB) xfer(KiB)", "open(s) wr/rd(s) close(s) total(s)"
        assert head == f"access bw(MiB/s) IOPS Latency {sizes} {times} numTasks iter".split()
        assert [(row[0], row[4], row[10], row[11]) for row in rows] == [
            (access, "256.0000", "2", iteration) for iteration in "01" for access in ("write", "read")
        ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-O summaryFormat=XML", 'summaryFormat=XML: "XML" is not a format: use default, JSON or CSV'),
        ("-O summaryFile={0}", "summaryFile={0}: {0} is a directory: name a file"),
        ("-O summaryFile={0}/no/f", "cannot write {0}/no/f: {0}/no does not exist"),
        ("-O saveRankPerformanceDetailsCSV={0}/no/f", "cannot write {0}/no/f: {0}/no does not exist"),
    ],
)
def test_output_that_cannot_be_written_is_refused_before_the_run(
    options: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(f"-o {tmp_path}/f {options.format(tmp_path)}")
    assert main(["ior", "-q", "--", *words]) != 0
    assert message.format(tmp_path) in capfd.readouterr().err


class TestScriptsOfUsers:
    """Each reads the output in its own way, and finds the same numbers."""

    @pytest.fixture
    def output(self, run: tuple[Run, Path]) -> str:
        return printed(run)

    @pytest.fixture
    def best(self, run: tuple[Run, Path]) -> dict[str, float]:
        """The highest rates of the run, MiB/s."""
        rates: dict[str, list[float]] = {}
        for one in run[0].samples:
            if one.measured:
                rates.setdefault(one.operation, []).append(one.bytes / MIB / one.elapsed_s)
        return {operation: max(values) for operation, values in rates.items()}

    def test_a_reframe_check_of_the_largest_rates(self, output: str, best: dict[str, float]) -> None:
        found = readers.reframe_rates(output)
        assert found == pytest.approx({"Write": best["write"], "Read": best["read"]}, abs=0.01)

    def test_a_parser_of_the_table_by_its_heading(self, output: str, best: dict[str, float]) -> None:
        rows = readers.table_rows(output)
        assert [(row["access"], row["iter"]) for row in rows] == [
            ("write", "0"), ("read", "0"), ("write", "1"), ("read", "1")
        ]  # fmt: skip
        largest = max(float(row["bw(MiB/s)"]) for row in rows if row["access"] == "write")
        assert largest == in_a_column(best["write"])

    def test_a_parser_of_the_summary_as_a_table(self, output: str, best: dict[str, float]) -> None:
        write, read = readers.summary_rows(output)
        assert float(write["Max(MiB)"]) == pytest.approx(best["write"], abs=0.01)
        assert float(read["Max(OPs)"]) == pytest.approx(best["read"] * 16, rel=1e-3)

    def test_a_parser_of_version_sizes_and_times(self, output: str) -> None:
        assert (readers.version(output) or "").startswith("4.1.0")
        pairs = readers.head(output)
        number, unit = pairs["aggregate filesize"].split()
        assert (float(number), unit) == (1.0, "MiB")
        for name in ("Began", "StartTime", "Finished"):
            assert datetime.strptime(pairs[name].strip(), "%a %b %d %H:%M:%S %Y")

    @pytest.mark.parametrize(
        ("script", "operation"),
        [
            ("grep '^Max Write' | awk '{print $3}'", "write"),
            ("sed -n '/^Summary of all tests/,$p' | awk '$1 == \"read\" {print $2}'", "read"),
            ("grep POSIX | grep ^write | tr -s ' ' | cut -d' ' -f2", "write"),
            ("awk '/^access/ {t = 1} /^Max/ {t = 0} t && /^read/ {print $2}' | sort -n | tail -1", "read"),
        ],
    )
    def test_a_shell_script_of_the_rates(
        self, script: str, operation: str, output: str, best: dict[str, float]
    ) -> None:
        assert float(readers.shell(script, output)) == in_a_column(best[operation])


def test_the_numbers_of_a_run_follow_from_its_events(run: tuple[Run, Path]) -> None:
    results, _ = run
    lines = (results.directory / "events.jsonl").read_text().splitlines()
    ranks = [
        event
        for event in map(json.loads, lines)
        if event["event"] == "rank" and event["operation"] == "write"
    ]
    first = [event for event in ranks if event["repetition"] == 0]
    begin = min(event["start_s"] + event["open_s"] for event in first)
    end = max(event["end_s"] - event["close_s"] for event in first)
    row = readers.table_rows(printed(run))[0]
    assert float(row["wr/rd(s)"]) == pytest.approx(end - begin, abs=1e-6)
    assert float(row["IOPS"]) == pytest.approx(16 / (end - begin), rel=1e-3, abs=0.01)


def test_an_unknown_form_is_refused_in_a_script_too(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("IOR START\nsummaryFormat=YAML\nRUN\nIOR STOP\n")
    with pytest.raises(StriderError, match=r'script:2: "YAML" is not a format'):
        read_command(["-f", str(script)], Surroundings(1))

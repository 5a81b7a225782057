"""The command line as a user types it."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import strider
from strider.cli import app, main
from strider.cli.reference import SMALLEST_SUITE
from strider.engine import Engine
from strider.running.performing import last_lines
from strider.statistics.grades import GRADES, REASONS, plain

SUITE = """\
[suite]
name = "trial"
clients = [1, 2]
repetitions = 2
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A small suite without a target."""
    path = tmp_path / "trial.toml"
    path.write_text(SUITE, encoding="utf-8")
    return str(path)


@pytest.fixture
def target(tmp_path: Path) -> str:
    """An empty directory to measure."""
    path = tmp_path / "target"
    path.mkdir()
    return str(path)


@pytest.fixture(scope="module")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run, for all tests of finished runs."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "trial.toml").write_text(SUITE, encoding="utf-8")
    (folder / "target").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRIDER_STORE", str(folder / "store"))
        assert main(["run", str(folder / "trial.toml"), "--target", str(folder / "target"), "--quiet"]) == 0
    return folder / "store"


class TestTheProgram:
    def test_help_names_every_verb(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == 0
        shown = capfd.readouterr().out
        for verb in (
            "quick",
            "run",
            "plan",
            "list",
            "show",
            "report",
            "export",
            "describe",
            "doctor",
            "ior",
            "piobench",
            "convert",
        ):
            assert f"\n  {verb} " in shown

    @pytest.mark.parametrize("verb", sorted(str(command.name) for command in app.registered_commands))
    def test_every_verb_has_help(self, verb: str, capfd: pytest.CaptureFixture[str]) -> None:
        assert main([verb, "--help"]) == 0
        assert "Usage:" in capfd.readouterr().out

    def test_the_version_is_that_of_the_package(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["--version"]) == 0
        assert capfd.readouterr().out == f"strider {strider.__version__}\n"

    @pytest.mark.parametrize(
        "words", [["quik"], ["plan"], ["plan", "s.toml", "--rank", "x"], ["run", "--fast"]]
    )
    def test_a_wrong_command_line_is_bad_input(
        self, words: list[str], capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(words) == 2
        assert capfd.readouterr().err

    def test_help_loads_nothing_that_takes_long(self) -> None:
        code = (
            "import sys; from strider.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
        )
        slow = {"altair", "duckdb", "jinja2", "numpy", "pydantic", "scipy", "tree_sitter"}
        assert slow & set(done.stderr.split()) == set()

    def test_the_module_is_the_program(self) -> None:
        command = [sys.executable, "-m", "strider", "--version"]
        assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment()).stdout

    def test_a_reader_that_has_had_enough_is_no_error(self, engine: Engine) -> None:
        command = f"{sys.executable} -m strider plan thesis-2009 --json | head -n 1"
        script = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def environment() -> dict[str, str]:
    """The environment for another process that is to find this package."""
    return {**os.environ, "PYTHONPATH": str(Path(strider.__file__).parents[1])}


@pytest.mark.usefixtures("engine")
class TestPlan:
    def test_the_table_has_a_row_for_each_case_and_the_totals(
        self, suite: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "--assume-rate", "1MiB"]) == 0
        shown = capfd.readouterr().out
        assert "transfer 64 KiB" in shown
        assert "2 cases, 8 phases on 2 ranks, 3 MiB transferred in total" in shown
        assert "needs 512 KiB and 1 file in" in shown
        assert "takes about 11 s, if the target transfers 1 MiB/s" in shown

    def test_a_probe_finds_the_rates_of_the_target(
        self, suite: str, target: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "--target", target, "--probe"]) == 0
        last = capfd.readouterr().out.splitlines()[-1]
        assert re.search(r"^takes about .* \(.* to .*\); a probe writes .*/s, reads .*/s", last)
        assert not list(Path(target).iterdir())

    def test_a_probe_needs_a_target(self, suite: str, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["plan", suite, "--probe"]) == 2
        assert "--probe needs a directory: name it with --target DIR" in capfd.readouterr().err

    def test_one_case_shows_all_its_columns(self, suite: str, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["plan", suite, "-n", "1"]) == 0
        header = capfd.readouterr().out.splitlines()[1].split()
        assert header[:6] == ["case", "interface", "pattern", "transfer", "block", "clients"]

    def test_cases_that_differ_in_the_pattern_alone_do_not_look_alike(
        self, suite: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "-n", "1", "--set", "case.block=1MiB,64KiB"]) == 0
        rows = [line.split() for line in capfd.readouterr().out.splitlines()[2:6]]
        assert (rows[0], rows[2][1:3], rows[3][1:3]) == (
            ["case", "block", "data", "per", "repetition"],
            ["1", "MiB"],
            ["64", "KiB"],
        )

    def test_a_thousand_cases_have_a_thousand_rows(
        self, suite: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        sizes = ",".join(str(size) for size in range(1, 501))
        assert main(["plan", suite, "--set", f"case.transfer={sizes}"]) == 0
        lines = capfd.readouterr().out.splitlines()
        assert any(line.startswith("1000 ") for line in lines)
        assert "1000 cases" in lines[-3]

    def test_options_that_are_not_the_default_are_shown(
        self, suite: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "--set", "case.posix.direct=true", "--set", "case.verify=full"]) == 0
        shown = capfd.readouterr().out
        assert "posix direct" in shown
        assert "verify=full" in shown

    def test_times_have_units_and_bytes_say_of_what(
        self, suite: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "--set", "case.deadline=500ms"]) == 0
        shown = " ".join(capfd.readouterr().out.split())
        assert "deadline=0.5 s" in shown
        assert "data per repetition" in shown

    def test_json_is_the_engines_input(
        self, suite: str, engine: Engine, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, "--json"]) == 0
        text = capfd.readouterr().out
        assert json.loads(text)["format"] == "strider-plan"
        assert len(engine.check(text).cases) == 2

    @pytest.mark.parametrize("rank", range(4))
    def test_extents_of_a_strided_case_equal_the_formula(
        self, suite: str, rank: int, capfd: pytest.CaptureFixture[str]
    ) -> None:
        transfer, count, ranks = 65536, 5, 4
        settings = ["case.pattern=strided", f"case.count={count}"]
        words = [word for setting in settings for word in ("--set", setting)]
        assert main(["plan", suite, "-n", str(ranks), *words, "--extents", "1", "--rank", str(rank)]) == 0
        lines = [line for line in capfd.readouterr().out.splitlines() if not line.startswith("#")]
        offsets = [int(row["file_offset"]) for row in csv.DictReader(io.StringIO("\n".join(lines)))]
        assert offsets == [k * ranks * transfer + rank * transfer for k in range(count)]

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--extents", "3"], "--extents 3: the plan has cases 1 to 2"),
            (["--extents", "1", "--rank", "1"], "--rank 1: case 1 has ranks 0 to 0"),
            (["--assume-rate", "fast"], '--assume-rate: "fast" is not a size'),
            (["--assume-rate", "0"], "--assume-rate must be more than 0"),
            (["--set", "case.pattern=stided"], 'unknown pattern "stided": did you mean "strided"?'),
            (["--set", "case.transfer=1MiB"], "transfer is larger than block"),
        ],
    )
    def test_bad_input_gets_a_message_and_exit_code_2(
        self, suite: str, words: list[str], says: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", suite, *words]) == 2
        captured = capfd.readouterr()
        assert captured.err.startswith("strider: ")
        assert says in captured.err
        assert captured.out == ""

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("thesis-2008", 'did you mean "thesis-2009"?'),
            ("zzz.toml", "suite file zzz.toml does not exist"),
            ("/", "is a directory, not a suite file: to measure it, use strider quick /"),
        ],
    )
    def test_for_a_missing_suite_those_available_are_listed(
        self, name: str, says: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["plan", name]) == 2
        assert says in capfd.readouterr().err


@pytest.mark.usefixtures("engine")
class TestRun:
    @pytest.mark.usefixtures("whole_runs")
    def test_a_run_ends_with_a_table_and_says_where_everything_is(
        self, suite: str, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", suite, "--target", target, "--quiet"]) == 0
        captured = capfd.readouterr()
        assert "posix" in captured.out
        (directory,) = store.iterdir()
        assert f"run: {directory}" in captured.err
        assert f"report: {directory}/report.html" in captured.err
        assert (directory / "samples.parquet").exists()
        assert list(Path(target).iterdir()) == []

    def test_a_report_that_was_not_asked_for_is_written_later(
        self, suite: str, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", suite, "--target", target, "--quiet", "--no-report"]) == 0
        (directory,) = store.iterdir()
        assert "report.html" not in capfd.readouterr().err
        assert not [*directory.glob("*.parquet"), *directory.glob("report.html")]
        assert main(["report", str(directory)]) == 0
        assert (directory / "report.html").is_file()

    def test_a_run_names_the_command_that_compares_the_values_of_a_key(
        self, suite: str, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", suite, "--target", target, "--quiet", "--set", "case.transfer=64KiB,128KiB"]) == 0
        last = capfd.readouterr().out.splitlines()[-1]
        assert main(last.removeprefix("to compare: strider ").split()) == 0

    def test_json_is_all_that_is_printed(
        self, suite: str, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", suite, "--target", target, "--quiet", "--json"]) == 0
        document = json.loads(capfd.readouterr().out)
        assert (document["status"], document["exit_code"]) == ("complete", 0)
        assert {(row["clients"], row["operation"]) for row in document["results"]} == {
            (clients, operation) for clients in (1, 2) for operation in ("write", "read")
        }

    def test_a_suite_without_a_target_needs_one(self, suite: str, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["run", suite]) == 2
        assert "there is no target directory" in capfd.readouterr().err

    def test_a_directory_that_is_not_there_is_bad_input(
        self, tmp_path: Path, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["quick", str(tmp_path / "missing")]) == 2
        assert "create it with mkdir -p" in capfd.readouterr().err
        assert not store.exists()

    def test_the_input_of_ior_is_run_and_leaves_the_directory_empty(
        self, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        words = ["-a", "POSIX", "-t", "64k", "-b", "64k", "-w", "-r", "-o", f"{target}/file"]
        assert main(["ior", "--quiet", "--", *words]) == 0
        shown = capfd.readouterr().out
        assert "Max Write: " in shown
        assert "Max Read: " in shown
        assert list(Path(target).iterdir()) == []
        (run,) = (entry for entry in store.iterdir() if entry.is_dir())
        assert json.loads((run / "plan.json").read_text(encoding="utf-8"))["target"] == target

    def test_the_end_of_a_log_is_shown_without_the_banner_of_mpich(self, tmp_path: Path) -> None:
        log = tmp_path / "engine.log"
        log.write_text(f"rank 1: cannot open the file\n{'=' * 40}\n\n=   BAD TERMINATION\n", encoding="utf-8")
        assert last_lines(log) == ["rank 1: cannot open the file"]

    def test_an_unknown_launcher_is_bad_input(
        self, suite: str, target: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", suite, "--target", target, "--launcher", "mpixec"]) == 2
        assert 'unknown launcher "mpixec"' in capfd.readouterr().err


def test_without_an_engine_nothing_can_run(
    suite: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", "/nowhere/strider-engine")
    assert main(["plan", suite]) == 3
    assert "is not an executable file" in capfd.readouterr().err


@pytest.mark.usefixtures("engine")
class TestRuns:
    @pytest.fixture
    def measured(self, measured_once: Path, store: Path) -> Path:
        """The directory of a run in a store of the test's own."""
        shutil.copytree(measured_once, store)
        return next(store.iterdir())

    def test_list_names_the_runs(self, measured: Path, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["list"]) == 0
        assert measured.name in capfd.readouterr().out

    @pytest.mark.parametrize("columns", ["40", "80", "120"])
    def test_ids_in_a_list_can_be_copied_whole(
        self, measured: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], columns: str
    ) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["list"]) == 0
        shown = capfd.readouterr().out
        assert measured.name in shown
        assert "…" not in shown

    def test_list_as_json(self, measured: Path, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["list", "--json"]) == 0
        (row,) = json.loads(capfd.readouterr().out)
        assert (row["run"], row["status"], row["directory"]) == (measured.name, "complete", str(measured))

    @pytest.mark.parametrize("name", ["latest", "path", "id", "beginning"])
    def test_show_takes_any_name_of_a_run(
        self, measured: Path, name: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        names = {"path": str(measured), "id": measured.name, "beginning": measured.name[:12]}
        assert main(["show", names.get(name, name)]) == 0
        shown = capfd.readouterr().out
        assert shown.startswith(f"{measured.name}: complete, ")
        assert "write" in shown

    def test_show_as_json(self, measured: Path, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["show", "latest", "--json"]) == 0
        assert len(json.loads(capfd.readouterr().out)["results"]) == 4

    def test_a_report_can_be_drawn_again_elsewhere(
        self, measured: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["report", "latest", "-o", str(tmp_path / "again.html")]) == 0
        assert capfd.readouterr().out == f"{tmp_path / 'again.html'}\n"
        assert "<html" in (tmp_path / "again.html").read_text(encoding="utf-8")

    def test_figures_and_tables_become_files(
        self, measured: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        figures, tables = tmp_path / "figures", tmp_path / "tables"
        where = ["-o", str(tmp_path / "again.html"), "--figures", str(figures), "--tables", str(tables)]
        assert main(["report", "latest", *where, "--format", "svg,pdf"]) == 0
        said = capfd.readouterr().out.splitlines()
        drawn = list(figures.iterdir())
        assert {file.suffix for file in drawn} == {".svg", ".pdf"}
        assert said[1:] == [
            f"{figures}: {len(drawn)} files of figures",
            f"{tables}: {len(list(tables.iterdir()))} files of tables",
        ]
        assert "rates.csv" in {file.name for file in tables.iterdir()}

    def test_a_format_of_figures_that_is_none_is_bad_input(
        self, measured: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["report", "latest", "--figures", str(tmp_path / "f"), "--format", "svg,gif"]) == 2
        assert '--format: unknown format "gif": use svg, png, pdf' in capfd.readouterr().err
        assert not (tmp_path / "f").exists()

    def test_export_prints_a_row_for_each_sample(
        self, measured: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["export", "latest", "--format", "csv"]) == 0
        rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
        assert len(rows) == 8
        assert "rate_mib_s" in rows[0]

    def test_export_writes_parquet(self, measured: Path, tmp_path: Path) -> None:
        assert (
            main(["export", "latest", "-f", "parquet", "-o", str(tmp_path / "x.parquet"), "--rows", "ranks"])
            == 0
        )
        assert (tmp_path / "x.parquet").read_bytes().startswith(b"PAR1")

    def test_a_run_that_is_not_there_is_bad_input(
        self, measured: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["show", "yesterday"]) == 2
        assert 'no run "yesterday"' in capfd.readouterr().err


def test_an_empty_store_is_no_error(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "no runs in" in captured.err


@pytest.mark.usefixtures("engine")
class TestDescribe:
    def test_the_overview_names_everything(self, engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe"]) == 0
        shown = capfd.readouterr().out
        described = engine.description
        names = [entry.name for entry in described.interfaces]
        names += [entry.name for entry in described.patterns]
        names += [entry.name for entry in described.operations]
        names += [entry.name for entry in described.case]
        for name in names:
            assert f"  {name} " in shown

    @pytest.mark.parametrize(
        ("name", "said"), [("posix", "pread"), ("strided", "offset(k)"), ("clients", "Ranks")]
    )
    def test_a_name_alone_is_found_in_its_topic(
        self, capfd: pytest.CaptureFixture[str], name: str, said: str
    ) -> None:
        assert main(["describe", name]) == 0
        assert said in capfd.readouterr().out

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["posx"], 'unknown topic or name "posx": did you mean "posix"?'),
            (["depht", "posix"], 'unknown topic "depht": choose one of interfaces, patterns'),
            (["stripes"], 'unknown topic or name "stripes"'),
            (["piece"], "piece is a parameter of vector"),
        ],
    )
    def test_an_unknown_name_is_refused_with_the_near_one_or_its_owners(
        self, capfd: pytest.CaptureFixture[str], words: list[str], said: str
    ) -> None:
        assert main(["describe", *words]) == 2
        assert said in capfd.readouterr().err

    def test_the_keys_of_the_whole_run_are_a_topic(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", "suite", "--json"]) == 0
        assert "time_limit" in [entry["name"] for entry in json.loads(capfd.readouterr().out)]
        assert main(["describe", "time_limit"]) == 0
        assert "Time limit of the run" in capfd.readouterr().out

    def test_the_smallest_suite_can_be_run(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(SMALLEST_SUITE, encoding="utf-8")
        assert main(["describe"]) == 0
        shown = capfd.readouterr().out
        assert all(line in shown for line in SMALLEST_SUITE.splitlines())
        assert main(["plan", str(file)]) == 0

    def test_a_pattern_is_described_with_its_formula_and_parameters(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["describe", "patterns", "strided"]) == 0
        shown = capfd.readouterr().out
        assert "offset(k)" in shown
        assert "transfer" in shown
        assert "segmented" not in shown

    @pytest.mark.parametrize("topic", ["interfaces", "patterns", "operations", "case", "suites", "trust"])
    def test_each_topic_can_be_had_whole(self, topic: str, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", topic]) == 0
        text = capfd.readouterr().out
        assert main(["describe", topic, "--json"]) == 0
        for entry in json.loads(capfd.readouterr().out):
            assert entry["name"] in text

    def test_trust_lists_each_grade_with_its_needs_and_each_reason_with_its_remedy_in_80_columns(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["describe", "trust"]) == 0
        shown = capfd.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80
        words = " ".join(shown.split())
        for grade in GRADES:
            assert f"{grade.name} {plain(grade.meaning)}" in words
            assert all(plain(f"- {one.criterion}: {one.need}") in words for one in grade.needs)
        for reason in REASONS:
            assert plain(f"{reason.name} {reason.grades}: {reason.meaning} {reason.remedy}") in words

    @pytest.mark.parametrize("words", [["trust", "source?"], ["source?"], ["trust", "cache"]])
    def test_a_reason_beside_a_grade_can_be_looked_up(
        self, words: list[str], capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["describe", *words]) == 0
        shown = capfd.readouterr().out
        assert "direct I/O" in shown
        assert "spread" not in shown

    @pytest.mark.parametrize(("pattern", "key"), [("segmented", "block"), ("random", "size")])
    def test_a_size_that_strider_can_choose_lists_the_words_for_it(
        self, pattern: str, key: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["describe", "patterns", pattern]) == 0
        shown = capfd.readouterr().out
        (row,) = (line for line in shown.splitlines() if line.startswith(f"  {key}  "))
        words = " ".join(shown[shown.index(row) :].split())
        assert '"auto"' in row
        assert '"beyond-memory"' in words
        (other,) = (line for line in shown.splitlines() if line.startswith("  transfer  "))
        assert "auto" not in other

    @pytest.mark.parametrize(
        ("operation", "key", "values"),
        [
            ("read-write", "read_share", "number, up to 99"),
            ("small-write", "file_size", "size"),
            ("mix", "mix", "operations with weights"),
        ],
    )
    def test_an_operation_has_the_keys_that_it_needs_with_range_and_meaning(
        self,
        operation: str,
        key: str,
        values: str,
        engine: Engine,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        assert main(["describe", "operations", operation]) == 0
        shown = capfd.readouterr().out
        (row,) = (line for line in shown.splitlines() if line.startswith(f"  {key}  "))
        words = " ".join(shown.split())
        described = engine.description
        known = [*described.case, *described.tree_case, *described.trees[0].parameters]
        meaning = next(one.doc for one in known if one.name == key)
        assert values in row
        assert set(meaning.split()) <= set(words.split())

    def test_an_operation_without_keys_has_no_table(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", "operations", "rewrite"]) == 0
        assert (
            " ".join(capfd.readouterr().out.split())
            == "rewrite Write the same bytes of an existing file again."
        )

    def test_values_have_both_ends_of_their_range(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", "case", "depth"]) == 0
        assert "number, 1 to 65536" in capfd.readouterr().out

    def test_one_entry_as_json(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", "interfaces", "posix", "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["name"] == "posix"

    def test_for_an_unknown_name_those_available_are_listed(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["describe", "patterns", "stided"]) == 2
        assert 'unknown pattern "stided": did you mean "strided"?' in capfd.readouterr().err

    @pytest.mark.parametrize(
        ("topic", "name", "key", "default"),
        [("interfaces", "mpiio", "mpiio.hints", "none"), ("interfaces", "posix", "posix.direct", "false")],
    )
    def test_the_default_of_a_parameter_is_readable(
        self, topic: str, name: str, key: str, default: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["describe", topic, name]) == 0
        (row,) = (line for line in capfd.readouterr().out.splitlines() if line.split()[:1] == [key])
        assert default in row.split()

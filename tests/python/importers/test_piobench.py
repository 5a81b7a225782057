"""PIObench's configurations: the listing of 2006 runs as it stands, and errors in one are named."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine, Json
from strider.errors import StriderError
from strider.importers import Imported
from strider.importers.piobench import read
from strider.importers.piobench.modules import SPATIAL, TEMPORAL
from strider.suite import CheckedPlan

LISTING_ONE = """\
# Example configuration file for PIObench
TestFile     "/mnt/pvfs/file_under_test"

             ModuleName "Simple Strided(write)"
             ModuleReps 100
             ModuleSettleTime 30



             ModuleName "Nested Strided(re-write)"
             ModuleReps 50
             ModuleSettleTime 10
"""
"""The listing of the column of 2006, in the text of which the tags of the sections are lost."""

TAGGED = """\
TestFile "/data/f"          # the folder is measured
showaverage ON
SyncWrites  yes

<ap_module>
    ModuleName "Simple Strided (read-modify-write)"
    BufferSize 64k
    WorkUnits  \\
               128
</ap_module>
<AccessPattern>
    ModuleName 'segmented (READ)'
    BufferSize 1m
    WorkUnits 4
</AccessPattern>
"""


def cases(text: str) -> list[dict[str, Json]]:
    return list(read(text, "pio-bench.conf").document.data["case"])


def has(engine: Engine, pattern: str) -> bool:
    return any(known.name == pattern for known in engine.description.patterns)


class TestTheLanguage:
    def test_a_new_name_begins_a_module_where_the_tags_are_lost(self) -> None:
        assert [(c["name"], c["repetitions"], c["settle"]) for c in cases(LISTING_ONE)] == [
            ("Simple Strided (write)", 100, 30.0),
            ("Nested Strided (re-write)", 50, 10.0),
        ]

    def test_tags_comments_quotes_and_continued_lines(self) -> None:
        first, second = cases(TAGGED)
        assert (first["pattern"], first["transfer"], first["count"]) == ("strided", "64KiB", 128)
        assert (second["pattern"], second["transfer"], second["block"]) == ("segmented", "1MiB", "4MiB")

    def test_the_folder_of_the_test_file_is_the_target(self) -> None:
        assert read(LISTING_ONE, "f").document.data["suite"]["target"] == "/mnt/pvfs"

    def test_modules_are_run_one_after_the_other(self) -> None:
        assert read(LISTING_ONE, "f").document.data["suite"]["interleave"] == "none"

    def test_writes_are_synchronised_where_it_says_so(self) -> None:
        assert {case["sync"] for case in cases(TAGGED)} == {"end"}
        assert {case["sync"] for case in cases(LISTING_ONE)} == {"none"}

    def test_the_same_module_twice_is_two_cases(self) -> None:
        module = '<ap_module>\nModuleName "Tiled (write)"\n</ap_module>\n'
        assert [c["name"] for c in cases('TestFile "/d/f"\n' + 3 * module)] == [
            "Tiled (write)", "Tiled (write) #2", "Tiled (write) #3"
        ]  # fmt: skip


class TestTheModules:
    @pytest.mark.parametrize(
        ("name", "operations"),
        [
            ("(write)", ["write"]),
            ("(read)", ["read"]),
            (" (re-read)", ["read", "reread"]),
            (" (re-write)", ["rewrite"]),
            (" (ReWrite)", ["rewrite"]),
            ("(read-modify-write)", ["read-modify-write"]),
        ],
    )
    def test_the_temporal_pattern_is_in_brackets(self, name: str, operations: list[str]) -> None:
        assert cases(f'TestFile "/d/f"\nModuleName "simple strided{name}"')[0]["operations"] == operations

    @pytest.mark.parametrize(
        ("directives", "keys"),
        [
            ('"Random Strided (read)"\nBufferSize 4k\nWorkUnits 8\nSeed 3',
             {"pattern": "random-strided", "transfer": "4KiB", "count": 8, "seed": 3}),
            ('"Sequential Access (read)"\nBufferSize 4k\nWorkUnits 8',
             {"pattern": "sequential", "transfer": "4KiB", "size": "32KiB"}),
            ('"Nested Strided (read)"\nLevel 16 1m\nLevel 8 4k',
             {"pattern": "nested-strided", "levels": [[16, 1 << 20], [8, 4096]]}),
            ('"Nested Strided (read)"\nWorkUnits 24\nBufferSize 4k', {"levels": [[6, "32KiB"], [4, "4KiB"]]}),
            ('"Tiled (read)"\nTilesX 2\nTilesY 2\nBufferSize 8k\nWorkUnits 32\nOverlapX 4',
             {"pattern": "tiled", "tiles_x": 2, "tile_x": 1024, "tile_y": 32, "overlap_x": 4}),
            ('"FLASH I/O (write)"\nBlocks 10\nVariables 4',
             {"pattern": "flash", "blocks": 10, "variables": 4}),
            ('"Unstructured Mesh (read)"\nVertices 1000\nValuesPerRecord 5',
             {"pattern": "unstructured-mesh", "vertices": 1000, "values_per_record": 5}),
        ],
    )  # fmt: skip
    def test_directives_become_parameters(self, directives: str, keys: dict[str, Json]) -> None:
        found = cases(f'TestFile "/d/f"\nModuleName {directives}')[0]
        assert {key: found.get(key) for key in keys} == keys

    @pytest.mark.parametrize(
        ("spatial", "temporal"), list(itertools.product(SPATIAL, TEMPORAL)), ids=lambda entry: entry.name
    )
    def test_every_module_is_one_that_the_engine_can_run(
        self, spatial: object, temporal: object, engine: Engine, plan_of: Callable[[Imported], CheckedPlan]
    ) -> None:
        assert isinstance(spatial, type(SPATIAL[0]))
        assert isinstance(temporal, type(TEMPORAL[0]))
        if not has(engine, spatial.pattern):
            pytest.skip(f"this engine has no pattern {spatial.pattern}")
        text = f'TestFile "/d/f"\nModuleName "{spatial.name} ({temporal.name})"\n'
        plan = plan_of(read(text, "pio-bench.conf", clients=[1, 4]))
        assert plan.cases[0][1].phases[-1].operation == temporal.operations[-1]
        assert plan.cases[0][1].phases[-1].bytes > 0

    def test_strides_that_depend_on_the_clients_are_paired_with_them(
        self, plan_of: Callable[[Imported], CheckedPlan], engine: Engine
    ) -> None:
        if not has(engine, "nested-strided"):
            pytest.skip("this engine has no pattern nested-strided")
        text = GLOBAL + 'ModuleName "Nested Strided (read)"\nWorkUnits 16\nBufferSize 4k\n'
        cases = plan_of(read(text, "f", [2, 3])).suite.plan.cases
        assert [(case.clients, case.pattern["levels"]) for case in cases] == [
            (clients, [[4, 8 * clients * 4096], [4, clients * 4096]]) for clients in (2, 3)
        ]


GLOBAL = 'TestFile "/data/f"\n'
MODULE = 'ModuleName "Simple Strided (write)"\n'
MISTAKES = {
    "an unknown directive": (
        'TestFil "/data/f"\n' + MODULE,
        1,
        'unknown directive "TestFil": did you mean "TestFile"?',
    ),
    "an unknown directive of a module": (GLOBAL + MODULE + "BuferSize 4k", 3, 'did you mean "BufferSize"?'),
    "no file": (MODULE, 1, 'there is no TestFile: add TestFile "/mnt/pvfs/file_under_test" at the top'),
    "a directory instead of a file": (
        'TestFile "/data/"\n' + MODULE,
        1,
        '"/data/" is a directory: name a file in it',
    ),
    "no module": (GLOBAL, 1, 'the file has no module: add ModuleName "Simple Strided (write)"'),
    "a module without a name": (
        GLOBAL + "<ap_module>\nModuleReps 3\n</ap_module>",
        2,
        "the module has no name",
    ),
    "an unknown pattern": (
        GLOBAL + 'ModuleName "Simple Stridded (write)"',
        2,
        'did you mean "Simple Strided"?',
    ),
    "an unknown operation": (GLOBAL + 'ModuleName "Simple Strided (re-wite)"', 2, 'did you mean "re-write"?'),
    "no operation": (
        GLOBAL + 'ModuleName "Simple Strided"',
        2,
        "is not a pattern with an operation in brackets",
    ),
    "no value": (
        GLOBAL + MODULE + "ModuleReps",
        3,
        "ModuleReps has no value: write the value after the name",
    ),
    "an equals sign": (GLOBAL + MODULE + "ModuleReps = 3", 3, "directive and its value: write ModuleReps 3"),
    "a quote without an end": ('TestFile "/data/f\n' + MODULE, 1, "a quote is not closed"),
    "a word for a number": (
        GLOBAL + MODULE + "ModuleReps many",
        3,
        'ModuleReps: "many" is not a whole number',
    ),
    "no repetitions": (GLOBAL + MODULE + "ModuleReps 0", 3, 'ModuleReps: "0" is too small: at least 1'),
    "a negative time": (GLOBAL + MODULE + "ModuleSettleTime -3", 3, 'ModuleSettleTime: "-3" is not a time'),
    "a wrong size": (GLOBAL + MODULE + "BufferSize 4q", 3, 'BufferSize: "4q" is not a size'),
    "a wrong switch": (
        "ShowAverage onn\n" + GLOBAL + MODULE,
        1,
        'ShowAverage: "onn" is not a switch: did you mean "on"?',
    ),
    "a section without an end": (
        GLOBAL + "<ap_module>\n" + MODULE,
        2,
        "has no end: add </ap_module> after it",
    ),
    "a section in a section": (
        GLOBAL + "<ap_module>\n" + MODULE + "<ap_module>\n" + MODULE + "</ap_module>",
        4,
        "the section that begins in line 2 has no end: put </ap_module> before this one",
    ),
    "an end without a beginning": (GLOBAL + MODULE + "</ap_module>", 3, "</ap_module> has no opening tag"),
    "an unknown section": (
        GLOBAL + "<ap_modul>\n" + MODULE,
        2,
        'unknown section "ap_modul": did you mean "ap_module"?',
    ),
    "a broken tag": (GLOBAL + "<ap_module\n" + MODULE, 2, "<ap_module is not a tag: write <ap_module>"),
    "a directive twice": (
        GLOBAL + MODULE + "ModuleReps 3\nModuleReps 4",
        4,
        "given twice (first in line 3): keep one",
    ),
    "a global directive twice": (GLOBAL + GLOBAL + MODULE, 2, "given twice (first in line 1): keep one"),
    "a global directive in a module": (
        MODULE + GLOBAL,
        2,
        "applies to the whole file: write it before the first module",
    ),
    "a module's directive before it": (
        GLOBAL + "BufferSize 4k\n" + MODULE,
        2,
        "belongs to a module: write it after",
    ),
    "another pattern's directive": (
        GLOBAL + MODULE + "Vertices 5",
        3,
        "does not apply to Simple Strided: it belongs to",
    ),
    "levels and work units": (
        GLOBAL + 'ModuleName "Nested Strided (read)"\nWorkUnits 4\nLevel 4',
        3,
        "remove WorkUnits",
    ),
    "a level of three numbers": (
        GLOBAL + 'ModuleName "Nested Strided (read)"\nLevel 4 5 6',
        3,
        "write a count and a stride",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_line_and_what_would_be_right(mistake: str) -> None:
    text, line, message = MISTAKES[mistake]
    with pytest.raises(StriderError) as caught:
        read(text, "pio-bench.conf")
    assert re.search(rf"^pio-bench\.conf:{line}: .*{re.escape(message)}", caught.value.message, re.M)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(StriderError) as caught:
        read('TestFil "/d/f"\nModuleName "Tiled (writ)"\nModuleRep 3\n', "f")
    assert [line.split(": ")[0] for line in caught.value.message.splitlines()] == ["f:1", "f:1", "f:2"]


def test_what_the_engine_refuses_is_named_by_the_line(plan_of: Callable[[Imported], object]) -> None:
    text = GLOBAL + 'ModuleName "Segmented (write)"\nWorkUnits 2\nBufferSize 8g\n'
    with pytest.raises(StriderError, match=r"^pio-bench\.conf:4: transfer is larger than the limit"):
        plan_of(read(text, "pio-bench.conf"))


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))

    @staticmethod
    def run(file: Path, capfd: pytest.CaptureFixture[str]) -> list[list[str]]:
        """Lines, as words separated by two blanks, of a run with 2 repetitions and no idle times."""
        quick = ["--set", "case.settle=0", "--set", "case.repetitions=2"]
        assert main(["piobench", str(file), "-n", "2", "-q", *quick]) == 0
        lines = capfd.readouterr().out.splitlines()
        return [re.split(r" {2,}", line.strip()) for line in lines]

    def test_the_listing_runs_as_it_stands(
        self, engine: Engine, tmp_path: Path, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        if not has(engine, "nested-strided"):
            pytest.skip("this engine has no pattern nested-strided")
        file = tmp_path / "pio-bench.conf"
        file.write_text(LISTING_ONE.replace("/mnt/pvfs", str(target)))
        _, head, *rows = self.run(file, capfd)
        assert head == ["# pattern", "operation", "clients", "request (B)", "repetition", "time (s)", "MB/s"]
        assert [row[:5] for row in rows] == [
            ["Simple Strided", "write", "2", "65536", "1"],
            ["Simple Strided", "write", "2", "65536", "2"],
            ["Nested Strided", "re-write", "2", "65536", "1"],
            ["Nested Strided", "re-write", "2", "65536", "2"],
        ]
        assert all(float(row[5]) > 0 and float(row[6]) > 0 for row in rows)
        assert list(target.iterdir()) == []

    def test_the_global_directives_decide_on_columns_and_averages(
        self, engine: Engine, tmp_path: Path, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "pio-bench.conf"
        switches = "ReportOpenTime on\nReportCloseTime on\nReportHeaderOffset on\n"
        file.write_text(switches + TAGGED.replace("/data", str(target)))
        _, head, *rows = self.run(file, capfd)
        assert head[-3:] == ["open (s)", "close (s)", "header (B)"]
        assert [row[4] for row in rows] == ["1", "2", "average"] * 2
        times = [float(row[5]) for row in rows[:3]]
        assert times[2] == pytest.approx((times[0] + times[1]) / 2, abs=2e-6)

    def test_a_missing_file_is_bad_input(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["piobench", str(tmp_path / "none.conf")]) == 2
        assert "none.conf: No such file or directory" in capfd.readouterr().err

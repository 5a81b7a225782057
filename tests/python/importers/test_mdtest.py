"""mdtest's options: the same trees, as many items and operations; each is understood, noted or refused."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import printed_by_ior as readers
from strider.cli import main
from strider.engine import Engine, Json
from strider.errors import StriderError
from strider.importers import Imported
from strider.importers.mdtest import Surroundings, read_command, read_script, recognises
from strider.importers.mdtest.options import OPTIONS
from strider.importers.options import Option
from strider.suite import CheckedPlan, Suite

USERS_LETTERS = "nIzbdudFDCTErweiNLStWBcpRYvVykZxaXPGfls"
DIRECTORY_PHASES = ["mkdir", "stat-directory", "rename-directory", "rmdir"]
FILE_PHASES = ["create", "stat", "open-close", "unlink"]


def read(arguments: str, tasks: int = 4, per_node: int | None = None) -> Imported:
    return read_command(shlex.split(arguments), Surroundings(tasks, per_node))


def case(arguments: str, tasks: int = 4, per_node: int | None = None) -> dict[str, Json]:
    """The keys of the only case."""
    (found,) = read(arguments, tasks, per_node).document.data["case"]
    return dict(found)


@dataclass(frozen=True)
class Example:
    """A command line, its meaning, and the number of operations of mdtest.

    Attributes:
        arguments: The command line.
        tasks: Number of tasks.
        keys: Keys of the case; None for one that must be left out.
        requests: Operations of all tasks together in each phase that operates on items.
        directories: Directories of all trees.
    """

    arguments: str
    tasks: int
    keys: dict[str, Json]
    requests: int
    directories: int


EXAMPLES = [
    Example(
        "-n 100",
        2,
        {
            "tree": "balanced",
            "items": 100,
            "depth": None,
            "sharing": "shared",
            "operations": ["make-tree", *DIRECTORY_PHASES, *FILE_PHASES, "remove-tree"],
        },
        200,
        1,
    ),
    Example("-F -n 100", 4, {"items": 100, "operations": ["make-tree", *FILE_PHASES, "remove-tree"]}, 400, 1),
    Example(
        "-D -n 50 -u",
        3,
        {
            "items": 50,
            "sharing": "per-rank",
            "operations": ["make-tree", *DIRECTORY_PHASES, "remove-tree"],
        },
        150,
        3,
    ),
    Example("-b 2 -z 3 -I 10", 2, {"depth": 3, "fanout": 2, "items": 10, "place": None}, 300, 15),
    Example("-b 2 -z 3 -I 10 -L", 2, {"depth": 3, "fanout": 2, "items": 10, "place": "leaves"}, 160, 15),
    Example("-b 3 -z 2 -n 1000", 4, {"depth": 2, "fanout": 3, "items": 76}, 4 * 988, 13),
    Example("-b 3 -z 2 -n 1000 -L", 4, {"items": 111, "place": "leaves"}, 4 * 999, 13),
    Example("-z 5 -n 60", 1, {"depth": 5, "fanout": 1, "items": 10}, 60, 6),
    Example("-z 5 -n 60 -L", 1, {"items": 60, "place": "leaves"}, 60, 6),
    Example("-z 2 -b 4 -I 5 -u -F", 3, {"depth": 2, "fanout": 4, "items": 5}, 3 * 21 * 5, 63),
    # Ten trees of one directory each are the leaves of a tree.
    Example("-n 100 -I 10", 4, {"depth": 1, "fanout": 10, "items": 10, "place": "leaves"}, 400, 11),
    Example("-n 10 -I 10", 4, {"depth": None, "items": 10, "place": None}, 40, 1),
    Example(
        "-F -C -n 2k",
        2,
        {"items": 2048, "operations": ["make-tree", "create"], "dataset": "mdtest"},
        4096,
        1,
    ),
    Example("-F -T -n 10", 2, {"operations": ["stat"], "dataset": None}, 20, 1),
    Example("-F -E -n 10 -e 3901", 2, {"operations": ["small-read"], "file_size": 3901}, 20, 1),
    Example("-F -r -n 10", 2, {"operations": ["unlink", "remove-tree"]}, 20, 1),
    Example(
        "-C -T -n 10",
        2,
        {"operations": ["make-tree", "mkdir", "stat-directory", "create", "stat"]},
        20,
        1,
    ),
    Example("-U -n 10", 2, {"operations": ["rename-directory"]}, 20, 1),
    Example(
        "-n 1",
        2,
        {"operations": ["make-tree", "mkdir", "stat-directory", "rmdir", *FILE_PHASES, "remove-tree"]},
        2,
        1,
    ),
    Example(
        "-F -n 10 -w 3901 -e 3901",
        2,
        {
            "file_size": 3901,
            "operations": ["make-tree", "create", "stat", "small-read", "unlink", "remove-tree"],
        },
        20,
        1,
    ),
    Example(
        "-F -n 10 -w 64k",
        2,
        {"file_size": "64KiB", "operations": ["make-tree", *FILE_PHASES, "remove-tree"]},
        20,
        1,
    ),
    Example(
        "-F -n 10 -k",
        2,
        {"operations": ["make-tree", "mknod", "stat", "open-close", "unlink", "remove-tree"]},
        20,
        1,
    ),
    Example("-F -n 10 -i 5 -p 2", 2, {"repetitions": 5, "settle": 2}, 20, 1),
    Example("-F -n 10 -N 1", 4, {"readback": "growing-shift", "shift": 1}, 40, 1),
    Example("-F -n 10 -N 4", 4, {"readback": None, "shift": None}, 40, 1),
    Example("-F -n 10 -R", 2, {"order": "random", "seed": None}, 20, 1),
    Example("-F -n 10 -R --random-seed=7", 2, {"order": "random", "seed": 7}, 20, 1),
    Example("-F -n 10 -R7", 2, {"order": "random", "seed": 7}, 20, 1),
    Example("-F -n 10 -W 30", 2, {"deadline": 30, "deadline_of": "creation", "wear_out": True}, 20, 1),
    Example("-F -n 10 -W 30 -T", 2, {"deadline": None, "deadline_of": None}, 20, 1),
    Example("-F -n 10 -Y", 2, {"sync": "node"}, 20, 1),
    Example("-F -n 10 -w 1k -y", 2, {"sync": "each"}, 20, 1),
    Example("-F -n 10 -y", 2, {"sync": None}, 20, 1),
    Example("-F -n 10 -w 8 -e 8 -X", 2, {"verify": "full"}, 20, 1),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.arguments)
class TestAnExample:
    def test_has_the_keys(self, example: Example) -> None:
        found = case(example.arguments, example.tasks)
        assert {key: found.get(key) for key in example.keys} == example.keys
        assert found["clients"] == example.tasks

    def test_has_as_many_items(self, example: Example) -> None:
        found = case(example.arguments, example.tasks)
        levels = [found.get("fanout", 1) ** level for level in range(found.get("depth", 0) + 1)]
        places = levels[-1] if found.get("place") == "leaves" else sum(levels)
        trees = example.tasks if found["sharing"] == "per-rank" else 1
        assert (found["items"] * places * example.tasks, sum(levels) * trees) == (
            example.requests,
            example.directories,
        )

    def test_has_as_many_operations_as_with_mdtest(
        self, example: Example, engine: Engine, plan_of: Callable[[Imported], CheckedPlan]
    ) -> None:
        if not engine.description.trees:
            pytest.skip("this engine has no trees")
        ((_, checked),) = plan_of(read(example.arguments, example.tasks)).cases
        requests = {phase.operation: phase.requests for phase in checked.phases}
        trees = {requests.pop(name) for name in ("make-tree", "remove-tree") if name in requests}
        assert set(requests.values()) == {example.requests}
        assert trees <= {example.directories}


@pytest.mark.parametrize("arguments", ["-n 20 -F", "-n20 -F", "-n=20 -F", "-Fn 20", "-F -n 5 -n 20"])
def test_a_value_may_be_written_in_several_ways(arguments: str) -> None:
    assert case(arguments)["items"] == 20


def test_the_directory_is_the_target() -> None:
    assert read("-n 1 -d /mnt/pfs/a").document.data["suite"]["target"] == "/mnt/pfs/a"
    assert read("-n 1").document.data["suite"]["target"] == "."


def test_several_numbers_of_tasks_are_cases() -> None:
    cases = read("-n 9 -F -f 2 -l 6 -s 2 -N 2", tasks=8).document.data["case"]
    assert [(c["clients"], c.get("shift")) for c in cases] == [(2, None), (4, 2), (6, 2)]


def test_without_a_last_number_of_tasks_all_take_part() -> None:
    assert case("-n 9 -f 2", tasks=8)["clients"] == 8


@pytest.mark.parametrize(("per_node", "shift"), [(None, 1), (8, 1), (2, 2), (4, 4)])
def test_a_stride_counts_nodes_where_there_are_several(per_node: int | None, shift: int) -> None:
    assert case("-n 9 -N 1", tasks=8, per_node=per_node)["shift"] == shift


class TestNothingIsPassedOver:
    def test_the_options_that_users_use_are_known(self) -> None:
        assert set(USERS_LETTERS) <= {option.letter for option in OPTIONS}

    @pytest.mark.parametrize("option", [o for o in OPTIONS if o.note], ids=lambda option: option.name)
    def test_an_option_that_differs_is_named_with_the_difference(self, option: Option) -> None:
        typed = _typed(option)
        assert f"{typed}: {option.note}" in [note.replace("=", " ") for note in read(f"-n 9 {typed}").notes]

    @pytest.mark.parametrize("option", [o for o in OPTIONS if o.refusal], ids=lambda option: option.name)
    def test_an_option_that_is_not_supported_is_named_with_the_reason(self, option: Option) -> None:
        typed = _typed(option)
        with pytest.raises(StriderError) as caught:
            read(f"-n 9 {typed}")
        assert caught.value.message == f"{typed}: {option.name} is not supported: {option.refusal}"

    @pytest.mark.parametrize(
        ("arguments", "note"),
        [
            (
                "-n 10 -T",
                "-C is missing: Strider creates the items that the phases need beforehand, unmeasured",
            ),
            ("-n 10 -T", "-r is missing: Strider removes the remaining items at the end, unmeasured"),
            ("-n 10 -C", "-r is missing: the tree stays, in strider-data-mdtest"),
            (
                "-n 1000 -b 3 -z 2",
                "-n 1000: as in mdtest, each task has 76 items in each of 13 directories: 988 in total",
            ),
            ("-n 10 -N 4", "-N 4: with 4 tasks, each task works on its own items"),
            ("-n 10 -R", "-R: Strider uses random order in all phases"),
            ("-n 10 -T -W 3", "-W 3: it has no effect without creation, as in mdtest"),
            ("-n 10 -w 8 -e 8 -X", "-X: data generation and verification count as measured time"),
            ("-n 10 -u", "-u: Tree creation and Tree removal count the directories of all tasks"),
            ("-n 10 -T -c", "-c: each task creates its own items, unmeasured"),
            ("-n 10 -D", "Strider renames a directory within its parent"),
        ],
    )
    def test_what_depends_on_other_options_is_noted_too(self, arguments: str, note: str) -> None:
        assert any(found.startswith(note) for found in read(arguments).notes)

    def test_a_plain_command_line_has_no_notes(self) -> None:
        assert read("-a POSIX -F -n 91 -z 2 -b 3 -i 3 -w 8 -e 8 -d /data").notes == []

    def test_the_names_of_options_are_unambiguous(self) -> None:
        letters = [option.letter for option in OPTIONS if option.letter]
        names = [option.name for option in OPTIONS]
        assert len(letters) == len(set(letters))
        assert len(names) == len(set(names))


def _typed(option: Option) -> str:
    value = {"flag": "", "size": " 5", "number": " 5", "text": " x"}[option.kind]
    return f"-{option.letter}{value}" if option.letter else f"--{option.aliases[0]}{value}"


MISTAKES = {
    "": "the defaults of mdtest: there are no items: give -n (items of each task) or -I",
    "-n": "-n: a value is missing",
    "-n x": '-n x: "x" is not a size',
    "-n -5": "-n -5: items is -5: it must be at least 0",
    "-n 9 -A": "-A: mdtest has no option -A",
    "-n 9 -o": "-o: mdtest has no option -o",
    "-n 9 --random-sed=1": 'unknown option "random-sed": did you mean "random-seed"?',
    "-n 9 -i 0": "-i 0: iterations is 0: it must be at least 1",
    "-n 9 -b 0 -z 1": "-b 0: branch_factor is 0: it must be at least 1",
    "-n 9 -s 0": "-s 0: stride is 0: it must be at least 1",
    "-n 9 -b 3 -z 2": "-n 9: 9 items are too few for 13 directories: give -n 13 or more",
    "-n 9 -I 4": "-n 9: -n must be a multiple of -I, as in mdtest",
    "-n 8 -I 4 -u": "-I 4: with -u give either -n or -I, as in mdtest",
    "-n 8 -I 4 -z 1": "-z 1: with -n, -I and -z together, mdtest uses only a part of the trees",
    "-n 9 -W 3 -b 2 -z 1": "-W 3: -W needs -b 1, as in mdtest",
    "-n 9 -k -w 8": "-k: -k creates empty files: remove -w",
    "-n 9 -X": "-X: -X needs files and a read phase",
    "-n 9 -e 8": "-e 8: -e must not be larger than -w, the size of a file: give -w 8",
    "-n 9 -e 8 -w 16": "-e 8: Strider reads whole files: give -e 16, or remove -e",
    "-n 9 -w 8 -y -Y": "-y: -y and -Y are not supported together: keep one",
    "-n 9 -F -T -x no-file": "-x no-file: there is no tree of an earlier creation: run the phase -C first",
    "-n 9 -C -i 2": "-i 2: phases apart have one iteration: remove -i",
    "-n 9 -C -f 1 -l 2": "-l 2: phases apart have one number of tasks: remove -f, -l and -s",
    "-n 9 -f 3 -l 2": "-f 3: -f must be at most -l",
    "-n 9 -l 5": "-l 5: -l needs 5 tasks, but only 4 are given: for example, use strider mdtest -n 5",
    "-n 9 -a S3": "-a S3: interface S3 is not supported: use POSIX or DUMMY",
    "-n 9 -d /a@/b -u": "-d /a@/b: several directories are not supported, because a run has one",
    "-n 9 -c": "-c: -c is not supported, because each task creates and removes its own items",
    "-n 9 -D -E": "-E: mdtest does not read directories: remove -D, or use the operation readdir in a suite",
    "mpiexec -n 9 mdtest": "mpiexec: it is not an option: after --, give the options of mdtest only",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_named_with_what_would_be_right(arguments: str) -> None:
    with pytest.raises(StriderError) as caught:
        read(arguments)
    assert MISTAKES[arguments] in caught.value.message


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(StriderError) as caught:
        read("-n 9 -S -B -d a@b")
    assert len(caught.value.message.splitlines()) == 3


SCRIPT = """\
#!/bin/sh
# mdtest -n 5 is what this is about
mpirun -np 4 /opt/bin/mdtest -n 100 -F \\
   -u -d /data > out 2>&1
srun --ntasks=2 mdtest -D -I 5 -d '/data' | tee log
mdtest -k -F -n 7 -d /data   # at last
"""


class TestFilesWithCommandLines:
    def test_each_command_line_is_a_test(self) -> None:
        cases = read_script(SCRIPT, "job", Surroundings(3)).document.data["case"]
        assert [(c["clients"], c["items"], c["sharing"]) for c in cases] == [
            (4, 100, "per-rank"), (2, 5, "shared"), (3, 7, "shared")
        ]  # fmt: skip

    @pytest.mark.parametrize("text", ["", "mdtest", "# mdtest -n 5", "my-mdtest -n 5", "IOR START"])
    def test_other_files_are_none(self, text: str) -> None:
        assert recognises(SCRIPT)
        assert not recognises(text)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("-n 100", "-n many", 'job:3: -n many: "many" is not a size'),
            ("-I 5", "-I $ITEMS", 'job:5: -I $ITEMS: "$ITEMS" is not a size'),
            ("-k -F", "-S -F", "job:6: -S: shared_file is not supported"),
            ("-n 7 -d /data", "-n 7 -d /other", "job:6: -d /other: a run has one target directory"),
            ("'/data'", "'/data", "job:5: No closing quotation"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(self, old: str, new: str, message: str) -> None:
        with pytest.raises(StriderError, match="^" + re.escape(message)):
            read_script(SCRIPT.replace(old, new), "job")


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _trees(self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))
        if not engine.description.trees:
            pytest.skip("this engine has no trees")

    def test_it_prints_the_summary_that_users_of_mdtest_know(
        self, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        words = shlex.split(f"-n 20 -z 1 -b 4 -i 2 -w 100 -e 100 -N 1 -P -d {target}")
        assert main(["mdtest", "-n", "2", "-q", "--", *words]) == 0
        output = capfd.readouterr()
        assert "2 tasks, 40 files/directories" in output.out
        assert "SUMMARY rate (in ops/sec): (of 2 iterations)" in output.out
        assert "SUMMARY time (in ms/op): (of 2 iterations)" in output.out
        rows = re.findall(
            r"^   ([A-Z][a-z]+ [a-z]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", output.out, re.M
        )
        assert re.search(r"^   Operation +Max +Min +Mean +Std Dev$", output.out, re.M)
        names = [
            "Directory creation", "Directory stat", "Directory rename", "Directory removal",
            "File creation", "File stat", "File read", "File removal", "Tree creation", "Tree removal",
        ]  # fmt: skip
        assert [row[0] for row in rows] == names * 2
        for _, largest, smallest, mean, _ in rows:
            assert float(largest) >= float(mean) >= float(smallest)
        # Phases of 40 items are short.
        grades = re.findall(r"^strider: trust: (\w+ \w+): [ABCD] .*short", output.err, re.M)
        assert grades == names
        assert all(float(row[2]) > 0 for row in rows[: len(names)])
        assert list(target.iterdir()) == []

    def test_scripts_find_the_rates_of_the_summary(
        self, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["mdtest", "-n", "2", "-q", "--", "-n", "10", "-i", "2", "-d", str(target)]) == 0
        output = capfd.readouterr().out
        rates = readers.mdtest_rates(output)
        assert len(rates) == 10
        largest, smallest, mean, deviation = rates["File creation"]
        assert smallest <= mean <= largest
        assert deviation == pytest.approx((largest - smallest) / 2**0.5, abs=0.01)
        assert float(readers.shell("awk '/File creation/ {print $3}'", output)) == largest
        lines = output.splitlines()
        heads = ["-- started at", "", "mdtest-4.1.0", "Command line used: mdtest '-n' '10' '-i' '2' '-d' '"]
        heads += [
            "Nodemap: 11",
            "Path                : ",
            "FS                  : ",
            "2 tasks, 20 files/directories",
        ]
        assert [line[: len(head)] for line, head in zip(lines, heads, strict=False)] == heads
        at = next(number for number, line in enumerate(lines) if line.startswith("SUMMARY rate"))
        assert lines[at - 1] == ""
        # The last digits of all columns are below those of the heading.
        for line in lines[at + 3 : at + 13]:
            assert [match.end() for match in re.finditer(r"[\d.]+", line)] == [40, 55, 70, 85]
        assert [match.end() for match in re.finditer(r"-+", lines[at + 2])] == [12, 36, 51, 66, 81]

    def test_a_missing_directory_is_made_and_removed(
        self, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["mdtest", "-q", "--", "-F", "-n", "10", "-d", f"{target}/new"]) == 0
        assert "File creation" in capfd.readouterr().out
        assert list(target.iterdir()) == []

    def test_a_directory_that_cannot_be_made_is_named(
        self, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["mdtest", "-q", "--", "-F", "-n", "10", "-d", f"{target}/no/new"]) != 0
        assert f"cannot make {target}/no/new: No such file or directory" in capfd.readouterr().err

    def test_phases_that_were_not_asked_for_are_zeros(
        self, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["mdtest", "-n", "2", "-q", "--", "-F", "-T", "-n", "10", "-d", str(target)]) == 0
        shown = capfd.readouterr()
        output = shown.out
        rows = dict(re.findall(r"^   (\w+ \w+) +([\d.]+)", output, re.M))
        assert {name for name, rate in rows.items() if float(rate) > 0} == {"File stat"}
        # Missing measurements have no grade.
        assert re.findall(r"^strider: trust: (\w+ \w+)", shown.err, re.M) == ["File stat"]

    def test_the_suite_can_be_written_instead(
        self, tmp_path: Path, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        suite = tmp_path / "mdtest.toml"
        words = shlex.split(f"-n 20 -F -R -N 1 -W 3 -d {target}")
        assert main(["mdtest", "-n", "2", "--suite", str(suite), "--", *words]) == 0
        assert main(["plan", str(suite)]) == 0
        assert "2 ranks" in capfd.readouterr().out

    def test_what_convert_writes_is_the_same_suite(
        self, tmp_path: Path, suite_of: Callable[[Imported], Suite], capfd: pytest.CaptureFixture[str]
    ) -> None:
        job, suite = tmp_path / "job", tmp_path / "suite.toml"
        job.write_text(SCRIPT, encoding="utf-8")
        assert main(["convert", str(job), "-o", str(suite), "-n", "3"]) == 0
        from strider.engine import find
        from strider.importers import formats
        from strider.suite import load

        expected = suite_of(formats.read(SCRIPT, str(job), 3)).plan.to_json()
        assert load(suite, find().description).plan.to_json() == expected

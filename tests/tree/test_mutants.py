"""The mutants fit the sources as they are, and are planted as described."""

import subprocess
import sys
from pathlib import Path

import pytest

import mutant_proposals
import mutant_tests
import mutants
from mutant_sources import (
    CHOOSER,
    HEADER,
    MisfitError,
    Mutant,
    plant_cpp,
    plant_python,
    read_mutants,
    span_of,
)

ROOT = Path(__file__).resolve().parents[2]

CPP = """
static_assert(1 + 2 == 3);
constexpr int doubled(int x) { return x * 2; }
int most(int a, int b) {
  int found = a;
  if (a < b) found = b;
  return found;
}
void fill(int* at, int count) {
  for (int i = 0; i < count; ++i)
    at[i] = most(i,
                 7);
  for (int i = 0; i < count; ++i) doubled(at[i]);
}
"""


def mutant(before: str, after: str, number: int = 1, anchor: str = "", file: str = "x.cpp") -> Mutant:
    return Mutant(
        number=number,
        file=file,
        before=before,
        after=after,
        anchor=anchor,
        tests=(),
        explained="",
        equivalent="",
        listed="list, entry 1",
    )


def test_every_description_fits_its_source() -> None:
    """What to do if this fails: put the present text into tests/mutants, or remove the entry."""
    found = read_mutants(ROOT)
    assert len(mutants.plant_all(ROOT, found)) >= 50
    assert len([each for each in found if not each.equivalent]) >= 150


def test_every_folder_has_mutants_and_every_mutant_tests() -> None:
    found = read_mutants(ROOT)
    sources = [
        ROOT / "foundation",
        *(ROOT / "engine").iterdir(),
        *(ROOT / "listio").iterdir(),
        *(ROOT / "python/strider").iterdir(),
    ]
    folders = {
        str(each.relative_to(ROOT)) for each in sources if list(each.glob("*.py")) or list(each.glob("*.cpp"))
    }
    assert {each for each in folders if not any(one.file.startswith(f"{each}/") for one in found)} == set()
    stages = mutant_tests.Tests(ROOT, ROOT / "build/release", ROOT, {})
    assert [each.file for each in found if not list(stages.stages(each))] == []


def value_of(planted: str, chosen: int, tmp_path: Path, call: str) -> int:
    (tmp_path / HEADER).write_text(CHOOSER)
    (tmp_path / "x.cpp").write_text(f"{planted}\nint main() {{ {call} }}\n")
    subprocess.run(["c++", "-std=c++20", "-w", "-o", tmp_path / "x", tmp_path / "x.cpp"], check=True)
    return subprocess.run([tmp_path / "x"], env={"STRIDER_MUTANT": str(chosen)}, check=False).returncode


def test_each_mutant_of_a_build_is_chosen_by_its_number(tmp_path: Path) -> None:
    planted = plant_cpp(
        [
            mutant("a < b", "a > b", 1),
            mutant("found = b;", "", 2),
            mutant("if (a < b) found = b;", "found = 9;", 3),
            mutant("x * 2", "x * 3", 4),
            mutant("most(i, 7)", "most(i, 8)", 5),
            mutant("doubled(at[i]);", "", 6),
        ],
        CPP,
    )
    call = "int three[3]; fill(three, 3); return 10 * three[2] + doubled(1);"
    assert [value_of(planted, number, tmp_path, call) for number in range(6)] == [72, 22, 22, 92, 73, 82]


def test_lines_keep_their_numbers() -> None:
    planted = plant_cpp([mutant("most(i, 7)", "most(i, 8)")], CPP)
    assert len(planted.split("#line 1\n")[1].splitlines()) == len(CPP.splitlines())


@pytest.mark.parametrize(
    ("before", "anchor", "message"),
    [
        ("a <= b", "", "list, entry 1: x.cpp: the source does not contain the text of `from`: a <= b"),
        ("int", "", "contains the text of `from` 10 times; add `after`"),
        ("a < b", "int least", "contains the text of `after` 0 times"),
        ("1 + 2", "", "no run-time expression or statement"),
    ],
)
def test_a_description_that_does_not_fit_is_refused_by_name(before: str, anchor: str, message: str) -> None:
    with pytest.raises(MisfitError, match=r"x\.cpp") as caught:
        plant_cpp([mutant(before, "x", anchor=anchor)], CPP)
    assert message in str(caught.value)


def test_line_breaks_do_not_matter_and_words_do() -> None:
    source = "def f(a, b):\n    return g(\n        a,\n        b)\n"
    found = mutant("return g(a, b)", "return g(b, a)", file="x.py")
    assert plant_python(found, source) == "def f(a, b):\n    return g(b, a)\n"
    with pytest.raises(MisfitError):
        span_of(mutant("return g(a, c)", ""), source)
    with pytest.raises(MisfitError, match="the result is not valid Python"):
        plant_python(mutant("return", "retur", file="x.py"), source)


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    found = [mutant("a", "b", number) for number in range(100)]
    numbers = [each.number for each in mutants.choose(found, "", 10, 7)]
    assert numbers == sorted(numbers) == [each.number for each in mutants.choose(found, "", 10, 7)]
    assert numbers != [each.number for each in mutants.choose(found, "", 10, 8)]
    assert [each.number for each in mutants.choose(found, "17,4", None, 1)] == [4, 17]


@pytest.mark.parametrize(
    ("stage", "code", "output", "killer", "end"),
    [
        (
            "tests/engine/x",
            1,
            "[  FAILED  ] A/Suite.Test/b, where",
            "tests/engine/x A/Suite.Test/b",
            "failed",
        ),
        ("tests/x", 1, "FAILED tests/x.py::test_a[1] - assert 1 == 2", "tests/x.py::test_a", "failed"),
        ("tests/x", -11, "", "tests/x", "exit code -11"),
    ],
)
def test_a_mutant_is_killed_by_the_test_that_fails(
    stage: str, code: int, output: str, killer: str, end: str
) -> None:
    assert mutant_tests.verdict(stage, code, output) == mutant_tests.Kill(killer, end)
    assert mutant_tests.verdict(stage, 0, "[  PASSED  ] 3 tests.") is None


def test_what_killed_a_mutant_is_run_first_and_without_it(tmp_path: Path) -> None:
    """A test that fails without the fault as well has shown nothing."""
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "tests/mutants").mkdir(parents=True)
    (tmp_path / "tests/mutants/wider.toml").write_text('"x.py" = ["test_it.py"]')
    (tmp_path / "test_it.py").write_text(
        "import os\ndef test_a(): assert 'FAULT' not in os.environ\ndef test_b(): assert False\n"
    )
    here = mutant("a", "b", file="x.py")

    def tests(known: dict[str, str]) -> mutant_tests.Tests:
        return mutant_tests.Tests(tmp_path, tmp_path, tmp_path, known)

    kill = tests({}).run(here, tmp_path, {"FAULT": "1"})
    assert kill == mutant_tests.Kill("test_it.py::test_a", "failed")
    misled = tests({here.key: "test_it.py::test_b"})
    assert misled.run(here, tmp_path, {"FAULT": "1"}) == kill
    assert misled.unsound() == [mutant_tests.Kill("test_it.py::test_b", "failed")]


@pytest.mark.parametrize("output", ["no tests ran in 0.01s", "Running 0 tests from 0 test suites."])
def test_a_stage_without_tests_is_no_proof(output: str) -> None:
    with pytest.raises(RuntimeError, match="ran no tests"):
        mutant_tests.verdict("tests/x", 0, output)


def test_the_in_of_a_loop_is_no_operator(tmp_path: Path) -> None:
    text = "def f(a, n):\n    return sum(one for one in a) / n\n"
    (tmp_path / "loop.py").write_text(text, encoding="utf-8")
    for seed in range(10):
        for _, before, after in mutant_proposals.propose(tmp_path, ".", 5, seed):
            compile(text.replace(before, after), "loop.py", "exec")


def test_proposals_can_be_planted() -> None:
    for folder in ("engine/patterns", "python/strider/statistics"):
        proposals = mutant_proposals.propose(ROOT, folder, 5, 1)
        assert len(proposals) == 5
        for number, (file, before, after) in enumerate(proposals, 1):
            found = mutant(before, after, number, file=file)
            source = (ROOT / file).read_text(encoding="utf-8")
            assert (plant_python if found.python else lambda one, text: plant_cpp([one], text))(
                found, source
            ) != source

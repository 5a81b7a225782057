"""What CONTRIBUTING.md says is enough: five contributions, made by it alone in a copy of the tree, work.

The copy is a layer over the checkout (overlayfs in a mount name space of its own): the build in it compiles
only the files that the contributions add, and leaves none of them in the checkout.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contributing import FORBIDDEN, INTERFACE, LIMIT, PATTERN, VERB
from strider.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
SUITE = f"""
[suite]
name = "contributed"
target = "TARGET"
clients = 2
repetitions = 1
verify = "full"

[[case]]
interface = "{INTERFACE}"
pattern = "{PATTERN}"
transfer = ["4KiB", "8KiB"]
count = 3
operations = ["write", "read"]
"""
MOUNT = """
mount -t tmpfs tmpfs "$2" && mkdir "$2/upper" "$2/work" &&
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$1" &&
echo mounted && exec cat >/dev/null
"""


TOOLS = ".strider/venv/bin"
PYTHON = f"{TOOLS}/python"


class Copy:
    """The tree as processes see it that are started here; it takes their writes, the checkout does not."""

    def __init__(self, layers: Path) -> None:
        rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        apart = ["unshare", *rights, "--mount", "--propagation", "slave"]
        holder = [*apart, "sh", "-c", MOUNT, "sh", str(ROOT), str(layers)]
        self._holder = subprocess.Popen(
            holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            _, message = self._holder.communicate()
            pytest.skip(f"machine: no layer can be mounted over the checkout: {message.strip()}")
        user = ["--user", "--preserve-credentials"] if rights else []
        self._enter = ["nsenter", f"--target={self._holder.pid}", *user, "--mount"]

    def run(self, *words: str | Path, expected: int = 0) -> str:
        """Runs a command in the copy; returns its output.

        Args:
            words: The command.
            expected: Its exit code.
        """
        environment = {name: value for name, value in os.environ.items() if name != "STRIDER_ENGINE"}
        # Nothing is installed in a test.
        environment |= {"STRIDER_APT": "never", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
        done = subprocess.run(
            [*self._enter, "sh", "-c", 'cd "$0" && exec "$@"', str(ROOT), *map(str, words)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == expected, f"{words}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
        return done.stdout

    def close(self) -> None:
        """Ends the name space, and with it the layer."""
        self._holder.communicate()


@pytest.fixture(scope="module")
def copy(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """A copy with all contributions, built."""
    if not engine.path.is_relative_to(ROOT / "build"):
        pytest.skip(
            "machine: the engine is not one that this checkout has built, so nothing can be added to it"
        )
    for tool in ("unshare", "nsenter"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing (Debian package util-linux)")
    made = Copy(tmp_path_factory.mktemp("layers"))
    try:
        made.run(PYTHON, "tests/system/contributing.py")
        made.run("make", "pages")
        made.run("make", "format")
        made.run("tools/setup.sh", "test")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with the new interface and pattern."""
    folder = tmp_path_factory.mktemp("contributed")
    (folder / "target").mkdir()
    path = folder / "suite.toml"
    path.write_text(SUITE.replace("TARGET", str(folder / "target")), encoding="utf-8")
    return path


def test_the_extents_of_the_pattern_are_those_of_its_formula(copy: Copy, suite: Path) -> None:
    for rank in (0, 1):
        printed = copy.run("./strider", "plan", suite, "--extents", "1", "--rank", str(rank)).split("\n")
        assert [line for line in printed if line[:1].isdigit()] == [
            f"{k},0,{4096 * (2 * k + 1 - rank)},0,4096" for k in range(3)
        ]


def test_a_run_through_the_interface_is_right_and_its_report_has_the_section(copy: Copy, suite: Path) -> None:
    store = suite.parent / "store"
    copy.run("./strider", "run", suite, "--store", store, "--report")
    (run,) = (path.parent for path in store.glob("*/run.json"))
    samples = [json.loads(line) for line in (run / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    reads = [each for each in samples if each["event"] == "sample" and each["operation"] == "read"]
    assert sorted(each["verify"]["checked_bytes"] for each in reads) == [2 * 3 * 4096, 2 * 3 * 8192]
    assert all(each["valid"] for each in reads)
    assert "Cases by interface" in (run / "report.html").read_text(encoding="utf-8")
    shown = copy.run("./strider", "show", run).split("Cases by interface")[-1]
    assert f"{INTERFACE} 2" in " ".join(shown.split())


def test_the_verb_is_in_the_help_and_runs(copy: Copy) -> None:
    assert f"  {VERB} " in copy.run("./strider", "--help")
    assert copy.run("./strider", VERB) == "Hello, storage.\n"


def test_the_rule_finds_its_breach_and_nothing_else(copy: Copy) -> None:
    copy.run("sh", "-c", f"echo {FORBIDDEN} >docs/breach.md")
    found = copy.run(PYTHON, "tools/tidy.py", expected=1)
    copy.run("rm", "docs/breach.md")
    assert [line for line in found.splitlines() if "not said here" in line] == [
        f"docs/breach.md:1: '{FORBIDDEN}': not said here"
    ]


def test_what_make_format_leaves_passes_lint(copy: Copy) -> None:
    sources = [f"engine/interfaces/{INTERFACE}.cpp", f"engine/patterns/{PATTERN}.cpp"]
    copy.run(f"{TOOLS}/clang-format", "--dry-run", "-Werror", *sources, "tests/engine/patterns/formulas.cpp")
    copy.run(f"{TOOLS}/ruff", "check", "-q", "python/strider", "tests/python", "tools")


def pytest_in(copy: Copy, *words: str) -> None:
    copy.run(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *words)


def test_the_rule_on_limits_is_simulated_and_described(copy: Copy) -> None:
    copy.run(PYTHON, "benchmarks/diagnoses.py", LIMIT)
    assert f"| {LIMIT} | explains | `close_s` ÷ `elapsed_s` |" in copy.run("cat", "docs/limits.md")
    pytest_in(copy, "tests/python/limits/test_rules.py")


@pytest.mark.parametrize(
    "words",
    [
        (
            "tests/python/docs",
            "tests/python/cli/test_cli.py",
            f"tests/python/cli/test_{VERB}.py",
            "-k",
            f"pages or there or {VERB}",
        ),
        ("tests/python/report/test_sections.py", "-k", "cases or every_file"),
        ("tests/tree/test_tidy.py", "tests/tree/test_units.py", "tests/tree/test_graph.py"),
    ],
    ids=["pages", "sections", "tree"],
)
def test_the_tests_of_make_test_fast_pass(copy: Copy, words: Sequence[str]) -> None:
    pytest_in(copy, *words)


def test_the_units_of_the_engine_find_both_and_pass(copy: Copy, engine: Engine) -> None:
    program = engine.path.parents[1] / "tests/engine/strider-tests"
    chosen = f"--gtest_filter=*/{INTERFACE}*:*/{PATTERN}"
    names = copy.run(program, chosen, "--gtest_list_tests")
    assert INTERFACE in names
    assert PATTERN in names
    copy.run(program, chosen, "--gtest_brief=1")

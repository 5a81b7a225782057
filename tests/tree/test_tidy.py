"""The tree keeps its own rules, and each rule bites."""

from pathlib import Path

import pytest

import tidy
import wrap

ROOT = Path(__file__).resolve().parents[2]


def breaches(path: str, text: str) -> list[str]:
    return [finding.message for finding in tidy.check_file(path, text) if finding.breach]


# proves listio: no-mpi
def test_the_service_includes_neither_mpi_nor_the_engine() -> None:
    sources = [path for name in ("listio", "foundation") for path in (ROOT / name).rglob("*.[ch]pp")]
    assert sources
    for path in sources:
        assert not list(tidy.check_includes(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("python/strider/long.py", "x = 1\n" * 601, "the file has 601 lines, more than 600"),
        ("python/strider/long.py", "def f() -> None:\n" + "    x = 1\n" * 70, "f has 71 lines, more than 70"),
        (
            "python/strider/x.py",
            "class X:\n    def f(self, a, b, c, d, e, f, g=0, *, h=1): pass\n",
            "f has 7 parameters by position, more than 6: make some keyword-only",
        ),
        (
            "engine/plan/x.cpp",
            "void X::f(int a, int b, int c, int d, int e, std::function<void(int, int)> f, int g) {}\n",
            "X::f has 7 parameters by position, more than 6: group them in a structure with named fields",
        ),
        ("foundation/long.cpp", "int f() {\n" + "  g();\n" * 69 + "}\n", "f has 71 lines, more than 70"),
        (
            "listio/layout/x.cpp",
            '#include "listio/registration/range.hpp"\n',
            "listio/layout/ must not include listio/registration/range.hpp",
        ),
        (
            "listio/registration/x.cpp",
            '#include "plan/plan.hpp"\n',
            "listio/registration/ must not include plan/plan.hpp",
        ),
        (
            "engine/patterns/x.cpp",
            '#include "listio/layout/byte_run.hpp"\n',
            "patterns/ must not include listio/layout/byte_run.hpp",
        ),
        (
            "engine/ranks/x.cpp",
            '#include "phases/tasks.hpp"\n',
            "ranks/ must not include phases/tasks.hpp",
        ),
        (
            "engine/interfaces/listio/x.cpp",
            '#include "listio/registration/registrar.hpp"\n',
            "interfaces/ must not include listio/registration/registrar.hpp",
        ),
        (
            "engine/patterns/x.cpp",
            "#include <mpi.h>\n",
            "only ranks/ to runner/, the MPI-based interfaces and listio/mpi/ include mpi.h",
        ),
        (
            "engine/patterns/x.cpp",
            '#include "interfaces/interface.hpp"\n',
            "patterns/ must not include interfaces/interface.hpp",
        ),
        ("foundation/x.cpp", '#include "plan/plan.hpp"\n', "foundation/ must not include plan/plan.hpp"),
        ("docs/x.md", "see /" + "home/ann/strider\n", "'/home/ann/': a path of one machine"),
        ("docs/x.md", "from pypi" + ".org\n", "'pypi" + ".org': a registry's host"),
        ("foundation/x.cpp", "// TO" + "DO later\n", "'TODO': a mark of unfinished work"),
        (
            "README.md",
            "A file that\nNobody wrote.\n",
            "'Nobody': write name the actor: a rank, a user, a program",
        ),
        ("docs/howto/x.md", "The run\ngoes on.\n", "'goes on': write continue, be active"),
        ("docs/index.md", "What is at\nhand.\n", "'at hand': write available, local"),
        ("README.md", "word " * 21 + "\n", "more than 100 columns: run make format"),
        ("README.md", "- " + "word " * 21 + "\n", "more than 100 columns: run make format"),
    ],
)
def test_a_breach_is_found(path: str, text: str, message: str) -> None:
    assert breaches(path, text) == [message]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("python/strider/x.py", "x = 1\n" * 600),
        ("python/strider/x.py", '"""Written by a tool. Do not edit.\n"""\n' + "x = 1\n" * 600),
        ("python/strider/x.py", "def f() -> None:\n" + "    x = 1\n" * 69),
        ("python/strider/x.py", "def f(a, b, c, d, e, f, *, g, h): pass\n"),
        ("tests/x.py", "def f(a, b, c, d, e, f, g): pass\n"),
        ("engine/interfaces/mpiio.cpp", "#include <mpi.h>\n"),
        ("engine/runner/x.cpp", '#include <mpi.h>\n#include "plan/plan.hpp"\n'),
        ("engine/ranks/x.cpp", '#include <mpi.h>\n#include "foundation/clock.hpp"\n'),
        ("engine/interfaces/listio/x.cpp", '#include "listio/client/client.hpp"\n'),
        ("engine/patterns/x.cpp", '#include "foundation/extent.hpp"\n#include "patterns/pattern.hpp"\n'),
        ("listio/layout/x.cpp", '#include "foundation/extent.hpp"\n#include "listio/layout/byte_run.hpp"\n'),
        ("docs/x.md", "`/home` and `/tmp/x` are folders of any machine\n"),
    ],
)
def test_what_is_allowed_is_not_a_breach(path: str, text: str) -> None:
    assert breaches(path, text) == []


def test_a_long_file_draws_advice() -> None:
    findings = list(tidy.check_file("python/strider/x.py", "x = 1\n" * 401))
    assert [str(finding) for finding in findings] == [
        "python/strider/x.py:1: advice: the file has 401 lines, more than the recommended 400"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`tell` is a call, and [it](tell.md) stays:\n\n```sh\ntell nobody\n```\n",
        "  ~~~\n  nobody\n  ~~~\n",
        f"{wrap.GENERATED[0]} -->\nnobody tells\n{wrap.GENERATED[1]} -->\n",
        "| a table | " + "word " * 30 + "|\n",
        "# " + "word " * 30 + "\n",
        "see\n[page](https://example.org/" + "x" * 90 + ")\n",
        "```\n" + "word " * 30 + "\n```\n",
        "The foretold satellite, in all likelihood.\n",
    ],
)
def test_code_tables_and_generated_parts_of_a_page_are_left_alone(text: str) -> None:
    assert breaches("README.md", text) == []


def test_a_breach_of_language_names_its_line() -> None:
    (finding,) = tidy.check_file("README.md", "```sh\ntell\n```\n\nThe table tells it.\n")
    assert str(finding).startswith("README.md:5: 'tells': write")


def test_a_breach_names_its_line() -> None:
    (finding,) = tidy.check_file("foundation/x.cpp", '\n\n#include "plan/plan.hpp"\n')
    assert str(finding) == "foundation/x.cpp:3: foundation/ must not include plan/plan.hpp"


@pytest.mark.parametrize("kind", ["interfaces", "patterns"])
def test_an_interface_or_pattern_needs_its_page(tmp_path: Path, kind: str) -> None:
    (tmp_path / "engine" / kind).mkdir(parents=True)
    (tmp_path / "docs" / kind).mkdir(parents=True)
    entry = 'extern const {}Entry {}_entry{{\n    "{}",'
    of = {"interfaces": "Interface", "patterns": "Pattern"}[kind]
    for stem, name in (("one", "one"), ("z_order", "z-order"), ("two", "t_w_o"), ("template", "template")):
        (tmp_path / "engine" / kind / f"{stem}.cpp").write_text(entry.format(of, stem, name))
    (tmp_path / "engine" / kind / "helper.cpp").write_text("int helper();\n")
    for page in ("one", "z-order", "two"):
        (tmp_path / "docs" / kind / f"{page}.md").touch()
    assert [str(finding) for finding in tidy.check_pages(tmp_path)] == [
        f"engine/{kind}/two.cpp:1: has no page docs/{kind}/t_w_o.md"
    ]


@pytest.mark.parametrize(
    ("path", "line", "breach"),
    [
        ("store/load.py", "from strider.report import x", "store/ must not import strider.report.x"),
        ("store/load.py", "from strider import launch", "store/ must not import strider.launch"),
        ("report/labels/x.py", "import strider.compare.work", "report/ must not import strider.compare.work"),
        ("report/words/x.py", "from strider.report.tables.data import data", "report/words/ must not import"),
        ("report/labels/x.py", "from strider.report.blocks import Table", "report/labels/ must not import"),
    ],
)
def test_python_imports_go_one_way(path: str, line: str, breach: str) -> None:
    (finding,) = tidy.check_file(f"python/strider/{path}", f"\n{line}\n")
    assert str(finding).startswith(f"python/strider/{path}:2: {breach}")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("report/sections/x.py", "from strider.report.tables.data.data import y"),
        ("report/__init__.py", "from strider.report.output.page import y"),
        ("compare/x.py", "from strider.report.words.numbers import y"),
        ("store/x.py", "from strider.errors import y"),
        ("cli/x.py", "from strider import web"),
    ],
)
def test_imports_along_the_street_are_allowed(path: str, line: str) -> None:
    assert list(tidy.check_file(f"python/strider/{path}", f"{line}\n")) == []

"""The graph of folders is found in the sources, and is right for this tree."""

from pathlib import Path

import pytest

import graph
import tidy

ROOT = Path(__file__).resolve().parents[2]


def small() -> graph.Graph:
    """Three folders on each other, and two that use each other."""
    made = graph.Graph()
    made.add("top", "1\n", {"middle", "low", "left"})
    made.add("middle", "1\n2\n", {"low"})
    made.add("low", "1\n", {"low"})
    made.add("left", "1\n", {"right"})
    made.add("right", "1\n", {"left"})
    return made


def test_uses_that_lead_back_are_found() -> None:
    assert small().backward() == {("left", "right"), ("right", "left")}


def test_what_is_used_by_way_of_another_is_not_drawn() -> None:
    drawn = small().drawn()
    assert ("top", "middle") in drawn
    assert ("middle", "low") in drawn
    assert ("top", "low") not in drawn


def test_a_folder_stands_above_what_it_uses() -> None:
    depths = small().depths()
    assert depths["top"] < depths["middle"] < depths["low"]


def test_the_picture_shows_every_folder_and_what_leads_back_in_red() -> None:
    svg = graph.picture(small())
    assert all(f">{name}</text>" in svg for name in small().files)
    assert svg.count("#c0392b") == 2


def test_nothing_in_c_plus_plus_leads_back() -> None:
    assert graph.cpp_graph(ROOT).backward() == set()


def test_engine_and_service_meet_in_the_client_alone() -> None:
    uses = graph.cpp_graph(ROOT).uses
    between = {
        (one, other)
        for one in uses
        for other in uses[one]
        if {one.split("/")[0], other.split("/")[0]} == {"engine", "listio"}
    }
    assert between == {("engine/interfaces", "listio/client")}
    assert uses["foundation"] == set()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a circle of imports, one of includes, and files that use others without a circle."""
    files = {
        "python/strider/__init__.py": "",
        "python/strider/room/__init__.py": "from strider.room.one import one\n",
        "python/strider/room/one.py": "\ndef one():\n    from strider.room.two import two\n",
        "python/strider/room/two.py": "if TYPE_CHECKING:\n    from strider.room import three\n",
        "python/strider/room/three.py": "import strider.room.one\n",
        "python/strider/apart.py": "from strider.room import one\nfrom strider import room\n",
        "engine/room/first.hpp": '#pragma once\n#include "room/second.hpp"\n',
        "engine/room/second.hpp": '#include "third.hpp"\n',
        "engine/room/third.hpp": '#include "engine/room/first.hpp"\n',
        "engine/room/third.cpp": '#include "room/third.hpp"\n',
        "tests/itself.py": "from strider import tests\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_circles_of_files_are_found_wherever_the_import_is(tree: Path) -> None:
    paths = [str(path.relative_to(tree)) for path in tree.rglob("*.?*") if path.is_file()]
    assert [str(finding) for finding in tidy.check_circles(tree, paths)] == [
        "engine/room/first.hpp:2: a circle: engine/room/first.hpp uses engine/room/second.hpp uses "
        "engine/room/third.hpp uses engine/room/first.hpp",
        "python/strider/room/one.py:3: a circle: python/strider/room/one.py uses "
        "python/strider/room/two.py uses python/strider/room/three.py uses python/strider/room/one.py",
    ]


def test_a_package_that_its_own_module_imports_is_a_circle(tree: Path) -> None:
    (tree / "python/strider/room/one.py").write_text("from strider.room import name\n", encoding="utf-8")
    paths = ["python/strider/room/__init__.py", "python/strider/room/one.py"]
    (finding,) = tidy.check_circles(tree, paths)
    assert (finding.path, finding.line) == ("python/strider/room/__init__.py", 1)

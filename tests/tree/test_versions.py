"""Facts in several places are the same everywhere."""

import re
import tomllib
from pathlib import Path

import yaml

import requirements
import strider

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_package_and_engine_have_one_version() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    (engine,) = re.findall(r"project\(strider VERSION (\S+)", cmake)
    assert PYPROJECT["project"]["version"] == engine == strider.__version__


def test_the_citation_is_of_the_newest_release() -> None:
    """Keys and values as the Citation File Format 1.2.0 has them."""
    citation = yaml.load((ROOT / "CITATION.cff").read_text(encoding="utf-8"), yaml.BaseLoader)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, released = re.findall(r"^## \[(\d\S*)\] - (\d{4}-\d\d-\d\d)$", changelog, flags=re.MULTILINE)[0]
    assert citation["cff-version"] == "1.2.0"
    assert (citation["version"], citation["date-released"]) == (version, released)
    assert version == PYPROJECT["project"]["version"]
    assert citation["license"] == PYPROJECT["project"]["license"]
    assert citation["keywords"] == PYPROJECT["project"]["keywords"]
    assert citation["abstract"].strip() == PYPROJECT["project"]["description"]
    assert citation["type"] == "software"
    assert citation["authors"]
    assert all(set(author) == {"name"} for author in citation["authors"])
    keys = "cff-version message type title abstract version date-released license keywords authors"
    assert set(citation) == set(keys.split())


def test_every_requirement_has_a_tested_version() -> None:
    groups = list(PYPROJECT["dependency-groups"])
    wanted = requirements.requirements(ROOT / "pyproject.toml", groups)
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([\w.-]+)==", constraints, flags=re.MULTILINE))
    assert {re.split(r"[<>=]", requirement)[0] for requirement in wanted} <= pinned

"""Answers to the page on a suite's text."""

from pathlib import Path

import pytest

from strider.engine import Engine
from strider.suite.estimate import AssumedRates
from strider.web.checking import answer
from strider.web.site import Site

HEAD = '[suite]\nname = "x"\n'
CASE = '\n[[case]]\ninterface = "posix"\npattern = "strided"\n'
RATES = AssumedRates(200 << 20, 10_000)


@pytest.fixture
def site(engine: Engine, tmp_path: Path) -> Site:
    return Site(engine, tmp_path / "store", (tmp_path,))


@pytest.mark.parametrize(
    ("text", "case", "key"),
    [
        (HEAD + CASE + 'transfer = "x"', 0, "transfer"),
        (HEAD + CASE + 'transfer = ["4KiB",\n  "x"]', 0, "transfer"),
        (HEAD + CASE + "posix.direct = 1", 0, "posix.direct"),
        (HEAD + CASE + 'repetitions = { min = "x" }', 0, "repetitions"),
        (HEAD + CASE + CASE + "depth = -1", 1, "depth"),
        (HEAD + 'clients = "x"' + CASE, None, "clients"),
        (HEAD.replace('"x"', '"x y"') + CASE, None, "name"),
        (HEAD + CASE + 'typo = "x"', 0, "typo"),
        (HEAD + CASE.replace('pattern = "strided"', 'tree = "balanced"'), 0, ""),
        (HEAD + CASE.replace("strided", "segmented") + 'transfer = "4KiB"\nblock = "1KiB"', 0, "block"),
    ],
)
def test_a_mistake_names_its_field(text: str, case: int | None, key: str, site: Site) -> None:
    found = answer(text, RATES, site)
    assert found["plan"] is None
    assert (found["mistakes"][0]["case"], found["mistakes"][0]["key"]) in {(case, key), (case, "transfer")}


def test_a_text_that_is_no_toml_has_no_form(site: Site) -> None:
    found = answer(HEAD + "x = 4KiB", RATES, site)
    assert found["form"] is None
    assert found["mistakes"][0]["line"] == 3


def test_a_suite_without_mistakes_has_a_plan(site: Site, tmp_path: Path) -> None:
    text = f'{HEAD}target = "{tmp_path}"\n{CASE}clients = [1, 2]\ncount = 4\n'
    plan = answer(text, RATES, site)["plan"]
    assert [case["case"] for case in plan["cases"]] == [1, 2]
    assert plan["totals"][0] == "2 cases, 12 phases on 2 ranks, 72 MiB transferred in total"
    assert "error" not in {finding["severity"] for finding in plan["findings"]}


def test_a_size_that_a_probe_chooses_has_a_stand_in(site: Site) -> None:
    case = CASE.replace("strided", "segmented")
    found = answer(f'{HEAD}{case}block = "auto"\n', RATES, site)
    assert found["mistakes"] == []
    assert found["plan"]["totals"][1].startswith("needs 512 MiB")


@pytest.mark.parametrize("target", ["", 'target = "/nowhere/at/all"\n', 'target = "/"\n'])
def test_a_target_that_cannot_be_measured_is_said_before_anything_runs(target: str, site: Site) -> None:
    plan = answer(HEAD + target + CASE, RATES, site)["plan"]
    assert [finding["severity"] for finding in plan["findings"]] == ["error"]

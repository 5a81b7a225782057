"""Each unit has a test beside it, or a sentence why not.

The test of `engine/ranks/alarm.cpp` is `tests/engine/ranks/alarm_test.cpp`, that of
`python/strider/cli/plan.py` is `tests/python/cli/test_plan.py`. `units.toml` has the others, with the reason.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP = [
    *(
        f"engine/{room}"
        for room in ("runner", "repetitions", "phases", "reports", "ranks", "ceilings", "events")
    ),
    "listio/server",
]
PYTHON = {"cli": "cli", "importers": "importers", "running": "cli"}
"""Folders of units and of their tests: tests of verbs cover the modules that they share."""
REASONS: dict[str, str] = tomllib.loads((Path(__file__).parent / "units.toml").read_text(encoding="utf-8"))


def units() -> dict[str, Path]:
    """Where the test of each unit belongs, by `engine/ranks/alarm` or `cli/plan`."""
    found = {}
    for folder in CPP:
        for source in (ROOT / folder).glob("*.?pp"):
            unit = source.name.split(".")[0]
            found[f"{folder}/{unit}"] = ROOT / "tests" / folder / f"{unit}_test.cpp"
    for folder, tests in PYTHON.items():
        for source in (ROOT / "python/strider" / folder).rglob("*.py"):
            module = source.relative_to(ROOT / "python/strider").with_suffix("")
            if module.name != "__init__":
                test = f"test_{module.name.rstrip('_')}.py"
                own = module.parent.relative_to(folder)
                found[str(module)] = ROOT / "tests/python" / tests / own / test
    return found


def test_each_unit_has_a_test_or_a_reason() -> None:
    missing = {unit: test for unit, test in units().items() if not test.exists() and unit not in REASONS}
    assert not missing, "write the test, or a sentence in tests/tree/units.toml"


def test_no_reason_is_left_for_what_is_tested_or_gone() -> None:
    known = units()
    assert [unit for unit in REASONS if unit not in known or known[unit].exists()] == []


def test_a_reason_is_a_sentence_and_names_tests_that_are_there() -> None:
    for unit, reason in REASONS.items():
        assert re.fullmatch(r".{20,}\.", reason), unit
        for path in re.findall(r"tests/[\w/.]+\.\w+", reason):
            assert (ROOT / path).exists(), f"{unit}: {path}"

"""The parts of make torture: they exist, are described, and are drawn by a seed."""

import subprocess
import sys
from pathlib import Path

import pytest

import torture
from strider.engine import Engine
from torture import PARTS, Part, chosen

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "torture.md").read_text(encoding="utf-8")


def test_the_page_describes_each_part() -> None:
    rows = PAGE.partition("## Parts")[2].partition("## Findings")[0].splitlines()
    first_cells = [row.split("|")[1] for row in rows if row.startswith("| `")]
    described = [name.strip().strip("`") for cell in first_cells for name in cell.split(",")]
    assert sorted(described) == sorted(part.name for part in PARTS)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_has_settings_that_tests_read(part: Part) -> None:
    sources = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tests/**/*.?pp")]
    texts = [path.read_text(encoding="utf-8") for path in sources if path != Path(__file__)]
    for variable in part.environment.keys() - {"PYTHONPATH"}:
        assert any(f'"{variable}"' in text for text in texts), variable
    for word in part.words:
        if word.startswith(("tests/", "tools/")):
            assert (ROOT / word).exists(), word


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [part for part in PARTS if "gtest" in str(part.words)], ids=lambda part: part.name
)
def test_a_part_chooses_tests_in_cpp(part: Part, engine: Engine) -> None:
    program, choice, _ = (word.format(build=engine.path.resolve().parents[1]) for word in part.words)
    if not Path(program).exists():
        pytest.skip("needs `tools/setup.sh test`")
    listed = subprocess.run(
        [program, choice, "--gtest_list_tests"], capture_output=True, text=True, check=True
    )
    assert len(listed.stdout.splitlines()) > 2


def test_a_share_is_of_the_short_parts_and_the_same_for_a_seed() -> None:
    short = {part.name for part in PARTS if part.is_short}
    drawn = [[part.name for part in chosen([], 0.1, seed)] for seed in range(300)]
    assert {len(names) for names in drawn} == {-(-len(short) // 10)}
    assert {name for names in drawn for name in names} == short
    assert [part.name for part in chosen([], 0.1, 7)] == drawn[7]
    assert chosen([], 1, 7) == list(PARTS)
    assert [part.name for part in chosen(["power", "kills"], 1, 7)] == ["power", "kills"]
    with pytest.raises(SystemExit, match="unknown: nothing"):
        chosen(["nothing"], 1, 7)


def test_a_part_that_fails_fails_all_and_the_others_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    parts = (
        Part("bad", ["sh", "-c", "exit 3"]),
        Part("good", ["sh", "-c", "echo $AMOUNT {seed}"], {"AMOUNT": "many"}),
    )
    monkeypatch.setattr(torture, "PARTS", parts)
    monkeypatch.setattr(torture, "RESULTS", tmp_path / "torture.json")
    monkeypatch.setattr(sys, "argv", ["torture.py", "--seed", "5"])
    monkeypatch.setenv("STRIDER_ENGINE", str(tmp_path / "build/engine/strider-engine"))
    assert torture.main() == 1
    said = capfd.readouterr().out
    assert "many 5\n" in said
    assert said.endswith("1 of 2 parts passed\nfailed: bad\n")
    monkeypatch.setattr(torture, "PARTS", parts[1:])
    assert torture.main() == 0

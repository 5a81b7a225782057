"""Interfaces of optional libraries: without the library, and with a module that is gone, the rest works."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import Json, case, check, plan, run_engine
from strider.engine import Engine


def interfaces(program: Path) -> dict[str, Json]:
    """A program's description of its interfaces."""
    done = subprocess.run([program, "describe"], capture_output=True, text=True, check=True)
    return {each["name"]: each for each in json.loads(done.stdout)["interfaces"]}


def test_what_was_not_built_says_what_it_needs(engine: Engine) -> None:
    found = [each for each in interfaces(engine.path).values() if "not built" in each["unavailable_reason"]]
    if not found:
        pytest.skip("machine: every module is built here")
    for each in found:
        assert not each["available"]
        assert each["unavailable_reason"].startswith("not built: this needs ")


def test_without_any_module_the_rest_works(engine: Engine, tmp_path: Path) -> None:
    program = Engine(Path(shutil.copy2(engine.path, tmp_path)))
    modules = {file.stem.removeprefix("strider-") for file in engine.path.parent.glob("modules/*.so")}
    built = {each.name for each in engine.description.interfaces if each.available}
    own = [each for each in program.description.interfaces if each.available]
    assert {each.name for each in own} == built - modules
    # What names a server has none here.
    usable = [
        each.name
        for each in own
        if each.capabilities["storage"] and not any(one.required for one in each.parameters)
    ]
    cases = [case("segmented", name, verify="full") for name in usable]

    done = run_engine(program, plan(cases), tmp_path)

    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    assert len({sample["digest"] for sample in done.of("sample") if sample["operation"] == "read"}) == 1
    (refused,) = check(program, plan([case("segmented", "uring")]), tmp_path)["errors"]
    assert refused["key"] == "interface"


def test_a_module_that_is_gone_is_missed_by_name_and_the_rest_works(engine: Engine, tmp_path: Path) -> None:
    modules = sorted(engine.path.parent.glob("modules/*.so"))
    if not modules:
        pytest.skip("machine: no module is built here")
    program = shutil.copy2(engine.path, tmp_path)
    shutil.copytree(engine.path.parent / "modules", tmp_path / "modules")
    before = interfaces(Path(program))
    gone = modules[0].stem.removeprefix("strider-")
    assert before[gone]["available"]
    (tmp_path / "modules" / modules[0].name).unlink()

    after = interfaces(Path(program))

    assert not after[gone]["available"]
    assert f"strider-{gone}.so" in after[gone]["unavailable_reason"]
    assert {name: each for name, each in after.items() if name != gone} == {
        name: each for name, each in before.items() if name != gone
    }

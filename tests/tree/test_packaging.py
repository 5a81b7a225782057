"""Recipes of package managers and containers know the version, each option of CMake and each interface."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SPACK = PACKAGING / "spack/spack_repo/strider/packages/strider/package.py"
(EASYBUILD,) = (PACKAGING / "easybuild").glob("*.eb")
CONTAINERS = [PACKAGING / "container/Containerfile", PACKAGING / "container/strider.def"]
RECIPES = [SPACK, EASYBUILD, *CONTAINERS]
PAGE = ROOT / "docs/howto/install-on-a-cluster.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"STRIDER_TESTS", "STRIDER_BENCHMARKS", "STRIDER_FUZZ", "STRIDER_SANITIZE", "STRIDER_UNITY"}
FOR_ONE_MACHINE = {"STRIDER_MPIEXEC", "STRIDER_OPENMPI", "STRIDER_JSON_INCLUDE"}
"""Programs that CMake finds for a recipe."""


def interfaces() -> set[str]:
    """The options of optional interfaces."""
    text = (ROOT / "engine/interfaces/CMakeLists.txt").read_text(encoding="utf-8")
    return {f"STRIDER_WITH_{name.upper()}" for name in re.findall(r"strider_add_module\((\w+)", text)}


def options() -> set[str]:
    """The options of CMake, without those of developers."""
    files = [ROOT / "CMakeLists.txt", *(ROOT / name / "CMakeLists.txt" for name in ("engine", "listio"))]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    found = re.findall(r"^option\((STRIDER_\w+)|^set\((STRIDER_\w+) .* CACHE", text, re.MULTILINE)
    return {option or variable for option, variable in found} - FOR_DEVELOPERS | interfaces()


def content(recipe: Path) -> str:
    """The recipe without comments."""
    return re.sub(r"(^|\s)#.*", "", recipe.read_text(encoding="utf-8"))


def test_the_options_are_found() -> None:
    assert {"STRIDER_MODULES", "STRIDER_WITH_OFI", "STRIDER_WITH_FUSE", "STRIDER_MPIEXEC"} <= options()
    assert {"STRIDER_WITH_HDF5", "STRIDER_WITH_LISTIO", "STRIDER_WITH_URING"} <= interfaces()


@pytest.mark.parametrize("recipe", [SPACK, EASYBUILD], ids=["Spack", "EasyBuild"])
def test_a_recipe_sets_every_option(recipe: Path) -> None:
    assert set(re.findall(r"STRIDER_[A-Z0-9_]+", content(recipe))) == options() - FOR_ONE_MACHINE


@pytest.mark.parametrize("recipe", CONTAINERS, ids=lambda path: path.name)
def test_a_container_has_the_chosen_interfaces_only(recipe: Path) -> None:
    named = dict(re.findall(r"-D(STRIDER_\w+)=(\w+)", content(recipe)))
    assert named["STRIDER_MODULES"] == "OFF"
    assert set(named) <= options()
    assert {name for name, value in named.items() if value == "ON"} <= interfaces()


def test_containers_are_built_alike() -> None:
    one, other = (
        set(re.findall(r"-D\w+=\w+|[\w.-]+-dev\b|lib\w[\w.-]+", content(each))) for each in CONTAINERS
    )
    assert one == other


def test_the_manual_names_every_option() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for option in options():
        assert f"`{option}`" in text or f"`{option.removeprefix('STRIDER_WITH')}`" in text, option


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_a_recipe_is_of_this_version(recipe: Path) -> None:
    version = PROJECT["version"]
    text = recipe.read_text(encoding="utf-8")
    named = re.findall(
        r"^\s*version(?: =|\()\s*['\"]([\d.]+)|image\.version[= ]\"?([\d.]+)", text, re.MULTILINE
    )
    assert {one or other for one, other in named} == {version}
    assert set(re.findall(r"strider[:-](\d+\.\d+\.\d+)", f"{text} {EASYBUILD.name.lower()}")) <= {version}
    assert EASYBUILD.name.startswith(f"Strider-{version}-")


def test_spack_has_a_variant_for_each_interface_and_needs_its_library() -> None:
    recipe = ast.parse(SPACK.read_text(encoding="utf-8"))
    (package,) = (each for each in recipe.body if isinstance(each, ast.ClassDef))
    calls = [each.value for each in package.body if isinstance(each, ast.Expr)]
    named: dict[str, list[str]] = {"variant": [], "when": []}
    for call in calls:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            if call.func.id == "variant":
                named["variant"] += [ast.literal_eval(call.args[0])]
            if call.func.id == "depends_on":
                named["when"] += [ast.literal_eval(key.value) for key in call.keywords if key.arg == "when"]
    set_by_variant = re.findall(r'define_from_variant\("STRIDER_WITH_(\w+)", "(\w+)"\)', content(SPACK))
    assert all(option.lower() == variant for option, variant in set_by_variant)
    variants = {variant for _, variant in set_by_variant}
    assert set(named["variant"]) == variants | {"packages"}
    assert set(named["when"]) == {f"+{variant}" for variant in variants | {"packages"}}


def test_the_recipe_of_easybuild_can_be_read() -> None:
    """It is Python; EasyBuild defines the names in capitals."""
    known = {"SYSTEM": {"name": "system"}, "SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz"}
    exec(compile(EASYBUILD.read_text(encoding="utf-8"), EASYBUILD.name, "exec"), known)
    mandatory = {"name", "version", "homepage", "description", "toolchain", "moduleclass", "easyblock"}
    assert mandatory <= set(known)
    assert known["buildopts"] == "strider-engine"


def test_recipes_need_the_python_of_the_package() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    assert 'depends_on("python@3.11:"' in content(SPACK)
    (python,) = re.findall(r"\('Python', '3\.(\d+)", content(EASYBUILD))
    assert int(python) >= 11


@pytest.mark.parametrize("recipe", [EASYBUILD, SPACK, *CONTAINERS], ids=lambda path: path.name)
def test_recipes_install_by_one_program(recipe: Path) -> None:
    assert "packaging/install_prefix.py" in content(recipe)
    assert (PACKAGING / "install_prefix.py").exists()

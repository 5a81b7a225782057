"""A release is made of a clean commit only, and of programs that measure outside of the checkout."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import release
import strider
from strider.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n"


def git(root: Path, *words: str) -> None:
    names = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A commit of version 1.2.3 that can be released."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "--message", "All")
    return root


def test_a_clean_commit_can_be_released(checkout: Path) -> None:
    release.check_tree(checkout)


def test_changes_that_are_not_committed_are_refused(checkout: Path) -> None:
    (checkout / "new.py").write_text("")
    with pytest.raises(release.ReleaseError, match="has changes"):
        release.check_tree(checkout)


def test_a_version_is_released_once(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    with pytest.raises(release.ReleaseError, match=r"v1\.2\.3 has a tag"):
        release.check_tree(checkout)


@pytest.mark.parametrize(
    "text",
    [CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n"), CHANGELOG.replace("1.2.3", "1.2.2")],
)
def test_changes_belong_to_the_version(checkout: Path, text: str) -> None:
    (checkout / "CHANGELOG.md").write_text(text)
    git(checkout, "commit", "--all", "--message", "Changelog")
    with pytest.raises(release.ReleaseError, match="below Unreleased"):
        release.check_tree(checkout)


def program(folder: Path, script: str) -> Path:
    """A program that is a script."""
    file = folder / "strider"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_a_program_that_measures_is_good(engine: Engine, tmp_path: Path) -> None:
    words = [
        f"STRIDER_ENGINE={engine.path}",
        f"PYTHONPATH={ROOT / 'python'}",
        sys.executable,
        "-m",
        "strider",
    ]
    release.check_program(
        program(tmp_path, f'exec env {shlex.join(words)} "$@"'), strider.__version__, tmp_path
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo strider 0.0.0", "not 1.2.3"),
        ("exit 3", "exit code 3"),
        ('[ "$1" = --version ] && echo strider 1.2.3', "exit code 1"),
        (
            'echo strider 1.2.3; [ "$1" = --version ] || '
            """{ mkdir -p runs/x; echo '{"status": "interrupted"}' > runs/x/run.json; }""",
            "the run is interrupted",
        ),
    ],
)
def test_a_program_that_does_not_measure_is_refused(script: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(release.ReleaseError, match=message):
        release.check_program(program(tmp_path, script), "1.2.3", tmp_path)


def test_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("a")
    release.write_sums(tmp_path)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)

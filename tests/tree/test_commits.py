"""Messages of commits: the rule finds breaches, in the text and in a repository."""

import subprocess
from pathlib import Path

import pytest

import commits


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (f"{'x' * 72}\n\nIt was too slow.\n", []),
        (f"{'x' * 73}\n\nIt was too slow.\n", ["the subject has 73 characters"]),
        ("Draw the folders anew\n", ["the message has no body"]),
        ("x" * 80 + "\n\n \n", ["the subject has 80 characters", "the message has no body"]),
    ],
)
def test_a_breach_is_found(message: str, wrong: list[str]) -> None:
    found = list(commits.breaches("1234567", message))
    assert len(found) == len(wrong)
    assert all(each.startswith(f"1234567: {part}") for each, part in zip(found, wrong, strict=True))


def test_commits_after_the_base_are_looked_at_and_no_merges(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "Before the rule")
    base = git("rev-parse", "HEAD")
    git("checkout", "-q", "-b", "side")
    git("commit", "-q", "--allow-empty", "-m", "One", "-m", "Because.")
    git("checkout", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "Two")
    git("merge", "-q", "--no-ff", "-m", "Merge", "side")

    assert sorted(commits.messages(tmp_path, base).values()) == ["One\n\nBecause.\n", "Two\n"]

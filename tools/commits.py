"""Checks the messages of commits: a subject that git shows whole, and a body that says why.

    tools/commits.py [BASE]    commits after BASE; default: all that the rule holds for

Prints one line for each breach and fails if there is one.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BASE = "1c8f04bb61e28a37229a6e094b3ec2f3c8bac802"
"""The last commit that the rule does not hold for."""
SUBJECT_LIMIT = 72


def breaches(commit: str, message: str) -> Iterator[str]:
    """Returns the errors in the message of a commit."""
    subject, _, body = message.strip().partition("\n")
    if len(subject) > SUBJECT_LIMIT:
        yield f"{commit}: the subject has {len(subject)} characters, more than {SUBJECT_LIMIT}: {subject}"
    if not body.strip():
        yield f"{commit}: the message has no body that gives the reason: {subject}"


def messages(root: Path, base: str) -> dict[str, str]:
    """Messages by commit of what came after a base, without merges.

    Raises:
        subprocess.CalledProcessError: There is no such base here.
    """
    command = ["git", "log", "--no-merges", "-z", "--format=%h%n%B", f"{base}..HEAD"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    entries = [entry.partition("\n") for entry in done.stdout.split("\0") if entry]
    return {commit: message for commit, _, message in entries}


def main() -> int:
    """Prints the breaches; 1 if there is one."""
    base = sys.argv[1] if len(sys.argv) > 1 else BASE
    try:
        found = messages(Path(__file__).resolve().parents[1], base)
    except (OSError, subprocess.CalledProcessError):
        print(f"skipped: this clone has no history back to commit {base}")
        return 0
    wrong = [line for commit, message in found.items() for line in breaches(commit, message)]
    for line in wrong:
        print(line)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
